# SPDX-License-Identifier: Apache-2.0
"""Describes servers that cannot be used, and how to repair that. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from kafka import errors

from kafka_lag.brokers.access import IAM, IAM_OF_MSK, Access
from kafka_lag.brokers.diagnosis.ports import ServerFindings, TlsFindings
from kafka_lag.brokers.errors import CONNECTION_CLOSED, LOGIN_ERRORS, cause
from kafka_lag.errors import LoginError, SourceError
from kafka_lag.wording.formatting import cut_end, escape_name, format_list

_MOST_NAMES = 6
_LONGEST_NAME = 100

_NAME_A_BROKER = "Name a port of the brokers in bootstrap_servers."
_CHECK_CONTROLLER = "It may be a controller's: name a port of the brokers in bootstrap_servers."
_CHECK_BROKERS = "Check whether the brokers run."

# OpenSSL's codes for reasons why a certificate is not accepted.
_NOT_YET_VALID, _EXPIRED, _OTHER_NAME = 9, 10, (62, 64)
_UNKNOWN_AUTHORITY = (2, 18, 19, 20, 21)

# Mechanisms that the configuration can name; the last one is MSK's IAM.
_SCRAM = ("SCRAM-SHA-512", "SCRAM-SHA-256")
_OURS = (*_SCRAM, "PLAIN", IAM)

_MSK = re.compile(r"\.kafka(?P<serverless>-serverless)?\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$")
# MSK's ports inside a VPC; from the internet they are 100 higher.
_PLAINTEXT_PORT, _TLS_PORT, _SCRAM_PORT, _IAM_PORT = 9092, 9094, 9096, 9098
_PUBLIC = 100
_SPOKEN_AT = {
    _PLAINTEXT_PORT: "plaintext",
    _TLS_PORT: "TLS without SASL",
    _SCRAM_PORT: "SCRAM",
    _IAM_PORT: "IAM",
}


class Kind(IntEnum):
    """Kinds of faults; the lowest present kind decides the error and its first words."""

    MECHANISM = 0
    LOGIN = 1
    UNREACHABLE = 2


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a server, and a whole sentence about what to do.

    The finding is empty if the kind says all.
    """

    kind: Kind
    finding: str
    repair: str


def unreachable_error(
    access: Access,
    causes: Iterable[tuple[str, Exception]],
    findings: Iterable[ServerFindings] = (),
    *,
    has_certificate: bool = True,
) -> SourceError:
    """Returns one error for a cluster without a usable bootstrap server, with what to do.

    `causes` are pairs of a server's address and its error. `findings` are the probe's about some of
    them. `has_certificate` says whether the client shows one.
    """
    found = {each.server: each for each in findings}
    faults: dict[Fault, set[str]] = {}
    for server, error in causes:
        fault = (
            find_fault(access, found[server], has_certificate=has_certificate)
            if server in found
            else None
        )
        known = fault or _fault_of_error(access, error, found.get(server))
        faults.setdefault(known, set()).add(server)
    kind = min((fault.kind for fault in faults), default=Kind.UNREACHABLE)
    made: type[SourceError] = SourceError if kind == Kind.UNREACHABLE else LoginError
    return made(f"{_opening(access, kind)}: {describe_faults(faults, kind)}")


def describe_faults(faults: dict[Fault, set[str]], kind: Kind) -> str:
    """Returns all findings, each behind its servers, then the repairs for findings of this kind."""
    by_server = sorted(
        ((format_list(sorted(servers), _MOST_NAMES), fault) for fault, servers in faults.items()),
        key=lambda pair: (pair[0], pair[1].finding),
    )
    reasons = "; ".join(
        f"{servers}: {fault.finding}" if fault.finding else servers for servers, fault in by_server
    )
    repairs = dict.fromkeys(fault.repair for _, fault in by_server if fault.kind == kind)
    return f"{reasons}. {' '.join(repairs)}"


def advertised_error(
    access: Access, down: Iterable[tuple[str, str]], findings: Iterable[ServerFindings]
) -> SourceError | None:
    """Returns the error for a cluster if no advertised broker can be reached.

    `down` are pairs of an address and its error. Returns None if the findings explain nothing.
    """
    found = {each.server: each for each in findings}
    faults: dict[Fault, set[str]] = {}
    explained = False
    for server, said in down:
        fault = find_fault(access, found[server]) if server in found else None
        explained = explained or fault is not None
        faults.setdefault(fault or _unreachable(said, _CHECK_BROKERS), set()).add(server)
    if not explained:
        return None
    return SourceError(
        "A bootstrap server answered, but no broker can be reached at the address that it "
        f"advertises (advertised.listeners): {describe_faults(faults, Kind.UNREACHABLE)}"
    )


