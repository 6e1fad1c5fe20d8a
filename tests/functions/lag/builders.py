# SPDX-License-Identifier: Apache-2.0
"""Rows, partitions and runs in a line or two, for tests of `lag`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import DTYPES, AnyColumn, Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import LagReport, PreviousRuns, Snapshot
from kafka_lag.lag.rollup import Counted, count_rows, roll_up_groups
from kafka_lag.lag.time_index import LookUp, no_look_up
from kafka_lag.lag.time_lag import Ages
from kafka_lag.snapshots.previous import Memory
from tests.builders import HOUR, MINUTE, NOON, Commit, a_reading, table
from tests.functions.lag.time_index_fake import Broker, Log

# Rows of one partition from the values that matter; the rest is unknown.

Row: TypeAlias = dict[str, Any]

# The run before, and the one under test; a row is read a little after its run began.
BEFORE, NOW, LATER = NOON - MINUTE, NOON, 150
_KEY = {"consumer_group": "g", "topic": "t", "partition_id": 0}


def rows(*values: Row, at: int = NOW) -> Frame:
    """Rows of `group_partitions`, read in the run of `at` unless they say otherwise."""
    return _frame(contract.GROUP_PARTITIONS, values, at)


def topic_rows(*values: Row, at: int = NOW) -> Frame:
    """Rows of `topic_partitions`, read in the run of `at` unless they say otherwise."""
    return _frame(contract.TOPIC_PARTITIONS, values, at)


def snapshot(frame: Frame, topics: Frame | None = None, at: int = BEFORE) -> Snapshot:
    """What a run left behind."""
    empty = Snapshot.empty()
    return Snapshot(at, topics or empty.topic_partitions, frame, empty.groups)


def stable(count: int = 1) -> Frame:
    """As many rows of stable groups with a member: the columns that a status depends on."""
    members = Column.of(np.ones(count, np.int32))
    return Frame.of({"members": members, "group_state": Strings.constant("Stable", count)})


def column(values: list[Any], kind: str = contract.DOUBLE) -> Column:
    """Numbers of a contract type, None being unknown."""
    return Column.optional(values, DTYPES[kind])


def exact_ages(seconds: Column) -> Ages:
    """Time lags without an error."""
    method = Strings.constant(contract.METHOD_INTERPOLATED, len(seconds)).only(seconds.known)
    return Ages(seconds, seconds, seconds, method)


def first(frame: Frame, *names: str) -> tuple[Any, ...]:
    """These columns of the first row, None for unknown."""
    return tuple(frame.columns[name].to_list()[0] for name in names)


def numbers_of(frame: Frame, *names: str) -> list[float]:
    """Every known number in these columns."""
    return [value for name in names for value in frame.columns[name].to_list() if value is not None]


def _frame(dataset: str, values: tuple[Row, ...], at: int) -> Frame:
    filled = [{**_KEY, "taken_at": at, "read_at": at + LATER, **row} for row in values]
    columns: dict[str, AnyColumn] = {}
    for name, kind in contract.COLUMNS[dataset].items():
        cells = [row.get(name) for row in filled]
        if kind == contract.STRING or kind in contract.LISTS:
            columns[name] = Strings.of(cells)
        else:
            columns[name] = column(cells, kind)
    return Frame.of(columns)


# Group-partitions in a line each, as roll-ups get them, and the groups they are rolled up to.

_RULES = Rules()


@dataclass(frozen=True, slots=True)
class Part:
    """A partition of group g, read now and caught up by default; None is unknown.

    `age` is exact unless its proven `bounds` are given. `skipped`: from and to which commit, and
    when, ms before the run.
    """

    group: str = "g"
    topic: str = "orders"
    partition: int = 0
    lag: int | None = 0
    age: float | None = 0.0
    bounds: tuple[float | None, float | None] | None = None
    method: str | None = contract.METHOD_NONE
    status: str | None = contract.OK
    last_status: str | None = None
    reason: str | None = None
    consumer: str | None = None
    committed: int | None = 10
    rewound_from: int | None = None
    skipped: tuple[int, int, int] | None = None
    skip_reason: str | None = None
    unread: str | None = None
    uncommitted: bool = False
    lost: int | None = 0
    produced: float | None = None
    consumed: float | None = None
    drain: float | None = None
    loss: float | None = None
    risk: str | None = contract.SAFE
    allowed: int = 0
    ignored: bool = False
    member: str | None = None
    leader: int | None = 1


def behind(age: float | None, lag: int | None = 5, **more: Any) -> Part:
    """A partition that lags, its age exact unless bounds are given."""
    return Part(age=age, lag=lag, **{"method": contract.METHOD_INTERPOLATED, **more})


def unread(lag: int | None = 5, **more: Any) -> Part:
    """A partition that was last read just now, when it lagged; its age is no longer exact."""
    return Part(lag=lag, **{"unread": contract.TIMEOUT, "status": None, **more})


def never_read(**more: Any) -> Part:
    """A partition not read for longer than the window: nothing of it counts but its last status."""
    unknown = {"lag": None, "age": None, "unread": contract.TIMEOUT, "status": None}
    return Part(**{**unknown, **more})


UNCOMMITTED: dict[str, Any] = {
    "lag": None,
    "age": None,
    "method": None,
    "status": None,
    "committed": None,
    "uncommitted": True,
    "risk": None,
}


def frame_of(parts: Sequence[Part]) -> Frame:
    """The group-partitions' own rows, with every column of the contract."""
    of = _columns(parts)
    read = np.array([reason is None for reason in of["unread"]], bool)
    lag, age = Column.optional(of["lag"]), Column.optional(of["age"], np.float64)
    exact = [bounded(p)[1] is not None for p in parts]
    columns: dict[str, AnyColumn] = {
        "consumer_group": Strings.of(of["group"]),
        "topic": Strings.of(of["topic"]),
        "partition_id": Column.optional(of["partition"], np.int32),
        "leader": Column.optional(of["leader"], np.int32),
        "member_id": Strings.of(of["member"]),
        "unread_reason": Strings.of(of["unread"]),
        "committed_offset": Column.optional(of["committed"]),
        "rewound_from": Column.optional(of["rewound_from"]),
        **_skips(of["skipped"]),
        "skip_reason": Strings.of(of["skip_reason"]),
        "consume_rate": Column.optional(of["consumed"], np.float64),
        "drain_seconds": Column.optional(of["drain"], np.float64),
        "records_lost": Column.optional(of["lost"]),
        "lag": lag.only(read),
        "last_lag": lag.only(~read),
        "time_lag_seconds": age.only(read),
        "time_lag_error_seconds": Column(np.zeros(len(parts)), read & np.array(exact, bool)),
        "last_time_lag_seconds": age.only(~read),
        "uncounted": Strings.of(map(_uncounted, parts)),
        "seconds_until_loss": Column.optional(of["loss"], np.float64),
        "retention_risk": Strings.of(of["risk"]),
        "status": Strings.of(of["status"]),
        "last_status": Strings.of(of["last_status"]),
        "status_reason": Strings.of(of["reason"]),
        "consumer_status": Strings.of(of["consumer"]),
    }
    return Frame.of(columns).completed(contract.GROUP_PARTITIONS)


