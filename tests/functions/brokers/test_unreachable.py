# SPDX-License-Identifier: Apache-2.0
"""What was found at servers that would not talk, as sentences: no socket is needed for these."""

from __future__ import annotations

import pytest
from kafka import errors

from kafka_lag.brokers.access import IAM, Access
from kafka_lag.brokers.diagnosis.ports import ServerFindings, TlsFindings
from kafka_lag.brokers.diagnosis.unreachable import advertised_error, unreachable_error
from kafka_lag.brokers.errors import login_error
from kafka_lag.errors import LoginError, SourceError

MSK = "b-1.orders.a1b2c3.c4.kafka.eu-west-1.amazonaws.com"
SERVERLESS = "boot-a1b2.c1.kafka-serverless.us-east-1.amazonaws.com"
SCRAM = Access((), "SASL_SSL", "SCRAM-SHA-512")
ROLE = Access((), "SASL_SSL", IAM)
TLS = Access((), "SSL", None, cafile="ca.pem")
PLAIN = Access((), "PLAINTEXT", None)

ENDED = errors.KafkaConnectionError("socket disconnected")
REJECTED = errors.SaslAuthenticationFailedError("no such user")
TRUSTED = TlsFindings("TLSv1.3")


def kafka(
    *mechanisms: str, server: str = "b:1", tls: TlsFindings | None = TRUSTED
) -> ServerFindings:
    return ServerFindings(server, ("10.0.0.1",), tls=tls, spoken="Kafka", mechanisms=mechanisms)


def stranger(spoken: str, banner: str = "", tls: TlsFindings | None = None) -> ServerFindings:
    return ServerFindings("b:1", ("10.0.0.1",), tls=tls, spoken=spoken, banner=banner)  # type: ignore[arg-type]


def error_of(
    access: Access,
    found: ServerFindings,
    error: Exception = ENDED,
    *,
    has_certificate: bool = False,
) -> SourceError:
    return unreachable_error(
        access, [(found.server, error)], [found], has_certificate=has_certificate
    )


@pytest.mark.parametrize(
    ("access", "mechanisms", "server", "advice"),
    [
        (ROLE, ("SCRAM-SHA-512",), f"{MSK}:9096", "Port 9096 is MSK's for SCRAM: name 9098, "),
        (SCRAM, (IAM, "AWS_MSK_IAM"), f"{MSK}:9098", "Port 9098 is MSK's for IAM: name 9096, "),
        (SCRAM, (IAM, "AWS_MSK_IAM"), f"{MSK}:9198", "name 9196, the one for SCRAM."),
        (ROLE, (), f"{MSK}:9094", "Port 9094 is MSK's for TLS without SASL: name 9098, "),
        (TLS, ("SCRAM-SHA-512",), f"{MSK}:9196", "name 9194, the one for TLS without SASL."),
        (PLAIN, ("SCRAM-SHA-512",), f"{MSK}:9096", "name 9092, the one for plaintext."),
        (SCRAM, (IAM,), f"{SERVERLESS}:9098", "MSK Serverless speaks IAM alone, at port 9098."),
        (SCRAM, (IAM,), f"{MSK}.cn:9098", "name 9096, the one for SCRAM."),
    ],
)
def test_msks_port_for_a_way_to_log_in_is_named(
    access: Access, mechanisms: tuple[str, ...], server: str, advice: str
) -> None:
    assert advice in str(error_of(access, kafka(*mechanisms, server=server)))


@pytest.mark.parametrize(
    ("access", "server"),
    [
        (SCRAM, f"{MSK}:9096"),
        (SCRAM, f"{MSK}:9196"),
        (SCRAM, f"{MSK}:14001"),
        (ROLE, f"{SERVERLESS}:9098"),
        (SCRAM, "kafka.example.com:9098"),
        (SCRAM, "b.kafka.eu-west-1.amazonaws.com.example:9098"),
    ],
)
def test_no_port_is_named_where_it_is_right_or_not_msks(access: Access, server: str) -> None:
    found = ServerFindings(server, ("10.0.0.1",), connect_fault="timed out")
    assert "MSK" not in str(error_of(access, found))


