# SPDX-License-Identifier: Apache-2.0
"""Consumers of topics written in transactions: rests after markers, and open transactions.

Logs are planted, record by record: what a run must say follows from how they were made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from kafka_lag.contract import (
    ERR,
    LOST,
    METHOD_ALLOWED,
    METHOD_MARKER,
    METHOD_NONE,
    OFF_BY_ONE,
    OK,
    OPEN_TRANSACTION,
    STALL,
    STOP,
)
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import ByName, Rules, TaskSettings
from kafka_lag.lag.model import LagReport
from kafka_lag.snapshots.previous import Memory
from tests.builders import MINUTE, NOON, a_reading
from tests.functions.lag.builders import Runs, group, partition

RECORD, MARKER = "record", "marker"


@dataclass(slots=True)
class Ledger:
    """A partition written in transactions, and one consumer that commits after what it read.

    Runs are a minute apart. `lies` is what lies at each offset; `stable` is where committed
    records end. The consumer commits the offset after the last record, as most do, unless it
    `passes_markers`.
    """

    passes_markers: bool = False
    rules: Rules = Rules()  # noqa: RUF009 - frozen
    start: int = 0
    lies: list[str] = field(default_factory=list)
    stable: int | None = None
    commit: int = 0
    minute: int = -1
    memory: Memory = field(default_factory=Memory.empty)
    members: int = 1

    def write(self, records: int = 1, markers: int = 1) -> None:
        """A transaction that is over: its records, and what no consumer is given after them."""
        self.lies += [RECORD] * records + [MARKER] * markers

    def open(self, records: int = 1) -> None:
        """A transaction that is not over."""
        self.stable = len(self.lies)
        self.lies += [RECORD] * records

    def close(self) -> None:
        """Its end."""
        self.stable = None
        self.lies += [MARKER]

    def read(self) -> None:
        """The consumer reads all that is committed, and commits."""
        end = len(self.lies) if self.stable is None else self.stable
        records = [at + 1 for at, what in enumerate(self.lies[:end]) if what == RECORD]
        self.commit = end if self.passes_markers else max([self.commit, *records[-1:]])

    def run(self, runs: int = 1, **more: Any) -> LagReport:
        """So many runs; the last one's report."""
        for _ in range(runs):
            self.minute += 1
            at, end = NOON + self.minute * MINUTE, len(self.lies)
            reading = a_reading(
                {"g": {"t": [self.commit]}},
                {"t": [(self.start, end)]},
                at=at,
                owners={("g", "t", 0): "m"} if self.members else {},
                members=self.members,
                stable={"t": [end if self.stable is None else self.stable]},
                **more,
            )
            report = evaluate(reading, self.memory.previous_runs(), self.rules, at)
            self.memory = self.memory.add_run(report.snapshot, self.rules.interval_ms, stored=True)
        return report

    def see_open(self) -> None:
        """A run in the middle of a transaction, as some are by chance."""
        self.open()
        self.run()
        self.close()
        self.read()
        self.run()

    def rest(self, minutes: int = 5, records: int = 1, markers: int = 1) -> LagReport:
        """One transaction more, read within the minute; then nothing for so long."""
        self.write(records, markers)
        self.read()
        return self.run(minutes)


def known(markers: int = 1, **more: Any) -> Ledger:
    """A ledger whose consumer has rested twice, and moved on."""
    ledger = _known(markers, **more)
    return replace(ledger, lies=list(ledger.lies))


@cache
def _known(markers: int, **more: Any) -> Ledger:
    ledger = Ledger(**more)
    ledger.write(5)
    ledger.read()
    ledger.run(2)
    ledger.see_open()
    for _ in range(2):
        ledger.rest(4, markers=markers)
    ledger.rest(1)
    return ledger


def rests_at_markers() -> Ledger:
    """A consumer that rests below two markers, learnt."""
    ledger = known(2)
    ledger.rest(4, markers=2)
    return ledger


def rests_one_too_low(**more: Any) -> Ledger:
    """A consumer that has read all records of a log without transactions, and commits the last
    one's offset; learnt.
    """
    ledger = Ledger(**more)
    for _ in range(4):
        ledger.write(1, 0)
        ledger.commit = len(ledger.lies) - 1
        ledger.run(6)
    return ledger


