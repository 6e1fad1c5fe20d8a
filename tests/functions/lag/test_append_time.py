# SPDX-License-Identifier: Apache-2.0
"""Append times: by log ends, and by the search in the time index."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lag.lag.append_sources import AppendTimes, combine_with_search, interpolate
from kafka_lag.lag.bounds import Bounds
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.index_search import Search, search
from kafka_lag.lag.log_ends import align_ends, find_bounds
from kafka_lag.lag.lookup_plan import admit, is_due, is_too_wide
from kafka_lag.lag.positions import Positions
from tests.builders import HOUR, MINUTE, NOON
from tests.functions.lag.time_index_fake import Broker, Log

# Positions of a few logs, searched cold.

SECOND = 1_000
DAY = 24 * HOUR


def dated(
    broker: Broker,
    positions: list[tuple[int, int]],
    *,
    compact: bool = False,
    budget: int = 10_000,
    now: int = NOON,
) -> tuple[AppendTimes, Search]:
    """Positions as (log number, offset), cold: nothing but this run is known."""
    part = np.array([p for p, _ in positions], np.int64)
    offset = np.array([o for _, o in positions], np.int64)
    ends = np.array([log.end for log in broker.logs.values()], np.int64)[part]
    nothing, rows = Column.unknown(len(part)), np.arange(len(part))
    present = np.full(len(part), now, np.int64)
    compacted = np.full(len(part), compact)
    where = Positions(broker.partitions(), part, offset, present, compacted, rows)
    known = Bounds(nothing, Column.of(present), nothing, Column.of(ends))
    moves = np.zeros(len(part), bool)
    found = search(where, known, moves, Rules(lookup_budget=budget), broker)
    return combine_with_search(where, known, found), found


def one(log: Log, offset: int, **more: object) -> tuple[AppendTimes, Search]:
    return dated(Broker({("t", 0): log}), [(0, offset)], **more)  # type: ignore[arg-type]


def brackets(dates: AppendTimes) -> list[tuple[int | None, int | None, int | None]]:
    return list(
        zip(dates.after.to_list(), dates.best.to_list(), dates.before.to_list(), strict=True)
    )


# The search in a time index: right whatever the shape of the log, frugal, and under its budget.

STEADY = [NOON - 600 * SECOND + i * SECOND for i in range(600)]


def test_regular_data_is_hit_exactly() -> None:
    dates, found = one(Log(STEADY), 300)

    assert brackets(dates) == [(STEADY[300], STEADY[300], STEADY[300])]
    assert dates.record.to_list() == [STEADY[300]]
    assert found.look_ups <= 4


def test_an_idle_topic_costs_two_look_ups() -> None:
    dates, found = one(Log([NOON - 9 * DAY, NOON - 8 * DAY]), 1)

    assert brackets(dates) == [(NOON - 8 * DAY, NOON - 8 * DAY, NOON - 8 * DAY)]
    assert found.look_ups == 2


def test_thousands_of_records_of_one_millisecond_share_their_time() -> None:
    burst = [NOON - DAY] * 10 + [NOON - HOUR] * 3_000 + [NOON - MINUTE] * 10
    for offset in (10, 1_500, 3_009):
        dates, _ = one(Log(burst), offset)
        (first, _, last), *_ = brackets(dates)
        assert first is not None
        assert last is not None
        assert first <= NOON - HOUR <= last
        assert last - first <= 4 * SECOND


def test_a_time_ahead_of_now_hides_what_is_behind_it() -> None:
    log = Log([NOON - HOUR, NOON - 30 * MINUTE, NOON + 10 * MINUTE, NOON - MINUTE])
    before, _ = one(log, 1)
    behind, _ = one(log, 3)

    assert before.best.to_list() == [NOON - 30 * MINUTE]
    assert behind.best.to_list() == [None]


@pytest.mark.parametrize("time", [-1, 0, 1_700_000_000])
def test_records_with_no_clock_s_time_are_at_least_as_old_as_the_next_that_has_one(
    time: int,
) -> None:
    log = Log([time, time, NOON - HOUR, NOON - MINUTE])
    dates, _ = one(log, 1)

    assert brackets(dates) == [(None, NOON - HOUR, NOON - HOUR)]
    assert dates.record.to_list() == [None]


def test_a_compacted_record_is_dated_by_the_next_living_one() -> None:
    times = [NOON - (100 - i) * MINUTE for i in range(100)]
    log = Log(times, dead=set(range(20, 60)))
    dates, _ = one(log, 30, compact=True)

    assert dates.best.to_list() == [times[60]]
    assert dates.record.to_list() == [times[60]]
    assert dates.after.to_list() == [times[19]]


def test_a_batch_that_is_deleted_in_part_dates_what_is_left_of_it() -> None:
    """The broker names the first record of the newest millisecond, which is deleted."""
    for offset in (2, 3, 4):
        dates, _ = one(Log([NOON - HOUR] * 5, start=2), offset)

        assert brackets(dates) == [(NOON - HOUR, NOON - HOUR, NOON - HOUR)]


def test_a_unanswered_broker_costs_its_own_positions_only() -> None:
    logs = {("up", 0): Log(STEADY), ("down", 0): Log(STEADY)}
    dates, _ = dated(Broker(logs, unanswered={"down"}), [(0, 300), (1, 300)])

    assert dates.best.to_list() == [STEADY[300], None]


@pytest.mark.parametrize("budget", [0, 7, 333])
def test_the_budget_is_never_exceeded(budget: int) -> None:
    logs = {("t", n): Log([NOON - DAY + i * 997 * (n + 1) for i in range(300)]) for n in range(40)}
    broker = Broker(logs)
    _, found = dated(broker, [(n, 10 + 7 * n) for n in range(40)], budget=budget)

    assert broker.look_up_count == found.look_ups <= budget


@pytest.mark.parametrize(
    ("left", "moves", "admitted"),
    [
        (0, [0, 0, 0, 0], []),
        (1, [0, 0, 0, 0], [2]),
        (9, [0, 0, 0, 0], [2]),
        (10, [0, 0, 0, 0], [0, 2]),
        (10, [0, 0, 1, 0], [0, 3]),
        (19, [0, 1, 1, 0], [0, 2, 3]),
        (20, [1, 1, 1, 1], [0, 1, 2, 3]),
    ],
)
def test_what_stands_is_looked_up_first_and_then_what_may_be_oldest(
    left: int, moves: list[int], admitted: list[int]
) -> None:
    nobody, low = np.zeros(4, bool), np.array([20, 40, 10, 30])

    found = admit(~nobody, nobody, np.array(moves, bool), low, left)

    assert np.flatnonzero(found).tolist() == admitted


# Whatever the shape of the log and whoever answers, the truth lies in the stated bracket.


def steps() -> st.SearchStrategy[list[int]]:
    """Times between records: bursts, pauses, and now and then backwards."""
    short = st.integers(0, 50)
    long = st.integers(1, 6 * HOUR)
    back = st.integers(-2 * HOUR, -1)
    return st.lists(st.one_of(short, short, long, back), min_size=1, max_size=60)


@settings(max_examples=40)
@given(
    steps(),
    st.data(),
    st.integers(3, 40),
    st.integers(0, 30),
    st.booleans(),
    st.booleans(),
    st.integers(0, 400),
)
def test_whatever_the_log_the_truth_lies_in_the_bracket(
    gaps: list[int],
    data: st.DataObject,
    segment: int,
    start: int,
    compact: bool,
    newest: bool,
    budget: int,
) -> None:
    times = (NOON - 10 * DAY + np.cumsum(gaps)).tolist()
    start = min(start, len(times) - 1)
    dead = (
        data.draw(st.sets(st.integers(0, len(times) - 2))) if compact and len(times) > 2 else set()
    )
    log = Log(times, start, segment, dead)
    positions = data.draw(st.lists(st.integers(start, len(times) - 1), min_size=1, max_size=6))
    broker = Broker({("t", 0): log}, knows_newest=newest)
    dates, _ = dated(broker, [(0, p) for p in positions], compact=compact, budget=budget)
    assert broker.look_up_count <= budget
    for position, (first, best, last) in zip(positions, brackets(dates), strict=True):
        ahead = [o for o in log.living() if o >= position]
        truth = (
            log.running_maximum(ahead[0]) if compact and ahead else log.running_maximum(position)
        )
        if best is None or truth is None:
            continue
        assert last is not None
        assert (first or 0) <= best <= last <= NOON
        assert (first or 0) <= truth <= last


# Bounds by log ends of earlier runs: proven, or not given.

# A reading: clock at the request, clock at the answer, end; the topic's id may follow.
Reading = tuple[int, int, int] | tuple[int, int, int, str | None]


def a_run(reading: Reading | None, topic: str = "t") -> Frame:
    requested_at, read_at, end = reading[:3] if reading else (None, None, None)
    topic_id = reading[3] if reading and len(reading) == 4 else "id"
    return Frame.of(
        {
            "topic": Strings.of([topic]),
            "topic_id": Strings.of([topic_id]),
            "partition_id": Column.of(np.zeros(1, np.int32)),
            "asked_at": Column.optional([requested_at]),
            "read_at": Column.optional([read_at]),
            "end_offset": Column.optional([end]),
        }
    )


def bounds(readings: Sequence[Reading | None], offset: int) -> Bounds:
    """Of one record; the last reading is this run's."""
    *earlier, now = [a_run(reading) for reading in readings]
    ends = align_ends(now, tuple(earlier))
    return find_bounds(ends, np.zeros(1, np.int64), np.array([offset]))


