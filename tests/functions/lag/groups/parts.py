# SPDX-License-Identifier: Apache-2.0
"""Group-partitions in a line each, as roll-ups get them, and the groups they are rolled up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from functions import contract
from functions.lag.columns import Column, Words
from functions.lag.frame import AnyColumn, Frame
from functions.lag.groups.counted import Counted
from functions.lag.groups.rows import rolled_up
from functions.lag.model import Snapshot
from functions.lag.rules import Rules
from functions.lag.time_lag.ages import Ages

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
    reason: str | None = None
    committed: int | None = 10
    unread: str | None = None
    uncommitted: bool = False
    lost: int | None = 0
    produced: float | None = None
    consumed: float | None = None
    drain: float | None = None
    loss: float | None = None
    at_risk: bool = False
    scaling: int | None = None
    ignored: bool = False
    member: str | None = None
    leader: int | None = 1


def behind(age: float | None, lag: int | None = 5, **more: Any) -> Part:
    """A partition that lags, its age exact unless bounds are given."""
    return Part(age=age, lag=lag, **{"method": contract.METHOD_INTERPOLATED, **more})


def silent(**more: Any) -> Part:
    """A partition not read for longer than the window: its age and status go on, its lag not."""
    return Part(**{"lag": None, "unread": contract.TIMEOUT, **more})


UNCOMMITTED: dict[str, Any] = {
    "lag": None,
    "age": None,
    "method": None,
    "status": None,
    "committed": None,
    "uncommitted": True,
}


def frame_of(parts: Sequence[Part]) -> Frame:
    """The group-partitions' own rows, with every column of the contract."""
    of = _columns(parts)
    columns: dict[str, AnyColumn] = {
        "consumer_group": Words.of(of["group"]),
        "topic": Words.of(of["topic"]),
        "partition_id": Column.optional(of["partition"], np.int32),
        "leader": Column.optional(of["leader"], np.int32),
        "member_id": Words.of(of["member"]),
        "unread_reason": Words.of(of["unread"]),
        "committed_offset": Column.optional(of["committed"]),
        "consume_rate": Column.optional(of["consumed"], np.float64),
        "drain_seconds": Column.optional(of["drain"], np.float64),
        "status_reason": Words.of(of["reason"]),
    }
    return Frame.of(columns).completed(contract.GROUP_PARTITIONS)


def counted_of(parts: Sequence[Part]) -> Counted:
    """What counts of them; a lag that is neither known nor uncommitted is missing."""
    of = _columns(parts)
    lag, uncommitted = Column.optional(of["lag"]), np.array(of["uncommitted"], bool)
    bounds = [p.bounds or (p.age, p.age) for p in parts]
    return Counted(
        lag=lag,
        missing=~lag.known & ~uncommitted,
        uncommitted=uncommitted,
        lost=Column.optional(of["lost"]),
        unknown=np.array([reason is not None for reason in of["unread"]], bool),
        ages=Ages(
            Column.optional(of["age"], np.float64),
            Column.optional([least for least, _ in bounds], np.float64),
            Column.optional([most for _, most in bounds], np.float64),
            Words.of(of["method"]),
        ),
        produce_rate=Column.optional(of["produced"], np.float64),
        until_loss=Column.optional(of["loss"], np.float64),
        at_risk=np.array(of["at_risk"], bool),
        status=Words.of(of["status"]),
        scaling=Column.optional([p.lag if p.scaling is None else p.scaling for p in parts]),
        ignored=np.array(of["ignored"], bool),
    )


def groups_of(*names: str, **columns: AnyColumn) -> Frame:
    """Groups as they were read, before anything is rolled up to them."""
    members = Column.of(np.ones(len(names), np.int32))
    read: dict[str, AnyColumn] = {"consumer_group": Words.of(names), "members": members}
    return Frame.of({**read, **columns}).completed(contract.GROUPS)


def left_behind(groups: Frame, at: int) -> Snapshot:
    """A snapshot of a run at `at` that holds these groups and nothing else."""
    return replace(Snapshot.empty(), taken_at=at, groups=groups)


def rolled(*parts: Part, names: Sequence[str] = ("g",), rules: Rules = _RULES) -> Frame:
    """The groups' rows made of these partitions, with no snapshot before."""
    rows, counted = frame_of(parts), counted_of(parts)
    return rolled_up(groups_of(*names), rows, counted, Snapshot.empty(), rules)


def of_group(groups: Frame, *names: str) -> tuple[Any, ...]:
    """Values of the only row."""
    (row,) = zip(*(groups.columns[name].to_list() for name in names), strict=True)
    return tuple(row)


def _columns(parts: Sequence[Part]) -> dict[str, list[Any]]:
    return {field.name: [getattr(p, field.name) for p in parts] for field in fields(Part)}
