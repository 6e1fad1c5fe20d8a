# SPDX-License-Identifier: Apache-2.0
"""Findings about a port, and that the probe sends no secret there."""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme

from kafka_lag.brokers.access import Access, ProbeLimits
from kafka_lag.brokers.diagnosis.ports import ServerFindings, probe_servers
from kafka_lag.brokers.diagnosis.unreachable import find_fault
from tests.functions.brokers.listening import HANDSHAKE, cluster
from tests.functions.brokers.strangers import (
    BAD_REQUEST,
    Serve,
    answers,
    greets,
    hangs_up,
    patient_http_server,
    port,
    stays_silent,
)

EITHER_FIRST = pytest.mark.parametrize("tls_first", [True, False], ids=["TLS first", "plain first"])
AUTHORITY = trustme.CA(organization_name="Brokers & Co")

# More than any test may take. Whoever says something says it however busy the machine is.
NEVER = 3000.0
UNHURRIED = ProbeLimits(total=NEVER, answer=NEVER, http_answer=NEVER)
# For those who say nothing on purpose.
BRIEF = ProbeLimits(total=NEVER, answer=0.05, http_answer=0.05)


def find(
    server: str,
    cafile: str | None = None,
    *,
    tls_first: bool = False,
    limits: ProbeLimits = UNHURRIED,
) -> ServerFindings:
    (found,) = probe_servers([server], cafile, tls_first=tls_first, limits=limits)
    return found


