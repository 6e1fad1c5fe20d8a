# SPDX-License-Identifier: Apache-2.0
"""Planted logs, known record by record, and readers of which it is known what they do.

All cases are one cluster: a topic of one partition and a group each, seen once a minute. What the
collector is given holds nothing of what was planted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import DTYPES, AnyColumn, Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading, Snapshot
from kafka_lag.snapshots.previous import Memory

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Random: TypeAlias = np.random.Generator

BEGIN = 1_769_860_800_000  # 2026-01-31T12:00:00Z
MINUTE_MS = 60_000
# After a run began its commits are read, then the ends of the logs.
_COMMITS_READ_MS, _ENDS_READ_MS = 150, 200


class Reader(StrEnum):
    """What a consumer does; all but the first two are to be reported."""

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
    """How a partition is written, by `producers` at once; each pair is least and most.

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
    transaction `hangs`, for half an hour.
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
    """Offsets by the second in which they were written, and transactions by theirs.

    `records`: the offsets of committed records. Times in seconds after the first run.
    """

    written: Floats
    records: Ints
    first: Ints
    begun: Floats
    over: Floats

    def end(self, at: float) -> int:
        """Its end offset."""
        return int(np.searchsorted(self.written, at, "right"))

    def stable(self, at: float) -> int:
        """Up to where committed records can be read."""
        is_open = (self.begun <= at) & (self.over > at)
        return int(min([self.end(at), *self.first[is_open].tolist()]))

    def readable(self, at: float) -> int:
        """How many of `records` can be read."""
        return int(np.searchsorted(self.records, self.stable(at)))


_HANGS_SECONDS = 1_800
_QUIET_AFTER_TURN = 40


def write(case: Case, minutes: int) -> Log:
    """The log of a case. Where its reader gets stuck, one more transaction comes after a pause, so
    that what is left unread is as little as can be."""
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
    """Records spread over each transaction, the first as it begins, and a marker at its end."""
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
    """A reader's position, from look to look."""

    def __init__(self, case: Case, log: Log, minutes: int) -> None:
        self.case, self.log = case, log
        self.read = 0
        self._rate = _SLOW_SHARE * len(log.records) / minutes
        self._stuck_at: int | None = None

    def commit(self, minute: int) -> int:
        """What it has committed by this minute's run; `read` is how many records that is."""
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

    def _position(self, at: float) -> int:
        if self.case.reader == Reader.COMMITS_MARKERS:
            return self.log.stable(at)
        return int(self.log.records[self.read - 1]) + 1 if self.read else 0

    def unread_since(self, at: float) -> float | None:
        """Since when there is a record that it could read."""
        if self.log.readable(at) <= self.read:
            return None
        return float(self.log.written[self.log.records[self.read]])


@dataclass(frozen=True, slots=True)
class Look:
    """What a run said of a case, and what is true then; times in minutes after the first run.

    `distance`: from its `commit` to the end of what can be read. `seen_open`: a run saw a
    transaction of this topic open, by now.
    """

    minute: int
    status: str | None
    method: str | None
    reason: str | None
    named_since: float | None
    unread_minutes: float
    end: int
    commit: int
    distance: int
    seen_open: bool


def look(
    cases: Sequence[Case], minutes: int, rules: Rules | None = None
) -> Mapping[str, list[Look]]:
    """What each run says of each case."""
    rules = rules or Rules(lookup_budget=0)
    memory = Memory.empty()
    consumers = [Consumer(case, write(case, minutes), minutes) for case in cases]
    said: dict[str, list[Look]] = {case.name: [] for case in cases}
    seen_open: set[str] = set()
    for minute in range(minutes):
        at = BEGIN + minute * MINUTE_MS
        commits = [each.commit(minute) for each in consumers]
        reading = _read(consumers, commits, minute)
        snapshot = evaluate(reading, memory.previous_runs(), rules, at).snapshot
        memory = memory.add_run(snapshot, rules.interval_ms, stored=True)
        found = _by_group(snapshot)
        for each, commit in zip(consumers, commits, strict=True):
            name, seconds = each.case.name, 60.0 * minute + _ENDS_READ_MS / 1_000
            end, stable = each.log.end(seconds), each.log.stable(seconds)
            if stable < end and commit < end:
                seen_open.add(name)
            since = each.unread_since(60.0 * minute)
            said[name].append(
                Look(
                    minute,
                    *found[name],
                    unread_minutes=0.0 if since is None else minute - since / 60.0,
                    end=end,
                    commit=commit,
                    distance=stable - commit,
                    seen_open=name in seen_open,
                )
            )
    return said


def _by_group(
    snapshot: Snapshot,
) -> dict[str, tuple[str | None, str | None, str | None, float | None]]:
    rows, groups = snapshot.group_partitions, snapshot.groups
    methods = dict(
        zip(
            rows.strings("consumer_group").to_list(),
            zip(
                rows.strings("status").to_list(),
                rows.strings("time_lag_method").to_list(),
                strict=True,
            ),
            strict=True,
        )
    )
    columns = (
        groups.strings("consumer_group").to_list(),
        groups.strings("status_reason").to_list(),
        groups.numbers("open_transaction_since").to_list(),
    )
    return {
        name: (*methods[name], reason, None if since is None else (since - BEGIN) / MINUTE_MS)
        for name, reason, since in zip(*columns, strict=True)
    }


def _read(consumers: Sequence[Consumer], commits: Sequence[int], minute: int) -> ClusterReading:
    at = BEGIN + minute * MINUTE_MS
    seconds = 60.0 * minute + _ENDS_READ_MS / 1_000
    topics, rows, groups = [], [], []
    for each, commit in zip(consumers, commits, strict=True):
        case, end = each.case, each.log.end(seconds)
        gone = case.reader == Reader.STOPPED and minute >= (case.turns_at or 0)
        topics.append(
            {
                "topic": case.name,
                "topic_id": case.name,
                "partition_id": 0,
                "leader": 1,
                "start_offset": 0,
                "end_offset": end,
                "stable_offset": each.log.stable(seconds) if commit < end else None,
                "asked_at": at + _COMMITS_READ_MS,
                "read_at": at + _ENDS_READ_MS,
                "retention_ms": 7 * 86_400_000,
                "retention_bytes": -1,
                "cleanup_policy": "delete",
            }
        )
        rows.append(
            {
                "consumer_group": case.name,
                "topic": case.name,
                "topic_id": case.name,
                "partition_id": 0,
                "read_at": at + _COMMITS_READ_MS,
                "member_id": None if gone else "m",
                "client_id": None if gone else "m",
                "client_host": None if gone else "/m",
                "committed_offset": commit,
            }
        )
        groups.append(
            {
                "consumer_group": case.name,
                "read_at": at + _COMMITS_READ_MS,
                "group_state": "Empty" if gone else "Stable",
                "group_type": "classic",
                "protocol": "consumer",
                "members": 0 if gone else 1,
            }
        )
    return ClusterReading(
        _frame(contract.TOPIC_PARTITIONS, topics),
        _frame(contract.GROUP_PARTITIONS, rows),
        _frame(contract.GROUPS, groups),
    )


def _frame(dataset: str, rows: Sequence[Mapping[str, Any]]) -> Frame:
    columns: dict[str, AnyColumn] = {}
    for name, kind in contract.COLUMNS[dataset].items():
        cells = [row.get(name) for row in rows]
        if name not in rows[0] and name != "unread_reason":
            continue
        if kind == contract.STRING:
            columns[name] = Strings.of(cells)
        else:
            columns[name] = Column.optional(cells, DTYPES[kind])
    return Frame.of(columns)
