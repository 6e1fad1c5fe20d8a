# SPDX-License-Identifier: Apache-2.0
"""The security protocol of brokers if no option names one, on real sockets."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
import trustme

from kafka_lag.brokers.access import Access, ProbeLimits
from kafka_lag.errors import ConfigError
from kafka_lag_cli.command import main
from kafka_lag_cli.connecting.protocol import find_protocol
from tests.functions.brokers.listening import cluster

NEVER = 3000.0
UNHURRIED = ProbeLimits(total=NEVER, answer=NEVER, http_answer=NEVER)
AUTHORITY = trustme.CA()


def guessed(server: str, cafile: str | None = None, *, logs_in: bool = False) -> Access:
    """As the options guess before anybody is asked."""
    protocol, mechanism = ("SASL_SSL", "PLAIN") if logs_in else ("PLAINTEXT", None)
    return Access((server,), protocol, mechanism, cafile)


@pytest.mark.parametrize(("logs_in", "expected"), [(False, "SSL"), (True, "SASL_SSL")])
def test_tls_is_found(logs_in: bool, expected: str, tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert("127.0.0.1").configure_cert(context)
    AUTHORITY.cert_pem.write_to_path(tmp_path / "ca.pem")

    with cluster(1, tls=context) as brokers:
        access = guessed(brokers[1].address, str(tmp_path / "ca.pem"), logs_in=logs_in)
        found = find_protocol(access, UNHURRIED)

    assert found.security_protocol == expected


def test_brokers_without_tls_are_found() -> None:
    with cluster(1) as brokers:
        found = find_protocol(guessed(brokers[1].address), UNHURRIED)

    assert found.security_protocol == "PLAINTEXT"


def test_a_login_goes_out_without_tls_only_where_somebody_said_so() -> None:
    with cluster(1) as brokers:
        with pytest.raises(
            ConfigError, match=r"without TLS.* set security_protocol to SASL_PLAINTEXT"
        ):
            find_protocol(guessed(brokers[1].address, logs_in=True), UNHURRIED)
        assert "SaslAuthenticate" not in brokers[1].requests


def test_advice_names_keys_of_the_file_beside_which_no_login_is_an_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "client.properties"
    path.write_text(
        "sasl.mechanism=PLAIN\nsasl.jaas.config=org.apache.kafka.common.security.plain."
        'PlainLoginModule required username="u" password="p";\n'
    )
    with cluster(1) as brokers:
        assert main(["show", "-b", brokers[1].address, "--command-config", str(path)]) == 1

    assert "or set security.protocol to SASL_PLAINTEXT." in capsys.readouterr().err


def test_where_nobody_answers_it_stays_a_guess() -> None:
    access = guessed("127.0.0.1:1")
    assert find_protocol(access, UNHURRIED) == access