def rests_where_one_is_allowed() -> Ledger:
    """The same before it is learnt."""
    ledger = Ledger(rules=Rules(allowed_lag=ByName.of([("^t$", 1)])))
    ledger.write(5, 0)
    ledger.commit = 4
    ledger.run(2)
    return ledger


@pytest.mark.parametrize(
    ("rests", "unread", "lost"),
    [
        pytest.param(rests_at_markers, 3, 3, id="markers"),
        pytest.param(rests_one_too_low, 3, 3, id="commits-one-too-low"),
        # It is not known whether the one that is allowed was read.
        pytest.param(rests_where_one_is_allowed, 3, 4, id="allowed"),
    ],
)
def test_what_was_no_lag_is_no_loss_once_retention_has_emptied_the_log(
    rests: Callable[[], Ledger], unread: int, lost: int
) -> None:
    ledger = rests()
    ledger.start = len(ledger.lies)
    report = ledger.run(2)
    assert partition(report, "status", "records_lost", "lag") == (OK, 0, 0)
    assert partition(report, "retention_risk") != (LOST,)
    assert group(report, "status", "records_lost") == (OK, 0)
    # What is written and deleted afterwards is lost.
    ledger.write(unread, 0)
    ledger.run(1)
    ledger.start = len(ledger.lies)
    assert partition(ledger.run(1), "status", "records_lost") == (ERR, lost)


AGES = ("status", "status_reason", "lag", "time_lag_seconds", "time_lag_method")


@pytest.mark.parametrize("markers", [1, 2, 5, 10])
def test_a_consumer_known_to_rest_after_markers_is_ok_for_as_long_as_it_rests(
    markers: int,
) -> None:
    ledger = known(markers)
    report = ledger.rest(30, markers=markers)
    assert partition(report, *AGES) == (OK, None, markers, 0.0, METHOD_MARKER)
    assert group(report, "status", "lag", "time_lag_seconds") == (OK, markers, 0.0)


def test_more_than_ten_offsets_are_not_taken_for_markers() -> None:
    report = known(11).rest(15, markers=11)
    assert partition(report, "status") == (STALL,)


def test_a_rest_longer_than_any_before_is_reported_until_it_is_learnt() -> None:
    ledger = known(1)
    assert partition(ledger.rest(15, markers=3), "status") == (STALL,)
    assert partition(ledger.rest(15, markers=3), "status") == (OK,)


@pytest.mark.parametrize(("rests", "status"), [(1, STALL), (2, OK)])
def test_a_rest_is_known_after_the_second_that_ended_with_a_new_record(
    rests: int, status: str
) -> None:
    ledger = Ledger()
    ledger.write(5)
    ledger.read()
    ledger.run(1)
    ledger.see_open()
    # What follows the open one is a rest, too short to count.
    for _ in range(rests):
        ledger.rest(5)
    assert partition(ledger.rest(15), "status") == (status,)


def test_without_a_transaction_ever_seen_nothing_is_taken_for_markers() -> None:
    ledger = Ledger()
    for _ in range(5):
        ledger.rest(5, markers=2)
    report = ledger.rest(15, markers=2)
    assert partition(report, "status", "rests_seen") == (STALL, 3)


def test_rests_before_the_first_transaction_that_is_seen_are_known_as_it_is_seen() -> None:
    ledger = Ledger()
    for _ in range(3):
        ledger.rest(6)
    ledger.open(7)
    ledger.run(2)
    report = ledger.run(30)
    assert partition(report, "status", "status_reason", "lag") == (OK, OPEN_TRANSACTION, 8)
    # Not that of the marker below it, which the runs before had dated.
    (age,) = partition(report, "time_lag_seconds")
    assert 31 * 60 <= age <= 32 * 60


