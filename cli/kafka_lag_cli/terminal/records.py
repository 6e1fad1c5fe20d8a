# SPDX-License-Identifier: Apache-2.0
"""The option `--output`, which means the same everywhere: a table, or records for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

import click

from kafka_lag_cli.help_sections import option
from kafka_lag_cli.terminal.csv_rows import write_csv

FORMATS = TABLE, JSON, NDJSON, CSV = "table", "json", "ndjson", "csv"

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
        write_csv([*([columns] if heading else []), *rows], out)
    out.flush()


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, bool | list | tuple | dict) else value
