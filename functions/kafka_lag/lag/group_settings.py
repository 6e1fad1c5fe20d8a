# SPDX-License-Identifier: Apache-2.0
"""Settings by which groups and topics are selected and evaluated, some of them by name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

T = TypeVar("T")

_DAY_MS = 24 * 3_600_000
_DAY_MINUTES = 24 * 60

# Values of `uncommitted`.
EARLIEST, APART = "earliest", "apart"


@dataclass(frozen=True, slots=True)
class NameFilter:
    """Allow and deny by regular expressions that match anywhere in a name; deny wins."""

    allow: re.Pattern[str] | None = None
    deny: re.Pattern[str] | None = None

    @property
    def accepts_all(self) -> bool:
        """Whether every name passes, for want of an expression."""
        return self.allow is None and self.deny is None

    def accepts(self, name: str) -> bool:
        """Whether a name passes; without an allow expression all do."""
        if self.deny is not None and self.deny.search(name):
            return False
        return self.allow is None or self.allow.search(name) is not None


@dataclass(frozen=True, slots=True)
class ByName(Generic[T]):
    """Values by name: that of the first expression that is found in a name."""

    choices: tuple[tuple[re.Pattern[str], T], ...] = ()

    @classmethod
    def of(cls, choices: Iterable[tuple[str, T]]) -> ByName[T]:
        """From expressions as text. Raises re.error for one that is none."""
        return cls(tuple((re.compile(text), value) for text, value in choices))

    def get(self, name: str) -> T | None:
        """The value for a name, None where no expression matches."""
        return next((value for pattern, value in self.choices if pattern.search(name)), None)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The largest error of a time lag: this many ms, or this share of the age if that is more."""

    floor_ms: int = 1_000
    share: float = 0.001


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """How the tasks that a group needs are reckoned.

    `capacity`: records/s of one member; None: what is learnt. `catch_up_seconds`: within these a
    backlog is to be worked off. `prefer_even`: no more partitions for one task than it can carry,
    where each gets as many as any other, or one more.
    """

    capacity: float | None = None
    catch_up_seconds: float = 300.0
    members_per_task: int = 1
    prefer_even: bool = True


_TASKS = TaskSettings()


@dataclass(frozen=True, slots=True)
class Objective:
    """What a group is to keep: in `target` percent of the minutes of `days` days its oldest unread
    record is no older than `age_seconds`.
    """

    age_seconds: float
    target: float
    days: int

    @property
    def budget_minutes(self) -> float:
        """Minutes of these days that may be broken."""
        return self.days * _DAY_MINUTES * (100 - self.target) / 100


# A commit that moves in every run may be seen to do so in every second one only.
_LEAST_WINDOW_INTERVALS = 3


def least_window_ms(interval_ms: int) -> int:
    """The shortest window of runs so far apart."""
    return _LEAST_WINDOW_INTERVALS * interval_ms


@dataclass(frozen=True, slots=True)
class Rules:
    """The configured rules of an evaluation.

    `groups` and `topics` select by name. `interval_ms`: from one run to the next. `window_ms`: W,
    in which a consumer must move, and for which an unread row counts with its last reading; a time,
    whatever the interval.
    By topic name: `allowed_lag`, records that are still OK. By group name: `owners`, `sla_seconds`,
    `objectives`, `runbooks` (URLs, by the owner's name where the group's has none)
    and `uncommitted`: a partition without a commit lags from the log start (EARLIEST) or is counted
    apart (APART, the default). `hold`: runs after which a status is held. `tolerance`: of time
    lags. `lookup_budget`: look-ups per run. `risk_horizon_ms`: a loss sooner than this is a risk.
    `ignore_inactive`: topics that a group has left count in none of its sums. `tasks`, by group
    name: how those that it needs are reckoned.
    """

    groups: NameFilter = field(default_factory=NameFilter)
    topics: NameFilter = field(default_factory=NameFilter)
    interval_ms: int = 60_000
    window_ms: int = 600_000
    uncommitted: ByName[str] = field(default_factory=ByName)
    allowed_lag: ByName[int] = field(default_factory=ByName)
    owners: ByName[str] = field(default_factory=ByName)
    runbooks: ByName[str] = field(default_factory=ByName)
    sla_seconds: ByName[float] = field(default_factory=ByName)
    objectives: ByName[Objective] = field(default_factory=ByName)
    hold: int = 3
    tolerance: Tolerance = field(default_factory=Tolerance)
    lookup_budget: int = 10_000
    risk_horizon_ms: int = _DAY_MS
    ignore_inactive: bool = False
    tasks: ByName[TaskSettings] = field(default_factory=ByName)

    def tasks_of(self, group: str) -> TaskSettings:
        """The group's, the default ones where nothing is configured for it."""
        return self.tasks.get(group) or _TASKS

    def runbook_of(self, group: str) -> str | None:
        """That of the group's name, else that of its owner's."""
        owner = self.owners.get(group)
        return self.runbooks.get(group) or (None if owner is None else self.runbooks.get(owner))

    def at_interval(self, interval_ms: int) -> Rules:
        """The same rules for runs so far apart: the window stays, unless it were too short."""
        window_ms = max(self.window_ms, least_window_ms(interval_ms))
        return replace(self, interval_ms=interval_ms, window_ms=window_ms)