def pair(found: Bounds) -> tuple[int | None, int | None]:
    return found.after.to_list()[0], found.before.to_list()[0]


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        pytest.param([(100, 105, 50)], (None, 105), id="cold"),
        pytest.param([(40, 45, 10), (100, 105, 50)], (40, 105), id="since-the-run-before"),
        pytest.param(
            [(10, 15, 5), (40, 45, 20), (70, 75, 20), (100, 105, 50)], (70, 105), id="idle-since"
        ),
        pytest.param(
            [(10, 15, 5), (40, 45, 30), (70, 75, 40), (100, 105, 50)], (10, 45), id="long-ago"
        ),
        pytest.param([(40, 45, 30), (100, 105, 50)], (None, 45), id="older-than-all"),
        pytest.param([(40, 45, 10), None, (100, 105, 50)], (40, 105), id="a-gap-widens"),
        pytest.param(
            [(40, 45, 10, "old"), (100, 105, 50, "new")], (None, 105), id="another-topic-id"
        ),
        pytest.param(
            [(40, 45, 10, None), (100, 105, 50, "new")], (40, 105), id="no-id-is-the-same-topic"
        ),
        pytest.param(
            [(10, 15, 10), (40, 45, 90), (70, 75, 15), (100, 105, 50)],
            (70, 105),
            id="an-end-that-went-back-starts-anew",
        ),
        pytest.param(
            [(10, 15, 10), (200, 205, 15), (100, 105, 50)], (10, 105), id="a-clock-ahead-of-now"
        ),
        pytest.param(
            [(10, 15, 5), (90, 95, 10), (50, 55, 15), (100, 105, 50)],
            (10, 105),
            id="clocks-that-contradict-each-other-are-both-left-out",
        ),
        pytest.param(
            [(10, 15, 5), (200, 205, 10), (50, 55, 15), (100, 105, 50)],
            (50, 105),
            id="a-clock-ahead-of-now-is-no-witness-against-others",
        ),
        pytest.param([(40, 35, 10), (100, 105, 50)], (None, 105), id="a-clock-that-ran-backwards"),
    ],
)
def test_a_record_at_offset_20_was_appended_between(
    readings: list[Reading | None], expected: tuple[int | None, int | None]
) -> None:
    assert pair(bounds(readings, 20)) == expected