def test_a_transaction_seen_in_one_partition_makes_the_topic_known() -> None:
    def look(minute: int, commit: int, end: int, before: Memory, other: int) -> LagReport:
        at = NOON + minute * MINUTE
        reading = a_reading(
            {"g": {"t": [commit, 0]}}, {"t": [(0, end), (0, 4)]}, at=at, stable={"t": [end, other]}
        )
        return evaluate(reading, before.previous_runs(), Rules(), at)

    memory, other = Memory.empty(), 2
    for minute in range(40):
        end = 2 + minute // 5 * 2
        report = look(minute, end - 1, end, memory, other)
        memory, other = memory.add_run(report.snapshot, MINUTE, stored=True), 4
    assert partition(report, "time_lag_method") == (METHOD_MARKER,)


def test_a_consumer_stuck_on_the_newest_record_is_reported_when_the_next_one_comes() -> None:
    ledger = known(3)
    ledger.rest(5)
    # As near to the end as it has rested before, and it does not read this record.
    ledger.write(1, 1)
    assert partition(ledger.run(30), "status") == (OK,)
    ledger.write(1, 1)
    assert partition(ledger.run(10), "status") == (OK,)
    report = ledger.run(2)
    assert partition(report, "status") == (STALL,)
    (age,) = partition(report, "time_lag_seconds")
    assert 11 * 60 <= age <= 12 * 60


def test_a_stuck_record_with_its_marker_is_more_than_a_marker() -> None:
    ledger = known(1)
    ledger.run(5)
    ledger.write(1, 1)
    assert partition(ledger.run(12), "status") == (STALL,)


def test_a_transaction_after_a_long_rest_is_as_old_as_it_is() -> None:
    ledger = known(1)
    ledger.run(120)
    ledger.write(100, 1)
    report = ledger.run(1)
    (age,) = partition(report, "time_lag_seconds")
    assert partition(report, "status", "lag") == (OK, 102)
    assert age <= 60
    ledger.read()
    assert partition(ledger.run(1), *AGES) == (OK, None, 1, 0.0, METHOD_MARKER)


def surplus(report: LagReport) -> float:
    """By how many minutes the greatest possible age exceeds that of the record that is dated."""
    read_at, after = partition(report, "read_at", "next_record_after")
    age, error = partition(report, "time_lag_seconds", "time_lag_error_seconds")
    assert group(report, "time_lag_seconds", "time_lag_error_seconds") == (age, error)
    return float((age + error) * 1_000 - (read_at - after)) / MINUTE


@pytest.mark.parametrize(("runs", "minutes"), [(1, 3), (2, 4), (3, 0)])
def test_an_age_may_be_that_of_a_record_in_a_rest_that_was_too_short_to_be_one(
    runs: int, minutes: int
) -> None:
    ledger = known(5)
    ledger.run(1)
    # Two offsets, and it has rested five below the end: its reader may be about to read this.
    # Nobody knows which of all that came since its commit that is.
    ledger.write(1, 1)
    ledger.run(runs)
    ledger.write(3, 1)
    assert int(surplus(ledger.run(1))) == minutes


def test_an_age_may_be_that_of_a_record_in_a_rest_that_grew_just_now() -> None:
    ledger = known(8)
    ledger.run(1)
    ledger.write(1, 1)
    ledger.run(5)
    ledger.write(2, 1)
    ledger.run(1)
    ledger.write(5, 1)
    assert surplus(ledger.run(1)) == 1 + 1 + 5 + 1 + 1


@pytest.mark.parametrize(
    ("runs", "error"),
    [
        pytest.param(1, 1, id="may have come since the last run"),
        pytest.param(2, 2, id="or the one before"),
        pytest.param(3, 3, id="or that before"),
        pytest.param(4, 0, id="rests"),
    ],
)
def test_nothing_but_markers_is_as_exact_as_a_rest_is_long(runs: int, error: int) -> None:
    ledger = known(2)
    report = ledger.rest(runs, markers=2)
    (method,) = partition(report, "time_lag_method")
    exact = (0.0, pytest.approx(60.0 * error, abs=1.0))
    assert method == METHOD_MARKER
    assert partition(report, "time_lag_seconds", "time_lag_error_seconds") == exact
    assert group(report, "time_lag_seconds", "time_lag_error_seconds") == exact


