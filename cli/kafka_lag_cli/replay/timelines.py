# SPDX-License-Identifier: Apache-2.0
"""A group's recorded days as a drawing: its age, the promise, the pages, and the tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt

from kafka_lag_cli.replay.changes import Change, Kind
from kafka_lag_cli.replay.pages import Page
from kafka_lag_cli.replay.replayed import Replay
from kafka_lag_cli.state.groups_over_time import MINUTE_MS

# A drawing is a box of so many units, which the page stretches to any width.
WIDTH, HEIGHT = 720, 72
# An age below a second is drawn as none; the scale is logarithmic, as minutes and days are on it.
_LEAST_TOP_SECONDS = 60.0
_MOST_GROUPS = 40


@dataclass(frozen=True, slots=True)
class Bar:
    """A page on the time axis: where it begins and how wide it is, and what becomes of it."""

    x: float
    width: float
    kind: str
    title: Page


@dataclass(frozen=True, slots=True)
class Timeline:
    """One group; `age` and `tasks` are SVG paths, with gaps where nothing is known.

    `top` is the age at the upper edge, in seconds. `promise_y` and `promise_seconds` are None where
    the document promises nothing. `most_tasks` is at the upper edge of the tasks; None without.
    """

    group: str
    pages: int
    age: str
    top: float
    promise_seconds: float | None
    promise_y: float | None
    bars: tuple[Bar, ...]
    tasks: str
    most_tasks: int | None


def draw_timelines(replay: Replay) -> tuple[list[Timeline], int]:
    """Return timelines of the groups with most pages, and how many groups are left out."""
    changes = replay.changes
    counts = Counter(each.page.group for each in changes if each.page.group is not None)
    groups = [group for group, _ in counts.most_common()]
    drawn = [_draw(replay, group, changes) for group in groups[:_MOST_GROUPS]]
    return drawn, max(len(groups) - _MOST_GROUPS, 0)


def find_days(replay: Replay) -> list[tuple[float, int]]:
    """Return the place of each UTC day's beginning on the time axis, and its time, ms UTC."""
    begin, minutes = replay.recorded.begin, len(replay.recorded.has_run)
    day = 24 * 60 * MINUTE_MS
    first = -(-begin // day) * day
    return [
        ((at - begin) / MINUTE_MS / minutes * WIDTH, at)
        for at in range(first, begin + minutes * MINUTE_MS, day)
    ]


def _draw(replay: Replay, group: str, changes: Sequence[Change]) -> Timeline:
    recorded = replay.recorded
    ages = recorded.ages[:, recorded.groups.index(group)]
    greatest = _greatest_by_column(ages)
    promised = replay.after.cluster.sla_of(group)
    top = float(np.nanmax([_LEAST_TOP_SECONDS, promised or 0, *greatest]))
    own = [each for each in changes if each.page.group == group]
    service = next((each for each in replay.after.services if each.group == group), None)
    tasks = None if service is None else _greatest_by_column(service.tasks.astype(np.float64))
    most = None if tasks is None else int(np.nanmax(tasks))
    return Timeline(
        group=group,
        pages=sum(each.after is not None for each in own),
        age=_path(_heights(greatest, top)),
        top=top,
        promise_seconds=promised,
        promise_y=None if promised is None else float(_heights(np.array([promised]), top)[0]),
        bars=tuple(_bars(replay, own)),
        tasks="" if tasks is None or not most else _path(HEIGHT * (1 - tasks / (most * 1.1))),
        most_tasks=most,
    )


def _bars(replay: Replay, changes: Sequence[Change]) -> Iterator[Bar]:
    begin, minutes = replay.recorded.begin, len(replay.recorded.has_run)
    scale = WIDTH / minutes
    compared = replay.before is not None
    for each in changes:
        page = each.page
        first = (page.begin - begin) / MINUTE_MS
        last = minutes if page.end is None else (page.end - begin) / MINUTE_MS
        kind = each.kind if compared else Kind.ADDED
        # One of a minute in a month would be too thin to be seen.
        yield Bar(first * scale, max((last - first) * scale, 1.5), kind.value, page)


def _greatest_by_column(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The greatest value of the minutes that each unit of the drawing holds; NaN without any."""
    edges = np.linspace(0, len(values), min(WIDTH, len(values)) + 1).astype(np.int64)
    filled = np.where(np.isnan(values), -np.inf, values)
    greatest = np.maximum.reduceat(filled, edges[:-1])
    return np.where(np.isneginf(greatest), np.nan, greatest)


def _heights(ages: npt.NDArray[np.float64], top: float) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = HEIGHT * (1 - np.log1p(ages) / np.log1p(top))
    return found


def _path(heights: npt.NDArray[np.float64]) -> str:
    """A line through what is known, a step of the time axis each."""
    step = WIDTH / len(heights)
    points = [(number * step, height) for number, height in enumerate(heights.tolist())]
    parts = []
    for known, run in groupby(points, key=lambda point: point[1] == point[1]):
        if known:
            line = list(run)
            line.append((line[-1][0] + step, line[-1][1]))
            parts.append("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in _thinned(line)))
    return "".join(parts)


def _thinned(line: list[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Without the points in the middle of a level stretch."""
    yield line[0]
    for (_, before), (at, now), (_, after) in zip(line, line[1:], line[2:], strict=False):
        if not before == now == after:
            yield at, now
    yield line[-1]
