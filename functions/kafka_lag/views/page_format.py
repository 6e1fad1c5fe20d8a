# SPDX-License-Identifier: Apache-2.0
"""Numbers, times and statuses as the page's readers see them, and strangers' names made harmless to
a layout.

Unknown is None here too; the page decides what it shows for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from kafka_lag import contract

# Keeps a number and its unit on one line.
SPACE = "\u00a0"
MAX_NAME_LENGTH = 120
_WITH_SECONDS_UNDER = 600
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_ERROR_CAUSES = {contract.STOP: "stopped", contract.STALL: "stalled", contract.REWIND: "rewound"}
_REASONS = {
    contract.RECORDS_LOST: "records lost",
    contract.BEYOND_END: "commit beyond the end",
    contract.PAUSING: "pausing as usual",
    contract.FALLING_BEHIND: "falling behind",
    contract.SLOW: "catching up too slowly",
    contract.NO_MEMBER: "no member",
    contract.INACTIVE: "inactive",
    contract.GONE: "group deleted",
    contract.DENIED: "not read: access denied",
    contract.NO_LEADER: "not read: no leader",
    contract.NO_COORDINATOR: "not read: no coordinator",
    contract.TIMEOUT: "not read: timed out",
    contract.ERROR: "not read: error",
}
_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")


def name(text: str, max_length: int = MAX_NAME_LENGTH) -> str:
    """A name on one line: what does not print is spelled out, the middle of a long one left out.

    Marks that turn the reading direction are spelled out too, so nobody can dress one name as
    another.
    """
    if not text:
        return "(empty name)"
    cut = _cut_middle(text, max_length)
    spelled = "".join(mark if mark.isprintable() else f"\\u{ord(mark):04x}" for mark in cut)
    return _cut_middle(spelled, max_length)


def duration(seconds: float | None) -> str | None:
    """At most two units: `42 s`, `9 min 30 s`, `3 h 12 min`, `2 d 4 h`."""
    if seconds is None or not math.isfinite(seconds):
        return None
    if round(seconds) < _WITH_SECONDS_UNDER:
        return _two_units(round(seconds), _MINUTE, "min", 1, "s")
    if round(seconds / _MINUTE) * _MINUTE < _DAY:
        return _two_units(round(seconds / _MINUTE) * _MINUTE, _HOUR, "h", _MINUTE, "min")
    return _two_units(round(seconds / _HOUR) * _HOUR, _DAY, "d", _HOUR, "h")


def margin(seconds: float | None) -> str:
    """`± 3 s`, rounded up so that it promises no more than is known; nothing when exact."""
    return f"±{SPACE}{duration(math.ceil(seconds))}" if seconds else ""


def count(number: float | None) -> str | None:
    """A whole number with thousands separators."""
    return None if number is None or not math.isfinite(number) else f"{number:,.0f}"


def rate(number: float | None) -> str | None:
    """Records a second, precise only where it is small."""
    if number is None or not math.isfinite(number):
        return None
    return f"{number:,.0f}/s" if number >= 10 or number == 0 else f"{number:.1f}/s"  # noqa: PLR2004


def size(number: float | None) -> str | None:
    """Bytes in units of 1024, as brokers are configured."""
    if number is None:
        return None
    value, units = float(number), iter(("B", "KiB", "MiB", "GiB", "TiB"))
    unit = next(units)
    while value >= 1024 and unit != "TiB":  # noqa: PLR2004
        value, unit = value / 1024, next(units)
    return f"{value:,.4g}{SPACE}{unit}"


def iso(at: int) -> str:
    """A time in ms as machines read it, in UTC."""
    return f"{_utc(at):%Y-%m-%dT%H:%M:%SZ}"


def moment(at: int, now: int) -> str:
    """The UTC time of day, with the date where it is not today's."""
    time = _utc(at)
    if time.date() == _utc(now).date():
        return f"{time:%H:%M} UTC"
    return f"{time.day} {time:%b} {time:%H:%M} UTC".replace(" ", SPACE)


def since(at: int, now: int) -> str:
    """How long ago a time in ms is; a time to come is now."""
    return duration(max(now - at, 0) / 1000) or ""


def plural(number: int, one: str, many: str | None = None) -> str:
    """A count with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def spaced(word: Any) -> str:
    """One of Kafka's or our own words, as `no_leader`, for people."""
    return str(word).replace("_", " ")


def state(word: str) -> str:
    """A state in Kafka's words, with spaces so that a narrow column can hold it."""
    return _CAPITAL.sub(r" \1", word)


def reason(word: str) -> str:
    """Why a row has its status, or none; a word of a later version as it is."""
    return _REASONS.get(word, spaced(word))


def error_cause(group: Mapping[str, Any], worst: str | None = None) -> str | None:
    """What ERR stands for in a group's row; `worst` is the status of its worst partition.

    Without that the row says no more than that nobody is there to read.
    """
    if group["status"] != contract.ERR:
        return None
    no_member = _REASONS[contract.NO_MEMBER] if group["members"] == 0 else None
    return _ERROR_CAUSES.get(worst or "") or no_member


def _utc(at: int) -> datetime:
    return datetime.fromtimestamp(at / 1000, UTC)


def _cut_middle(text: str, max_length: int) -> str:
    """The text, or the first and last halves of what may be shown of it."""
    if len(text) <= max_length:
        return text
    half = max_length // 2
    return f"{text[:half]}\u2026{text[-half:]}"


def _two_units(value: int, large: int, large_unit: str, small: int, small_unit: str) -> str:
    wholes, rest = divmod(value, large)
    rest //= small
    parts = [f"{wholes}{SPACE}{large_unit}"] if wholes else []
    if rest or not wholes:
        parts.append(f"{rest}{SPACE}{small_unit}")
    return SPACE.join(parts)
