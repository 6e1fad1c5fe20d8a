# SPDX-License-Identifier: Apache-2.0
"""Findings about the way to the brokers: name, TCP, TLS, protocol, mechanisms. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from kafka_lag.brokers.access import IAM, Access
from kafka_lag.brokers.diagnosis.ports import ServerFindings
from kafka_lag.brokers.diagnosis.unreachable import Fault, find_fault
from kafka_lag.wording.formatting import format_list, format_quantity
from kafka_lag_cli.connecting.client_properties import read_given
from kafka_lag_cli.doctor.findings import Finding
from kafka_lag_cli.doctor.rights_repair import shell_word
from kafka_lag_cli.terminal.text import printable

NAME, TCP, TLS, PROTOCOL, MECHANISMS = STAGES = (
    "name resolution",
    "TCP",
    "TLS",
    "protocol",
    "mechanisms",
)
LOGIN: Final = "login"
_MOST_NAMES = 6
# Those that we have an option for, the best first.
_OURS = ("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN")


def check_connection(
    access: Access,
    found: Sequence[ServerFindings],
    *,
    has_certificate: bool,
    options: Mapping[str, Any] | None,
) -> list[Finding]:
    """Check each stage of the way to each server.

    A server that cannot be used is a warning where another can. `options` are the command's own,
    None where a configuration has brokers and login.
    """
    faults = {
        each.server: fault
        for each in found
        if (fault := find_fault(access, each, has_certificate=has_certificate))
    }
    usable = [each.server for each in found if each.server not in faults]
    stage_of = {each.server: _stage(access, each) for each in found if each.server in faults}
    findings: list[Finding] = []
    for stage in STAGES:
        failing: dict[Fault, list[ServerFindings]] = defaultdict(list)
        for each in found:
            if stage_of.get(each.server) == stage:
                failing[faults[each.server]].append(each)
        for fault, servers in failing.items():
            repair = _repair(access, servers[0], usable, options) if options else None
            findings.append(_fault_finding(stage, fault, servers, usable, repair))
        passed = [each for each in found if _has_passed(each, stage, stage_of)]
        findings += _passed(stage, passed)
        silent = [each for each in found if each not in passed and each.server not in stage_of]
        if not passed and not failing:
            findings.append(Finding(stage, "unknown", _why_not(found, stage, stage_of)))
        elif silent:
            findings.append(Finding(stage, "unknown", _why_not(silent, stage, {})))
    return findings


def is_usable(findings: Iterable[Finding]) -> bool:
    """Return true if a login can be tried."""
    return not any(each.check in STAGES and each.severity == "fault" for each in findings)


def _stage(access: Access, found: ServerFindings) -> str:
    """Return the stage of this server's fault."""
    if found.addresses == ():
        return NAME
    if found.connect_fault is not None:
        return TCP
    tls = found.tls
    if found.is_stranger or (tls is None and found.spoken in ("no response", "closed")):
        return PROTOCOL
    if access.security_protocol.endswith("SSL") != (tls is not None):
        return TLS
    if tls is not None and (tls.fault or tls.version is None or tls.wants_certificate):
        return TLS
    return MECHANISMS


def _has_passed(found: ServerFindings, stage: str, stage_of: dict[str, str]) -> bool:
    """Return true if a stage is known to be well; the stages behind a fault were not checked."""
    failed = stage_of.get(found.server)
    if failed is not None and STAGES.index(failed) <= STAGES.index(stage):
        return False
    if stage == NAME:
        return bool(found.addresses)
    if stage in (TCP, TLS) and _wants_certificate(found):
        return True
    if stage == MECHANISMS:
        return found.mechanisms is not None
    return found.spoken == "Kafka" or (failed is not None and stage == TCP)


def _wants_certificate(found: ServerFindings) -> bool:
    """Return true if the server answers only clients with a certificate, which only the login
    shows."""
    return found.tls is not None and found.tls.wants_certificate


def _passed(stage: str, servers: Sequence[ServerFindings]) -> list[Finding]:
    """One line for all servers of which the same is to be said."""
    by_text: dict[str, list[str]] = defaultdict(list)
    for each in servers:
        by_text[_said(stage, each)].append(each.server)
    return [
        Finding(stage, "ok", f"{_names(names)}{text}" if text else _names(names))
        for text, names in by_text.items()
    ]


