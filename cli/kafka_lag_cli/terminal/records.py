# SPDX-License-Identifier: Apache-2.0
"""The option `--output`, which means the same everywhere: a table, or records for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

import click

from kafka_lag_cli.help_sections import option
from kafka_lag_cli.terminal.text import printable

FORMATS = TABLE, JSON, NDJSON, CSV = "table", "json", "ndjson", "csv"

# CSV is for pipes and spreadsheets: its lines end as other lines of a pipe, and a spreadsheet takes
# what begins with these for a formula.
_CRLF = "\r\n"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

output_option = option(
    "--output",
    type=click.Choice(FORMATS),
    default=TABLE,
    metavar="FORM",
    help=f"{', '.join(FORMATS[:-1])} or {CSV} ({TABLE})",
)


def write_records(
    records: Iterable[Mapping[str, Any]],
    form: str,
    out: TextIO,
    *,
    whole: Any = None,
    names: Sequence[str] = (),
    heading: bool = True,
) -> None:
    """Writes NDJSON with a line a record, CSV with a row a record, or JSON.

    JSON is an array of the records, or the `whole` answer if there is more than records. CSV has
    the columns `names`, or all of the first record; what is unknown is null, and empty in CSV.
    """
    found = list(records)
    if form == JSON:
        out.write(json.dumps(found if whole is None else whole) + "\n")
    elif form == NDJSON:
        out.writelines(json.dumps(each) + "\n" for each in found)
    else:
        columns = names or list(found[0] if found else ())
        rows = ([_cell(each[name]) for name in columns] for each in found)
        to_terminal = out.isatty()
        for row in (*([columns] if heading else []), *rows):
            out.write(_csv_line(row, to_terminal=to_terminal))
    out.flush()


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, bool | list | tuple | dict) else value


def _csv_line(cells: Iterable[Any], *, to_terminal: bool) -> str:
    """Returns a heading or a row as a line with its end; null is an empty cell.

    On a terminal what nobody sees of a name is escaped: files and programs get it as it is.
    """
    shown = (
        printable(each) if to_terminal and isinstance(each, str) and each else each
        for each in cells
    )
    line = io.StringIO()
    # A cell with a letter of this end is quoted, so that it must hold both.
    csv.writer(line, lineterminator=_CRLF).writerow([_escape_formula(cell) for cell in shown])
    return f"{line.getvalue().removesuffix(_CRLF)}\n"


def _escape_formula(value: Any) -> Any:
    """Returns a cell; a name that would be a formula gets an apostrophe, which marks text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
