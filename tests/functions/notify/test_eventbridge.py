# SPDX-License-Identifier: Apache-2.0
"""Events by the ten, and once more those that were not taken."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from kafka_lag import contract
from kafka_lag.notify.delivery import Unsent
from kafka_lag.notify.eventbridge import EventBridgeChannel
from kafka_lag.notify.messages import StatusEvent, StatusMessage
from tests.builders import NOON
from tests.functions.notify.fakes import NOTICE, always


def messages(*counts: int, size: int = 2) -> list[StatusMessage]:
    """Messages m0, m1, ... with so many events each, each `size` bytes long."""
    details = [
        [json.dumps({"n": f"{at}-{n}"}).ljust(size) for n in range(c)]
        for at, c in enumerate(counts)
    ]
    return [
        StatusMessage(
            f"m{at}",
            NOTICE,
            tuple(StatusEvent(f"{at}-{n}", detail, NOON) for n, detail in enumerate(some)),
        )
        for at, some in enumerate(details)
    ]


class Bus:
    """A client that keeps requests; `rejects` says of each event, by number, how often it fails."""

    def __init__(self, rejects: dict[str, int] | None = None) -> None:
        self.requests: list[list[dict[str, Any]]] = []
        self.taken: list[str] = []
        self._rejects = dict(rejects or {})

    def put_events(self, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        self.requests.append(Entries)
        return {"Entries": [self._answer(json.loads(entry["Detail"])["n"]) for entry in Entries]}

    def _answer(self, number: str) -> dict[str, str]:
        if self._rejects.get(number, 0) > 0:
            self._rejects[number] -= 1
            return {"ErrorCode": "InternalFailure", "ErrorMessage": ""}
        self.taken.append(number)
        return {"EventId": number}


class Pauses:
    """Does not wait."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def test_an_event_names_source_type_bus_and_time() -> None:
    client = Bus()
    EventBridgeChannel(client, "alerts", Pauses()).send(messages(1), always)

    assert client.requests[0] == [
        {
            "Source": contract.EVENT_SOURCE,
            "DetailType": contract.EVENT_DETAIL_TYPE,
            "Detail": '{"n": "0-0"}',
            "EventBusName": "alerts",
            "Time": datetime.fromtimestamp(NOON / 1000, UTC),
        }
    ]


@pytest.mark.parametrize(
    ("counts", "size", "requests"),
    [((1, 22, 1), 2, [10, 10, 4]), ((5,), 100_000, [2, 2, 1]), ((), 2, [])],
    ids=["ten go together", "large ones go in more requests", "nothing"],
)
def test_events_go_in_as_few_requests_as_aws_takes(
    counts: tuple[int, ...], size: int, requests: list[int]
) -> None:
    client = Bus()
    EventBridgeChannel(client, "alerts", Pauses()).send(messages(*counts, size=size), always)

    assert [len(request) for request in client.requests] == requests


def test_only_what_was_not_taken_is_sent_again() -> None:
    client, pauses = Bus({"0-1": 2, "1-0": 1}), Pauses()

    assert EventBridgeChannel(client, "alerts", pauses).send(messages(2, 1), always) == {}
    assert sorted(client.taken) == ["0-0", "0-1", "1-0"]
    assert [len(request) for request in client.requests] == [3, 2, 1]
    assert pauses.seconds == [0.2, 1.0]


def test_a_message_of_which_an_event_is_never_taken_has_failed_but_for_the_others() -> None:
    channel = EventBridgeChannel(Bus({"1-1": 9}), "alerts", Pauses())
    failed = channel.send(messages(1, 12, 1), always)

    assert list(failed) == ["m1"]
    assert failed["m1"].reason == (
        "EventBridge did not take it for alerts (InternalFailure): check that the bus exists, and "
        "that the function may put events on it"
    )
    assert failed["m1"].sent_events == {f"1-{number}" for number in range(12)} - {"1-1"}


def test_events_that_were_not_tried_are_not_out() -> None:
    rejected = {f"0-{number}": 9 for number in range(10, 20)}
    failed = EventBridgeChannel(Bus(rejected), "alerts", Pauses()).send(messages(35), always)

    assert failed["m0"].sent_events == {f"0-{number}" for number in range(10)}


class Denied:
    """A client that nothing gets past."""

    def __init__(self) -> None:
        self.calls = 0

    def put_events(self, **_: Any) -> None:
        self.calls += 1
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "x"}}, "PutEvents")


def test_after_a_request_that_is_rejected_whole_the_rest_is_not_tried() -> None:
    client = Denied()
    failed = EventBridgeChannel(client, "alerts", Pauses()).send(messages(10, 1, 500), always)

    assert list(failed) == ["m0", "m1", "m2"]
    assert client.calls == 1
    assert "(AccessDenied)" in str(failed["m0"].reason)
    assert not failed["m0"].uncertain


class BrokenConnection(Bus):
    """The connection breaks at the second request."""

    def put_events(self, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        if self.requests:
            raise ReadTimeoutError(endpoint_url="https://events.example")
        return super().put_events(Entries)


def test_what_was_taken_before_the_connection_broke_is_out_and_the_rest_uncertain() -> None:
    failed = EventBridgeChannel(BrokenConnection({"0-9": 9}), "alerts", Pauses()).send(
        messages(10, 1), always
    )

    assert failed["m0"].sent_events == {f"0-{number}" for number in range(9)}
    assert failed["m0"].uncertain
    assert "(ReadTimeoutError)" in str(failed["m0"].reason)


def test_when_the_time_is_up_the_rest_is_left_for_certain() -> None:
    client, left = Bus(), iter([True, True, False])
    failed = EventBridgeChannel(client, "alerts", Pauses()).send(messages(35), lambda: next(left))

    assert len(client.taken) == 20
    assert failed["m0"] == Unsent(None, frozenset(f"0-{number}" for number in range(20)))
