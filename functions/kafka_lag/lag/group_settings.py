# SPDX-License-Identifier: Apache-2.0
"""Settings that select and evaluate groups and topics, some of them by name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from kafka_lag.contract.mute_windows import MuteWindow

T = TypeVar("T")

_DAY_MS = 24 * 3_600_000
_DAY_MINUTES = 24 * 60

# Values of `uncommitted`.
EARLIEST, APART = "earliest", "apart"


@dataclass(frozen=True, slots=True)
class NameFilter:
    """Allows and denies names by regular expressions that match anywhere in a name; deny wins."""

    allow: re.Pattern[str] | None = None
    deny: re.Pattern[str] | None = None

    @property
    def accepts_all(self) -> bool:
        """Returns True if there is no expression, so that every name passes."""
        return self.allow is None and self.deny is None

    def accepts(self, name: str) -> bool:
        """Returns True for a name that passes; without an allow expression all do."""
        if self.deny is not None and self.deny.search(name):
            return False
        return self.allow is None or self.allow.search(name) is not None


@dataclass(frozen=True, slots=True)
class ByName(Generic[T]):
    """Values by name: the value of the first expression that is found in a name counts."""

    choices: tuple[tuple[re.Pattern[str], T], ...] = ()

    @classmethod
    def of(cls, choices: Iterable[tuple[str, T]]) -> ByName[T]:
        """Returns values by expressions as text. Raises re.error for an invalid expression."""
        return cls(tuple((re.compile(text), value) for text, value in choices))

    def get(self, name: str) -> T | None:
        """Returns the value for a name, None if no expression matches."""
        return next((value for pattern, value in self.choices if pattern.search(name)), None)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The largest error of a time lag: this many ms, or this share of the age if that is more."""

    floor_ms: int = 1_000
    share: float = 0.001


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """Settings for the number of tasks that a group needs.

    `capacity`: records/s of one member, None to use the learnt one. `catch_up_seconds`: the time in
    which a backlog is to be worked off. `prefer_even`: no task has more partitions than it can read
    if partitions are divided evenly.
    """

    capacity: float | None = None
    catch_up_seconds: float = 300.0
    members_per_task: int = 1
    prefer_even: bool = True


_TASKS = TaskSettings()


@dataclass(frozen=True, slots=True)
class Objective:
    """A group's SLO: in `target` percent of the minutes of `days` days its time lag is at most
    `age_seconds`.
    """

    age_seconds: float
    target: float
    days: int

    @property
    def budget_minutes(self) -> float:
        """Returns how many minutes of these days may be above `age_seconds`."""
        return self.days * _DAY_MINUTES * (100 - self.target) / 100


# A commit that moves once an interval may be seen to move only in every second run.
_LEAST_WINDOW_INTERVALS = 3


def least_window_ms(interval_ms: int) -> int:
    """Returns the shortest window for this interval, both in ms."""
    return _LEAST_WINDOW_INTERVALS * interval_ms


@dataclass(frozen=True, slots=True)
class Rules:
    """The configured rules of an evaluation.

    `groups` and `topics` select by name. `interval_ms`: from one run to the next. `window_ms`: the
    window, in which a consumer must move, and for which an unread row counts with its last reading.
    By topic name: `allowed_lag`, records that are still OK. By topic name, else by group name:
    `delay_seconds`, the age from which records are read. By group name: `owners`, `sla_seconds`,
    `objectives` (SLOs), `runbooks` (URLs, by the owner's name if the group's has none) and
    `uncommitted`: a partition without a commit lags from the log start (EARLIEST) or is counted
    separately (APART, the default). `hold`: runs after which a status is held. `tolerance`: of time
    lags. `lookup_budget`: look-ups per run. `risk_horizon_ms`: a loss sooner than this is a risk.
    `ignore_inactive`: topics that a group has left count in none of its sums. `tasks`, by group
    name: settings for the tasks it needs. `mutes`: windows in which nobody is woken. `cluster` is
    its name, which ids of incidents contain.
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
    delay_seconds: ByName[float] = field(default_factory=ByName)
    objectives: ByName[Objective] = field(default_factory=ByName)
    mutes: tuple[MuteWindow, ...] = ()
    hold: int = 3
    tolerance: Tolerance = field(default_factory=Tolerance)
    lookup_budget: int = 10_000
    risk_horizon_ms: int = _DAY_MS
    ignore_inactive: bool = False
    tasks: ByName[TaskSettings] = field(default_factory=ByName)
    cluster: str = ""

    def tasks_of(self, group: str) -> TaskSettings:
        """Returns the group's task settings, the default ones if none are configured."""
        return self.tasks.get(group) or _TASKS

    def runbook_of(self, group: str) -> str | None:
        """Returns the runbook of the group's name, else that of its owner's name."""
        owner = self.owners.get(group)
        return self.runbooks.get(group) or (None if owner is None else self.runbooks.get(owner))

    def at_interval(self, interval_ms: int) -> Rules:
        """Returns the same rules for another interval; a window that would be too short grows."""
        window_ms = max(self.window_ms, least_window_ms(interval_ms))
        return replace(self, interval_ms=interval_ms, window_ms=window_ms)