def find_fault(
    access: Access, found: ServerFindings, *, has_certificate: bool = True
) -> Fault | None:
    """Returns the fault that keeps a client of this configuration out; None if none is visible."""
    port = _msk_port(access, found.server)
    network = _network_fault(found) or _stranger_fault(found)
    if network is not None:
        return Fault(network.kind, network.finding, f"{port}{network.repair}")
    fault = _tls_fault(access, found, has_certificate) or _sasl_fault(access, found)
    if fault is None or not port:
        return fault
    return Fault(fault.kind, fault.finding, f"{port}Or {fault.repair[0].lower()}{fault.repair[1:]}")


def _opening(access: Access, kind: Kind) -> str:
    if kind == Kind.MECHANISM:
        need = f", which {IAM_OF_MSK} needs here" if access.sasl_mechanism == IAM else ""
        return f"The brokers do not offer the mechanism {access.sasl_mechanism}{need}"
    if kind == Kind.UNREACHABLE:
        return f"No broker could be reached over {access.security_protocol}"
    if not access.logs_in:
        return "The brokers rejected the client certificate, or that there is none"
    if access.sasl_mechanism == IAM:
        return f"The brokers rejected the token ({IAM_OF_MSK})"
    return f"The brokers rejected the login ({access.sasl_mechanism})"


def _fault_of_error(access: Access, error: Exception, found: ServerFindings | None) -> Fault:
    """Returns the fault that the client's own error stands for."""
    said = cause(error)
    if isinstance(error, errors.UnsupportedSaslMechanismError):
        return Fault(Kind.MECHANISM, said, "Set sasl_mechanism to one they enable.")
    if isinstance(error, errors.IncompatibleBrokerVersion):
        return _unreachable("Kafka is spoken there, but not as by a broker", _CHECK_CONTROLLER)
    if isinstance(error, LOGIN_ERRORS):
        mechanisms = found.mechanisms or () if found is not None else ()
        enabled = access.sasl_mechanism in mechanisms
        # Brokers may close the connection on a wrong password; this says nothing if the mechanism
        # is enabled.
        finding = "" if enabled and CONNECTION_CLOSED in said else said
        repair = _login_repair(access, enabled=enabled) + _other_scram(access, mechanisms)
        return Fault(Kind.LOGIN, finding, repair)
    check = "bootstrap_servers, security_protocol (TLS or plaintext port?) and the network path"
    if "certificate" in said.lower():
        check = "cafile: it must hold the authority that signed the brokers' certificates"
    return Fault(Kind.UNREACHABLE, said, f"Check {check}.")


def _login_repair(access: Access, *, enabled: bool) -> str:
    if not access.logs_in:
        return (
            "Check that the secret of secret_id, or the file, holds one that has not expired, of "
            "an authority that the brokers trust."
        )
    if access.sasl_mechanism == IAM:
        return (
            "Check that the role may kafka-cluster:Connect to this cluster, and that the cluster "
            "allows IAM."
        )
    if enabled:
        return "The brokers enable this mechanism, so check user name and password."
    return "Check user name, password, and that the brokers enable this mechanism."


def _other_scram(access: Access, mechanisms: Collection[str]) -> str:
    """Returns a sentence about the other SCRAM mechanism, if it may have the password."""
    mine = access.sasl_mechanism
    others = [each for each in mechanisms if each in _SCRAM and each != mine]
    if mine not in _SCRAM or not access.logs_in or not others:
        return ""
    (other,) = others
    return (
        f" They also enable {other}, and keep a password for each apart: if the user has only that "
        f"one, set sasl_mechanism to {other}."
    )


def _network_fault(found: ServerFindings) -> Fault | None:
    if found.addresses == ():
        return _unreachable(
            "the name does not resolve",
            "Check the name, and that DNS knows it here: a private name is known inside its VPC "
            "alone.",
        )
    if found.connect_fault is None:
        return None
    if "refused" in found.connect_fault.lower():
        return _unreachable(
            "nothing listens on this port (connection refused)",
            "Check the port, and that the broker runs.",
        )
    return _unreachable(
        f"no connection ({found.connect_fault})",
        "Check the address, and security groups, routes and firewalls on the way.",
    )


