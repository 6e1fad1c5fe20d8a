# SPDX-License-Identifier: Apache-2.0
"""Parameters of saved queries by name, set in their syntax trees.

Athena's console has no parameters with defaults, so a saved query says what to change in its part
`request`: `cluster LIKE '%'`, the days that `dt` is compared with, a number with a name. These are
what the parameters replace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

import sqlglot
from sqlglot import exp

from kafka_lag import contract
from kafka_lag.errors import ConfigError
from kafka_lag_config.catalog import DATE, HISTORY
from kafka_lag_config.saved_queries import Query

ATHENA = "athena"
_PART = "request"
_NAMES = {"cluster": "cluster", "group": "consumer_group", "topic": "topic"}
_DAY, _DAYS, _AT = "day", "days", "at"
_MOST_DAYS = 3_660


@dataclass(frozen=True, slots=True)
class Request:
    """A query in Athena's dialect, and the time, UTC, that is now to it; null if it is the clock's.

    `tree` still has current_date and current_timestamp.
    """

    tree: exp.Query
    now: datetime | None = None

    def time(self, clock: datetime) -> datetime:
        """Return the present time; on the present day it is at most the clock's."""
        if self.now is None or self.now.date() == clock.date():
            return min(self.now or clock, clock)
        return self.now


def bind(query: Query, values: Mapping[str, str], *, history: bool = False) -> Request:
    """The saved query for these values of its parameters; from the days in history if wanted.

    Raises ConfigError for a value that cannot be one.
    """
    tree = sqlglot.parse_one(query.text, read=ATHENA)
    assert isinstance(tree, exp.Query)  # noqa: S101 - a saved query is one
    (part,) = (each.this for each in tree.find_all(exp.CTE) if each.alias == _PART)
    request = Request(tree)
    for name, value in values.items():
        request = _SETTERS.get(name, _set_number)(request, part, name, value)
    if history:
        _read_history(query, tree)
    return request


def athena_text(request: Request) -> str:
    """The query as Athena takes it; as of the clock's time unless another was asked for."""
    tree = request.tree if request.now is None else as_of(request.tree, request.now)
    return tree.sql(dialect=ATHENA, pretty=True, comments=False) + "\n"


def as_of(tree: exp.Query, now: datetime) -> exp.Query:
    """The query with the time it is asked at instead of current_date and current_timestamp."""

    def replace_time(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.CurrentDate):
            return exp.cast(exp.Literal.string(f"{now:%Y-%m-%d}"), "DATE")
        if isinstance(node, exp.CurrentTimestamp):
            return exp.cast(exp.Literal.string(f"{now:%Y-%m-%d %H:%M:%S}"), "TIMESTAMP")
        return node

    replaced = tree.transform(replace_time)
    assert isinstance(replaced, exp.Query)  # noqa: S101 - times are replaced, never the query
    return replaced


def _set_name(request: Request, part: exp.Select, name: str, value: str) -> Request:
    for node in list(part.find_all(exp.Like)):
        if node.this.name == _NAMES[name]:
            node.replace(exp.EQ(this=node.this.copy(), expression=exp.Literal.string(value)))
    return request


def _set_day(request: Request, part: exp.Select, name: str, value: str) -> Request:
    """The last day of which rows are read."""
    day = _read_day(name, value)
    # A query about yesterday says today less a day.
    today = day + timedelta(days=_days_back(_last_day(part)))
    end = datetime(today.year, today.month, today.day, 23, 59, 59, tzinfo=UTC)
    return replace(request, now=end)


def _set_days(request: Request, part: exp.Select, name: str, value: str) -> Request:
    """Set the number of days, up to and including the last one."""
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= _MOST_DAYS):
        raise ConfigError(f"{name}={value} must be a number of days, 1 to {_MOST_DAYS:,}.")
    (between,) = part.find_all(exp.Between)
    back = _days_back(between.args["high"]) + int(value) - 1
    first = f"date_format(current_date - INTERVAL '{back}' DAY, '%Y-%m-%d')"
    between.set("low", sqlglot.parse_one(first, read=ATHENA))
    return request


def _set_at(request: Request, part: exp.Select, name: str, value: str) -> Request:
    """Set the present time; later runs are left out."""
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        raise ConfigError(
            f"{name}={value} must be a time in UTC, written 2026-01-31T10:15."
        ) from None
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    until = exp.cast(exp.Literal.string(f"{at:%Y-%m-%d %H:%M:%S}"), "TIMESTAMP")
    part.where(exp.LTE(this=exp.column("taken_at"), expression=until), copy=False)
    part.where(
        exp.LTE(this=exp.column(DATE), expression=exp.Literal.string(f"{at:%Y-%m-%d}")), copy=False
    )
    return replace(request, now=at)


def _set_number(request: Request, part: exp.Select, name: str, value: str) -> Request:
    if not (value.isascii() and value.isdigit() and len(value) <= 9):  # noqa: PLR2004
        raise ConfigError(f"{name}={value} must be a whole number.")
    (alias,) = (each for each in part.expressions if each.alias == name)
    alias.set("this", exp.Literal.number(value))
    return request


_SETTERS: dict[str, Callable[[Request, exp.Select, str, str], Request]] = {
    **dict.fromkeys(_NAMES, _set_name),
    _DAY: _set_day,
    _DAYS: _set_days,
    _AT: _set_at,
}


def _read_day(name: str, value: str) -> date:
    try:
        day = date.fromisoformat(value)
    except ValueError:
        day = None
    # fromisoformat also takes 20260131.
    if day is None or day.isoformat() != value:
        raise ConfigError(f"{name}={value} must be a date, written 2026-01-31.")
    return day


def _last_day(part: exp.Select) -> exp.Expr:
    """Return the value that `dt` is compared with, the later one of two."""
    for node in part.find_all(exp.Between, exp.EQ):
        if node.this.name == DATE:
            last: exp.Expr = node.args.get("high") or node.expression
            return last
    raise AssertionError("a query with a day compares dt")


def _days_back(bound: exp.Expr) -> int:
    interval = bound.find(exp.Interval)
    return 0 if interval is None else int(interval.this.name)


def _read_history(query: Query, tree: exp.Query) -> None:
    if HISTORY not in query.description:
        raise ConfigError(f"{query.key} cannot be asked of the history: leave out --history.")
    for table in tree.find_all(exp.Table):
        if table.name in contract.DATASETS:
            table.set("this", exp.to_identifier(f"{HISTORY}{table.name}"))
