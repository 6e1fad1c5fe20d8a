# SPDX-License-Identifier: Apache-2.0
"""Mute windows as they are configured."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from kafka_lag.contract.mute_windows import MuteWindow, parse_cron
from kafka_lag_config.strict import Strict
from kafka_lag_config.types import Expression, Text, matching

_UNITS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"([1-9][0-9]{0,4})([mhd])")
# What an alarm mute rule takes [botocore cloudwatch PutAlarmMuteRule].
_MOST_DAYS, MOST_ALARMS = 15, 100
_LONGEST_CRON, _LONGEST_REASON = 250, 1_024
_EXPECTED = "must be minutes, hours or days, such as 30m, 4h or 2d"


def parse_duration(text: str) -> int:
    """Returns a duration in ms. Raises ValueError."""
    found = _DURATION.fullmatch(text)
    if not found:
        raise ValueError(_EXPECTED)
    duration = int(found[1]) * _UNITS[found[2]]
    if duration > _MOST_DAYS * _UNITS["d"]:
        raise ValueError(f"must be at most {_MOST_DAYS}d, which CloudWatch takes")
    return duration


def _check_duration(text: str) -> str:
    parse_duration(text)
    return text


def _check_cron(text: str) -> str:
    parse_cron(text)
    if len(text) > _LONGEST_CRON:
        raise ValueError(f"must not be longer than {_LONGEST_CRON} characters")
    return " ".join(text.split())


def _check_time(text: str) -> str:
    datetime.fromisoformat(text)
    return text


class MuteKeys(Strict):
    """One mute window, or one that comes again."""

    cron: Annotated[str, AfterValidator(_check_cron)] | None = None
    """when it begins, again and again, in UTC: minute, hour, day of the month, month and day of the
    week, as in `0 2 * * SUN`"""
    at: (
        Annotated[
            str,
            matching(r"\d{4}-\d\d-\d\dT\d\d:\d\d", "must be a UTC time, such as 2026-05-10T02:00"),
            AfterValidator(_check_time),
        ]
        | None
    ) = None
    """when a single window begins, in UTC, as in `2026-05-10T02:00`; instead of `cron`"""
    duration: Annotated[str, AfterValidator(_check_duration)]
    """how long a window lasts: 30m, 4h or 2d, at most 15d"""
    groups: Expression | None = None
    """expression for the groups that the window mutes (unless given: all)"""
    reason: Annotated[Text, Field(max_length=_LONGEST_REASON)] | None = None
    """why, which the group's page shows"""
    losses: bool = False
    """mute losses, too: else a loss is reported although the window is open"""

    @model_validator(mode="after")
    def _begins(self) -> Self:
        if (self.cron is None) == (self.at is None):
            raise ValueError("give cron or at")
        return self

    def normalised(self) -> dict[str, Any]:
        """Returns it as the collector reads it."""
        at = None if self.at is None else datetime.fromisoformat(self.at).replace(tzinfo=UTC)
        return {
            "cron": self.cron,
            "at_ms": None if at is None else int(at.timestamp() * 1000),
            "duration_ms": parse_duration(self.duration),
            "groups": self.groups,
            "reason": self.reason,
            "losses": self.losses,
        }

    @property
    def window(self) -> MuteWindow:
        """Returns the window by which the collector and replays mute."""
        return MuteWindow.of(self.normalised())

    @property
    def schedule(self) -> tuple[str, str]:
        """Returns when it begins and its duration as an alarm mute rule takes them."""
        begin = f"at({self.at})" if self.cron is None else f"cron({self.cron})"
        return begin, iso_duration(self.duration)


def iso_duration(text: str) -> str:
    """Returns a duration such as 30m in ISO 8601."""
    number, unit = text[:-1], text[-1].upper()
    return f"P{number}D" if unit == "D" else f"PT{number}{unit}"
