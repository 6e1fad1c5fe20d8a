# SPDX-License-Identifier: Apache-2.0
"""The last hours of a group as a line: read from few runs, thinned the same way each time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.views.page.latest import HOUR_MS, HOURS, Latest
from kafka_lag.views.snapshots import Snapshots

# The drawing is a box of so many units that the page stretches to any width.
WIDTH, HEIGHT = 240, 40
RUNS = 24
_SPAN = HOURS * HOUR_MS
# Lines are broken where so many usual steps between two points are missing.
_BREAK = 2.5
_HEADROOM = 1.08


@dataclass(frozen=True, slots=True)
class Curve:
    """A line and the area under it as SVG paths, gaps where nothing is known; its highest value.

    `dots` are points with a gap on either side, as paths without a length: a line's round ends.
    `most` None: nothing was known in these hours.
    """

    path: str
    area: str
    dots: str
    most: float | None


@dataclass(frozen=True, slots=True)
class PreviousRuns:
    """`groups` of some runs of the last hours until `end` (ms), the oldest first."""

    runs: tuple[tuple[int, Frame], ...]
    end: int
    step_ms: float

    def curve(self, group: str, column: str, least_top: float) -> Curve:
        """One group's curve of one column; its top is at `least_top` at least."""
        (curve,) = self.curves([group], column, least_top)
        return curve

    def curves(self, groups: Sequence[str], column: str, least_top: float) -> list[Curve]:
        """Each group's, by name."""
        wanted = Frame({"consumer_group": Strings.of(groups)}, len(groups))
        columns = [_of(frame, wanted, column).to_list() for _, frame in self.runs]
        times = [at for at, _ in self.runs]
        return [
            self._drawn(
                [(at, values[row]) for at, values in zip(times, columns, strict=True)], least_top
            )
            for row in range(len(groups))
        ]

    def _drawn(self, points: list[tuple[int, float | None]], least_top: float) -> Curve:
        known = [value for _, value in points if value is not None]
        top = max([least_top, *known]) * _HEADROOM
        lines: list[list[str]] = []
        before: int | None = None
        for at, value in points:
            if value is not None:
                if before is None or at - before > _BREAK * self.step_ms:
                    lines.append([])
                x = WIDTH * (1 - (self.end - at) / _SPAN)
                lines[-1].append(f"{x:.4g} {HEIGHT * (1 - value / top):.3g}")
            before = None if value is None else at
        long = [line for line in lines if len(line) > 1]
        return Curve(
            "".join(f"M{'L'.join(line)}" for line in long),
            "".join(_area(line) for line in long),
            "".join(f"M{line[0]}h0" for line in lines if len(line) == 1),
            max(known, default=None),
        )


def past(snapshots: Snapshots, latest: Latest, now_ms: int, most: int = RUNS) -> PreviousRuns:
    """At most so many runs, one at least; those that cannot be read are left out.

    They end now, or at a snapshot that is old. Raises StoreError.
    """
    end = latest.taken_at if latest.old else now_ms
    slot = _SPAN // max(most - 1, 1)
    # The first run of each slot: a page made a minute later reads but one more.
    firsts = {at // slot: at for at in latest.recent if end - _SPAN <= at <= latest.taken_at}
    chosen = sorted({*list(firsts.values())[: most - 1], latest.taken_at})
    found = snapshots.frames(latest.cluster, contract.GROUPS, chosen)
    return PreviousRuns(tuple(found.items()), end, max(slot, 1000 * latest.interval_seconds))


def _of(frame: Frame, wanted: Frame, column: str) -> Column:
    return frame.numbers(column).take(locate(wanted, frame, ("consumer_group",)))


def _area(line: list[str]) -> str:
    first, last = line[0].split()[0], line[-1].split()[0]
    return f"M{first} {HEIGHT}L{'L'.join(line)}L{last} {HEIGHT}Z"
