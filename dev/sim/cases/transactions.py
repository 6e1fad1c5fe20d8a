# SPDX-License-Identifier: Apache-2.0
"""Topics written in transactions, known record by record, and readers of committed records.

Each case is a topic of one partition and a group. All cases are one cluster, seen once a minute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np

from dev.sim.reading import Floats, Ints, Layout, Sight
from kafka_lag.lag.columns import Column, Strings

Random: TypeAlias = np.random.Generator

MINUTES = 420
# A run reads commits and then the ends of the logs so many ms after it began.
_COMMITS_READ, _ENDS_READ = 150, 200


class Reader(StrEnum):
    """What a consumer does; all but the first two must be reported."""

    COMMITS_RECORDS = "commits after the last record"
    COMMITS_MARKERS = "commits behind markers"
    STUCK = "stuck on the newest record"
    STOPPED = "stopped"
    SLOW = "slow"
    LEAVES_SOME = "leaves up to ten records"
    LEAVES_MORE = "leaves more than ten records"


HEALTHY = (Reader.COMMITS_RECORDS, Reader.COMMITS_MARKERS)


@dataclass(frozen=True, slots=True)
class Writer:
    """How a partition is written by `producers` at once; each pair is least and most.

    `records` and `seconds` of a transaction, transactions `a_minute` of each producer while it is
    busy, `busy` and `quiet` minutes in turn. `aborted`: the share of transactions that are.
    """

    records: tuple[int, int]
    seconds: tuple[float, float]
    a_minute: tuple[int, int]
    busy: tuple[int, int]
    quiet: tuple[int, int]
    producers: int = 1
    aborted: float = 0.0


@dataclass(frozen=True, slots=True)
class Case:
    """A partition's writer and its reader.

    `turns_at`: the minute from which on the reader is stuck or has stopped, or in which a
    transaction `hangs`, for half an hour. `delay`: seconds from a record to its commit. `leaves`:
    records that the reader does not read.
    """

    name: str
    writer: Writer
    reader: Reader
    delay: float
    seed: tuple[int, ...]
    leaves: int = 0
    turns_at: int | None = None
    hangs: bool = False


@dataclass(frozen=True, slots=True)
class Log:
    """The second in which each offset was written, and the times of transactions.

    `records`: offsets of committed records. Of each transaction: its `first` offset, when it had
    `begun` and was `over`. Times are in seconds after the first run.
    """

    written: Floats
    records: Ints
    first: Ints
    begun: Floats
    over: Floats

    def end(self, at: float) -> int:
        """Returns its end offset."""
        return int(np.searchsorted(self.written, at, "right"))

    def stable(self, at: float) -> int:
        """Returns the offset up to which committed records can be read."""
        is_open = (self.begun <= at) & (self.over > at)
        return int(min([self.end(at), *self.first[is_open].tolist()]))

    def readable(self, at: float) -> int:
        """Returns how many of `records` can be read."""
        return int(np.searchsorted(self.records, self.stable(at)))


_HANGS_SECONDS = 1_800
_QUIET_AFTER_TURN = 40


def write(case: Case, minutes: int) -> Log:
    """Returns the log of a case.

    After a reader got stuck, one more transaction follows a pause, so that few records are unread.
    """
    rng = np.random.default_rng(case.seed)
    transactions: list[tuple[float, float, int, bool]] = []
    for begin, until in _busy_times(case, rng, minutes):
        for _ in range(case.writer.producers):
            transactions += _draw_transactions(case.writer, rng, begin, until)
    if case.turns_at is not None and case.reader == Reader.STUCK:
        turn = 60.0 * case.turns_at
        seconds = rng.uniform(*case.writer.seconds)
        begin = turn + 60.0 * _QUIET_AFTER_TURN + rng.uniform(0, 60)
        count = int(rng.integers(*case.writer.records, endpoint=True))
        transactions = [each for each in transactions if each[1] < turn]
        transactions.append((begin, begin + seconds, count, True))
    if case.hangs and case.turns_at is not None:
        begin = 60.0 * case.turns_at + rng.uniform(0, 60)
        count = int(rng.integers(1, 30))
        transactions.append((begin, begin + _HANGS_SECONDS, count, True))
    return _lay_out(transactions, rng)


def _busy_times(case: Case, rng: Random, minutes: int) -> Iterator[tuple[float, float]]:
    at = 0.0
    while at < 60.0 * minutes:
        until = at + 60.0 * rng.uniform(*case.writer.busy)
        yield at, until
        at = until + 60.0 * rng.uniform(*case.writer.quiet)


def _draw_transactions(
    writer: Writer, rng: Random, begin: float, until: float
) -> Iterator[tuple[float, float, int, bool]]:
    at = begin
    while at < until:
        at += rng.exponential(60.0 / rng.integers(*writer.a_minute, endpoint=True))
        over = at + rng.uniform(*writer.seconds)
        count = int(rng.integers(*writer.records, endpoint=True))
        yield at, over, count, bool(rng.random() >= writer.aborted)
        at = over


def _lay_out(transactions: Sequence[tuple[float, float, int, bool]], rng: Random) -> Log:
    """Spreads records over each transaction, the first as it begins, and ends it with a marker."""
    times: list[float] = []
    of: list[int] = []
    for number, (begin, over, count, _) in enumerate(transactions):
        later = rng.uniform(begin, over, count - 1).tolist()
        times += [begin, *later, over]
        of += [*([number] * count), -1]
    written, owner = np.array(times), np.array(of, np.int64)
    order = np.argsort(written, kind="stable")
    written, owner = written[order], owner[order]
    committed = np.array([*(each[3] for each in transactions), False])
    first = np.zeros(len(transactions), np.int64)
    backwards = np.flatnonzero(owner >= 0)[::-1]
    first[owner[backwards]] = backwards
    return Log(
        written,
        np.flatnonzero((owner >= 0) & committed[owner]),
        first,
        np.array([each[0] for each in transactions]),
        np.array([each[1] for each in transactions]),
    )


_SLOW_SHARE = 0.6
_EVERY_MINUTES = 15


class Consumer:
    """A reader's position from run to run; `read` counts the records it has read."""

    def __init__(self, case: Case, log: Log, minutes: int) -> None:
        self.case, self.log = case, log
        self.read = 0
        self._rate = _SLOW_SHARE * len(log.records) / minutes
        self._stuck_at: int | None = None

    def commit(self, minute: int) -> int:
        """Returns what it has committed by the run of this minute."""
        case, at = self.case, 60.0 * minute - self.case.delay
        turned = case.turns_at is not None and not case.hangs and minute >= case.turns_at
        if case.reader == Reader.STUCK and turned:
            if self._stuck_at is None:
                # It has read all but the newest one.
                self._stuck_at = max(0, self.log.readable(at) - 1)
                self.read = self._stuck_at
            return self._position(at)
        if turned:
            return self._position(at)
        readable = self.log.readable(at)
        if case.reader == Reader.SLOW:
            readable = min(readable, int(self._rate * minute))
        if case.leaves:
            if minute % _EVERY_MINUTES:
                return self._position(at)
            readable -= case.leaves
        self.read = max(self.read, readable)
        return self._position(at)

    def has_stopped(self, minute: int) -> bool:
        """Returns whether the reader has left its group."""
        return self.case.reader == Reader.STOPPED and minute >= (self.case.turns_at or 0)

    def _position(self, at: float) -> int:
        if self.case.reader == Reader.COMMITS_MARKERS:
            return self.log.stable(at)
        return int(self.log.records[self.read - 1]) + 1 if self.read else 0

    def unread_since(self, at: float) -> float | None:
        """Returns when its next unread record was written, or None if there is none."""
        if self.log.readable(at) <= self.read:
            return None
        return float(self.log.written[self.log.records[self.read]])


