# SPDX-License-Identifier: Apache-2.0
"""The requests for a call of look-ups, and the answer that each look-up gets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.brokers.errors import UnansweredError
from kafka_lag.brokers.time_lookups import FULL_REQUEST, SMALL_REQUEST, LookUpBudget, look_up
from kafka_lag.lag.columns import Column, Rows, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.time_index import NEWEST
from tests.functions.brokers.fakes import FakeConnections

# A look-up: topic, partition, time; partitions are led by brokers 1 to 3, 99 by none.
LookUp = tuple[str, int, int]
Answer = tuple[int, int] | str | None

NONE, UNANSWERED = "none", None
NOBODYS = 99
ALL_TIME = 1e9


def leader(number: int) -> int | None:
    """The broker that leads a partition."""
    return None if number == NOBODYS else 1 + number % 3


def _lookups_of(look_ups: list[LookUp]) -> tuple[Frame, Rows]:
    frame = Frame.of(
        {
            "topic": Strings.of(topic for topic, _, _ in look_ups),
            "partition_id": Column.of(np.array([number for _, number, _ in look_ups], np.int32)),
            "leader": Column.optional([leader(number) for _, number, _ in look_ups], np.int32),
        }
    )
    return frame, np.array([time for _, _, time in look_ups], np.int64)


def _record(topic: str, number: int, time: int) -> tuple[int, int]:
    """The offset and time that a partition names: a record every 10 ms, the newest at 1,000."""
    at = 1000 if time == NEWEST else -(-time // 10) * 10
    return (-1, -1) if at > 1000 else (ord(topic[0]) * 100_000 + number * 1000 + at // 10, at)


def part(topic: str, number: int, time: int, error: int = 0) -> Any:
    """A partition of an answer."""
    offset, at = (-1, -1) if error else _record(topic, number, time)
    return SimpleNamespace(partition_index=number, error_code=error, offset=offset, timestamp=at)


def index(request: Any, errors: dict[str, int] | None = None) -> Any:
    """A broker's answer, topics and partitions in another order than requested."""
    topics = [
        SimpleNamespace(
            name=topic.name,
            partitions=[
                part(topic.name, p.partition_index, p.timestamp, (errors or {}).get(topic.name, 0))
                for p in reversed(topic.partitions)
            ],
        )
        for topic in reversed(request.topics)
    ]
    return SimpleNamespace(topics=topics)


class Overlapping(FakeConnections):
    """What is gathered is in flight together, `most_at_once` at a time."""

    most_at_once = 0
    _under_way = 0

    async def send(self, node: Any, request: Any) -> Any:
        self._under_way += 1
        self.most_at_once = max(self.most_at_once, self._under_way)
        await asyncio.sleep(0)
        self._under_way -= 1
        return await super().send(node, request)

    async def gather(self, coroutines: Iterable[Coroutine[Any, Any, Any]]) -> list[Any]:
        return list(await asyncio.gather(*coroutines))


class Call:
    """A call of look-ups on fake brokers, each request of which takes some seconds."""

    def __init__(self, answer: Callable[[Any], Any] = index, seconds: float = 0.0) -> None:
        self.budget = LookUpBudget()
        self.now = 0.0
        self.seconds = dict.fromkeys((1, 2, 3), seconds)
        self.connections: FakeConnections = FakeConnections(self._timed)
        self._reply = answer
        # Requests that name these topics take other seconds.
        self.tiered: frozenset[str] = frozenset()
        self.remote_seconds = 0.0

    def overlapping(self) -> Overlapping:
        """Lets requests overlap; the seconds are then those of a broker that works in turn."""
        self.connections = connections = Overlapping(self._timed)
        return connections

    def look_up(self, *look_ups: LookUp, deadline: float = ALL_TIME) -> list[Answer]:
        """The answer to each look-up: offset and time, that there is none, or nothing."""
        connections: Any = self.connections
        answers = asyncio.run(
            look_up(
                connections,
                *_lookups_of(list(look_ups)),
                self.budget,
                deadline,
                lambda: self.now,
                self.tiered,
            )
        )
        assert not (answers.found & answers.none).any()
        found = zip(answers.offsets.tolist(), answers.times.tolist(), strict=True)
        return [
            record if is_found else NONE if is_none else UNANSWERED
            for record, is_found, is_none in zip(found, answers.found, answers.none, strict=True)
        ]

    def sent(self, node: int | None = None) -> list[list[LookUp]]:
        """The look-ups of each request, to one broker or to all."""
        return [
            [(t.name, p.partition_index, p.timestamp) for t in request.topics for p in t.partitions]
            for at, request in zip(self.connections.sent_to, self.connections.requests, strict=True)
            if node in (None, at)
        ]

    def _timed(self, request: Any) -> Any:
        remote = any(topic.name in self.tiered for topic in request.topics)
        self.now += self.remote_seconds if remote else self.seconds[self.connections.sent_to[-1]]
        return self._reply(request)