def test_an_msk_port_that_does_not_answer_is_compared_with_the_login_too() -> None:
    found = ServerFindings(f"{MSK}:9096", ("10.0.0.1",), connect_fault="timed out")
    assert str(error_of(ROLE, found)) == (
        f"No broker could be reached over SASL_SSL: {MSK}:9096: no connection (timed out). "
        "Port 9096 is MSK's for SCRAM: name 9098, the one for IAM. "
        "Check the address, and security groups, routes and firewalls on the way."
    )


def test_iam_at_the_port_of_scram_may_go_either_way() -> None:
    error = error_of(SCRAM, kafka("AWS_MSK_IAM", IAM, server=f"{MSK}:9098"))
    assert isinstance(error, LoginError)
    assert str(error) == (
        f"The brokers do not offer the mechanism SCRAM-SHA-512: {MSK}:9098: AWS_MSK_IAM and "
        "OAUTHBEARER are enabled there. Port 9098 is MSK's for IAM: name 9096, the one for SCRAM. "
        "Or set sasl_mechanism to OAUTHBEARER."
    )


def test_mechanisms_that_no_configuration_can_have_are_not_advised() -> None:
    text = str(error_of(SCRAM, kafka("GSSAPI")))
    assert text.endswith(
        "GSSAPI is enabled there. Let the brokers enable OAUTHBEARER, PLAIN, SCRAM-SHA-256 or "
        "SCRAM-SHA-512."
    )
    assert str(error_of(SCRAM, kafka("GSSAPI", "PLAIN"))).endswith("Set sasl_mechanism to PLAIN.")


def test_a_mechanism_that_fits_is_not_advised_again() -> None:
    plain = Access((), "SASL_PLAINTEXT", "PLAIN")
    assert str(error_of(plain, kafka("PLAIN"))).endswith("Set security_protocol to SASL_SSL.")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (stranger("unknown", "220 \x1b[31m\u202e"), '"220 \\u001b[31m\\u202e" is said there'),
        (stranger("unknown"), "something unknown is said there"),
        (stranger("HTTP", tls=TRUSTED), "HTTP is spoken there over TLS, not Kafka"),
        (stranger("closed"), "the port closes connections without a word"),
    ],
)
def test_a_strangers_words_are_quoted_where_they_can_do_no_harm(
    found: ServerFindings, said: str
) -> None:
    assert said in str(error_of(PLAIN, found))


def test_a_certificates_words_are_escaped_and_cut() -> None:
    names = tuple(f"b-{number}.example" for number in range(9))
    tls = TlsFindings("TLSv1.3", "mismatch", 62, names=("a\nb", *names))
    assert (
        "is for a\\u000ab, b-0.example, b-1.example, b-2.example, b-3.example, b-4.example and "
        in (str(error_of(TLS, kafka(tls=tls))))
    )
    tls = TlsFindings("TLSv1.3", "unknown", 20, subject="x" * 500, issuer="\x1b[31m")
    text = str(error_of(TLS, kafka(tls=tls)))
    assert "signed by \\u001b[31m, which is not in cafile. Check cafile: " in text
    assert "x" * 101 not in text


def test_a_plaintext_client_learns_at_once_that_it_will_need_the_authority() -> None:
    tls = TlsFindings("TLSv1.3", "unable to get local issuer certificate", 20)
    assert str(error_of(PLAIN, kafka(tls=tls))).endswith(
        "Set security_protocol to SSL, and cafile to the authority that signed the brokers' "
        "certificates."
    )


def test_a_clients_own_certificate_is_judged_by_its_own_error() -> None:
    alert = errors.SaslAuthenticationFailedError("[SSL: SSLV3_ALERT_CERTIFICATE_EXPIRED]")
    for tls in (
        TlsFindings("TLSv1.3", wants_certificate=True),
        TlsFindings(fault="SSLV3_ALERT_HANDSHAKE_FAILURE"),
    ):
        found = ServerFindings("b:1", ("10.0.0.1",), tls=tls)
        assert "CERTIFICATE_EXPIRED" in str(error_of(TLS, found, alert, has_certificate=True))
        assert "client certificate" in str(error_of(TLS, found, has_certificate=False))