def _said(stage: str, found: ServerFindings) -> str:
    if stage == NAME:
        return f": {format_list(list(found.addresses or ()), _MOST_NAMES)}"
    if stage == TCP:
        return " connects"
    if stage == TLS:
        if found.tls is None:
            return ": none, so nothing is encrypted"
        if found.tls.version is None:
            return ": a client certificate is wanted"
        until = found.tls.valid_until
        return f": {found.tls.version}" + (f", certificate valid until {until}" if until else "")
    if stage == PROTOCOL:
        return " speaks Kafka"
    if not found.mechanisms:
        return ": no SASL"
    return f": {', '.join(printable(each) for each in sorted(found.mechanisms))}"


def _fault_finding(
    stage: str,
    fault: Fault,
    servers: Sequence[ServerFindings],
    usable: Sequence[str],
    repair: str | None,
) -> Finding:
    names = _names([each.server for each in servers])
    what = f"{names}: {fault.finding}"
    if usable:
        others = format_quantity(len(usable), "other server")
        return Finding(
            stage,
            "warning",
            what,
            f"{fault.repair} {others} can be used, so this costs time and not the run.",
            repair,
        )
    return Finding(stage, "fault", what, fault.repair, repair)


def _repair(
    access: Access, found: ServerFindings, usable: Sequence[str], options: Mapping[str, Any]
) -> str | None:
    """All options of brokers and login as they would be right, None where nothing shows it."""
    if usable:
        return options_line(options, usable, access.security_protocol, access.sasl_mechanism)
    tls, mechanisms = found.tls, found.mechanisms
    if found.spoken != "Kafka" or mechanisms is None:
        return None
    if tls is not None and (tls.fault or tls.version is None):
        # What is beyond a certificate that is not accepted is not to be believed.
        return None
    protocol = ("SASL_" if mechanisms else "") + ("SSL" if tls is not None else "PLAINTEXT")
    if protocol == "SASL_PLAINTEXT" and access.security_protocol.endswith("SSL"):
        # A password in plain text is nothing to propose.
        return None
    mechanism = access.sasl_mechanism if access.logs_in else None
    if mechanisms and mechanism not in mechanisms:
        known = [each for each in _OURS if each in mechanisms]
        if not known:
            return None
        mechanism = known[0]
    return options_line(options, access.bootstrap_servers, protocol, mechanism)


def options_line(
    options: Mapping[str, Any], servers: Sequence[str], protocol: str, mechanism: str | None
) -> str:
    """The command's options with these in place of its own; what is missing is in capitals."""
    words: list[tuple[str, Any]] = [("--bootstrap-servers", ",".join(servers))]
    if mechanism == IAM:
        words.append(("--profile", options["profile"]))
        return " ".join(["--iam", *_words([*words, *_properties(options, {})])])
    right = {"security.protocol": protocol}
    if protocol.startswith("SASL"):
        words += [
            ("--username", options["username"] or "USERNAME"),
            ("--password-env", options["password_env"]),
            ("--password-file", options["password_file"]),
        ]
        right["sasl.mechanism"] = str(mechanism)
    return " ".join(_words([*words, *_properties(options, right)]))


def _properties(options: Mapping[str, Any], right: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Returns the properties of the command line, with these in place of its own."""
    given = {
        key: value
        for key, value in read_given(options["properties"]).items()
        if key not in ("security.protocol", "sasl.mechanism")
    }
    return (("-X", f"{key}={value}") for key, value in {**right, **given}.items())


def _words(options: Iterable[tuple[str, Any]]) -> Iterable[str]:
    return (f"{name} {shell_word(str(value))}" for name, value in options if value is not None)


def _why_not(found: Sequence[ServerFindings], stage: str, stage_of: dict[str, str]) -> str:
    earlier = [s for s in stage_of.values() if STAGES.index(s) < STAGES.index(stage)]
    if earlier:
        return f"not looked at, because of {min(earlier, key=STAGES.index)}"
    if any(map(_wants_certificate, found)):
        return "not looked at, as a client certificate is wanted first"
    return f"no answer from {_names([each.server for each in found])}"


def _names(servers: Sequence[str]) -> str:
    return format_list([printable(each) for each in servers], _MOST_NAMES)
