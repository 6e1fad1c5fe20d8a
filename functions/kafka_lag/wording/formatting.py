# SPDX-License-Identifier: Apache-2.0
"""Numbers, durations, times and names as people read them: on pages, in messages, on a terminal.

This module needs only the standard library of Python 3.11. All functions take known values; callers
choose the text for an unknown one. A duration or share that is not finite is called unknown, so
that one damaged row breaks no page and no message.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Literal, TypeAlias

# Keeps a number and its unit on one line of a page.
NO_BREAK_SPACE = "\u00a0"

Rounding: TypeAlias = Callable[[float], int]

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
# The limit in seconds, the unit below it, then the finer one for the rest, each with its length.
_TWO_UNITS = (
    (_HOUR, "min", _MINUTE, "s", 1),
    (_DAY, "h", _HOUR, "min", _MINUTE),
    (math.inf, "d", _DAY, "h", _HOUR),
)
_SECONDS_BELOW = 10 * _MINUTE
# The limit of a unit is two of the next one, below which this one is more precise.
_ONE_UNIT = (
    (2 * _MINUTE, "s", 1),
    (2 * _HOUR, "min", _MINUTE),
    (2 * _DAY, "h", _HOUR),
    (math.inf, "d", _DAY),
)
# Texts for a duration or share that is not a number, for example in a damaged snapshot.
_UNKNOWN_TIME, _UNKNOWN_SHARE = "an unknown time", "an unknown share"
_KIB = 1024
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def format_duration(
    seconds: float, rounding: Rounding = round, *, precise: bool = False, space: str = " "
) -> str:
    """Returns a duration in at most two units: `42 s`, `9 min 30 s`, `3 h 12 min`, `2 d 4 h`.

    Seconds are left out from ten minutes on; if `precise`, from an hour on, and durations below ten
    seconds have tenths.
    """
    if not math.isfinite(seconds):
        return _UNKNOWN_TIME.replace(" ", space)
    if precise and (tenths := _format_tenths(seconds, rounding)):
        return tenths
    rounded, large, length, small, step = next(
        (rounded, large, length, small, step)
        for limit, large, length, small, step in _TWO_UNITS
        if (rounded := rounding(seconds / step) * step)
        < (limit if precise or step > 1 else _SECONDS_BELOW)
    )
    count, rest = divmod(rounded, length)
    parts = [f"{count:,}{space}{large}"] if count else []
    if rest >= step or not count:
        parts.append(f"{rest // step}{space}{small}")
    return space.join(parts)


def format_short_duration(
    seconds: float, rounding: Rounding = math.floor, *, precise: bool = False
) -> str:
    """Returns a duration in one unit: `90 s`, `3 h`.

    It is rounded down by default, so that a time left is never shown too long.

    Hours and days have tenths; if `precise`, only durations below ten seconds do.
    """
    if not math.isfinite(seconds):
        return _UNKNOWN_TIME
    if precise and (tenths := _format_tenths(seconds, rounding)):
        return tenths
    return next(
        f"{rounded / parts:,g} {unit}"
        for limit, unit, length in _ONE_UNIT
        for parts in [10 if length >= _HOUR and not precise else 1]
        if (rounded := rounding(parts * seconds / length)) * length < limit * parts
    )


def format_time_left(seconds: float, *, space: str = " ") -> str:
    """Returns the time left to prevent something, in one unit, rounded down: `119 min`, `13 h`."""
    return format_short_duration(seconds, precise=True).replace(" ", space)


def format_age(at: int, now: int, *, space: str = " ") -> str:
    """Returns how long ago a time in ms is; 0 s for a time to come."""
    return format_duration(max(now - at, 0) / 1000, space=space)


def format_count(number: float) -> str:
    """Returns a whole number with thousands separators."""
    return f"{number:,.0f}"


def format_quantity(number: int, one: str, many: str | None = None) -> str:
    """Returns a count with its noun: `1 group`, `2 groups`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def format_rate(number: float) -> str:
    """Returns records a second, with a tenth below 10."""
    return f"{number:,.0f}/s" if number >= 10 or number == 0 else f"{number:.1f}/s"  # noqa: PLR2004


def format_share(share: float) -> str:
    """Returns a share of 1 in per cent; 100% and 0% only if it is exactly all or nothing."""
    if 0 < share < 0.001:  # noqa: PLR2004
        return "<0.1%"
    if 0.999 < share < 1:  # noqa: PLR2004
        return ">99.9%"
    return f"{share:.1%}".replace(".0%", "%")


def format_sla_used(share: float) -> str:
    """Returns a time lag as a share of the SLA, rounded up: above 100% the SLA is broken."""
    return f"{math.ceil(100 * share - 1e-9):,}%" if math.isfinite(share) else _UNKNOWN_SHARE