def test_a_login_that_is_refused_by_a_broker_that_enables_it_is_wrong_itself() -> None:
    error = error_of(SCRAM, kafka("SCRAM-SHA-512"), REJECTED)
    assert isinstance(error, LoginError)
    assert str(error) == (
        "The brokers rejected the login (SCRAM-SHA-512): b:1: no such user. "
        "The brokers enable this mechanism, so check user name and password."
    )


def test_a_rejected_login_names_the_mechanism_that_the_user_may_have_a_password_for() -> None:
    error = error_of(SCRAM, kafka("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"), REJECTED)
    assert str(error).endswith(
        "so check user name and password. They also enable SCRAM-SHA-256, and keep a password for "
        "each apart: if the user has only that one, set sasl_mechanism to SCRAM-SHA-256."
    )


def test_a_rejected_token_is_in_msks_words() -> None:
    rejected = error_of(ROLE, kafka(IAM), REJECTED)
    assert str(rejected).startswith("The brokers rejected the token (AWS_MSK_IAM): b:1: ")
    not_offered = error_of(ROLE, kafka("SCRAM-SHA-512"))
    assert "mechanism OAUTHBEARER, which AWS_MSK_IAM needs here: " in str(not_offered)


def test_a_broker_that_hangs_up_on_a_login_it_enables_adds_nothing_to_the_rejection() -> None:
    hung_up = login_error(SCRAM, ENDED)
    certain = error_of(SCRAM, kafka("SCRAM-SHA-512"), hung_up)
    unsure = unreachable_error(SCRAM, [("b:1", hung_up)])
    assert str(certain) == (
        "The brokers rejected the login (SCRAM-SHA-512): b:1. "
        "The brokers enable this mechanism, so check user name and password."
    )
    assert "b:1: " in str(unsure)
    assert "hung up during the login" in str(unsure)


def test_a_rejection_goes_before_a_server_that_is_not_there() -> None:
    closed = ServerFindings("c:1", ("10.0.0.2",), connect_fault="Connection refused")
    error = unreachable_error(
        SCRAM, [("c:1", ENDED), ("b:1", REJECTED)], [kafka("SCRAM-SHA-512"), closed]
    )
    assert isinstance(error, LoginError)
    assert str(error).startswith("The brokers rejected the login (SCRAM-SHA-512): b:1: no such")
    assert "c:1: nothing listens on this port" in str(error)
    assert "Check the port" not in str(error)


def test_servers_with_the_same_fault_are_named_together() -> None:
    servers = [f"b-{number}:1" for number in range(8)]
    found = [ServerFindings(server, addresses=()) for server in servers]
    text = str(unreachable_error(PLAIN, [(server, ENDED) for server in servers], found))
    assert "b-0:1, b-1:1, b-2:1, b-3:1, b-4:1, b-5:1 and 2 more: the name does not resolve." in text
    assert text.count("Check ") == 1


def test_without_findings_the_clients_own_words_are_there() -> None:
    unknown = ServerFindings("b:1")
    for findings in ([], [unknown]):
        assert str(unreachable_error(PLAIN, [("b:1", ENDED)], findings)) == (
            "No broker could be reached over PLAINTEXT: b:1: socket disconnected. Check "
            "bootstrap_servers, security_protocol (TLS or plaintext port?) and the network path."
        )


def test_brokers_that_advertise_what_can_be_reached_have_no_such_error() -> None:
    down = [("b:1", "broker 1: no answer within 2 s")]
    assert advertised_error(PLAIN, down, [kafka(tls=None)]) is None
    assert advertised_error(PLAIN, [], []) is None


def test_advertised_addresses_that_fail_are_named_beside_brokers_that_hang() -> None:
    down = [("b:1", "broker 1: no answer within 2 s"), ("c:1", "broker 2: DNS")]
    error = advertised_error(PLAIN, down, [kafka(tls=None), ServerFindings("c:1", addresses=())])
    assert str(error) == (
        "A bootstrap server answered, but no broker can be reached at the address that it "
        "advertises (advertised.listeners): b:1: broker 1: no answer within 2 s; c:1: the name "
        "does not resolve. Check whether the brokers run. Check the name, and that DNS knows it "
        "here: a private name is known inside its VPC alone."
    )
