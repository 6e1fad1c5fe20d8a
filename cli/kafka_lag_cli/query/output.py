# SPDX-License-Identifier: Apache-2.0
"""Rows of a query for people and programs: a table, JSON, or CSV. Unknown is `?`, null or empty."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kafka_lag.wording.formatting import format_quantity
from kafka_lag_cli.query.engine import Answer
from kafka_lag_cli.terminal.text import printable

_UNKNOWN = "?"
_DIGITS = 4


def print_table(answer: Answer, screen: Console) -> None:
    """Prints a line a row; on a terminal that is too narrow cells are folded."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for number, name in enumerate(answer.columns):
        numeric = all(_is_number(row[number]) for row in answer.rows)
        table.add_column(
            Text(printable(name)), justify="right" if numeric else "left", overflow="fold"
        )
    for row in answer.rows:
        table.add_row(*(Text(_cell(cell)) for cell in row))
    screen.print(table)
    screen.print(Text(format_quantity(len(answer.rows), "row"), style="dim"))


def records(answer: Answer) -> Iterator[dict[str, Any]]:
    """Yields each row as an object for programs."""
    for row in answer.rows:
        yield dict(zip(answer.columns, map(_json_value, row), strict=True))


def _is_number(cell: Any) -> bool:
    return cell is None or (isinstance(cell, int | float | Decimal) and not isinstance(cell, bool))


def _cell(cell: Any) -> str:
    """A cell of a table: whole seconds, at most four decimals."""
    value = _json_value(cell)
    if value is None:
        return _UNKNOWN
    if isinstance(cell, datetime):
        return f"{cell:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{round(value, _DIGITS):.15g}"
    return printable(value) if isinstance(value, str) else printable(json.dumps(value))


def _json_value(cell: Any) -> Any:
    """Return a cell's JSON value: times in UTC as elsewhere, null for NaN."""
    if isinstance(cell, datetime):
        return f"{cell.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, Decimal):
        cell = float(cell)
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if isinstance(cell, list | tuple):
        return [_json_value(each) for each in cell]
    if isinstance(cell, dict):
        return {str(key): _json_value(value) for key, value in cell.items()}
    return cell if cell is None or isinstance(cell, str | int) else str(cell)