def test_an_age_behind_a_short_rest_has_no_bound_where_no_run_saw_the_log_end_below() -> None:
    ledger = known(5)
    ledger.write(1, 1)
    ledger.run(1)
    ledger.memory = Memory(ledger.memory.newest, ())
    ledger.write(3, 1)
    assert partition(ledger.run(1), "time_lag_error_seconds") == (None,)


@pytest.mark.parametrize("records", [1, 3])
def test_aborted_records_within_the_longest_rest_are_nothing_to_read(records: int) -> None:
    ledger = known(5)
    ledger.rest(1)
    ledger.run(20)
    # Aborted: a consumer of committed records is given none of these.
    ledger.lies += [MARKER] * (records + 1)
    assert partition(ledger.run(30), "status", "time_lag_method") == (OK, METHOD_MARKER)


def test_a_commit_onto_what_was_taken_for_markers_ends_that() -> None:
    ledger = known(3)
    ledger.rest(10, markers=3)
    ledger.commit += 2
    ledger.run(1)
    assert partition(ledger.run(1), "rests_seen", "rest_records") == (None, None)
    assert partition(ledger.run(15), "status") == (STALL,)


def test_a_commit_that_goes_back_is_no_rest() -> None:
    ledger = known(1)
    ledger.run(5)
    ledger.commit = 1
    assert partition(ledger.run(1), "rests_seen", "rest_end") == (None, None)


def test_a_topic_made_anew_is_learnt_anew() -> None:
    ledger = known(1)
    report = ledger.run(1, topic_ids={"t": "another"})
    assert partition(report, "rests_seen", "rest_records", "held_up_at") == (None, None, None)


def test_a_run_that_does_not_read_the_partition_forgets_no_rest() -> None:
    ledger = known(1)
    at = NOON + (ledger.minute + 1) * MINUTE
    reading = a_reading({"g": {"t": [ledger.commit]}}, {"t": ["timeout"]}, at=at)
    report = evaluate(reading, ledger.memory.previous_runs(), Rules(), at)
    ledger.memory = ledger.memory.add_run(report.snapshot, MINUTE, stored=True)
    ledger.minute += 1
    assert partition(ledger.run(30), *AGES) == (OK, None, 1, 0.0, METHOD_MARKER)


def test_what_the_configuration_allows_comes_before_what_was_learnt() -> None:
    ledger = known(1, rules=Rules(allowed_lag=ByName.of([("^t$", 1)])))
    assert partition(ledger.rest(5), "time_lag_method") == (METHOD_ALLOWED,)


def test_a_consumer_that_commits_behind_markers_has_none_to_learn() -> None:
    report = known(1, passes_markers=True).rest(30)
    assert partition(report, "time_lag_method", "rests_seen") == (METHOD_NONE, None)


def test_what_waits_behind_markers_alone_calls_for_no_task() -> None:
    ledger = known(2)
    report = ledger.rest(5, markers=2)
    assert report.scaling.numbers("scaling_lag").to_list() == [0]


WAITS = ("status", "status_reason", "held_up_records")
SINCE = ("open_transaction_since", "open_transaction_topic", "open_transaction_partition")


def held(passes_markers: bool = True, quiet: int = 3) -> Ledger:
    """A transaction was begun in the last minute, and is open."""
    ledger = Ledger(passes_markers)
    ledger.rest(quiet)
    ledger.open(7)
    return ledger


def test_an_open_transaction_is_named_in_the_second_run_that_sees_it() -> None:
    ledger = held()
    assert group(ledger.run(1), *WAITS) == (OK, None, None)
    begun = NOON + ledger.minute * MINUTE
    report = ledger.run(1)
    assert group(report, *WAITS) == (OK, OPEN_TRANSACTION, 7)
    assert group(report, *SINCE) == (begun, "t", 0)
    assert partition(report, "status", "status_reason", "lag") == (OK, OPEN_TRANSACTION, 7)


def test_a_partition_names_an_open_transaction_no_sooner_than_its_group() -> None:
    ledger = held()
    assert partition(ledger.run(1), "status", "status_reason") == (OK, None)
    assert partition(ledger.run(1), "status", "status_reason") == (OK, OPEN_TRANSACTION)