def expected(topic: str, number: int, time: int) -> Answer:
    """The right answer to a look-up."""
    if number == NOBODYS:
        return UNANSWERED
    offset, at = _record(topic, number, time)
    return NONE if offset < 0 else (offset, at)


ORDERS_AT_7 = ("orders", 0, 7)
LOOK_UPS = st.lists(
    st.tuples(
        st.sampled_from(["orders", "payments", "clicks"]),
        st.sampled_from([0, 1, 2, 3, 4, 70, NOBODYS]),
        st.sampled_from([NEWEST, 0, 7, 1000, 2000]) | st.integers(0, 3000),
    ),
    max_size=60,
)


@given(LOOK_UPS)
def test_every_look_up_is_sent_once_to_its_leader_and_gets_its_own_answer(
    look_ups: list[LookUp],
) -> None:
    call = Call()
    assert call.look_up(*look_ups) == [expected(*each) for each in look_ups]
    sent = [each for request in call.sent() for each in request]
    assert sorted(sent) == sorted({each for each in look_ups if each[1] != NOBODYS})
    for node, request in zip(call.connections.sent_to, call.connections.requests, strict=True):
        named = [(t.name, p.partition_index) for t in request.topics for p in t.partitions]
        assert len(set(named)) == len(named)
        assert len({topic.name for topic in request.topics}) == len(request.topics)
        assert {leader(number) for _, number in named} == {node}


def test_the_positions_of_one_partition_go_into_as_many_requests() -> None:
    call = Call()
    call.look_up(("orders", 0, 500), ("orders", 0, 20), ("orders", 3, 20), ("orders", 0, NEWEST))
    assert call.sent() == [
        [("orders", 0, NEWEST), ("orders", 3, 20)],
        [("orders", 0, 20)],
        [("orders", 0, 500)],
    ]


def test_a_small_request_of_many_topics_is_sent_before_full_ones() -> None:
    call = Call()
    call.look_up(*(("orders", 3 * number, 7) for number in range(40, 290)))
    rest = 250 - SMALL_REQUEST - 2 * FULL_REQUEST
    sizes = [len(request) for request in call.sent()]
    assert sizes == [SMALL_REQUEST, FULL_REQUEST, FULL_REQUEST, rest]
    call = Call()
    call.look_up(
        *((f"topic-{topic}", 3 * number, 7) for topic in range(20) for number in range(20))
    )
    assert len({topic for topic, _, _ in call.sent()[0]}) == SMALL_REQUEST


def test_what_is_read_is_uncommitted_and_bounded_where_it_is_remote() -> None:
    call = Call()
    call.look_up(ORDERS_AT_7)
    (request,) = call.connections.requests
    assert (request.replica_id, request.isolation_level, request.timeout_ms) == (-1, 0, 2000)


@pytest.mark.parametrize("code", [3, 6, 7, 29, 43, 78])
def test_an_error_is_unanswered_and_nothing_else(code: int) -> None:
    call = Call(lambda request: index(request, {"refused": code}))
    answers = call.look_up(("refused", 0, 7), ORDERS_AT_7, ("refused", 0, 2000))
    assert answers == [UNANSWERED, expected(*ORDERS_AT_7), UNANSWERED]


