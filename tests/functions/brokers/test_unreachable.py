# SPDX-License-Identifier: Apache-2.0
"""Sentences about servers that cannot be used, from findings, so no test needs a socket.

`tests/golden/unreachable.txt` has each of them.
"""

from __future__ import annotations

from kafka import errors

from kafka_lag.brokers.access import IAM, Access
from kafka_lag.brokers.diagnosis.ports import ServerFindings, TlsFindings
from kafka_lag.brokers.diagnosis.unreachable import advertised_error, unreachable_error
from kafka_lag.brokers.errors import login_error
from kafka_lag.errors import LoginError, SourceError
from tests.golden import Golden

MSK = "b-1.orders.a1b2c3.c4.kafka.eu-west-1.amazonaws.com"
SERVERLESS = "boot-a1b2.c1.kafka-serverless.us-east-1.amazonaws.com"
SCRAM = Access((), "SASL_SSL", "SCRAM-SHA-512")
ROLE = Access((), "SASL_SSL", IAM)
TLS = Access((), "SSL", None, cafile="ca.pem")
PLAIN = Access((), "PLAINTEXT", None)

ENDED = errors.KafkaConnectionError("socket disconnected")
REJECTED = errors.SaslAuthenticationFailedError("no such user")
EXPIRED = errors.SaslAuthenticationFailedError("[SSL: SSLV3_ALERT_CERTIFICATE_EXPIRED]")
ENDED_LOGIN = login_error(SCRAM, ENDED)
TRUSTED = TlsFindings("TLSv1.3")
ALERT = TlsFindings(fault="SSLV3_ALERT_HANDSHAKE_FAILURE")
WANTED = TlsFindings("TLSv1.3", wants_certificate=True)
UNKNOWN_ISSUER = TlsFindings("TLSv1.3", "unable to get local issuer certificate", 20)
SAME_NAME = [ServerFindings(f"b-{number}:1", addresses=()) for number in range(8)]


def kafka(
    *mechanisms: str, server: str = "b:1", tls: TlsFindings | None = TRUSTED
) -> ServerFindings:
    return ServerFindings(server, ("10.0.0.1",), tls=tls, spoken="Kafka", mechanisms=mechanisms)


def stranger(spoken: str, banner: str = "", tls: TlsFindings | None = None) -> ServerFindings:
    return ServerFindings("b:1", ("10.0.0.1",), tls=tls, spoken=spoken, banner=banner)  # type: ignore[arg-type]


def secured(tls: TlsFindings) -> ServerFindings:
    return ServerFindings("b:1", ("10.0.0.1",), tls=tls)


def silent(server: str) -> ServerFindings:
    return ServerFindings(server, ("10.0.0.1",), connect_fault="timed out")


def error_of(
    access: Access, *found: ServerFindings, error: Exception = ENDED, certificate: bool = False
) -> SourceError:
    failed = [(each.server, error) for each in found]
    return unreachable_error(access, failed, list(found), has_certificate=certificate)


