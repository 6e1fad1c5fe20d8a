# SPDX-License-Identifier: Apache-2.0
"""Numbers and times as a person reads them, and strangers' names made harmless to a layout."""

import math
from datetime import date, datetime
from typing import TypeGuard

DASH = "\u2013"
# Keeps a number and its unit on one line.
SPACE = "\u00a0"
LONGEST_NAME = 120
PRECISE_UNDER = 600
MINUTE, HOUR, DAY = 60, 3600, 86_400


def name(text: str | None, longest: int = LONGEST_NAME) -> str:
    """A name on one line: what does not print is spelled out, the middle of a long one left out.

    Marks that turn the reading direction are spelled out too, so nobody can dress one name as
    another; a dash where there is none.
    """
    if text is None:
        return DASH
    if not text:
        return "(empty name)"
    spelled = "".join(
        mark if mark.isprintable() else f"\\u{ord(mark):04x}" for mark in _ends(text, longest)
    )
    return _ends(spelled, longest)


def duration(seconds: float | None) -> str:
    """At most two units: `42 s`, `9 min 30 s`, `3 h 12 min`, `2 d 4 h`; a dash if unknown."""
    if not _known(seconds):
        return DASH
    if round(seconds) < PRECISE_UNDER:
        return _two(round(seconds), MINUTE, "min", 1, "s")
    if round(seconds / MINUTE) * MINUTE < DAY:
        return _two(round(seconds / MINUTE) * MINUTE, HOUR, "h", MINUTE, "min")
    return _two(round(seconds / HOUR) * HOUR, DAY, "d", HOUR, "h")


def minutes(count: float | None) -> str:
    """A duration given in minutes."""
    return DASH if count is None else duration(count * MINUTE)


def count(number: float | None) -> str:
    """A whole number with thousands separators."""
    return f"{number:,.0f}" if _known(number) else DASH


def rate(number: float | None) -> str:
    """Records a second, precise only where it is small."""
    if not _known(number):
        return DASH
    return f"{number:,.0f}/s" if number >= 10 or number == 0 else f"{number:.1f}/s"  # noqa: PLR2004


def share(part: float | None) -> str:
    """A share of 1 in per cent; 100% and 0% only when it is exactly all or nothing."""
    if not _known(part):
        return DASH
    if 0 < part < 0.001:  # noqa: PLR2004
        return "<0.1%"
    if 0.999 < part < 1:  # noqa: PLR2004
        return ">99.9%"
    return f"{part:.1%}".replace(".0%", "%")


def times(factor: float | None) -> str:
    """How many times one number is another."""
    return f"{factor:,.1f}\u00d7" if _known(factor) else DASH


def clock(moment: datetime | None, day: date) -> str:
    """The time of day, with the date where it is another than the page's."""
    if moment is None:
        return DASH
    if moment.date() == day:
        return f"{moment:%H:%M}"
    return f"{moment:%H:%M} on {moment.day}{SPACE}{moment:%B}"


def minute(number: int) -> str:
    """A minute of the day as on a clock; 1440 is midnight at its end."""
    return f"{number // 60:02d}:{number % 60:02d}"


def listing(numbers: tuple[int, ...], most: int = 8) -> str:
    """Numbers with commas, the first `most` and how many more."""
    shown = ", ".join(str(number) for number in numbers[:most])
    return f"{shown} and {len(numbers) - most} more" if len(numbers) > most else shown


def plural(number: int, one: str, many: str | None = None) -> str:
    """A count with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _ends(text: str, longest: int) -> str:
    """The text, or the first and last halves of what may be shown of it."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\u2026{text[-half:]}"


def _two(value: int, large: int, large_unit: str, small: int, small_unit: str) -> str:
    wholes, rest = divmod(value, large)
    rest //= small
    parts = [f"{wholes}{SPACE}{large_unit}"] if wholes else []
    if rest or not wholes:
        parts.append(f"{rest}{SPACE}{small_unit}")
    return SPACE.join(parts)


def _known(number: float | None) -> TypeGuard[float]:
    return number is not None and math.isfinite(number)
