# SPDX-License-Identifier: Apache-2.0
"""The window as it is configured: a time, such as 10m, whatever the interval between runs."""

from __future__ import annotations

import re
from typing import Final

from kafka_lag.lag.group_settings import Rules, least_window_ms

WINDOW_PATTERN: Final = r"[1-9][0-9]{0,5}(s|m|h)"
WINDOW_EXPECTED: Final = "must be a time in seconds, minutes or hours, such as 90s, 10m or 1h"

_UNITS = {"h": 3_600, "m": 60, "s": 1}
_LONGEST_HOURS = 24
_COUNT = re.compile(r"[0-9]+")
_DEFAULT_MS = Rules().window_ms


def parse_window(text: str | None, interval_seconds: float) -> int:
    """Its milliseconds; without one ten minutes, or three intervals if that is longer."""
    least = least_window_ms(round(interval_seconds * 1_000))
    return max(_DEFAULT_MS, least) if text is None else _seconds(text) * 1_000


def format_window(seconds: float) -> str:
    """A time in the largest unit of which it is a whole number."""
    unit = next((unit for unit, size in _UNITS.items() if not seconds % size), "s")
    return f"{seconds / _UNITS[unit]:.0f}{unit}"


DEFAULT_WINDOW: Final = format_window(_DEFAULT_MS / 1_000)


def find_count_fault(value: object, interval_seconds: float) -> str | None:
    """Return what is wrong with a window that is a count of runs; null if it is not a count."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    is_text = isinstance(value, str) and _COUNT.fullmatch(value) and int(value) > 0
    if not (is_number or is_text):
        return None
    seconds = float(str(value)) * interval_seconds
    least = least_window_ms(round(interval_seconds * 1_000)) / 1_000
    return (
        f"is a time and no count of runs: {value} runs at {interval_seconds:g} s are "
        f"{format_window(seconds)}, so write {format_window(max(seconds, least))}"
    )


def find_window_fault(text: str, interval_seconds: float) -> str | None:
    """Return what is wrong with a window, given the interval; null if nothing is.

    Rows that cannot be read are kept for a day: beyond it there is nothing left to count. And a
    commit that moves in every run may be seen to do so in every second one.
    """
    least = least_window_ms(round(interval_seconds * 1_000)) / 1_000
    if _seconds(text) > _LONGEST_HOURS * 3_600:
        return f"must be at most {_LONGEST_HOURS}h, and is {text}"
    if _seconds(text) < least:
        return (
            f"must be at least three intervals, and {text} is less than three of "
            f"{interval_seconds:g} s: write {format_window(least)}"
        )
    return None


def _seconds(text: str) -> int:
    return int(text[:-1]) * _UNITS[text[-1]]
