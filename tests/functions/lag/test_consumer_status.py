# SPDX-License-Identifier: Apache-2.0
"""What the consumer does, also behind a loss; and of which partition a group says it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from kafka_lag.contract import (
    BEYOND_END,
    ERR,
    FALLING_BEHIND,
    INACTIVE,
    NO_MEMBER,
    OK,
    RECORDS_LOST,
    REWIND,
    REWOUND,
    SLOW,
    STALL,
    STALLED,
    STOP,
    STOPPED,
    TIMEOUT,
    WARN,
)
from kafka_lag.lag.columns import Column
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import LagReport, Snapshot
from kafka_lag.lag.rollup import roll_up_groups
from kafka_lag.snapshots.previous import Memory
from tests.builders import HOUR, MINUTE, NOON, a_reading
from tests.functions.lag.builders import (
    Part,
    behind,
    counted_of,
    frame_of,
    group,
    groups_of,
    never_read,
    of_group,
    rolled,
    unread,
)

# Groups planted on a topic of 100 records a minute: run by run the log, the commit, the owner.

PER_MINUTE, DAY = 100, 24 * 60


@dataclass(frozen=True, slots=True)
class Planted:
    """A group on a log that holds so many minutes; `committed` and `owned` are by minute.

    A log of 0 minutes is deleted up to its end from minute 15 on.
    """

    held: int
    committed: Callable[[int], int]
    owned: bool = True
    unread: Callable[[int], bool] = lambda _: False

    def runs(self, minutes: int) -> Iterator[LagReport]:
        memory, rules = Memory.empty(), Rules()
        for minute in range(minutes):
            at, end = NOON + minute * MINUTE, 100_000 + minute * PER_MINUTE
            if self.held:
                log: Any = (max(99_000, end - self.held * PER_MINUTE), end)
            else:
                log = (101_500 if minute >= 15 else 99_000, min(end, 101_500))
            owners = {("g", "t", 0): "m"} if self.owned else {}
            reading = a_reading(
                {"g": {"t": [self.committed(minute)]}},
                {"t": [TIMEOUT if self.unread(minute) else log]},
                at=at,
                owners=owners,
                members=int(self.owned),
            )
            report = evaluate(reading, memory.previous_runs(), rules, at)
            memory = memory.add_run(report.snapshot, rules.interval_ms, stored=True)
            yield report


def stands(_: int) -> int:
    return 100_000


def reads(a_minute: int) -> Callable[[int], int]:
    return lambda minute: 100_000 + minute * a_minute


def read_until(minute: int) -> Callable[[int], int]:
    return lambda now: 99_950 + min(now, minute) * PER_MINUTE


WORST = ("status", "status_reason", "worst_status")


def after(planted: Planted, minutes: int) -> tuple[Any, ...]:
    *_, last = planted.runs(minutes + 1)
    return group(last, *WORST)


@pytest.mark.parametrize(
    ("planted", "before", "afterwards"),
    [
        pytest.param(
            Planted(20, stands, owned=False), (ERR, None, STOPPED), STOPPED, id="nobody-reads"
        ),
        pytest.param(Planted(20, stands), (ERR, None, STALLED), STALLED, id="stuck"),
        pytest.param(
            Planted(20, reads(50)),
            (WARN, FALLING_BEHIND, FALLING_BEHIND),
            FALLING_BEHIND,
            id="slow",
        ),
    ],
)
def test_a_loss_does_not_hide_what_the_consumer_does(
    planted: Planted, before: tuple[Any, ...], afterwards: str
) -> None:
    losing_from = 21 if planted.committed is stands else 41
    history = [group(report, *WORST) for report in planted.runs(90)]
    assert history[losing_from - 1] == before
    assert set(history[losing_from:]) == {(ERR, RECORDS_LOST, afterwards)}


def test_a_loss_begins_when_the_first_record_is_deleted_and_not_with_the_status() -> None:
    times = ("status_since", "loss_since", "held_loss_since")
    *_, last = Planted(20, stands, owned=False).runs(31)
    assert [(at - NOON) // MINUTE for at in group(last, *times)] == [11, 21, 21]


def test_a_loss_elsewhere_changes_nothing_about_since_when_a_group_falls_behind() -> None:
    """All of partition 0 is deleted in minute 5, and its member waits for a record. Of partition 1
    half is read from minute 30 on.
    """
    memory, rules = Memory.empty(), Rules()
    for minute in range(60):
        at, deleted = NOON + minute * MINUTE, 101_500 if minute >= 5 else 99_000
        read = 99_990 + PER_MINUTE * min(minute, 30) + PER_MINUTE // 2 * max(0, minute - 30)
        reading = a_reading(
            {"g": {"t": [100_000, read]}},
            {"t": [(deleted, 101_500), (0, 100_000 + minute * PER_MINUTE)]},
            at=at,
            owners={("g", "t", 0): "m", ("g", "t", 1): "m"},
            members=1,
        )
        report = evaluate(reading, memory.previous_runs(), rules, at)
        memory = memory.add_run(report.snapshot, rules.interval_ms, stored=True)

    status, worst, since = group(report, "status", "worst_status", "worst_status_since")
    assert (status, worst) == (ERR, FALLING_BEHIND)
    assert 29 <= (since - NOON) // MINUTE <= 31


def test_a_loss_that_comes_and_goes_is_one() -> None:
    def lags(minute: int) -> int:
        """Below the log start in every second run, as where segments are deleted at once."""
        return 100_000 + minute * PER_MINUTE - (2_050 if minute % 2 else 1_950)

    seen = [
        group(report, "records_lost", "loss_since", "held_loss_since")
        for report in Planted(20, lags).runs(50)
    ]
    began = next(at for lost, at, _ in seen if lost)
    assert {lost for lost, *_ in seen[-10:]} == {0, 50}
    assert {(since, held) for _, since, held in seen[-10:]} == {(began, began)}


@pytest.mark.parametrize(
    ("planted", "word"),
    [
        pytest.param(Planted(4, stands, owned=False), STOPPED, id="stopped"),
        pytest.param(Planted(4, stands), STALLED, id="stalled"),
        pytest.param(Planted(4, reads(50)), FALLING_BEHIND, id="slow"),
    ],
)
def test_a_log_that_holds_less_than_the_window_hides_nothing(planted: Planted, word: str) -> None:
    assert after(planted, 30) == (ERR, RECORDS_LOST, word)


@pytest.mark.parametrize(("owned", "word"), [(False, STOPPED), (True, None)])
def test_where_all_was_deleted_only_a_group_without_members_has_stopped(
    owned: bool, word: str | None
) -> None:
    """A member may wait for records at the end, and commit once there is one."""
    assert after(Planted(0, stands, owned=owned), 40) == (ERR, RECORDS_LOST, word)


def test_a_reader_that_catches_up_after_a_loss_does_nothing_wrong() -> None:
    def catches_up(minute: int) -> int:
        return 100_000 if minute < 25 else 100_000 + (minute - 24) * 50 * PER_MINUTE // 20

    history = [group(report, *WORST) for report in Planted(20, catches_up).runs(28)]
    assert history[24] == (ERR, RECORDS_LOST, STALLED)
    assert history[25] == (ERR, RECORDS_LOST, None)


def test_a_group_that_is_first_seen_losing_records_has_nobody_to_read() -> None:
    planted = Planted(20, lambda _: 90_000, owned=False)
    history = [group(report, *WORST) for report in planted.runs(12)]
    assert history[0] == (ERR, RECORDS_LOST, NO_MEMBER)
    assert history[11] == (ERR, RECORDS_LOST, STOPPED)


@pytest.mark.parametrize(
    ("planted", "minutes", "expected"),
    [
        pytest.param(Planted(DAY, read_until(99)), 20, (OK, None, None), id="well"),
        pytest.param(
            Planted(DAY, read_until(5), owned=False), 20, (ERR, None, STOPPED), id="stopped"
        ),
        pytest.param(Planted(DAY, read_until(5)), 20, (ERR, None, STALLED), id="stalled"),
        pytest.param(
            Planted(DAY, lambda minute: reads(100)(minute) - 2_000 * (minute > 14)),
            15,
            (ERR, None, REWOUND),
            id="went-back",
        ),
        pytest.param(
            Planted(DAY, lambda _: 900_000), 2, (ERR, BEYOND_END, BEYOND_END), id="beyond-the-end"
        ),
        pytest.param(
            Planted(DAY, reads(50)), 60, (WARN, FALLING_BEHIND, FALLING_BEHIND), id="half-as-fast"
        ),
    ],
)
def test_each_status_has_its_word(
    planted: Planted, minutes: int, expected: tuple[Any, ...]
) -> None:
    assert after(planted, minutes) == expected


@pytest.mark.parametrize("seconds", [0, 30], ids=["with-a-run", "between-two"])
@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize("faster", [1, 8], ids=["slower-consumer", "busier-producers"])
def test_a_backlog_has_grown_since_what_a_message_says(
    share: float, seconds: int, faster: int
) -> None:
    begin, memory, rules = NOON + 30 * MINUTE + seconds * 1_000, Memory.empty(), Rules()
    found = None
    for at in range(NOON, NOON + 75 * MINUTE, MINUTE):
        grown = max(at - begin, 0) * 10 * faster // 1_000
        end = 100_000 + min(at, begin) * 10 // 1_000 - NOON * 10 // 1_000 + grown
        lag = 5 + int(grown * (1 - share))
        reading = a_reading({"g": {"t": [end - lag]}}, {"t": [(0, end)]}, at=at)
        report = evaluate(reading, memory.previous_runs(), rules, at)
        memory = memory.add_run(report.snapshot, rules.interval_ms, stored=True)
        word, since = group(report, "worst_status", "worst_status_since")
        found = since if word == FALLING_BEHIND and found is None else found

    assert found == pytest.approx(begin, abs=MINUTE)


def test_a_group_that_is_not_read_any_more_keeps_its_word() -> None:
    planted = Planted(20, stands, owned=False, unread=lambda minute: minute > 25)
    *_, last = planted.runs(40)
    assert group(last, "status", "last_status", "worst_status") == (None, ERR, STOPPED)


def test_a_partition_that_is_not_read_any_more_keeps_its_word_beside_others() -> None:
    memory, rules, moves = Memory.empty(), Rules(), read_until(99)
    for minute in range(30):
        at, end = NOON + minute * MINUTE, 100_000 + minute * PER_MINUTE
        log = (0, end) if minute < 20 else TIMEOUT
        reading = a_reading(
            {"g": {"t": [0, moves(minute)]}}, {"t": [log, (0, end)]}, at=at, members=0
        )
        report = evaluate(reading, memory.previous_runs(), rules, at)
        memory = memory.add_run(report.snapshot, rules.interval_ms, stored=True)
    assert group(report, "status", "worst_status") == (ERR, STOPPED)


def stopped(age: float, **more: Any) -> Part:
    return behind(age, status=STOP, consumer=STOPPED, **more)


def slow(age: float, **more: Any) -> Part:
    return behind(age, status=WARN, reason=SLOW, consumer=SLOW, **more)


def lost(age: float, consumer: str | None = None, **more: Any) -> Part:
    return behind(age, status=ERR, reason=RECORDS_LOST, lost=5, consumer=consumer, **more)


STALLED_PART = behind(50.0, status=STALL, consumer=STALLED, partition=1)
REWOUND_PART = behind(90.0, status=REWIND, consumer=REWOUND, partition=2)


@pytest.mark.parametrize(
    ("parts", "word"),
    [
        pytest.param([Part()], None, id="all-is-well"),
        pytest.param([slow(900.0), stopped(20.0, partition=1)], STOPPED, id="the-worse-status"),
        pytest.param([stopped(20.0), STALLED_PART], STALLED, id="of-equals-the-oldest"),
        pytest.param([STALLED_PART, REWOUND_PART], REWOUND, id="whichever-it-is"),
        pytest.param([lost(900.0, STALLED), stopped(20.0)], STALLED, id="the-one-that-lost"),
        pytest.param([lost(900.0), stopped(20.0, partition=1)], STOPPED, id="beside-a-mere-loss"),
        pytest.param([lost(900.0), slow(20.0, partition=1)], SLOW, id="slow-beside-a-loss"),
        pytest.param([lost(900.0)], None, id="a-mere-loss"),
        pytest.param(
            [stopped(900.0, reason=INACTIVE), STALLED_PART], STALLED, id="what-it-left-comes-last"
        ),
        pytest.param([stopped(9.0, reason=INACTIVE, ignored=True)], None, id="ignored"),
        pytest.param(
            [Part(), unread(last_status=STOP, consumer=STOPPED, partition=1)], STOPPED, id="unread"
        ),
        pytest.param([Part(), never_read(partition=1)], None, id="never-read"),
    ],
)
def test_a_group_says_what_its_worst_partition_does(parts: Sequence[Part], word: str) -> None:
    assert of_group(rolled(*parts), "worst_status") == (word,)
    assert of_group(rolled(*reversed(parts)), "worst_status") == (word,)


@pytest.mark.parametrize(
    ("word", "since"),
    [
        (STOPPED, "commit_changed_at"),
        (STALLED, "commit_changed_at"),
        (REWOUND, "rewound_at"),
        (NO_MEMBER, "owned_at"),
    ],
)
def test_a_group_says_since_when_its_worst_partition_does_so(word: str, since: str) -> None:
    parts = [behind(900.0, status=STOP, consumer=word), behind(20.0, partition=1)]
    times = {since: Column.optional([NOON - MINUTE, NOON])}
    rows = frame_of(parts).with_columns(**times)
    groups = roll_up_groups(groups_of("g"), rows, counted_of(parts), Snapshot.empty(), Rules())

    assert of_group(groups, "worst_status", "worst_status_since") == (word, NOON - MINUTE)


@pytest.mark.parametrize(
    ("word", "consumed", "proven", "since"),
    [
        (FALLING_BEHIND, 5.0, NOON - HOUR, NOON - 20 * MINUTE),
        (FALLING_BEHIND, 5.0, NOON - 7 * MINUTE, NOON - 7 * MINUTE),
        (FALLING_BEHIND, 9.5, NOON - HOUR, None),
        (FALLING_BEHIND, None, NOON - HOUR, None),
        (FALLING_BEHIND, 5.0, None, None),
        (SLOW, 11.0, NOON - HOUR, NOON - 15 * MINUTE),
    ],
    ids=["by rates", "not before a proof", "noise", "no rate", "no proof", "its oldest record"],
)
def test_what_no_moment_begins_is_estimated(
    word: str, consumed: float | None, proven: int | None, since: int | None
) -> None:
    # In 20 minutes the averages have made 15 of 16 parts of the way to what is so now.
    parts = [behind(900.0, lag=6_400, status=WARN, consumer=word, produced=10.0)]
    rows = frame_of(parts).with_columns(
        taken_at=Column.of([NOON]),
        consume_rate=Column.optional([consumed], np.float64),
        not_catching_up_since=Column.optional([proven]),
    )
    groups = roll_up_groups(groups_of("g"), rows, counted_of(parts), Snapshot.empty(), Rules())

    assert of_group(groups, "worst_status", "worst_status_since") == (word, since)