def test_a_record_with_a_time_before_1970_is_found() -> None:
    part = SimpleNamespace(partition_index=0, error_code=0, offset=0, timestamp=-1)
    answer = SimpleNamespace(topics=[SimpleNamespace(name="orders", partitions=[part])])
    assert Call(lambda _: answer).look_up(("orders", 0, NEWEST)) == [(0, -1)]


@pytest.mark.parametrize("time", [-1, -2, -4, -1000])
def test_a_time_before_1970_is_not_taken_for_another_look_up(time: int) -> None:
    call = Call()
    assert call.look_up(("orders", 0, time)) == [UNANSWERED]
    assert call.sent() == []


def test_answers_that_were_not_requested_or_come_twice_are_dropped() -> None:
    strange = [part("orders", number, 7) for number in (-1, 1, 2**31 - 1)]
    topics = [SimpleNamespace(name=name, partitions=strange) for name in ("orders", "strange")]
    call = Call(lambda _: SimpleNamespace(topics=topics))
    assert call.look_up(ORDERS_AT_7, ("orders", 3, 7)) == [UNANSWERED, UNANSWERED]
    answered = [part("orders", 0, 7), part("orders", 0, 900), part("orders", 3, 7)]
    twice = SimpleNamespace(topics=[SimpleNamespace(name="orders", partitions=answered)])
    neighbour = ("orders", 3, 7)
    answers = Call(lambda _: twice).look_up(ORDERS_AT_7, neighbour)
    assert answers == [UNANSWERED, expected(*neighbour)]


def test_a_hung_broker_gets_one_request_and_costs_its_own_rows_only() -> None:
    def answer(request: Any) -> Any:
        if call.connections.sent_to[-1] == 2:
            return UnansweredError(contract.TIMEOUT, "broker 2: no answer")
        return index(request)

    call = Call(answer)
    look_ups = [("orders", number, time) for number in range(6) for time in (7, 8, 9)]
    assert call.look_up(*look_ups) == [
        UNANSWERED if each[1] in (1, 4) else expected(*each) for each in look_ups
    ]
    assert len(call.sent(2)) == 1


def test_what_came_before_the_deadline_is_kept() -> None:
    call = Call(seconds=1.0)
    look_ups = [("orders", 0, 10 * step) for step in range(5)]
    answers = call.look_up(*look_ups, deadline=3.0)
    assert answers == [*(expected(*each) for each in look_ups[:3]), UNANSWERED, UNANSWERED]
    late = Call()
    assert late.look_up(ORDERS_AT_7, deadline=0.1) == [UNANSWERED]
    assert late.sent() == []


def test_a_slow_broker_is_excluded_for_the_calls_after_as_well() -> None:
    call = Call()
    call.seconds[1] = 1.5
    look_ups = [("orders", number, time) for number in (0, 1, 3, 4) for time in range(0, 900, 10)]
    first = call.look_up(*look_ups)
    before = len(call.sent(1))
    second = call.look_up(*look_ups)
    assert before < 5
    assert len(call.sent(1)) == before
    for answers, answered in ((first, before * 2), (second, 0)):
        slow = [a for a, each in zip(answers, look_ups, strict=True) if each[1] in (0, 3)]
        quick = [a for a, each in zip(answers, look_ups, strict=True) if each[1] in (1, 4)]
        assert sum(answer is not UNANSWERED for answer in slow) == answered
        assert UNANSWERED not in quick


def test_a_remote_look_up_of_three_seconds_costs_nobody_else_anything() -> None:
    call = Call()
    call.tiered, call.remote_seconds = frozenset({"cold"}), 3.0
    local = [("orders", number, time) for number in range(6) for time in range(0, 900, 10)]
    remote = [("cold", number, time) for number in range(6) for time in range(0, 900, 10)]
    for _ in range(3):
        answers = call.look_up(*local, *remote)
        assert answers[: len(local)] == [expected(*each) for each in local]
    # Each broker is asked for tiered topics once, after all others, and no more in this run.
    cold = [[name for name, _, _ in request] for request in call.sent()]
    assert sum("cold" in names for names in cold) == 3
    assert all(len(set(names)) == 1 for names in cold)
    assert call.now == 9.0


