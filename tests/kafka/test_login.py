# SPDX-License-Identifier: Apache-2.0
"""A user whose name has special characters."""

import time

import pytest

from dev.kafka import Credentials as Account
from dev.kafka import KafkaCluster
from dev.kafka.access import create_users
from dev.kafka.readiness import wait_until
from kafka_lag.brokers.access import Credentials
from kafka_lag.brokers.login import FixedCredentials
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.errors import LoginError
from tests.kafka.looking import ANSWERED_WITHIN, access, only

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

_NOTHING = only("nothing is called this")
_REQUEST = ReadRequest(groups=_NOTHING.groups, topics=_NOTHING.topics)


def test_a_user_name_may_hold_the_signs_that_scram_escapes(shared_cluster: KafkaCluster) -> None:
    user = Account("a=b,c", "password-of-abc")
    create_users(shared_cluster.admin(), {user.username: user})

    def gets_in() -> bool:
        own = FixedCredentials(Credentials(user.username, user.password))
        source = KafkaSource(access(shared_cluster), own)
        try:
            source.read(_REQUEST, time.monotonic() + ANSWERED_WITHIN)
        except LoginError:
            return False
        finally:
            source.close()
        return True

    wait_until(gets_in, what="every broker knows the user")
