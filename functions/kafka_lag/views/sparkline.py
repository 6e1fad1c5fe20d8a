# SPDX-License-Identifier: Apache-2.0
"""Sparklines of the last hours or days, from a few runs that are chosen consistently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.lag.columns import Strings
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.views.latest_run import HOUR_MS, RECENT_HOURS, LatestRun, Snapshots

# The drawing's size in units; the page stretches it to any width.
WIDTH, HEIGHT = 240, 40
_HEADROOM = 1.08
_COLUMNS = ("consumer_group", "lag", "time_lag_seconds")


@dataclass(frozen=True, slots=True)
class Period:
    """The time that a curve covers, and the most runs that it is drawn from, large or in a table.

    All runs but one are spread evenly, at a round distance.
    """

    name: str
    hours: int
    max_runs: int
    max_runs_small: int = 25

    @property
    def span_ms(self) -> int:
        return self.hours * HOUR_MS

    def slot_ms(self, max_runs: int) -> int:
        """Returns the distance between two drawn runs, if there are more runs than that."""
        return self.span_ms // max(max_runs - 1, 1)


# The keys are the names in the address.
PERIODS: Mapping[str, Period] = {
    "1h": Period("hour", 1, 61),
    "6h": Period("6 hours", 6, 73),
    "24h": Period("24 hours", 24, 97),
    "7d": Period("7 days", 7 * 24, 85),
}
DEFAULT_PERIOD = "6h"


@dataclass(frozen=True, slots=True)
class Sparkline:
    """A line and the area under it as SVG paths, with gaps for unknown values; its highest value.

    `dots` are points with a gap on either side, as paths without a length: a line's round ends.
    `most` is None if nothing is known in the whole time.
    """

    path: str
    area: str
    dots: str
    most: float | None


@dataclass(frozen=True, slots=True)
class RecentRuns:
    """Lags of groups in some runs of the `span_ms` until `end` (ms), the oldest first.

    A longer distance between two runs than `gap_ms` is a gap in the line.
    """

    runs: tuple[tuple[int, Frame], ...]
    end: int
    span_ms: int
    gap_ms: float

    def draw(self, groups: Sequence[str], column: str, least_top: float) -> list[Sparkline]:
        """Returns a sparkline of the column for each group; its top is at least `least_top`."""
        wanted = Frame({"consumer_group": Strings.of(groups)}, len(groups))
        times = [at for at, _ in self.runs]
        columns = [
            frame.numbers(column).take(locate(wanted, frame, contract.GROUP_KEY)).to_list()
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
                if previous is None or at - previous > self.gap_ms:
                    lines.append([])
                x = WIDTH * (1 - (self.end - at) / self.span_ms)
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
    snapshots: Snapshots, latest: LatestRun, now_ms: int, period: Period, max_runs: int
) -> RecentRuns:
    """Returns at least one run and at most `max_runs`, without runs that cannot be read.

    They end now, or at the latest run if it is old. Raises StoreError.
    """
    end = latest.taken_at if latest.is_old else now_ms
    since, slot = end - period.span_ms, period.slot_ms(max_runs)
    times: Sequence[int] = latest.recent
    if period.hours > RECENT_HOURS:
        times = snapshots.runs(latest.cluster, since, latest.taken_at)
    # The first run of each slot: a page made a minute later reads only one more.
    firsts = {at // slot: at for at in times if since <= at <= latest.taken_at}
    chosen = sorted({*list(firsts.values())[: max_runs - 1], latest.taken_at})
    found = snapshots.frames(latest.cluster, contract.GROUPS, chosen, _COLUMNS)
    return RecentRuns(
        tuple(found.items()), end, period.span_ms, _gap_ms(slot, 1000 * latest.interval_seconds)
    )


def _gap_ms(slot: float, interval: float) -> float:
    """Returns the longest distance without a gap: one run may be missing.

    The first runs of two consecutive slots are up to an interval further apart than the slots.
    """
    return max(2.5 * interval, 1.25 * slot + interval)


def _area(line: list[str]) -> str:
    first, last = line[0].split()[0], line[-1].split()[0]
    return f"M{first} {HEIGHT}L{'L'.join(line)}L{last} {HEIGHT}Z"
