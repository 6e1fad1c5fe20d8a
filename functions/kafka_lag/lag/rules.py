# SPDX-License-Identifier: Apache-2.0
"""What a user decides about the meaning of numbers, and which names it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

_DAY_MS = 24 * 3_600_000

# What `uncommitted` may say of a group.
EARLIEST, APART = "earliest", "apart"


@dataclass(frozen=True, slots=True)
class NameFilter:
    """Allow and deny by regular expressions that match anywhere in a name; deny wins."""

    allow: re.Pattern[str] | None = None
    deny: re.Pattern[str] | None = None

    def accepts(self, name: str) -> bool:
        """Whether a name passes; without an allow expression all do."""
        if self.deny is not None and self.deny.search(name):
            return False
        return self.allow is None or self.allow.search(name) is not None


@dataclass(frozen=True, slots=True)
class ByName(Generic[T]):
    """A value for names that an expression is found in; the first that matches decides."""

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
    """How exact a time lag must be: this many ms, or this share of the age, the larger."""

    floor_ms: int = 1_000
    share: float = 0.001


@dataclass(frozen=True, slots=True)
class Rules:
    """All that is decided; `window_ms` is W, for which an unread row counts as it was.

    `allowed_lag` is by topic: records that are no lag. By group: `uncommitted` (EARLIEST: lags
    from the log start where it never committed, else counted apart), `owners`, `sla_seconds`.
    A status that lasted `hold` runs is held. `risk_horizon_ms`: a loss nearer than this is a risk.
    With `ignore_inactive` topics that a group left long ago count in none of its sums.
    """

    groups: NameFilter = field(default_factory=NameFilter)
    topics: NameFilter = field(default_factory=NameFilter)
    interval_ms: int = 60_000
    window_ms: int = 600_000
    uncommitted: ByName[str] = field(default_factory=ByName)
    allowed_lag: ByName[int] = field(default_factory=ByName)
    owners: ByName[str] = field(default_factory=ByName)
    sla_seconds: ByName[float] = field(default_factory=ByName)
    hold: int = 3
    tolerance: Tolerance = field(default_factory=Tolerance)
    lookup_budget: int = 10_000
    risk_horizon_ms: int = _DAY_MS
    ignore_inactive: bool = False
