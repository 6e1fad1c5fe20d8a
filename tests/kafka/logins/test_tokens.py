# SPDX-License-Identifier: Apache-2.0
"""Tokens that brokers refuse, and tokens that expire."""

from __future__ import annotations

from contextlib import suppress

import pytest

from dev.kafka import KafkaCluster
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.errors import LoginError
from tests.kafka.logins.ways import by_token, read, refusal, token, until, whole

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]


@pytest.mark.parametrize("bad", ["no.token.this", token(seconds=-5)], ids=["unreadable", "expired"])
def test_a_bad_token_is_refused_in_a_sentence_without_it(
    shared_cluster: KafkaCluster, bad: str
) -> None:
    error = refusal(by_token(shared_cluster, lambda: bad))
    assert isinstance(error, LoginError)
    assert str(error).startswith("The brokers rejected the token (AWS_MSK_IAM): 127.0.0.1:")
    assert "role may kafka-cluster:Connect" in str(error)
    assert "password" not in str(error)
    assert bad not in whole(error)


def test_after_an_expired_token_a_fresh_one_is_taken(shared_cluster: KafkaCluster) -> None:
    life = [-5.0]
    source = KafkaSource(*by_token(shared_cluster, lambda: token(life[-1])))
    with pytest.raises(LoginError):
        read(source)
    life.append(60.0)
    read(source)
    source.close()


def test_a_token_that_expires_while_connected_is_replaced_without_a_word(
    shared_cluster: KafkaCluster,
) -> None:
    # On a machine that is busy a token may be over before its login is.
    for seconds in (1.5, 10.0, 60.0):
        with suppress(LoginError):
            _outlive_tokens(shared_cluster, seconds)
            return
    pytest.fail("no token was replaced without a word")


def _outlive_tokens(cluster: KafkaCluster, seconds: float) -> None:
    made: list[str] = []

    def short() -> str:
        made.append(token(seconds=seconds))
        return made[-1]

    source = KafkaSource(*by_token(cluster, short))
    read(source)
    first = len(made)

    def all_brokers_have_another() -> bool:
        read(source)
        return len(made) >= first + len(cluster.node_ids)

    until(all_brokers_have_another)
    source.close()