def server_context(leaf: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    leaf.configure_cert(context)
    return context


@pytest.fixture(name="cafile")
def _cafile(tmp_path: Path) -> str:
    AUTHORITY.cert_pem.write_to_path(tmp_path / "ca.pem")
    return str(tmp_path / "ca.pem")


@pytest.mark.parametrize(("seconds", "answer"), [(120.0, 12.0), (2.0, 0.4)])
def test_whoever_waits_longer_in_all_gives_each_answer_a_tenth_of_it(
    seconds: float, answer: float
) -> None:
    limits = ProbeLimits.within(seconds)
    assert (limits.total, limits.answer, limits.http_answer) == (seconds, answer, answer)


@EITHER_FIRST
@pytest.mark.parametrize(
    ("serve", "spoken", "banner"),
    [
        (answers(BAD_REQUEST), "HTTP", ""),
        (answers(b"<!DOCTYPE HTML>\n<html>"), "HTTP", ""),
        (greets(b"SSH-2.0-OpenSSH_9.2\r\n"), "SSH", ""),
        (greets(b"220 mail \x1b[31m\r\nsecond line"), "unknown", "220 mail \x1b[31m"),
        (greets(b"x" * 500), "unknown", "x" * 60),
        (stays_silent, "no response", ""),
        (hangs_up, "closed", ""),
    ],
    ids=["HTTP", "a page", "SSH", "a banner", "a long banner", "silence", "an end"],
)
def test_what_is_no_kafka_is_named(
    serve: Serve, spoken: str, banner: str, *, tls_first: bool
) -> None:
    limits = BRIEF if serve is stays_silent else UNHURRIED
    with port(serve) as server:
        found = find(server, tls_first=tls_first, limits=limits)
    assert (found.addresses, found.connect_fault, found.tls) == (("127.0.0.1",), None, None)
    assert (found.spoken, found.banner, found.mechanisms) == (spoken, banner, None)


def test_http_is_named_over_tls_and_where_the_server_waits_for_a_line(cafile: str) -> None:
    with patient_http_server() as server:
        found = find(server, limits=replace(BRIEF, http_answer=NEVER))
    assert found.spoken == "HTTP"
    context = server_context(AUTHORITY.issue_cert("127.0.0.1"))

    def serve(connection: Any) -> None:
        with context.wrap_socket(connection, server_side=True) as encrypted:
            encrypted.recv(4096)
            encrypted.sendall(BAD_REQUEST)

    with port(serve) as server:
        found = find(server, cafile)
    assert found.spoken == "HTTP"
    assert found.tls is not None
    assert found.tls.fault is None


def test_a_port_at_which_nobody_listens_and_a_name_that_does_not_resolve_are_told_apart() -> None:
    for name in ("no-such-host.invalid:9092", "b-1..example:9092", ".example:1"):
        assert find(name) == ServerFindings(name, addresses=())
    found = find("localhost:1")
    assert found.addresses is not None
    assert "127.0.0.1" in found.addresses
    assert found.connect_fault == "Connection refused"


@EITHER_FIRST
def test_brokers_are_known_and_asked_for_no_login(*, tls_first: bool) -> None:
    with cluster(1) as brokers:
        found = find(brokers[1].address, tls_first=tls_first)
        assert set(brokers[1].requests) == {"ApiVersions", "SaslHandshake"}
    assert (found.spoken, found.tls) == ("Kafka", None)
    assert found.mechanisms is not None
    with cluster(1) as brokers:
        (found,) = probe_servers(
            [brokers[1].address], None, tls_first=tls_first, mechanisms=False, limits=UNHURRIED
        )
        assert set(brokers[1].requests) == {"ApiVersions"}
    assert (found.spoken, found.mechanisms) == ("Kafka", None)


def test_a_broker_that_is_slow_to_answer_is_not_called_silent() -> None:
    others, answered = threading.Event(), threading.Event()

    def serve(connection: socket.socket) -> None:
        request = connection.recv(4096)
        if request.startswith(b"GET"):
            others.set()
            assert answered.wait(240)
            return
        assert others.wait(240)
        connection.sendall(b"\0\0\0\x0a" + request[8:12] + b"\0\0" + b"\0\0\0\0")
        answered.set()

    with port(serve) as server:
        found = find(server, limits=replace(BRIEF, http_answer=NEVER))
        assert found.spoken == "Kafka"


def test_a_controller_is_recognised_by_what_it_takes() -> None:
    def serve(connection: socket.socket) -> None:
        request = connection.recv(4096)
        # ApiVersions: no error, and one API that it takes, which is Fetch.
        body = request[8:12] + b"\0\0" + b"\0\0\0\1" + b"\0\1\0\0\0\x11"
        connection.sendall(len(body).to_bytes(4, "big") + body)

    with port(serve) as server:
        found = find(server)
    assert found.spoken == "controller"
    fault = find_fault(Access((server,)), found)
    assert fault is not None
    assert fault.finding == "a controller of Kafka listens there, not a broker"


def test_an_accepted_certificate_is_described(cafile: str) -> None:
    leaf = AUTHORITY.issue_cert("127.0.0.1", "b-1.example", common_name="b-1")
    with cluster(1, server_context(leaf)) as brokers:
        found = find(brokers[1].address, cafile, tls_first=True)
    assert found.spoken == "Kafka"
    assert found.tls is not None
    assert (found.tls.version, found.tls.fault, found.tls.verify_code) == ("TLSv1.3", None, 0)
    assert (found.tls.subject, found.tls.issuer) == ("b-1", "Brokers & Co")
    assert set(found.tls.names) == {"127.0.0.1", "b-1.example"}


EXPIRED = datetime(2026, 1, 31, tzinfo=UTC)
EARLY = datetime.now(UTC) + timedelta(days=2)


@pytest.mark.parametrize(
    ("leaf", "code", "field", "value"),
    [
        (
            AUTHORITY.issue_cert("127.0.0.1", not_after=EXPIRED),
            10,
            "valid_until",
            "Jan 31 00:00:00 2026 GMT",
        ),
        (AUTHORITY.issue_cert("127.0.0.1", not_before=EARLY), 9, "version", "TLSv1.3"),
        (AUTHORITY.issue_cert("b-1.example"), 64, "names", ("b-1.example",)),
        (trustme.CA(organization_name="Me").issue_cert("127.0.0.1"), 20, "issuer", "Me"),
    ],
    ids=["expired", "not yet valid", "another name", "another authority"],
)
def test_a_certificate_that_is_not_accepted_is_described_and_looked_behind(
    cafile: str, leaf: trustme.LeafCert, code: int, field: str, value: object
) -> None:
    with cluster(1, server_context(leaf)) as brokers:
        found = find(brokers[1].address, cafile)
    assert found.tls is not None
    assert found.tls.fault
    assert found.tls.verify_code == code
    assert getattr(found.tls, field) == value
    assert (found.spoken, found.mechanisms is None) == ("Kafka", False)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_client_certificate_that_is_wanted_is_found_and_none_is_shown(
    cafile: str, version: ssl.TLSVersion
) -> None:
    context = server_context(AUTHORITY.issue_cert("127.0.0.1"))
    context.verify_mode = ssl.CERT_REQUIRED
    context.minimum_version = context.maximum_version = version
    AUTHORITY.configure_trust(context)
    with cluster(1, context) as brokers:
        found = find(brokers[1].address, cafile, limits=replace(UNHURRIED, first_word=NEVER))
    assert found.tls is not None
    if version is ssl.TLSVersion.TLSv1_3:
        assert found.tls.wants_certificate
    else:
        # Before TLS 1.3 the alert does not say what the server misses.
        assert found.tls.fault == "SSLV3_ALERT_HANDSHAKE_FAILURE"
    assert found.spoken is None


def test_many_servers_are_looked_at_side_by_side_and_reported_in_order() -> None:
    all_there = threading.Barrier(20)

    def serve(connection: socket.socket) -> None:
        all_there.wait(240)
        connection.sendall(b"SSH-2.0")

    with ExitStack() as ports, cluster(1) as brokers:
        others = [ports.enter_context(port(serve)) for _ in range(20)]
        servers = ["localhost:1", *others[:10], brokers[1].address, *others[10:]]
        found = probe_servers(servers, None, tls_first=False, limits=UNHURRIED)
    assert [each.server for each in found] == servers
    assert [each.spoken for each in found] == [None, *["SSH"] * 10, "Kafka", *["SSH"] * 10]


@pytest.mark.timeout(240)
def test_a_server_is_left_unknown_when_the_time_is_up() -> None:
    with cluster(1) as brokers:
        brokers[1].hangs_on = {HANDSHAKE}
        found = find(brokers[1].address, tls_first=True, limits=replace(UNHURRIED, total=0.05))
    assert found.mechanisms is None
    assert found.spoken != "Kafka"


def test_no_probe_leaves_an_open_file_behind() -> None:
    with port(stays_silent) as silent, port(hangs_up) as ends:
        servers = [silent, ends, "localhost:1"]
        probe_servers(servers, None, tls_first=True, limits=BRIEF)
        before = len(os.listdir("/dev/fd"))
        for _ in range(3):
            probe_servers(servers, None, tls_first=True, limits=BRIEF)
        # Connections that the threads of this test serve end a moment later.
        end = time.monotonic() + 240
        while len(os.listdir("/dev/fd")) > before and time.monotonic() < end:
            time.sleep(0.02)
        assert len(os.listdir("/dev/fd")) <= before
