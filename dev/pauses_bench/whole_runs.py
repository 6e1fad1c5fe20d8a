# SPDX-License-Identifier: Apache-2.0
"""E: what the product says of each pattern, against what it is to say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from rich.table import Table

from dev.pauses_bench.outages import is_held_out
from dev.pauses_bench.patterns import Pattern, patterns
from dev.pauses_bench.product import told
from dev.pauses_bench.tracks import DAY

# Runs in which a held status is first known.
_SETTLING = 10
_HOLD = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """Held changes in all, those from when on none is due, and runs until trouble was reported."""

    pattern: Pattern
    held_out: bool
    days: float
    changes: int
    later: int
    reported: int | None

    @property
    def later_a_day(self) -> float:
        """Held changes a day from when on none is due."""
        return self.later / max(self.days - self.pattern.quiet_from / DAY, 1.0)

    @property
    def missed(self) -> bool:
        """Too many changes, or reported late."""
        if self.pattern.trouble is None:
            return self.later_a_day > self.pattern.most
        return self.reported is None or self.reported > self.pattern.soon


def whole_runs(days: int, seed: int, say: Callable[[str], None]) -> list[Verdict]:
    """A verdict on each pattern."""
    found = list(patterns(days, seed).values())
    say(f"E: {len(found)} patterns, {days * DAY:,} runs")
    said = told([pattern.track for pattern in found], lambda runs, _: say(f"{runs // DAY} days"))
    columns = zip(found, said.held.T, said.status.T, strict=True)
    return [
        verdict(pattern, held, status, held_out=is_held_out(number))
        for number, (pattern, held, status) in enumerate(columns)
    ]


def verdict(pattern: Pattern, held: np.ndarray, status: np.ndarray, *, held_out: bool) -> Verdict:
    """Of one pattern, by its held status and its partition's status, run by run."""
    changed = np.flatnonzero(np.diff(held)) + 1
    changed = changed[changed > _SETTLING]
    later = int((changed >= pattern.quiet_from + _HOLD).sum())
    reported = None
    if pattern.trouble is not None:
        bad = np.flatnonzero(status[pattern.trouble :] > 0)
        reported = int(bad[0]) if len(bad) else None
    return Verdict(pattern, held_out, len(held) / DAY, len(changed), later, reported)


def table_of(verdicts: Sequence[Verdict]) -> Table:
    """A line a pattern."""
    table = Table(
        *("pattern", "held out", "held changes", "later", "a day", "reported after", "allowed"),
        title="Whole runs",
    )
    for one in verdicts:
        color = "[red]" if one.missed else ""
        trouble = one.pattern.trouble is not None
        table.add_row(
            f"{color}{one.pattern.name}",
            "yes" if one.held_out else "",
            str(one.changes),
            "" if trouble else str(one.later),
            "" if trouble else f"{one.later_a_day:.2f}",
            str(one.reported) if trouble else "",
            str(one.pattern.soon) if trouble else f"{one.pattern.most:.2g}",
        )
    return table