def test_an_open_transaction_makes_its_readers_neither_late_nor_few() -> None:
    report = held().run(40)
    assert group(report, *WAITS) == (OK, OPEN_TRANSACTION, 7)
    assert report.scaling.numbers("scaling_lag").to_list() == [0]
    assert group(report, "drain_seconds", "lag") == (0.0, 7)


@pytest.mark.parametrize(("reads", "tasks", "scaling_lag"), [(0, 0, 0), (1, 1, 6_970)])
def test_records_of_an_open_transaction_call_for_no_task(
    reads: int, tasks: int, scaling_lag: int
) -> None:
    rules = Rules(tasks=ByName.of([("^g$", TaskSettings(capacity=20.0))]))
    ledger = Ledger(True, rules=rules)
    ledger.rest(3)
    ledger.open(7_000)
    if reads:
        # The same of one that is over, and read slowly.
        ledger.stable = None
    # What was written in its first minute is no longer in the rates.
    for _ in range(30):
        ledger.commit += reads
        report = ledger.run(1)
    assert group(report, "tasks_needed", "lag") == (tasks, 7_000 - 30 * reads)
    assert report.scaling.numbers("scaling_lag").to_list() == [scaling_lag]


def test_the_age_behind_an_open_transaction_is_that_of_its_first_record() -> None:
    (age,) = partition(held().run(41), "time_lag_seconds")
    assert 40 * 60 <= age <= 41 * 60


def test_a_reader_that_was_held_up_has_a_window_to_read_what_was_behind() -> None:
    ledger = held()
    ledger.run(40)
    ledger.close()
    report = ledger.run(10)
    assert group(report, *WAITS) == (OK, None, None)
    report = ledger.run(2)
    assert group(report, "status") == ("ERR",)
    assert partition(report, "status") == (STALL,)


def test_a_time_behind_an_open_transaction_is_no_pause_of_the_reader() -> None:
    ledger = held()
    ledger.run(30)
    ledger.close()
    ledger.read()
    assert partition(ledger.run(1), "pauses_seen", "held_up_at") == (None, None)


def test_another_transaction_begins_its_own_time() -> None:
    ledger = held()
    ledger.run(20)
    ledger.close()
    ledger.read()
    ledger.open(2)
    ledger.run(1)
    begun = NOON + ledger.minute * MINUTE
    report = ledger.run(1)
    assert group(report, "held_up_records", "open_transaction_since") == (2, begun)


def test_a_transaction_behind_another_has_begun_by_the_run_before() -> None:
    ledger = held()
    ledger.run(5)
    first_record = len(ledger.lies)
    ledger.lies += [RECORD] * 3
    ledger.run(1)
    # The first one ends; the second, begun before the last run, holds the log now.
    ledger.stable, ledger.commit = first_record, first_record
    ledger.lies += [MARKER]
    begun = NOON + ledger.minute * MINUTE
    assert group(ledger.run(1), *WAITS[:2], SINCE[0]) == (OK, OPEN_TRANSACTION, begun)


def test_who_lags_behind_the_stable_offset_is_judged_as_ever() -> None:
    ledger = held()
    ledger.commit -= 1
    report = ledger.run(20)
    assert partition(report, "status") == (STALL,)
    assert group(report, "held_up_records") == (None,)


def test_who_reads_uncommitted_records_is_not_held_up() -> None:
    ledger = held()
    ledger.commit = len(ledger.lies)
    assert group(ledger.run(5), *WAITS) == (OK, None, None)


def test_a_marker_before_an_open_transaction_holds_nobody_back() -> None:
    ledger = known(1)
    ledger.rest(3)
    ledger.open(4)
    report = ledger.run(30)
    assert partition(report, "status", "status_reason", "lag") == (OK, OPEN_TRANSACTION, 5)
    (age,) = partition(report, "time_lag_seconds")
    assert 29 * 60 <= age <= 30 * 60