def _stranger_fault(found: ServerFindings) -> Fault | None:
    """Returns the fault if the server is not a Kafka broker, else None."""
    if found.spoken == "controller":
        return _unreachable("a controller of Kafka listens there, not a broker", _NAME_A_BROKER)
    if found.is_stranger:
        said = f'"{_escape(found.banner)}" is said' if found.banner else "something unknown is said"
        spoken = said if found.spoken == "unknown" else f"{found.spoken} is spoken"
        over = " over TLS" if found.tls else ""
        return _unreachable(f"{spoken} there{over}, not Kafka", _NAME_A_BROKER)
    if found.tls is not None:
        return None
    if found.spoken == "no response":
        return _unreachable(
            "the port takes connections and says nothing",
            "Check that it is one of Kafka's, and whether the broker hangs.",
        )
    if found.spoken == "closed":
        return _unreachable(
            "the port closes connections without a word",
            "Check that it is one of Kafka's, and what a proxy or load balancer on the way does.",
        )
    return None


def _tls_fault(access: Access, found: ServerFindings, has_certificate: bool) -> Fault | None:
    tls, wanted = found.tls, access.security_protocol.endswith("SSL")
    if tls is None:
        return _no_tls(access, found) if wanted and found.spoken == "Kafka" else None
    if tls.version is None and tls.fault is not None:
        if _shows_certificate(access, has_certificate):
            return None
        return _unreachable(
            f"TLS is spoken there, and the handshake fails ({tls.fault})",
            "Check that the brokers offer TLS 1.2 or 1.3, and whether they want a client "
            "certificate.",
        )
    if not wanted:
        return _tls_only(access, found, tls)
    if tls.fault is not None:
        return _certificate_fault(access, tls)
    if not tls.wants_certificate or _shows_certificate(access, has_certificate):
        return None
    if access.logs_in:
        return _unreachable(
            "a client certificate is wanted there",
            "Set security_protocol to SSL and give a client certificate, or name another port.",
        )
    finding = "a client certificate is wanted there, and none is given"
    return Fault(Kind.LOGIN, finding, _login_repair(access, enabled=False))


def _shows_certificate(access: Access, has_certificate: bool) -> bool:
    """Returns True if the client shows a certificate.

    The probe shows none, so the client's own error knows more.
    """
    return has_certificate and access.security_protocol == "SSL"


def _tls_only(access: Access, found: ServerFindings, tls: TlsFindings) -> Fault:
    """Returns the fault of a TLS port for a client without TLS."""
    cafile = ""
    if tls.verify_code in _UNKNOWN_AUTHORITY:
        cafile = ", and cafile to the authority that signed the brokers' certificates"
    if tls.wants_certificate:
        return _unreachable(
            "TLS is spoken there, and a client certificate is wanted",
            f"Set security_protocol to SSL{cafile}, and give a client certificate.",
        )
    if not found.mechanisms:
        without = "" if found.mechanisms is None else ", without SASL"
        protocol = "SASL_SSL" if found.mechanisms is None and access.logs_in else "SSL"
        return _unreachable(
            f"TLS is spoken there{without}", f"Set security_protocol to {protocol}{cafile}."
        )
    return _unreachable(
        f"TLS is spoken there, and SASL with {_join_names(found.mechanisms, 'or')}",
        f"Set security_protocol to SASL_SSL{_mechanism_repair(access, found.mechanisms)}{cafile}.",
    )


def _no_tls(access: Access, found: ServerFindings) -> Fault:
    """Returns the fault of a Kafka port without TLS for a client with TLS."""
    if not found.mechanisms:
        without = "" if found.mechanisms is None else " and without SASL"
        return _unreachable(
            f"Kafka is spoken there without TLS{without}",
            "Name the brokers' port for TLS, or set security_protocol to PLAINTEXT.",
        )
    return _unreachable(
        f"Kafka is spoken there without TLS, and SASL with {_join_names(found.mechanisms, 'or')}",
        "Name the brokers' port for TLS, or set security_protocol to SASL_PLAINTEXT"
        f"{_mechanism_repair(access, found.mechanisms)}.",
    )


