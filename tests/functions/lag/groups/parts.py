# SPDX-License-Identifier: Apache-2.0
"""Group-partitions in a line each, as roll-ups get them, and the groups they are rolled up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import AnyColumn, Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.rollup import Counted, count_rows, roll_up_groups
from kafka_lag.lag.time_lag import Ages

_RULES = Rules()


@dataclass(frozen=True, slots=True)
class Part:
    """A partition of group g, read now and caught up unless told otherwise; None is unknown.

    `age` is exact unless its proven `bounds` are given.
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
    committed: int | None = 10
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
    """A partition that was last read just now, when it lagged; its age is exact no more."""
    return Part(lag=lag, **{"unread": contract.TIMEOUT, "status": None, **more})


def forgotten(**more: Any) -> Part:
    """A partition not read for longer than the window: nothing of it counts but its last status."""
    told = {"lag": None, "age": None, "unread": contract.TIMEOUT, "status": None}
    return Part(**{**told, **more})


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
    }
    return Frame.of(columns).completed(contract.GROUP_PARTITIONS)


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
