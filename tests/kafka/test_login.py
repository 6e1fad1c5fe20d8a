# SPDX-License-Identifier: Apache-2.0
"""Ways not to get in: each is one clear sentence, in bounded time, without a secret in it."""

import time
from typing import Any

import pytest

from dev.kafka import Credentials as Account
from dev.kafka import KafkaCluster
from dev.kafka.access import create_users
from dev.kafka.readiness import wait_until
from kafka_lag.brokers.access import Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.errors import LoginError, SourceError
from tests.kafka.looking import access, login, only
from tests.kafka.test_rotation import Rotated

pytestmark = pytest.mark.kafka

_WRONG = "not-the-password-of-anybody"
_NOTHING = only("nothing is called this")
_REQUEST = ReadRequest(groups=_NOTHING.groups, topics=_NOTHING.topics)


def _refusal(cluster: KafkaCluster, credentials: Any = None, **changes: Any) -> SourceError:
    """The error of a source that cannot get in."""
    source = KafkaSource(access(cluster, **changes), credentials or login(cluster))
    began = time.monotonic()
    with pytest.raises(SourceError) as caught:
        source.read(_REQUEST, began + 20)
    assert time.monotonic() - began < 20
    return caught.value


def test_a_wrong_password_is_a_refused_login_that_does_not_name_it(
    shared_cluster: KafkaCluster,
) -> None:
    wrong = FixedCredentials(Credentials("monitor", _WRONG))
    error = _refusal(shared_cluster, wrong)
    assert isinstance(error, LoginError)
    assert "rejected the login" in str(error)
    assert _WRONG not in str(error) + repr(error) + repr(error.__cause__)


def test_a_user_name_may_hold_the_signs_that_scram_escapes(shared_cluster: KafkaCluster) -> None:
    user = Account("a=b,c", "password-of-abc")
    create_users(shared_cluster.admin(), {user.username: user})

    def gets_in() -> bool:
        own = FixedCredentials(Credentials(user.username, user.password))
        source = KafkaSource(access(shared_cluster), own)
        try:
            source.read(_REQUEST, time.monotonic() + 20)
        except LoginError:
            return False
        finally:
            source.close()
        return True

    wait_until(gets_in, what="every broker knows the user", timeout=20)


def test_a_mechanism_the_brokers_lack_is_named(shared_cluster: KafkaCluster) -> None:
    error = _refusal(shared_cluster, sasl_mechanism="PLAIN")
    assert isinstance(error, LoginError)
    assert "PLAIN" in str(error)
    assert "mechanism" in str(error)


def test_a_tls_client_at_a_plaintext_port_is_told_to_check_the_protocol(
    shared_cluster: KafkaCluster,
) -> None:
    servers = tuple(shared_cluster.bootstrap("SASL_PLAINTEXT").split(","))
    error = _refusal(shared_cluster, bootstrap_servers=servers)
    assert "over SASL_SSL" in str(error)
    assert "security_protocol" in str(error)


def test_a_plaintext_client_at_a_tls_port_is_told_to_check_the_protocol(
    shared_cluster: KafkaCluster,
) -> None:
    error = _refusal(shared_cluster, security_protocol="SASL_PLAINTEXT")
    assert "over SASL_PLAINTEXT" in str(error)
    assert "security_protocol" in str(error)


def test_a_certificate_of_an_unknown_authority_is_refused(shared_cluster: KafkaCluster) -> None:
    error = _refusal(shared_cluster, cafile=None)
    assert "certificate" in str(error)


@pytest.mark.parametrize(
    "server", ["localhost:1", "no-such-host.invalid:9096"], ids=["nobody listens", "no such host"]
)
def test_a_wrong_address_is_named(shared_cluster: KafkaCluster, server: str) -> None:
    error = _refusal(shared_cluster, bootstrap_servers=(server,))
    assert server in str(error)


def test_one_good_bootstrap_server_is_enough(shared_cluster: KafkaCluster) -> None:
    servers = ("localhost:1", shared_cluster.broker_address(1))
    source = KafkaSource(access(shared_cluster, bootstrap_servers=servers), login(shared_cluster))
    reading = source.read(_REQUEST, time.monotonic() + 20)
    source.close()
    assert reading.problems == ()


def test_a_refused_password_is_looked_up_again(shared_cluster: KafkaCluster) -> None:
    (good,) = login(shared_cluster).candidates()
    assert good is not None
    rotated = Rotated(Credentials("monitor", _WRONG), good)
    source = KafkaSource(access(shared_cluster), rotated)
    assert source.read(_REQUEST, time.monotonic() + 20).problems == ()
    source.close()
    assert rotated.taken == [good]


def test_a_scram_256_login_works_as_well(shared_cluster: KafkaCluster) -> None:
    way = access(shared_cluster, sasl_mechanism="SCRAM-SHA-256")
    source = KafkaSource(way, login(shared_cluster))
    assert source.read(_REQUEST, time.monotonic() + 20).problems == ()
    source.close()