SAID: dict[str, SourceError | None] = {
    "IAM at MSK's port for SCRAM": error_of(ROLE, kafka("SCRAM-SHA-512", server=f"{MSK}:9096")),
    "SCRAM at MSK's port for IAM": error_of(SCRAM, kafka("AWS_MSK_IAM", IAM, server=f"{MSK}:9098")),
    "the same, public": error_of(SCRAM, kafka(IAM, "AWS_MSK_IAM", server=f"{MSK}:9198")),
    "the same in China": error_of(SCRAM, kafka(IAM, server=f"{MSK}.cn:9098")),
    "IAM at the port for TLS": error_of(ROLE, kafka(server=f"{MSK}:9094")),
    "TLS at the port for SCRAM": error_of(TLS, kafka("SCRAM-SHA-512", server=f"{MSK}:9196")),
    "plaintext at the same": error_of(PLAIN, kafka("SCRAM-SHA-512", server=f"{MSK}:9096")),
    "SCRAM at MSK Serverless": error_of(SCRAM, kafka(IAM, server=f"{SERVERLESS}:9098")),
    "an MSK port that does not answer": error_of(ROLE, silent(f"{MSK}:9096")),
    "no mechanism of ours": error_of(SCRAM, kafka("GSSAPI")),
    "one of ours beside another": error_of(SCRAM, kafka("GSSAPI", "PLAIN")),
    "a mechanism that fits, over TLS": error_of(
        Access((), "SASL_PLAINTEXT", "PLAIN"), kafka("PLAIN")
    ),
    "a banner": error_of(PLAIN, stranger("unknown", "220 \x1b[31m\u202e")),
    "something": error_of(PLAIN, stranger("unknown")),
    "HTTP over TLS": error_of(PLAIN, stranger("HTTP", tls=TRUSTED)),
    "an end": error_of(PLAIN, stranger("closed")),
    "another name in the certificate": error_of(
        TLS,
        kafka(
            tls=TlsFindings(
                "TLSv1.3", "mismatch", 62, names=("a\nb", *(f"b-{n}" for n in range(9)))
            )
        ),
    ),
    "another authority": error_of(
        TLS, kafka(tls=TlsFindings("TLSv1.3", "unknown", 20, subject="x" * 120, issuer="\x1b[31m"))
    ),
    "another authority, of plaintext": error_of(PLAIN, kafka(tls=UNKNOWN_ISSUER)),
    "a certificate that is wanted": error_of(TLS, secured(WANTED)),
    "the same before TLS 1.3": error_of(TLS, secured(ALERT)),
    "our own that has expired": error_of(TLS, secured(WANTED), error=EXPIRED, certificate=True),
    "the same before TLS 1.3, too": error_of(TLS, secured(ALERT), error=EXPIRED, certificate=True),
    "a wrong password": error_of(SCRAM, kafka("SCRAM-SHA-512"), error=REJECTED),
    "a password for another mechanism": error_of(
        SCRAM, kafka("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"), error=REJECTED
    ),
    "a rejected token": error_of(ROLE, kafka(IAM), error=REJECTED),
    "a token that is not taken": error_of(ROLE, kafka("SCRAM-SHA-512")),
    "an end during the login": error_of(SCRAM, kafka("SCRAM-SHA-512"), error=ENDED_LOGIN),
    "the same, nothing found": unreachable_error(SCRAM, [("b:1", ENDED_LOGIN)]),
    "a wrong password beside nobody": unreachable_error(
        SCRAM,
        [("c:1", ENDED), ("b:1", REJECTED)],
        [
            kafka("SCRAM-SHA-512"),
            ServerFindings("c:1", ("10.0.0.2",), connect_fault="Connection refused"),
        ],
    ),
    "many without a name": error_of(PLAIN, *SAME_NAME),
    "nothing found": unreachable_error(PLAIN, [("b:1", ENDED)], []),
    "advertised where nobody is": advertised_error(
        PLAIN,
        [("b:1", "broker 1: no answer within 2 s"), ("c:1", "broker 2: DNS")],
        [kafka(tls=None), ServerFindings("c:1", addresses=())],
    ),
}


def test_what_was_found_is_said_as_it_was_reviewed(golden: Golden) -> None:
    lines = (f"{title}: {error}" for title, error in SAID.items())

    golden.holds("unreachable.txt", "\n".join(lines))


def test_a_login_that_is_refused_or_not_offered_is_an_error_of_the_login() -> None:
    logins = {title for title, error in SAID.items() if isinstance(error, LoginError)}

    assert {"a wrong password", "SCRAM at MSK's port for IAM", "no mechanism of ours"} <= logins
    assert "a wrong password beside nobody" in logins
    assert not {"nothing found", "a banner", "many without a name", "HTTP over TLS"} & logins


def test_nothing_that_a_stranger_says_is_shown_as_it_came() -> None:
    for error in SAID.values():
        assert str(error).isprintable()
        assert "x" * 101 not in str(error)


def test_no_port_is_named_where_it_is_right_or_not_msks() -> None:
    of_others = ("kafka.example.com:9098", "b.kafka.eu-west-1.amazonaws.com.example:9098")
    servers = (*(f"{MSK}:{port}" for port in (9096, 9196, 14001)), *of_others)

    assert not [each for each in servers if "MSK" in str(error_of(SCRAM, silent(each)))]
    assert "MSK" not in str(error_of(ROLE, silent(f"{SERVERLESS}:9098")))


def test_servers_without_findings_or_with_the_same_fault_have_one_advice() -> None:
    unknown = error_of(PLAIN, ServerFindings("b:1"))

    assert str(unknown) == str(SAID["nothing found"])
    assert str(SAID["many without a name"]).count("Check ") == 1


def test_brokers_that_advertise_what_can_be_reached_have_no_such_error() -> None:
    down = [("b:1", "broker 1: no answer within 2 s")]

    assert advertised_error(PLAIN, down, [kafka(tls=None)]) is None
    assert advertised_error(PLAIN, [], []) is None
