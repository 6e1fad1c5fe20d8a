# SPDX-License-Identifier: Apache-2.0
"""Computes the geometry of the drawings as numbers: paths, ticks and positions; no markup.

A drawing is a box that is as wide as the axis has minutes, and 100 units (per cent) high. The page
stretches it to any width; texts are placed beside it and keep their size.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from kafka_lag.wording.formatting import NO_BREAK_SPACE, format_duration
from kafka_lag_report.page.drawn import DAY_MINUTES, Axis, Curve, Stretch
from kafka_lag_report.schemas import Row

HEADROOM = 1.12
LEAST_TOP = 10.0
# Texts that are closer than this (per cent of the height) would overlap.
TOO_NEAR = 10.0
# Up to this many stretches are drawn one by one; of more, the worst of each slot is drawn.
STRETCHES = 96
SLOT = DAY_MINUTES // STRETCHES
STEPS = (
    *(1, 2, 5, 10, 15, 30),
    *(60 * n for n in (1, 2, 5, 10, 15, 30)),
    *(3600 * n for n in (1, 2, 3, 6, 12)),
)
DAY = 86_400
SEVERITY = {"ERR": 3, "WARN": 2, None: 1, "OK": 0}
# People can distinguish this many colours; all other leaders share one.
LEADER_COLOURS = 7


@dataclass(frozen=True, slots=True)
class Tick:
    """A gridline: its distance from the top in per cent, and its text."""

    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A curve's path and the area under it, with gaps where the time lag is unknown."""

    path: str
    area: str
    ticks: tuple[Tick, ...]
    sla: Tick | None


def draw_line(curve: Curve, axis: Axis, sla_seconds: float | None) -> Line:
    """Returns the line of a group's time lag, with its SLA if it has one."""
    known = [value for value in curve.seconds if value is not None]
    top = max([LEAST_TOP, *known, *([sla_seconds] if sla_seconds else [])]) * HEADROOM
    runs = list(_find_known_runs(curve, axis, top))
    sla = _make_tick(sla_seconds, top, "SLA ") if sla_seconds else None
    ticks = (_make_tick(value, top) for value in _choose_ticks(top))
    return Line(
        path="".join(_draw_path(run) for run in runs),
        area="".join(_draw_area(run, axis.slot) for run in runs),
        ticks=tuple(tick for tick in ticks if not sla or abs(tick.y - sla.y) > TOO_NEAR),
        sla=sla,
    )


def shorten_timeline(stretches: Sequence[Stretch]) -> tuple[Stretch, ...]:
    """Returns the stretches; if there are too many, the worst status of each 15 minutes."""
    if len(stretches) <= STRETCHES:
        return tuple(stretches)
    worst: dict[int, str | None] = {}
    for stretch in stretches:
        end = stretch.start + stretch.minutes - 1
        for slot in range(stretch.start // SLOT, end // SLOT + 1):
            here = worst.get(slot, stretch.status)
            worst[slot] = max(here, stretch.status, key=SEVERITY.__getitem__)
    runs = groupby(enumerate(sorted(worst)), key=lambda at: (worst[at[1]], at[1] - at[0]))
    return tuple(_merge([slot for _, slot in run], status) for (status, _), run in runs)


def choose_colours(bars: Iterable[Row]) -> dict[int | None, int | None]:
    """Returns the number of a colour for each leader of the page's bars; None if it has no colour.

    If there are more leaders than colours, the leaders with the most lag get one.
    """
    lag: dict[int, float] = {}
    for bar in bars:
        if (leader := bar["leader"]) is not None:
            lag[leader] = lag.get(leader, 0.0) + (bar["mean_lag"] or 0.0)
    most = sorted(lag, key=lambda leader: (-lag[leader], leader))[:LEADER_COLOURS]
    colours: dict[int | None, int | None] = dict.fromkeys((None, *lag))
    return colours | {leader: place for place, leader in enumerate(sorted(most))}


def _make_tick(seconds: float, top: float, of: str = "") -> Tick:
    return Tick(
        _compute_height(seconds, top), f"{of}{format_duration(seconds, space=NO_BREAK_SPACE)}"
    )


def _merge(slots: Sequence[int], status: str | None) -> Stretch:
    return Stretch(slots[0] * SLOT, len(slots) * SLOT, status)


def _find_known_runs(curve: Curve, axis: Axis, top: float) -> Iterable[list[tuple[float, float]]]:
    """Yields the points of each unbroken run of known slots, at the middle of the slots."""
    slots = groupby(enumerate(curve.seconds), key=lambda slot: slot[1] is not None)
    for known, run in slots:
        if known:
            yield [
                (
                    min(axis.end, round(axis.start + (slot + 0.5) * axis.slot, 2)),
                    _compute_height(value or 0.0, top),
                )
                for slot, value in run
            ]


def _draw_path(points: Sequence[tuple[float, float]]) -> str:
    """Returns the path of a line; a single point becomes a line without length, drawn as a dot."""
    texts = [f"{x:g} {y:g}" for x, y in points]
    return f"M{'L'.join(texts if len(texts) > 1 else texts * 2)}"


def _draw_area(points: Sequence[tuple[float, float]], slot: float) -> str:
    if len(points) == 1:
        half = slot / 2
        (x, y) = points[0]
        points = [(x - half, y), (x + half, y)]
    texts = "L".join(f"{x:g} {y:g}" for x, y in points)
    return f"M{points[0][0]:g} 100L{texts}V100Z"


def _compute_height(value: float, top: float) -> float:
    return round(100 - 100 * value / top, 1)


def _choose_ticks(top: float) -> list[float]:
    """Returns at most three round values below the top."""
    days = -(-int(top) // (3 * DAY)) * DAY
    step = next((step for step in STEPS if top / step <= 4), days)  # noqa: PLR2004
    return [step * n for n in (1, 2, 3) if step * n < top / 1.02]
