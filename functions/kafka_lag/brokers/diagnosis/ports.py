# SPDX-License-Identifier: Apache-2.0
"""Probes ports from outside: name, TCP, TLS and protocol of each server.

The findings explain errors. A probe never sends a password, token or client certificate. It sends a
request for the versions, and one for an unknown SASL mechanism, which a broker answers with the
mechanisms that it enables.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest
from kafka.protocol.parser import KafkaProtocol
from kafka.protocol.sasl import SaslHandshakeRequest

from kafka_lag.brokers.access import CLIENT_ID, PROBE_LIMITS, ProbeLimits, tls_context
from kafka_lag.brokers.errors import is_certificate_alert

# "controller" is a Kafka node that is not a broker. "no response" took the connection and said
# nothing; "closed" ended it without a word.
Spoken: TypeAlias = Literal[
    "Kafka", "controller", "HTTP", "SSH", "unknown", "no response", "closed"
]


_ROUND_TRIPS = 4
_NO_MECHANISM = CLIENT_ID
_LONGEST_ANSWER = 1_000_000
_LONGEST_BANNER = 60
_ILLEGAL_SASL_STATE = 34
# OpenSSL's X509_V_FLAG_NO_CHECK_TIME, which Python does not name.
_IGNORE_DATES = 0x200000
_TLS_RECORDS = (b"\x15\x03", b"\x16\x03")


@dataclass(frozen=True, slots=True)
class TlsFindings:
    """TLS as a port speaks it; the certificate's fields are None if it was not seen.

    `version` is None if no handshake succeeds, with any certificate. `fault` is OpenSSL's reason
    why a handshake fails or why the certificate is not accepted. `verify_code` is OpenSSL's code
    for the certificate (0: accepted). `names` are the names in the certificate. Dates are as
    OpenSSL prints them.
    """

    version: str | None = None
    fault: str | None = None
    verify_code: int = 0
    subject: str | None = None
    issuer: str | None = None
    names: tuple[str, ...] = ()
    valid_from: str | None = None
    valid_until: str | None = None
    wants_certificate: bool = False


@dataclass(frozen=True, slots=True)
class ServerFindings:
    """The findings about `server` (host:port) when the time was up; None means unknown.

    `addresses` are empty if the name does not resolve. `connect_fault` says why no connection was
    made. `tls` is also None if the port speaks no TLS. `banner` is the beginning of an unknown
    server's answer, not escaped. `mechanisms` are the SASL mechanisms that the brokers enable,
    empty if they want no SASL.
    """

    server: str
    addresses: tuple[str, ...] | None = None
    connect_fault: str | None = None
    tls: TlsFindings | None = None
    spoken: Spoken | None = None
    banner: str = ""
    mechanisms: tuple[str, ...] | None = None

    @property
    def is_stranger(self) -> bool:
        """Returns True if something other than a Kafka broker answers."""
        return self.spoken in ("controller", "HTTP", "SSH", "unknown")


def probe_servers(
    servers: Sequence[str],
    cafile: str | None,
    *,
    tls_first: bool,
    mechanisms: bool = True,
    limits: ProbeLimits = PROBE_LIMITS,
) -> tuple[ServerFindings, ...]:
    """Returns the findings about each server within these limits, in the order given.

    Certificates are checked against `cafile`, None for the system's authorities. `tls_first` says
    whether a client of this configuration would use TLS. Finding `mechanisms` costs the brokers a
    failed authentication in their metrics. Raises ConfigError for a cafile without certificates.
    """
    context = tls_context(cafile)
    end = time.monotonic() + limits.total
    found: dict[str, ServerFindings] = {}

    def probe(server: str) -> None:
        try:
            found[server] = _Probe(server, context, end, limits, mechanisms=mechanisms).run(
                tls_first=tls_first
            )
        except Exception:  # noqa: BLE001 - what a stranger's port says must not hide the error
            found[server] = ServerFindings(server)

    # The time of a name look-up has no limit, so a hanging thread is left behind.
    threads = [
        threading.Thread(target=probe, args=(server,), daemon=True)
        for server in dict.fromkeys(servers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    return tuple(found.get(server, ServerFindings(server)) for server in servers)


@dataclass(frozen=True, slots=True)
class _Reply:
    """A decoded Kafka answer, or the bytes that came instead."""

    answer: Any = None
    said: bytes = b""
    closed: bool = False
    wants_certificate: bool = False

    @property
    def is_empty(self) -> bool:
        """Returns True if nothing came back."""
        return self.answer is None and not (self.said or self.closed)


class _NoConnectionError(Exception):
    """No address of the server takes a connection; the text says why."""


class _Probe:
    """A probe of one server until `end` (time.monotonic)."""

    def __init__(
        self,
        server: str,
        context: ssl.SSLContext,
        end: float,
        limits: ProbeLimits,
        *,
        mechanisms: bool,
    ) -> None:
        self._server = server
        self._wants_mechanisms = mechanisms
        host, _, port = server.rpartition(":")
        self._host, self._port = host.strip("[]"), int(port)
        self._context = context
        self._end = end
        self._limits = limits
        self._round_trips = 0.0
        self._addresses: list[Any] = []

    def run(self, *, tls_first: bool) -> ServerFindings:
        """Returns all findings about the server."""
        try:
            infos = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return ServerFindings(self._server, addresses=())
        self._addresses = [(info[0], info[4]) for info in infos]
        found = ServerFindings(
            self._server, tuple(dict.fromkeys(str(info[4][0]) for info in infos))
        )
        try:
            if tls_first:
                return self._look_with_tls(found) or self._look_plain(found)
            plain = self._look_plain(found)
            if plain.spoken == "Kafka" or plain.is_stranger:
                return plain
            return self._look_with_tls(found) or plain
        except _NoConnectionError as error:
            return replace(found, connect_fault=str(error))

    def _left(self, seconds: float) -> float:
        """Returns at most `seconds`, and more than zero, because a timeout of zero means none."""
        return max(min(seconds, self._end - time.monotonic()), 0.001)

    @property
    def _answer_time(self) -> float:
        return max(self._limits.answer, self._round_trips)

    def _connect(self) -> socket.socket:
        began, fault = time.monotonic(), "no address"
        for family, address in list(self._addresses):
            connection = socket.socket(family, socket.SOCK_STREAM)
            connection.settimeout(self._left((self._end - began) / len(self._addresses)))
            try:
                connection.connect(address)
            except OSError as error:
                connection.close()
                timed_out = isinstance(error, TimeoutError)
                fault = "timed out" if timed_out else error.strerror or str(error)
                continue
            self._addresses = [(family, address)]
            took = time.monotonic() - began
            self._round_trips = max(self._round_trips, _ROUND_TRIPS * took)
            return connection
        raise _NoConnectionError(fault)

    def _connect_with_tls(self, context: ssl.SSLContext) -> ssl.SSLSocket:
        connection = self._connect()
        try:
            connection.settimeout(self._left(self._answer_time))
            return context.wrap_socket(connection, server_hostname=self._host.rstrip("."))
        except BaseException:
            connection.close()
            raise

    def _look_plain(self, found: ServerFindings) -> ServerFindings:
        return self._look_inside(found, self._connect)

    def _look_with_tls(self, found: ServerFindings) -> ServerFindings | None:
        """Returns the findings; None if the port does not speak TLS."""
        context, tls = self._context, TlsFindings()
        try:
            try:
                connection = self._connect_with_tls(context)
            except ssl.SSLCertVerificationError as error:
                tls = TlsFindings(fault=error.verify_message, verify_code=error.verify_code)
                context = _unverified_context()
                connection = self._connect_with_tls(context)
        except ssl.SSLError as error:
            reason = error.reason or ""
            if is_certificate_alert(error):
                return replace(found, tls=TlsFindings(wants_certificate=True))
            if "ALERT" in reason or reason in ("UNSUPPORTED_PROTOCOL", "NO_PROTOCOLS_AVAILABLE"):
                return replace(found, tls=TlsFindings(fault=reason))
            return None
        except (OSError, ValueError):
            return None
        with closing(connection):
            certificate = connection.getpeercert() or self._read_certificate(connection)
            tls = replace(tls, version=connection.version(), **_fields(certificate))
            found = replace(found, tls=tls)
            return self._look_inside(found, partial(self._connect_with_tls, context), connection)

    def _read_certificate(self, connection: ssl.SSLSocket) -> Any:
        """Returns the fields of a certificate that is not accepted.

        Python reads only the fields of accepted certificates, so the certificate is used as its own
        authority.
        """
        context = _unverified_context()
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | _IGNORE_DATES
        try:
            context.load_verify_locations(cadata=connection.getpeercert(binary_form=True) or b"")
            with closing(self._connect_with_tls(context)) as again:
                return again.getpeercert()
        except (OSError, ValueError, _NoConnectionError):
            return None

    def _look_inside(
        self,
        found: ServerFindings,
        connect: Callable[[], socket.socket],
        connection: socket.socket | None = None,
    ) -> ServerFindings:
        """Returns the protocol spoken on connections of `connect`; the first may exist already."""
        first = _Conversation(connection or connect(), self._left)
        with closing(first):
            reply = first.listen(self._limits.first_word) if found.tls else _Reply()
            if reply.is_empty:
                reply = first.ask(ApiVersionsRequest(version=0), self._answer_time)
            if reply.is_empty:
                with closing(_Conversation(connect(), self._left)) as another:
                    another.send(b"GET / HTTP/1.0\r\n\r\n")
                    reply = another.listen(max(self._limits.http_answer, self._round_trips))
                if not _is_http(reply.said):
                    # The server may have been slow, and have answered meanwhile.
                    reply = first.hear(0.0)
            if reply.answer is None:
                return _classify_reply(found, reply)
            taken = {each.api_key for each in reply.answer.api_keys or ()}
            if taken and MetadataRequest.API_KEY not in taken:
                return replace(found, spoken="controller")
            mechanisms = self._mechanisms(first) if self._wants_mechanisms else None
            return replace(found, spoken="Kafka", mechanisms=mechanisms)

    def _mechanisms(self, kafka: _Conversation) -> tuple[str, ...] | None:
        request = SaslHandshakeRequest(version=1, mechanism=_NO_MECHANISM)
        answer = kafka.ask(request, self._answer_time + self._limits.rejection).answer
        if answer is None:
            return None
        if answer.error_code == _ILLEGAL_SASL_STATE:
            return ()
        return tuple(str(each) for each in answer.mechanisms)


class _Conversation:
    """Requests and answers on one connection."""

    def __init__(self, connection: socket.socket, left: Callable[[float], float]) -> None:
        self._connection = connection
        self._left = left
        self._parser = KafkaProtocol(client_id=CLIENT_ID, receive_message_max_bytes=_LONGEST_ANSWER)

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def send(self, data: bytes) -> None:
        """Sends the bytes. A closed connection shows only when the answer is read."""
        self._connection.settimeout(self._left(1.0))
        with suppress(OSError):
            self._connection.sendall(data)

    def ask(self, request: Any, seconds: float) -> _Reply:
        """Sends one request and returns its answer."""
        self._parser.send_request(request)
        self.send(self._parser.send_bytes())
        return self.hear(seconds)

    def hear(self, seconds: float) -> _Reply:
        """Returns the answer to the request, or the bytes that came instead within `seconds`."""
        end, said = time.monotonic() + seconds, b""
        while True:
            reply = self.listen(end - time.monotonic())
            said += reply.said
            if not reply.said:
                return replace(reply, said=said)
            try:
                answers = self._parser.receive_bytes(reply.said)
            except Exception:  # noqa: BLE001 - whatever a codec makes of a stranger's bytes
                return _Reply(said=said)
            if answers:
                return _Reply(answer=answers[0][1])

    def listen(self, seconds: float) -> _Reply:
        """Returns the next bytes; an empty reply if nothing comes."""
        self._connection.settimeout(self._left(seconds))
        try:
            said = self._connection.recv(4096)
        except TimeoutError:
            return _Reply()
        except OSError as error:
            return _Reply(closed=True, wants_certificate=is_certificate_alert(error))
        return _Reply(said=said, closed=not said)


def _classify_reply(found: ServerFindings, reply: _Reply) -> ServerFindings:
    """Returns the findings, completed from a reply that is not Kafka's."""
    if reply.wants_certificate and found.tls is not None:
        return replace(found, tls=replace(found.tls, wants_certificate=True))
    if not reply.said or reply.said.startswith(_TLS_RECORDS):
        return replace(found, spoken="closed" if reply.closed or reply.said else "no response")
    if _is_http(reply.said):
        return replace(found, spoken="HTTP")
    if reply.said.startswith(b"SSH-"):
        return replace(found, spoken="SSH")
    banner = reply.said.decode("latin-1").splitlines()[0][:_LONGEST_BANNER]
    return replace(found, spoken="unknown", banner=banner)


def _is_http(said: bytes) -> bool:
    return said.lstrip().lower().startswith((b"http/", b"<!doctype html", b"<html"))


def _unverified_context() -> ssl.SSLContext:
    """Returns a context that accepts any certificate; it is used only to look at one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _fields(certificate: Any) -> dict[str, Any]:
    if not certificate:
        return {}
    names = tuple(dict.fromkeys(str(name) for _, name in certificate.get("subjectAltName", ())))
    return {
        "subject": _common_name(certificate.get("subject", ())),
        "issuer": _common_name(certificate.get("issuer", ())),
        "names": names,
        "valid_from": certificate.get("notBefore"),
        "valid_until": certificate.get("notAfter"),
    }


def _common_name(name: Any) -> str | None:
    """Returns the most specific part of a distinguished name."""
    parts = {key: str(value) for part in name for key, value in part}
    return parts.get("commonName") or parts.get("organizationName")
