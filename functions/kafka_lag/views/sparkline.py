# SPDX-License-Identifier: Apache-2.0
"""Sparklines of the last hours, from few runs that are downsampled the same way each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.lag.columns import Strings
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.views.latest_run import HOUR_MS, RECENT_HOURS, LatestRun, Snapshots

# The drawing is a box of so many units that the page stretches to any width.
WIDTH, HEIGHT = 240, 40
MAX_RUNS = 24
_SPAN_MS = RECENT_HOURS * HOUR_MS
# Lines are broken where so many usual steps between two points are missing.
_BREAK_STEPS = 2.5
_HEADROOM = 1.08


@dataclass(frozen=True, slots=True)
class Sparkline:
    """A line and the area under it as SVG paths, gaps where nothing is known; its highest value.

    `dots` are points with a gap on either side, as paths without a length: a line's round ends.
    `most` None: nothing was known in these hours.
    """

    path: str
    area: str
    dots: str
    most: float | None


@dataclass(frozen=True, slots=True)
class RecentRuns:
    """`groups` of some runs of the last hours until `end` (ms), the oldest first."""

    runs: tuple[tuple[int, Frame], ...]
    end: int
    step_ms: float

    def draw(self, groups: Sequence[str], column: str, least_top: float) -> list[Sparkline]:
        """One column of each of these groups; the top is at `least_top` at least."""
        wanted = Frame({"consumer_group": Strings.of(groups)}, len(groups))
        times = [at for at, _ in self.runs]
        columns = [
            frame.numbers(column).take(locate(wanted, frame, ("consumer_group",))).to_list()
            for _, frame in self.runs
        ]
        return [
            self._draw(
                [(at, values[row]) for at, values in zip(times, columns, strict=True)], least_top
            )
            for row in range(len(groups))
        ]

    def _draw(self, points: list[tuple[int, float | None]], least_top: float) -> Sparkline:
        known = [value for _, value in points if value is not None]
        top = max([least_top, *known]) * _HEADROOM
        lines: list[list[str]] = []
        previous: int | None = None
        for at, value in points:
            if value is not None:
                if previous is None or at - previous > _BREAK_STEPS * self.step_ms:
                    lines.append([])
                x = WIDTH * (1 - (self.end - at) / _SPAN_MS)
                lines[-1].append(f"{x:.4g} {HEIGHT * (1 - value / top):.3g}")
            previous = None if value is None else at
        long = [line for line in lines if len(line) > 1]
        return Sparkline(
            path="".join(f"M{'L'.join(line)}" for line in long),
            area="".join(_area(line) for line in long),
            dots="".join(f"M{line[0]}h0" for line in lines if len(line) == 1),
            most=max(known, default=None),
        )


def load_recent_runs(
    snapshots: Snapshots, latest: LatestRun, now_ms: int, max_runs: int = MAX_RUNS
) -> RecentRuns:
    """At most so many runs, one at least; those that cannot be read are left out.

    They end now, or at a snapshot that is old. Raises StoreError.
    """
    end = latest.taken_at if latest.old else now_ms
    slot = _SPAN_MS // max(max_runs - 1, 1)
    # The first run of each slot: a page made a minute later reads but one more.
    firsts = {at // slot: at for at in latest.recent if end - _SPAN_MS <= at <= latest.taken_at}
    chosen = sorted({*list(firsts.values())[: max_runs - 1], latest.taken_at})
    found = snapshots.frames(latest.cluster, contract.GROUPS, chosen)
    return RecentRuns(tuple(found.items()), end, max(slot, 1000 * latest.interval_seconds))


def _area(line: list[str]) -> str:
    first, last = line[0].split()[0], line[-1].split()[0]
    return f"M{first} {HEIGHT}L{'L'.join(line)}L{last} {HEIGHT}Z"