LOGS = st.lists(st.sampled_from(["a", "b", "c", "d"]), unique=True, max_size=4)


@given(LOGS, st.lists(LOGS, max_size=5))
def test_each_run_is_aligned_by_its_own_list_of_logs(
    now: list[str], lists: list[list[str]]
) -> None:
    ends = {topic: end for end, topic in enumerate("abcd")}

    def run(topics: list[str], at: int) -> Frame:
        return Frame.of(
            {
                "topic": Strings.of(topics),
                "topic_id": Strings.of(f"id {topic}" for topic in topics),
                "partition_id": Column.of(np.zeros(len(topics), np.int32)),
                "asked_at": Column.of(np.full(len(topics), at)),
                "read_at": Column.of(np.full(len(topics), at)),
                "end_offset": Column.of(np.array([ends[topic] for topic in topics], np.int64)),
            }
        )

    found = align_ends(run(now, 99), tuple(run(topics, at) for at, topics in enumerate(lists)))

    assert found.usable.tolist() == [[t in topics for t in now] for topics in [*lists, now]]
    assert np.where(found.usable, found.end, -1).tolist() == [
        [ends[t] if t in topics else -1 for t in now] for topics in [*lists, now]
    ]


@given(
    st.lists(st.integers(0, 500), min_size=1, max_size=80),
    st.lists(st.tuples(st.integers(0, 500), st.integers(0, 20)), min_size=1, max_size=12),
    st.data(),
)
def test_the_truth_lies_within(
    gaps: list[int], runs: list[tuple[int, int]], data: st.DataObject
) -> None:
    appended = np.cumsum(gaps)
    moments = np.cumsum([gap + took for gap, took in runs])
    readings: list[Reading | None] = []
    for moment, (_, took) in zip(moments.tolist(), runs, strict=True):
        seen = data.draw(st.integers(moment - took, moment))
        readings.append((moment - took, moment, int((appended <= seen).sum())))
    readings.append((10**6, 10**6, len(appended)))
    offset = data.draw(st.integers(0, len(appended) - 1))
    found = bounds(readings, offset)
    after, before = pair(found)
    best = interpolate(found, np.array([offset]), np.array([10**6])).best.to_list()[0]

    assert before is not None
    assert (0 if after is None else after) <= appended[offset] <= before
    assert best is None or (after or 0) <= best <= before


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        pytest.param((19_990, 19_999), (50_000, 90_000), id="another-clock"),
        pytest.param((90_001, 90_002), (50_000, 90_000), id="another-clock-ahead"),
        pytest.param((20_000, 20_000), (20_000, 90_000), id="held-back"),
        pytest.param((10_000, 20_000), (20_000, 90_000), id="held-back-but-not-for-so-long"),
        pytest.param((None, 20_000), (20_000, 90_000), id="held-back-for-unknown-long"),
        pytest.param((49_000, 51_000), (49_000, 51_000), id="perhaps-held-back"),
    ],
)
def test_record_times_before_the_bounds_widen_them_or_are_of_another_clock(
    record: tuple[int | None, int], expected: tuple[int, int]
) -> None:
    history = Bounds.between(Column.optional([50_000]), Column.optional([90_000]))
    after, before = (Column.optional([time]) for time in record)

    assert pair(history.correct_by_timestamps(Bounds.between(after, before))) == expected


