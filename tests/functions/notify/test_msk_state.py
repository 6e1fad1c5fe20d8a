# SPDX-License-Identifier: Apache-2.0
"""Messages on maintenance name the state of the MSK cluster, where it may be read."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from kafka_lag import contract
from kafka_lag.notify.msk_state import MskStates, read_arns
from tests.builders import MINUTE, NOON
from tests.functions.notify.builders import a_row, a_set
from tests.functions.notify.fakes import Bench

ARN = "arn:aws:kafka:eu-west-1:123456789012:cluster/shop/abc-1"
EVIDENCE = '{"brokers": "1, 2", "restarts_since": 1790000000000, "broker": 2}'


class Msk:
    """Answers one state, or raises an error; counts requests."""

    def __init__(self, answer: dict[str, Any] | Exception) -> None:
        self.answer = answer
        self.requests: list[str] = []

    def describe_cluster_v2(self, ClusterArn: str) -> dict[str, Any]:  # noqa: N803
        self.requests.append(ClusterArn)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def send(client: Msk, cause: str, arns: dict[str, str]) -> str:
    """The text about a group that went from OK to ERR for this cause."""
    bad = a_row("g", contract.ERR, held_since=NOON + MINUTE, cause=cause, cause_evidence=EVIDENCE)
    bench = Bench({NOON: a_set(a_row("g")), NOON + MINUTE: a_set(bad)})
    notifier = bench.another(states=MskStates(client, arns))
    bench.event(0, notifier)
    bench.event(1, notifier)
    (message,) = bench.channel.sent
    return message.notice.text


def test_a_message_on_maintenance_has_the_state_of_the_cluster() -> None:
    client = Msk({"ClusterInfo": {"State": "REBOOTING_BROKER"}})

    text = send(client, contract.MAINTENANCE, {"shop": ARN})

    assert "MSK: the cluster is in the state REBOOTING_BROKER." in text.splitlines()
    assert client.requests == [ARN]


@pytest.mark.parametrize(
    "answer",
    [
        ClientError({"Error": {"Code": "AccessDeniedException"}}, "DescribeClusterV2"),
        EndpointConnectionError(endpoint_url="https://kafka"),
        {},
    ],
    ids=["denied", "out of reach", "says nothing"],
)
def test_without_the_state_the_message_is_the_same_but_for_it(answer: Any) -> None:
    text = send(Msk(answer), contract.MAINTENANCE, {"shop": ARN})

    assert "Brokers restart one after another" in text
    assert "MSK:" not in text


@pytest.mark.parametrize(
    ("cause", "arns"),
    [(contract.STOPPED, {"shop": ARN}), (contract.MAINTENANCE, {"other": ARN})],
    ids=["another cause", "no cluster of MSK"],
)
def test_nothing_else_requests_it(cause: str, arns: dict[str, str]) -> None:
    client = Msk({"ClusterInfo": {"State": "MAINTENANCE"}})

    assert "MSK:" not in send(client, cause, arns)
    assert client.requests == []


def test_only_json_of_names_and_arns_is_taken() -> None:
    assert read_arns(None) == read_arns("") == {}
    assert read_arns(f'{{"shop": "{ARN}"}}') == {"shop": ARN}
    for text in ("[]", '{"shop": 1}', "shop"):
        with pytest.raises(ValueError, match=r".+"):
            read_arns(text)
