# SPDX-License-Identifier: Apache-2.0
"""CSV for pipes and spreadsheets: lines end as other lines of a pipe, and no text is a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any, TextIO

from kafka_lag_cli.terminal.text import printable

_CRLF = "\r\n"
# A spreadsheet takes what begins with these for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_csv(rows: Iterable[Iterable[Any]], out: TextIO) -> None:
    """Writes a heading and rows, as `csv_line` has them."""
    to_terminal = out.isatty()
    out.writelines(csv_line(row, to_terminal=to_terminal) for row in rows)


def csv_line(cells: Iterable[Any], *, to_terminal: bool) -> str:
    """Returns a heading or a row as a line with its end; null is an empty cell.

    On a terminal what nobody sees of a name is escaped: files and programs get it as it is.
    """
    cells = [printable(each) if to_terminal and _is_text(each) else each for each in cells]
    line = io.StringIO()
    # A cell with a letter of this end is quoted, so that it must hold both.
    csv.writer(line, lineterminator=_CRLF).writerow([_cell(cell) for cell in cells])
    return f"{line.getvalue().removesuffix(_CRLF)}\n"


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _cell(value: Any) -> Any:
    """Returns a cell; a name that would be a formula gets an apostrophe, which marks text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