def test_between_two_ends_the_estimate_is_linear() -> None:
    found = bounds([(0, 0, 0), (1_000, 1_000, 100)], 24)

    assert interpolate(found, np.array([24]), np.array([2_000])).best.to_list() == [245]


@pytest.mark.parametrize("every", [1, 5])
def test_a_topic_is_due_in_one_run_an_hour_at_a_minute_of_its_own(every: int) -> None:
    names = ("orders", "bills", "")
    topics = Frame.of({"topic": Strings.of(names)})
    runs = range(0, 120, every)
    due = np.array([is_due(topics, NOON + run * MINUTE, every * MINUTE) for run in runs])

    for name, of_topic in zip(names, due.T, strict=True):
        own = zlib.crc32(name.encode()) % 60
        first = -(-own // every) * every % 60
        found = [run for run, is_now in zip(runs, of_topic, strict=True) if is_now]
        assert found == [first, first + 60]


@pytest.mark.parametrize(
    ("width", "age", "expected"),
    [(1_000, 0, False), (1_001, 0, True), (36_000, 36_000, False), (37_000, 36_000, True)],
    ids=["a second", "more", "a thousandth of ten hours", "more than that"],
)
def test_bounds_are_wide_beyond_a_second_or_a_thousandth_of_the_age(
    width: int, age: int, expected: bool
) -> None:
    before = NOON - age * 1_000
    none, after = Column.unknown(1), Column.of(np.array([before - width]))
    bounds = Bounds(after, Column.of(np.array([before])), none, none)
    one, topics = np.zeros(1, np.int64), Frame.of({"topic": Strings.of(["t"])})
    positions = Positions(topics, one, one + 5, one + NOON, one > 0, one)
    assert is_too_wide(bounds, positions, Rules()).tolist() == [expected]
