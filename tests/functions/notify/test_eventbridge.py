# SPDX-License-Identifier: Apache-2.0
"""Events are sent by ten, and rejected events once more."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from kafka_lag import contract
from kafka_lag.notify.delivery import Outcome
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
    EventBridgeChannel(client, "alerts", Pauses()).send(messages(1), set(), always)

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
    EventBridgeChannel(client, "alerts", Pauses()).send(messages(*counts, size=size), set(), always)

    assert [len(request) for request in client.requests] == requests


def test_only_what_was_not_taken_is_sent_again() -> None:
    client, pauses = Bus({"0-1": 2, "1-0": 1}), Pauses()
    outcome = EventBridgeChannel(client, "alerts", pauses).send(messages(2, 1), set(), always)

    assert outcome == Outcome({"0-0", "0-1", "1-0"})
    assert sorted(client.taken) == ["0-0", "0-1", "1-0"]
    assert [len(request) for request in client.requests] == [3, 2, 1]
    assert pauses.seconds == [0.2, 1.0]


def test_an_event_that_is_never_taken_stops_no_other_and_what_is_out_is_not_sent_again() -> None:
    client = Bus({"1-1": 9})
    outcome = EventBridgeChannel(client, "alerts", Pauses()).send(
        messages(1, 12, 1), {"0-0"}, always
    )

    assert outcome.sent == {f"1-{number}" for number in range(12)} - {"1-1"} | {"2-0"}
    assert sorted(client.taken) == sorted(outcome.sent)
    assert (outcome.is_all, outcome.reason) == (
        False,
        "EventBridge did not take it for alerts (InternalFailure): check that the bus exists, and "
        "that the function may put events on it",
    )


class Broken(Bus):
    """From the second request on it fails."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.calls = 0
        self._error = error

    def put_events(self, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803
        self.calls += 1
        if self.calls > 1:
            raise self._error
        return super().put_events(Entries)


@pytest.mark.parametrize(
    "error",
    [
        ClientError({"Error": {"Code": "AccessDenied", "Message": "x"}}, "PutEvents"),
        ReadTimeoutError(endpoint_url="https://events.example"),
    ],
)
def test_after_a_request_of_which_nothing_is_taken_the_rest_is_not_tried(error: Exception) -> None:
    client = Broken(error)
    outcome = EventBridgeChannel(client, "alerts", Pauses()).send(messages(10, 500), set(), always)

    assert client.calls == 2
    assert outcome.sent == {f"0-{number}" for number in range(10)}
    assert any(name in str(outcome.reason) for name in ("AccessDenied", "ReadTimeoutError"))


def test_when_the_time_is_up_the_rest_is_left() -> None:
    client, left = Bus(), iter([True, True, False])
    outcome = EventBridgeChannel(client, "alerts", Pauses()).send(
        messages(35), set(), lambda: next(left)
    )

    assert outcome == Outcome({f"0-{number}" for number in range(20)}, is_all=False)