class Transactions:
    """All cases as one cluster."""

    def __init__(self, cases: Sequence[Case], minutes: int) -> None:
        self.consumers = [Consumer(case, write(case, minutes), minutes) for case in cases]
        self.commits: list[int] = []
        self.minute = -1

    @property
    def ends_read(self) -> float:
        """The second at which the run reads the ends of the logs."""
        return 60.0 * self.minute + _ENDS_READ / 1_000

    def layout(self) -> Layout:
        """Returns the rows of all readings."""
        names = [each.case.name for each in self.consumers]
        topics, groups = dict.fromkeys(names, 1), {name: name for name in names}
        return Layout.of(topics, groups, (_COMMITS_READ, _ENDS_READ))

    def live_a_minute(self) -> None:
        """Goes to the next run."""
        self.minute += 1
        self.commits = [each.commit(self.minute) for each in self.consumers]

    def sight(self) -> Sight:
        """Returns what the run sees."""
        end = np.array([each.log.end(self.ends_read) for each in self.consumers])
        stable = np.array([each.log.stable(self.ends_read) for each in self.consumers])
        committed = np.array(self.commits)
        gone = np.array([each.has_stopped(self.minute) for each in self.consumers])
        return Sight(
            end=end,
            committed=committed,
            owner=np.where(gone, -1, 0),
            members=("m",),
            counts=np.where(gone, 0, 1),
            states=Strings.of("Empty" if each else "Stable" for each in gone.tolist()),
            leader=np.ones(len(end), np.int64),
            # Brokers are asked only where something is unread.
            stable=Column.of(stable, committed < end),
            retention_ms=np.full(len(end), 7 * 86_400_000),
        )