def _certificate_fault(access: Access, tls: TlsFindings) -> Fault:
    """Returns the fault of a broker's certificate that the client does not accept."""
    whose = (
        f"the broker's certificate ({_escape(tls.subject)})" if tls.subject else "its certificate"
    )
    if tls.verify_code == _EXPIRED:
        when = f" on {_escape(tls.valid_until)}" if tls.valid_until else ""
        return _unreachable(f"{whose} expired{when}", "Renew it at the brokers.")
    if tls.verify_code == _NOT_YET_VALID:
        when = f" before {_escape(tls.valid_from)}" if tls.valid_from else " yet"
        return _unreachable(
            f"{whose} is not valid{when}", "Check the clock here, and the certificate."
        )
    if tls.verify_code in _OTHER_NAME:
        names = format_list([_escape(name) for name in tls.names], _MOST_NAMES) or "other names"
        return _unreachable(
            f"the broker's certificate is for {names}, not for this name",
            "Name the brokers in bootstrap_servers as their certificates do.",
        )
    repair = "Check cafile: it must hold the authority that signed the brokers' certificates."
    if tls.verify_code in _UNKNOWN_AUTHORITY:
        by = _escape(tls.issuer) if tls.issuer else "an authority"
        where = "which is not in cafile" if access.cafile else "which this system does not trust"
        return _unreachable(f"{whose} is signed by {by}, {where}", repair)
    return _unreachable(f"{whose} is not accepted ({tls.fault})", repair)


def _sasl_fault(access: Access, found: ServerFindings) -> Fault | None:
    mechanisms, over_tls = found.mechanisms, found.tls is not None
    if mechanisms is None:
        return None
    if not access.logs_in:
        if not mechanisms:
            return None
        return _unreachable(
            f"SASL is wanted there, with {_join_names(mechanisms, 'or')}",
            f"Set security_protocol to {'SASL_SSL' if over_tls else 'SASL_PLAINTEXT'}"
            f"{_mechanism_repair(access, mechanisms)}.",
        )
    if not mechanisms:
        return _unreachable(
            "no SASL is spoken there",
            f"Set security_protocol to {'SSL' if over_tls else 'PLAINTEXT'}, or name the brokers' "
            "port for SASL.",
        )
    if access.sasl_mechanism in mechanisms:
        return None
    if not set(mechanisms) & set(_OURS):
        repair = f"Let the brokers enable {_join_names(_OURS, 'or')}."
    else:
        repair = f"Set sasl_mechanism to {_choice(mechanisms)}."
    verb = "is" if len(mechanisms) == 1 else "are"
    return Fault(Kind.MECHANISM, f"{_join_names(mechanisms, 'and')} {verb} enabled there", repair)


def _mechanism_repair(access: Access, mechanisms: tuple[str, ...]) -> str:
    """Returns what to set beside the protocol; empty if the mechanism is right already."""
    if access.logs_in and access.sasl_mechanism in mechanisms:
        return ""
    return f" and sasl_mechanism to {_choice(mechanisms)}"


def _choice(mechanisms: tuple[str, ...]) -> str:
    """Returns words for the mechanisms that the configuration can name, after a list of all."""
    ours = [each for each in mechanisms if each in _OURS]
    if ours and len(ours) < len(mechanisms):
        return _join_names(ours, "or")
    return "it" if len(mechanisms) == 1 else "one of these"


def _msk_port(access: Access, server: str) -> str:
    """Returns a sentence that names MSK's port for this login; empty if it is the server's."""
    host, _, port = server.rpartition(":")
    msk = _MSK.search(host.lower())
    if msk is None:
        return ""
    right = _IAM_PORT if access.sasl_mechanism == IAM and access.logs_in else _SCRAM_PORT
    if not access.logs_in:
        right = _TLS_PORT if access.security_protocol == "SSL" else _PLAINTEXT_PORT
    if msk["serverless"]:
        if port == str(_IAM_PORT) and right == _IAM_PORT:
            return ""
        return f"MSK Serverless speaks IAM alone, at port {_IAM_PORT}. "
    given = int(port)
    public = _PUBLIC if given - _PUBLIC in _SPOKEN_AT else 0
    if given == right + public or given - public not in _SPOKEN_AT:
        return ""
    spoken = _SPOKEN_AT[given - public]
    return (
        f"Port {given} is MSK's for {spoken}: name {right + public}, "
        f"the one for {_SPOKEN_AT[right]}. "
    )


def _unreachable(finding: str, repair: str) -> Fault:
    return Fault(Kind.UNREACHABLE, finding, repair)


def _join_names(names: Sequence[str], last: str) -> str:
    """Returns the names as `A, B or C`."""
    *others, end = (_escape(each) for each in sorted(names)[:_MOST_NAMES])
    return f"{', '.join(others)} {last} {end}" if others else end


def _escape(name: str | None) -> str:
    """Returns a server's words escaped and shortened, so that they break no line."""
    return escape_name(cut_end(name or "", _LONGEST_NAME))