def test_a_group_that_is_stopped_elsewhere_says_so_first() -> None:
    memory = Memory.empty()
    for minute in range(15):
        at = NOON + minute * MINUTE
        reading = a_reading(
            {"g": {"t": [4, 0]}},
            {"t": [(0, 9), (0, 9 + minute)]},
            at=at,
            members=0,
            stable={"t": [4, 9 + minute]},
        )
        report = evaluate(reading, memory.previous_runs(), Rules(), at)
        memory = memory.add_run(report.snapshot, MINUTE, stored=True)
    assert group(report, "status", "status_reason", "held_up_records") == ("ERR", None, 5)
    statuses = report.snapshot.group_partitions.strings("status").to_list()
    assert statuses == [OK, STOP]


def one_by_one(rng: np.random.Generator, minutes: int) -> Sequence[int]:
    """Transactions a minute: busy, then quiet, in turn."""
    counts: list[int] = []
    while len(counts) < minutes:
        counts += [int(rng.integers(1, 60))] * int(rng.integers(1, 15))
        counts += [0] * int(rng.integers(4, 40))
    return counts[:minutes]


@pytest.mark.parametrize("seed", range(2))
def test_days_of_transactions_are_ok_once_two_rests_are_over(seed: int) -> None:
    rng, ledger, late = np.random.default_rng([37, seed]), Ledger(), []
    for minute, transactions in enumerate(one_by_one(rng, 160)):
        for _ in range(transactions):
            ledger.write(int(rng.integers(1, 20)), 1)
        ledger.read()
        if transactions and minute % 7 == 0:
            ledger.open()
            ledger.run(1)
            ledger.close()
            ledger.read()
        status, reason, seen = partition(ledger.run(1), "status", "status_reason", "rests_seen")
        if seen == 2 and status != OK:
            late.append((minute, status, reason))
    assert partition(ledger.run(1), "rests_seen") == (2,)
    assert late == []


# Topics without transactions: a consumer that commits the offset of its last record.


@dataclass(slots=True)
class OffByOne:
    """A partition and one consumer, which commits `below` the end each time that it reads."""

    below: int = 1
    end: int = 1
    commit: int = 0
    minute: int = 0
    runs: Runs = field(default_factory=Runs)

    def rest(self, minutes: int = 6, records: int = 1, *, reads: bool = True) -> LagReport:
        """Records that are read within the minute; then nothing for so long."""
        self.end += records
        self.commit = self.end - self.below if reads else self.commit
        for _ in range(minutes):
            report = self.runs.run(self.minute, self.commit, self.end)
            self.minute += 1
        return report


@pytest.mark.parametrize("records", [1, 3], ids=["one-at-a-time", "three-at-a-time"])
def test_a_consumer_that_commits_its_last_records_own_offset_is_ok_however_long_it_rests(
    records: int,
) -> None:
    consumer = OffByOne()
    for _ in range(3):
        consumer.rest(records=records)
    report = consumer.rest(90, records)
    assert partition(report, *AGES) == (OK, OFF_BY_ONE, 1, 0.0, METHOD_ALLOWED)
    assert partition(report, "time_lag_error_seconds") == (0.0,)
    assert group(report, "status", "status_reason", "time_lag_seconds") == (OK, OFF_BY_ONE, 0.0)
    assert report.scaling.numbers("scaling_lag").to_list() == [0]
    # The next record is no older than it is, while it is not read yet.
    report = consumer.rest(1, records, reads=False)
    (age,) = partition(report, "time_lag_seconds")
    assert partition(report, "status") == (OK,)
    assert age <= 60


def test_a_consumer_stuck_on_its_newest_record_is_reported_once_another_one_came() -> None:
    consumer = OffByOne()
    for _ in range(3):
        consumer.rest()
    assert partition(consumer.rest(30, reads=False), "status")[0] == STALL


@pytest.mark.parametrize("below", [0, 2], ids=["reads-all", "leaves-two"])
def test_a_consumer_that_rests_elsewhere_is_not_off_by_one_any_more(below: int) -> None:
    consumer = OffByOne()
    for _ in range(3):
        consumer.rest()
    consumer.below = below
    consumer.rest()
    consumer.rest()
    consumer.below = 1
    assert partition(consumer.rest(15), "status", "status_reason") == (STALL, None)