def _skips(skipped: Sequence[tuple[int, int, int] | None]) -> dict[str, AnyColumn]:
    """With the run's time, which nothing else of a row needs."""
    if not any(skipped):
        return {}
    return {
        "taken_at": Column.optional([NOON] * len(skipped)),
        "skipped_from": Column.optional([each and each[0] for each in skipped]),
        "skipped_to": Column.optional([each and each[1] for each in skipped]),
        "skipped_at": Column.optional([each and NOON - each[2] for each in skipped]),
    }


def counted_of(parts: Sequence[Part]) -> Counted:
    """What counts of them."""
    of = _columns(parts)
    bounds = [bounded(p) for p in parts]
    produced = {"produce_rate": Column.optional(of["produced"], np.float64)}
    topics = Frame.of(produced).completed(contract.TOPIC_PARTITIONS)
    allowed = Column.of(np.array(of["allowed"], np.int64))
    ages = Ages(
        Column.optional(of["age"], np.float64),
        Column.optional([least for least, _ in bounds], np.float64),
        Column.optional([most for _, most in bounds], np.float64),
        Strings.of(of["method"]),
    )
    return count_rows(frame_of(parts), topics, allowed, ages, Rules())


def bounded(part: Part) -> tuple[float | None, float | None]:
    """What is proven of its age: nothing where it was not read."""
    if part.unread is not None:
        return None, None
    return part.bounds or (part.age, part.age)


def _uncounted(part: Part) -> str | None:
    if part.ignored:
        return contract.IGNORED
    if part.uncommitted:
        return contract.UNCOMMITTED
    return contract.UNKNOWN if part.lag is None else None


def groups_of(*names: str, **columns: AnyColumn) -> Frame:
    """Groups as they were read, before anything is rolled up to them."""
    members = Column.of(np.ones(len(names), np.int32))
    read: dict[str, AnyColumn] = {"consumer_group": Strings.of(names), "members": members}
    return Frame.of({**read, **columns}).completed(contract.GROUPS)


