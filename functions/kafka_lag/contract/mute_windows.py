# SPDX-License-Identifier: Apache-2.0
"""Mute windows: times in which a group's alarms and messages wake nobody."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any

_MINUTE_MS = 60_000
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
# Name, least and greatest value of each field, and the words for values.
_FIELDS: tuple[tuple[str, int, int, list[str]], ...] = (
    ("minute", 0, 59, []),
    ("hour", 0, 23, []),
    ("day of the month", 1, 31, []),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 6, _DAYS),
)
# An alarm mute rule takes no steps [botocore cloudwatch PutAlarmMuteRule], so no window does.
_PART = re.compile(r"\*|(\w+)(?:-(\w+))?")


@dataclass(frozen=True, slots=True)
class Mute:
    """A window that is open: from `since` to `until`, ms UTC, with the reason that was given.

    Losses are reported all the same, unless `losses` is True.
    """

    since: int
    until: int
    reason: str | None = None
    losses: bool = False

    def to_text(self) -> str:
        """Returns the text that the column `muted` holds."""
        return json.dumps(asdict(self))


def read_mute(text: str | None) -> Mute | None:
    """Returns the window in a text of the column `muted`; None without a text."""
    return Mute(**json.loads(text)) if text else None


@dataclass(frozen=True, slots=True)
class MuteWindow:
    """A window of `duration_ms` that begins once at `at_ms`, or whenever `cron` fits, in UTC.

    `groups` matches anywhere in the names of the groups that it mutes; None: all groups.
    """

    duration_ms: int
    cron: str | None = None
    at_ms: int | None = None
    groups: str | None = None
    reason: str | None = None
    losses: bool = False

    @classmethod
    def of(cls, document: dict[str, Any]) -> MuteWindow:
        """Returns the window of a normalised configuration."""
        return cls(**document)

    def mutes(self, group: str) -> bool:
        """Returns True for a group that the window mutes."""
        return self.groups is None or re.search(self.groups, group) is not None

    def find_open(self, at: int) -> Mute | None:
        """Returns the window that is open at a time, ms UTC; None if none is."""
        begin = self._find_begin(at)
        if begin is None or not begin <= at < begin + self.duration_ms:
            return None
        return Mute(begin, begin + self.duration_ms, self.reason, self.losses)

    def _find_begin(self, at: int) -> int | None:
        """Returns the last beginning up to a time; the window may have ended since."""
        if self.cron is None:
            return self.at_ms
        minutes, hours, *days = parse_cron(self.cron)
        moment = datetime.fromtimestamp(at / 1000, UTC)
        for back in range(self.duration_ms // (24 * 60 * _MINUTE_MS) + 2):
            day = (moment - timedelta(days=back)).date()
            if _fits(day, *days):
                midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
                begins = (
                    int(midnight.timestamp() * 1000) + (hour * 60 + minute) * _MINUTE_MS
                    for hour in hours
                    for minute in minutes
                )
                if found := [begin for begin in begins if begin <= at]:
                    return max(found)
        return None


def find_mute(windows: Iterable[MuteWindow], group: str, at: int) -> Mute | None:
    """Returns a group's open windows at a time, ms UTC, as one; None if none is open."""
    found = [window.find_open(at) for window in windows if window.mutes(group)]
    return join_mutes(each for each in found if each)


def join_mutes(mutes: Iterable[Mute]) -> Mute | None:
    """Returns open windows as one, with the reason of the last to end; None without any."""
    found = sorted(mutes, key=lambda each: each.until)
    if not found:
        return None
    return Mute(
        min(each.since for each in found),
        found[-1].until,
        found[-1].reason,
        any(each.losses for each in found),
    )


@lru_cache(maxsize=100)
def parse_cron(text: str) -> tuple[frozenset[int], ...]:
    """Returns the values of minute, hour, day of the month, month and day of the week.

    Raises ValueError with the fault.
    """
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise ValueError("must have five fields, as in 0 2 * * SUN")
    if fields[2] != "*" and fields[4] != "*":
        raise ValueError("must name days of the month or of the week, not both")
    return tuple(
        frozenset(_values(field, *known)) for field, known in zip(fields, _FIELDS, strict=True)
    )


def _values(field: str, name: str, least: int, most: int, words: list[str]) -> Iterator[int]:
    for part in field.split(","):
        found = _PART.fullmatch(part)
        first, last = least, most
        if found and found[1]:
            first = _number(found[1], least, words)
            last = _number(found[2], least, words) if found[2] else first
        if not found or not least <= first <= last <= most:
            raise ValueError(f"has {part!r} as {name}, which goes from {least} to {most}")
        yield from range(first, last + 1)


def _number(text: str, least: int, words: list[str]) -> int:
    """Returns a value of a field; -1 for no value."""
    if text in words:
        return words.index(text) + least
    return int(text) if text.isascii() and text.isdigit() else -1


def _fits(
    day: date, of_month: frozenset[int], months: frozenset[int], of_week: frozenset[int]
) -> bool:
    # Python's week begins with Monday as 1, and Sunday is 7.
    return day.day in of_month and day.month in months and day.isoweekday() % 7 in of_week
