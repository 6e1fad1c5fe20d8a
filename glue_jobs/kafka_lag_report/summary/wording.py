# SPDX-License-Identifier: Apache-2.0
"""Names and numbers as people read them; a dash is unknown, never zero."""

import math

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_UNKNOWN = "-"


def shown(name: str | None, longest: int | None = None) -> str:
    """The name on one line of at most `longest` letters.

    A client may put line breaks and terminal commands into a group's name.
    """
    if name is None:
        return _UNKNOWN
    text = "".join(letter if letter.isprintable() else "?" for letter in name)
    return text if longest is None or len(text) <= longest else f"{text[: longest - 1]}…"


def number(value: float | None, form: str = ",.0f") -> str:
    """The value by a format of Python's."""
    return _UNKNOWN if value is None else format(value, form)


def percent(share: float | None) -> str:
    """A share of 1 in tenths of a percent, rounded down: 100% is all of it."""
    # Beyond the sixth digit is the noise of adding doubles.
    return _UNKNOWN if share is None else f"{math.floor(round(share * 1_000, 6)) / 10:g}%"


def span(seconds: float | None) -> str:
    """Seconds in the unit that says most, rounded down: time left is never told too long."""
    if seconds is None:
        return _UNKNOWN
    if seconds < 2 * _MINUTE:
        return f"{math.floor(seconds)} s"
    if seconds < 2 * _HOUR:
        return f"{math.floor(seconds / _MINUTE)} min"
    unit, length = ("h", _HOUR) if seconds < 2 * _DAY else ("d", _DAY)
    return f"{math.floor(10 * seconds / length) / 10:g} {unit}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number of things, the noun in its number: `1 group`, `2 groups`."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