def format_factor(factor: float) -> str:
    """Returns a factor with one decimal and a times sign."""
    return f"{factor:,.1f}\u00d7"


def format_bytes(number: float, *, space: str = " ") -> str:
    """Returns bytes in units of 1024, which broker settings use."""
    power = 0
    while number >= _KIB and power < len(_BYTE_UNITS) - 1:
        number, power = number / _KIB, power + 1
    return f"{number:,.4g}{space}{_BYTE_UNITS[power]}"


def format_cause_of_loss(
    retention_ms: int | None,
    retention_bytes: int | None,
    produce_rate: float | None,
    consume_rate: float | None,
    *,
    space: str = " ",
) -> str:
    """Returns `kept for 4 s, produced 44/s, consumed 1.2/s` without unknown or unlimited values."""
    parts = []
    if retention_ms is not None and retention_ms >= 0:
        parts.append(f"kept for {format_duration(retention_ms / 1000, precise=True, space=space)}")
    if retention_bytes is not None and retention_bytes >= 0:
        size = format_bytes(retention_bytes, space=space)
        parts.append(f"kept up to {size} a partition")
    if produce_rate is not None:
        parts.append(f"produced {format_rate(produce_rate)}")
    if consume_rate is not None:
        parts.append(f"consumed {format_rate(consume_rate)}")
    return ", ".join(parts)


def format_iso_time(ms: int, timespec: Literal["seconds", "milliseconds"] = "seconds") -> str:
    """Returns a time, ms UTC, as machines read it."""
    return _utc(ms).isoformat(timespec=timespec).replace("+00:00", "Z")


def format_minute(ms: int) -> str:
    """Returns a time, ms UTC, to the minute."""
    return f"{_utc(ms):%Y-%m-%d %H:%M} UTC"


def format_time_of_day(ms: int, now: int, *, space: str = " ") -> str:
    """Returns the UTC time of day, after its date if that is not today's."""
    time = _utc(ms)
    date = "" if time.date() == _utc(now).date() else f"{time.date()}{space}"
    return f"{date}{time:%H:%M}{space}UTC"


def format_list(names: Sequence[str], most: int) -> str:
    """Returns the first names, with commas, and how many more there are."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def code_point(letter: str) -> str:
    """Returns a letter as JSON and JavaScript escape it, in lower case, at least four digits."""
    return f"\\u{ord(letter):04x}"


def python_escape(letter: str) -> str:
    """Returns a letter as Python escapes it, `\\n` for a line break and `\\x20` for a blank."""
    return "\\x20" if letter == " " else letter.encode("unicode_escape").decode()


def question_mark(_: str) -> str:
    """Returns a question mark, for texts in which the escaped letter would not help."""
    return "?"


def escape_text(text: str, escape: Callable[[str], str] = code_point) -> str:
    """Returns a sentence whose names can neither break a line nor command a terminal.

    Letters that do not print are escaped; so are marks that turn the reading direction, so that no
    name can pass for another.
    """
    return "".join(each if each.isprintable() else escape(each) for each in text)


def escape_name(
    name: str, escape: Callable[[str], str] = code_point, empty: str = "(empty name)"
) -> str:
    """Returns a name escaped like a sentence, and blanks at its ends, which are invisible, too."""
    inner = name.strip(" ")
    before = len(name) - len(name.lstrip(" "))
    after = len(name) - before - len(inner)
    return escape(" ") * before + escape_text(inner, escape) + escape(" ") * after or empty


def format_name(name: str, longest: int = 200) -> str:
    """Returns a stranger's name on one line, its end cut off; Kafka takes names of 32,000 bytes."""
    return cut_end(escape_name(name, question_mark, "(no name)"), longest)


def cut_middle(text: str, max_length: int) -> str:
    """Returns the text; a longer one is cut in the middle to `max_length` letters."""
    start, middle, end = split_middle(text, max_length)
    return f"{start}\u2026{end}" if middle else text


def split_middle(text: str, max_length: int) -> tuple[str, str, str]:
    """Returns the beginning of the text, the middle to leave out, and the end."""
    if len(text) <= max_length:
        return text, "", ""
    half = max_length // 2
    return text[:half], text[half:-half], text[-half:]


def cut_end(text: str, max_length: int) -> str:
    """Returns the text; a longer one is cut and ends with three dots."""
    return text if len(text) <= max_length else f"{text[: max_length - 3]}..."


def _format_tenths(seconds: float, rounding: Rounding) -> str | None:
    """Returns seconds below ten with tenths; None for more."""
    tenths = rounding(seconds * 10)
    return f"{tenths / 10:g} s" if tenths < 10 * 10 else None


def _utc(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