def test_tiered_topics_wait_for_others_and_their_newest_time_is_local_and_not_asked() -> None:
    call = Call()
    call.tiered = frozenset({"cold"})
    look_ups = [(name, 0, time) for time in (7, 8, 9) for name in ("cold", "orders")]
    answers = call.look_up(("cold", 0, NEWEST), *look_ups)
    assert answers == [UNANSWERED, *(expected(*each) for each in look_ups)]
    assert [request[0][0] for request in call.sent(1)] == ["orders"] * 3 + ["cold"] * 3
    assert ("cold", 0, NEWEST) not in [each for request in call.sent() for each in request]


def test_a_broker_that_is_rather_slow_gets_small_requests() -> None:
    call = Call(seconds=0.5)
    call.look_up(*(("orders", 3 * number, 7) for number in range(40, 290)))
    sizes = [len(request) for request in call.sent()]
    assert sizes == [SMALL_REQUEST] * len(sizes)
    assert sum(sizes) < 250


@pytest.mark.parametrize(("seconds", "at_once"), [(0.0, 4), (0.3, 1)], ids=["quick", "slow"])
def test_requests_overlap_at_a_quick_broker_only(seconds: float, at_once: int) -> None:
    call = Call(seconds=seconds)
    connections = call.overlapping()
    call.look_up(*(("orders", 0, 10 * step) for step in range(20)))
    assert connections.most_at_once == at_once


def _after(*answers: tuple[int, float]) -> int:
    """What the next request may hold after answers to so many look-ups in so many seconds."""
    budget, now = LookUpBudget(), 100.0
    for look_ups, seconds in answers:
        budget.spend(1, look_ups, now, now + seconds)
        now += seconds
    return budget.next_request(1)


@pytest.mark.parametrize(
    ("answers", "most"),
    [
        ([], FULL_REQUEST),
        ([(10, 0.1)], FULL_REQUEST),
        ([(100, 1.9)], FULL_REQUEST),
        ([(10, 0.3)], SMALL_REQUEST),
        ([(10, 2.1)], SMALL_REQUEST),
        ([(10, 2.3)], 0),
        ([(1, 1.0), (1, 1.0)], SMALL_REQUEST),
        ([(1, 1.0), (1, 1.0), (1, 1.0)], 0),
        ([(10, 1.0), (100, 0.1)], FULL_REQUEST),
        ([(10, 2.3), (100, 0.1)], 0),
        ([(100, 0.1)] * 100 + [(10, 2.3)], 0),
    ],
    ids=[
        "no request yet",
        "quick",
        "many in a fair time",
        "too long for so few",
        "one long pause",
        "far too long",
        "two long ones",
        "long ones one after the other",
        "made good",
        "nothing makes good once it is excluded",
        "a quick past is no credit",
    ],
)
def test_a_broker_gets_as_much_as_its_answers_deserve(
    answers: list[tuple[int, float]], most: int
) -> None:
    assert _after(*answers) == most


def test_time_spent_behind_another_request_is_not_counted_twice() -> None:
    budget = LookUpBudget()
    for number in range(1, 5):
        budget.spend(1, 100, 0.0, 1.5 * number)
    assert budget.next_request(1) == FULL_REQUEST


def test_one_excluded_for_tiered_topics_is_not_for_others() -> None:
    budget = LookUpBudget()
    budget.spend(1, 1, 0.0, 3.0, tiered=True)
    assert (budget.next_request(1, tiered=True), budget.next_request(1)) == (0, FULL_REQUEST)
    budget.exclude(2)
    assert (budget.next_request(2, tiered=True), budget.next_request(2)) == (0, 0)
    assert budget.next_request(3) == FULL_REQUEST