# Minutes between which readers get stuck or stop, and transactions hang.
_TURNS = (270, 300)

_COUNTS = {
    Reader.COMMITS_RECORDS: 40,
    Reader.COMMITS_MARKERS: 10,
    Reader.STUCK: 20,
    Reader.STOPPED: 10,
    Reader.SLOW: 5,
    Reader.LEAVES_SOME: 5,
    Reader.LEAVES_MORE: 5,
}
_HANGING = 50


def draw_cases(seed: int) -> list[Case]:
    """Returns so many cases of each kind; the same seed draws the same."""
    rng = np.random.default_rng([37, seed])
    cases: list[Case] = []
    for reader, count in _COUNTS.items():
        names = (f"{reader.name.lower()}-{number:02}" for number in range(count))
        cases += [_draw(rng, seed, name, reader) for name in names]
    for number in range(_HANGING):
        reader = HEALTHY[int(rng.integers(len(HEALTHY)))]
        cases.append(_draw(rng, seed, f"hangs-{number:02}", reader, hangs=True))
    return cases


def _draw(rng: Random, seed: int, name: str, reader: Reader, *, hangs: bool = False) -> Case:
    turns = hangs or reader in (Reader.STUCK, Reader.STOPPED)
    leaves = 0
    if reader == Reader.LEAVES_SOME:
        leaves = int(rng.integers(3, 10))
    if reader == Reader.LEAVES_MORE:
        leaves = int(rng.integers(12, 60))
    return Case(
        name,
        _draw_writer(rng),
        reader,
        delay=float(rng.uniform(0.2, 8.0)),
        seed=(seed, int(rng.integers(2**31))),
        leaves=leaves,
        turns_at=int(rng.integers(*_TURNS)) if turns else None,
        hangs=hangs,
    )


def _draw_writer(rng: Random) -> Writer:
    """Draws single records or batches, one marker or several, now and then aborted."""
    most = int(rng.choice([1, 1, 3, 20, 200]))
    seconds = float(rng.choice([0.5, 2.0, 6.0]))
    return Writer(
        records=(1, most),
        seconds=(seconds / 5, seconds),
        a_minute=(int(rng.integers(2, 6)), int(rng.integers(6, 40))),
        busy=(2, int(rng.integers(4, 20))),
        quiet=(6, int(rng.integers(8, 45))),
        producers=int(rng.choice([1, 1, 2, 3])),
        aborted=float(rng.choice([0.0, 0.0, 0.05, 0.2])),
    )