def left_behind(groups: Frame, at: int) -> Snapshot:
    """A snapshot of a run at `at` that holds these groups and nothing else."""
    return replace(Snapshot.empty(), taken_at=at, groups=groups)


def rolled(*parts: Part, names: Sequence[str] = ("g",), rules: Rules = _RULES) -> Frame:
    """The groups' rows made of these partitions, with no snapshot before."""
    rows, counted = frame_of(parts), counted_of(parts)
    return roll_up_groups(groups_of(*names), rows, counted, Snapshot.empty(), rules)


def of_group(groups: Frame, *names: str) -> tuple[Any, ...]:
    """Values of the only row."""
    (row,) = zip(*(groups.columns[name].to_list() for name in names), strict=True)
    return tuple(row)


def _columns(parts: Sequence[Part]) -> dict[str, list[Any]]:
    return {field.name: [getattr(p, field.name) for p in parts] for field in fields(Part)}


# Runs a minute apart over groups at one partition, each with what a warm collector keeps.


@dataclass(slots=True)
class Runs:
    """`run` reads groups at their commits on topic t; a run is named by its minute from noon."""

    rules: Rules = Rules()  # noqa: RUF009 - frozen
    look_up: LookUp = no_look_up
    memory: Memory = field(default_factory=Memory.empty)

    def run(
        self,
        minute: float,
        commit: int | Sequence[int],
        end: int | str,
        *,
        members: int = 1,
        clock: int = 0,
        **more: Any,
    ) -> LagReport:
        """The run scheduled at that minute, by a clock that is so many ms ahead of the truth.

        `end` is the log's, or the reason why it was not read.
        """
        at = NOON + round(minute * MINUTE)
        commits = [commit] if isinstance(commit, int) else commit
        groups = {f"g{number}": {"t": [each]} for number, each in enumerate(commits)}
        owners = {(name, "t", 0): "m" for name in groups if members}
        more = {"owners": owners, "members": members, **more}
        log = end if isinstance(end, str) else (0, end)
        reading = a_reading(groups, {"t": [log]}, at=at + clock, **more)
        report = evaluate(reading, self.memory.previous_runs(), self.rules, at, self.look_up)
        self.memory = self.memory.add_run(report.snapshot, self.rules.interval_ms, stored=True)
        return report


def partition(report: LagReport, *names: str) -> tuple[Any, ...]:
    """These columns of the first group's row of the partition, None for unknown."""
    return tuple(report.snapshot.group_partitions.columns[name].to_list()[0] for name in names)


def group(report: LagReport, *names: str) -> tuple[Any, ...]:
    """These columns of the first group's row, None for unknown."""
    return tuple(report.snapshot.groups.columns[name].to_list()[0] for name in names)


# Runs one after another over one topic, in a line or two.

SECOND = 1_000
_ENDS = ("topic", "topic_id", "partition_id", "asked_at", "read_at", "unread_reason", "end_offset")
TIMES = ("time_lag_seconds", "time_lag_error_seconds", "time_lag_method")


@dataclass
class Days:
    """Runs one after another over one topic; each knows all log ends of the runs before."""

    policy: str = "delete"
    rules: Rules = Rules()  # noqa: RUF009 - frozen

    def __post_init__(self) -> None:
        self.previous_runs = PreviousRuns.empty()

    def run(
        self,
        at: int,
        commits: Sequence[Commit],
        log: tuple[int, int] | str,
        look_up: LookUp = no_look_up,
        **more: Any,
    ) -> LagReport:
        groups = {f"g{number}": {"t": [commit]} for number, commit in enumerate(commits)}
        reading = a_reading(groups, {"t": [log]}, at=at, **more)
        policy = Strings.constant(self.policy, 1)
        topics = reading.topic_partitions.with_columns(cleanup_policy=policy)
        reading = replace(reading, topic_partitions=topics)
        report = evaluate(reading, self.previous_runs, self.rules, at, look_up)
        ends = report.snapshot.topic_partitions
        point = Frame.of({name: ends.columns[name] for name in _ENDS})
        self.previous_runs = PreviousRuns(report.snapshot, (*self.previous_runs.ends, point))
        return report


def time_lags(report: LagReport) -> list[tuple[Any, ...]]:
    return table(report.snapshot.group_partitions, *TIMES)


def an_hour(rate: int = 10) -> tuple[Broker, Log]:
    """A record each `rate` seconds for an hour until noon."""
    log = Log([NOON - HOUR + i * rate * SECOND for i in range(HOUR // (rate * SECOND))])
    return Broker({("t", 0): log}), log
