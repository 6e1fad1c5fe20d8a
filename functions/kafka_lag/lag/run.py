# SPDX-License-Identifier: Apache-2.0
"""One run: when it takes place and by which rules it judges."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lag.lag.columns import Column, Mask
from kafka_lag.lag.group_settings import Rules


@dataclass(frozen=True, slots=True)
class Run:
    """A run's scheduled time, ms UTC, and the rules it applies."""

    taken_at: int
    rules: Rules

    @property
    def interval_seconds(self) -> float:
        """Returns the seconds from one run to the next."""
        return self.rules.interval_ms / 1_000

    @property
    def window_seconds(self) -> float:
        """Returns the length of the window in seconds."""
        return self.rules.window_ms / 1_000

    def now(self, rows: int) -> Column:
        """Returns the scheduled time, ms, in so many rows."""
        return Column.constant(self.taken_at, rows)

    def within_window(self, since: Column) -> Mask:
        """Marks times, ms, at most one window before the run; an unknown time is not marked."""
        return self.taken_at - since <= self.rules.window_ms

    def seconds_since(self, since: Column) -> Column:
        """Returns the seconds from times in ms until the run; unknown if the time is."""
        return (self.taken_at - since) / 1_000
