# SPDX-License-Identifier: Apache-2.0
"""Parameters of saved queries by name, written into their text.

Athena's console has no parameters with defaults, so a saved query says what to change in its part
`request`: `cluster LIKE '%'`, the days that `dt` is compared with, a number with a name. These are
what the parameters replace.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta

from kafka_lag.errors import ConfigError
from kafka_lag_config.catalog import HISTORY
from kafka_lag_config.saved_queries import Query

_NAMES = {"cluster": "cluster", "group": "consumer_group", "topic": "topic"}
_DAY, _DAYS, _AT = "day", "days", "at"
_MOST_DAYS = 3_660
_FIRST_DAY = re.compile(r"(?<=BETWEEN date_format\().*?(?=, '%Y-%m-%d'\))")
_ANY_NAME = re.compile(rf"(?m)^(?P<left>.*\b(?P<column>{'|'.join(_NAMES.values())})\b.*) LIKE '%'$")
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)


def bind(query: Query, values: Mapping[str, str], clock: datetime, *, history: bool = False) -> str:
    """Returns the saved query for these values of its parameters, in Athena's dialect, at the
    time `clock` UTC; of the days in history if wanted.

    Raises ConfigError for a value that cannot be one.
    """
    text = _COMMENT.sub("", query.text)
    if history:
        if HISTORY not in query.description:
            raise ConfigError(f"{query.key} cannot be asked of the history: leave out --history.")
        text = re.sub(r"FROM (\w+)", rf"FROM {HISTORY}\1", text, count=1)
    # A query about yesterday ends a day before today.
    back = int(query.parameters.get(_DAY) == "yesterday")
    now = clock
    for name, value in values.items():
        if name == _DAY:
            now = _end_of(_read_day(value) + timedelta(days=back))
        elif name == _DAYS:
            first = f"current_date - INTERVAL '{back + _read_days(value) - 1}' DAY"
            text = _FIRST_DAY.sub(first, text, count=1)
        elif name == _AT:
            now = _read_time(value)
            until = f"taken_at <= TIMESTAMP '{now:%F %T}' AND dt <= '{now:%F}' AND "
            text = text.replace(" WHERE ", f" WHERE {until}", 1)
        elif name not in _NAMES:
            text = re.sub(rf"\d+(?= AS {name}\b)", _read_number(name, value), text)
    # Of a day that is not over nothing later than now is there.
    text = as_of(text, min(now, clock) if now.date() == clock.date() else now)
    wanted = {_NAMES[name]: value for name, value in values.items() if name in _NAMES}

    def match_name(found: re.Match[str]) -> str:
        column = found["column"]
        return f"{found['left']} = {_quote(wanted[column])}" if column in wanted else found[0]

    return _ANY_NAME.sub(match_name, text)


def as_of(text: str, now: datetime) -> str:
    """Returns a query with the time it is asked at in place of the clock's."""
    text = text.replace("current_date", f"DATE '{now:%F}'")
    return text.replace("current_timestamp", f"TIMESTAMP '{now:%F %T}'")


def _quote(name: str) -> str:
    # A backslash before a quotation mark is an escape to the parser of Athena's dialect.
    escaped = name.replace("'", "''").replace("\\", "' || chr(92) || '")
    return f"'{escaped}'"


def _end_of(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 23, 59, 59, tzinfo=UTC)


def _read_day(value: str) -> date:
    try:
        day = date.fromisoformat(value)
    except ValueError:
        day = None
    # fromisoformat also takes 20260131.
    if day is None or day.isoformat() != value:
        raise ConfigError(f"{_DAY}={value} must be a date, written 2026-01-31.")
    return day


def _read_days(value: str) -> int:
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= _MOST_DAYS):
        raise ConfigError(f"{_DAYS}={value} must be a number of days, 1 to {_MOST_DAYS:,}.")
    return int(value)


def _read_time(value: str) -> datetime:
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        raise ConfigError(
            f"{_AT}={value} must be a time in UTC, written 2026-01-31T10:15."
        ) from None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _read_number(name: str, value: str) -> str:
    if not (value.isascii() and value.isdigit() and len(value) <= 9):  # noqa: PLR2004
        raise ConfigError(f"{name}={value} must be a whole number.")
    return value
