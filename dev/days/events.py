# SPDX-License-Identifier: Apache-2.0
"""What may happen in a day, each in a span of its hours."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

HOUR = 3_600.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Span:
    """From the hour `begin` to the hour `end`, which is no part of it; for good by default."""

    begin: float = -math.inf
    end: float = math.inf

    def holds(self, second: float) -> bool:
        """Whether it is on, `second` seconds after midnight."""
        return self.begin * HOUR <= second < self.end * HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Which group partitions are meant: all that fit each thing that is said.

    `member` is a member's id, `leader` a broker's.
    """

    group: str | None = None
    topic: str | None = None
    partitions: tuple[int, ...] | None = None
    leader: int | None = None
    member: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slow:
    """Only `share` of what is produced is consumed; 0: nothing, by members that are alive."""

    when: Span
    rows: Rows
    share: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """A group without members, which consumes nothing."""

    when: Span
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalance:
    """A group in a rebalancing state, in which nobody owns anything and nothing is consumed.

    Afterwards each partition belongs to the member after the one before.
    """

    when: Span
    group: str
    state: str = "PreparingRebalance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewind:
    """The commits go back to where the log was `seconds` before, in the first run of the span."""

    when: Span
    rows: Rows
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Surge:
    """`factor` times the production of a topic."""

    when: Span
    topic: str
    factor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """What `broker` leads is led by another; None: by nobody, and told so."""

    when: Span
    broker: int
    by: int | None
    topic: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Not answered, with one of the contract's reasons: a group, or partitions of a topic.

    Of a group, all of it if no topic is named, else its commits of that topic.
    """

    when: Span
    reason: str
    group: str | None = None
    topic: str | None = None
    partitions: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """A topic that an ACL hides instead of refusing it."""

    when: Span
    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """Columns that are null in the files, whatever was read, in rows of one group or topic."""

    when: Span
    dataset: str
    columns: tuple[str, ...]
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Runs that never were."""

    when: Span


Event: TypeAlias = (
    Slow | Absent | Rebalance | Rewind | Surge | Lead | Unread | Hidden | Forgotten | Missing
)


class Events:
    """A day's events, asked for by kind and time."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._by_kind: dict[type, list[Any]] = {}
        for event in events:
            self._by_kind.setdefault(type(event), []).append(event)

    def of(self, kind: type[T]) -> list[T]:
        """Those of a kind, in their order."""
        return self._by_kind.get(kind, [])

    def on(self, kind: type[T], second: float) -> list[T]:
        """Those of a kind that are on at this second of the day."""
        found: list[Any] = self.of(kind)
        return [event for event in found if event.when.holds(second)]
