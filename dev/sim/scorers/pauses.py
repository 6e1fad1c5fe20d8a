# SPDX-License-Identifier: Apache-2.0
"""Whether recurring pauses are learnt and outages are not, by held statuses over weeks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from rich.table import Table

from dev.sim.cases.patterns import Pattern, patterns
from dev.sim.tracks import DAY, Codes, evaluate_tracks

# A held status is first known after so many runs; a change is held after so many.
_SETTLING = 10
_HOLD = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """Held changes in all and from `quiet_from` on, and runs until a trouble was reported."""

    pattern: Pattern
    days: float
    changes: int
    later: int
    reported: int | None

    @property
    def later_a_day(self) -> float:
        """Held changes a day after the run from which on none is due."""
        return self.later / max(self.days - self.pattern.quiet_from / DAY, 1.0)

    @property
    def missed(self) -> bool:
        """Whether the status changed too often, or a trouble was reported late."""
        if self.pattern.trouble is None:
            return self.later_a_day > self.pattern.most
        return self.reported is None or self.reported > self.pattern.soon


def score(days: int, seed: int, say: Callable[[str], None]) -> list[Verdict]:
    """Returns a verdict on each pattern."""
    found = list(patterns(days, seed).values())
    say(f"{len(found)} patterns, {days * DAY:,} runs")
    said = evaluate_tracks(
        [pattern.track for pattern in found], lambda runs: say(f"{runs // DAY} days")
    )
    return [judge(*each) for each in zip(found, said.held.T, said.status.T, strict=True)]


def judge(pattern: Pattern, held: Codes, status: Codes) -> Verdict:
    """Returns the verdict on a pattern by its held status and its partition's, run by run."""
    changed = np.flatnonzero(np.diff(held)) + 1
    changed = changed[changed > _SETTLING]
    later = int((changed >= pattern.quiet_from + _HOLD).sum())
    reported = None
    if pattern.trouble is not None:
        bad = np.flatnonzero(status[pattern.trouble :] > 0)
        reported = int(bad[0]) if len(bad) else None
    return Verdict(pattern, len(held) / DAY, len(changed), later, reported)


def table_of(verdicts: Sequence[Verdict]) -> Table:
    """Returns a line for each pattern."""
    table = Table("pattern", "held changes", "later", "a day", "reported after", "allowed")
    for one in verdicts:
        color = "[red]" if one.missed else ""
        trouble = one.pattern.trouble is not None
        table.add_row(
            f"{color}{one.pattern.name}",
            str(one.changes),
            "" if trouble else str(one.later),
            "" if trouble else f"{one.later_a_day:.2f}",
            str(one.reported) if trouble else "",
            str(one.pattern.soon) if trouble else f"{one.pattern.most:.2g}",
        )
    return table
