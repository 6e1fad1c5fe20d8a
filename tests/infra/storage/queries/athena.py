# SPDX-License-Identifier: Apache-2.0
"""Athena for tests: the catalog's tables as DuckDB views, its dialect translated by sqlglot."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from kafka_lag_cdk.athena import read_queries
from tests.infra.storage.stack import tables

Row = dict[str, Any]

_TYPES = {
    "string": "VARCHAR",
    "bigint": "BIGINT",
    "int": "INTEGER",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "timestamp": "TIMESTAMP",
    "array<int>": "INTEGER[]",
}
# DuckDB's own pass over a row whose first argument is null; Athena's give that null.
_KEEPING_NULLS: dict[type[exp.Expression], str] = {
    exp.ArgMax: "arg_max_null",
    exp.ArgMin: "arg_min_null",
}

# What stands where only one group can be asked for.
PLACEHOLDER = "THE-GROUP"

TEXTS = {query.key: query.text for query in read_queries()}


class Athena:
    """Answers from the objects below a folder, as of `now` UTC.

    A file named `unreadable.parquet` holds no Parquet: whoever opens it fails.
    """

    def __init__(self, folder: Path, now: datetime) -> None:
        self._now = now
        # To inline, DuckDB asks files for their size before it has looked at their dates.
        self._engine = duckdb.connect(config={"disabled_optimizers": "cte_inlining"})
        for name, table in tables().items():
            self._engine.execute(f"CREATE VIEW {name} AS {_selected(folder, table)}")

    def ask(self, key: str, **narrowed: str) -> list[Row]:
        """Rows of a saved query; `narrowed` names what somebody asks for, as its comment says."""
        text = TEXTS[key]
        for column, name in narrowed.items():
            open_to_all = rf"\b{column} (LIKE '%'|= '{PLACEHOLDER}')"
            text, changes = re.subn(open_to_all, f"{column} = '{name}'", text)
            assert changes == 1
        return self.rows(text)

    def rows(self, text: str) -> list[Row]:
        """Rows of a query in Athena's dialect."""
        tree = sqlglot.parse_one(text, read="athena").transform(self._translated)
        found = self._engine.execute(tree.sql(dialect="duckdb"))
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def _translated(self, node: exp.Expression) -> exp.Expression:
        if isinstance(node, exp.CurrentDate):
            return exp.cast(exp.Literal.string(f"{self._now:%Y-%m-%d}"), "DATE")
        if isinstance(node, exp.CurrentTimestamp):
            return exp.cast(exp.Literal.string(f"{self._now:%Y-%m-%d %H:%M:%S}"), "TIMESTAMP")
        if isinstance(node, exp.CountIf):
            # Where nothing is true Athena counts 0, DuckDB of nulls alone null.
            return exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=node.this))
        if type(node) in _KEEPING_NULLS:
            arguments = node.this, node.expression
            return exp.Anonymous(this=_KEEPING_NULLS[type(node)], expressions=arguments)
        return node


def _selected(folder: Path, table: Row) -> str:
    columns = {column["Name"]: column["Type"] for column in table["StorageDescriptor"]["Columns"]}
    keys = [key["Name"] for key in table["PartitionKeys"]]
    prefix = table["StorageDescriptor"]["Location"].removeprefix("s3://").partition("/")[2]
    files = sorted((folder / prefix).rglob("*.parquet"), key=lambda path: path.stem)
    # DuckDB learns the columns from the first, which must be one that can be read.
    files.sort(key=lambda path: path.stem == "unreadable")
    if not files:
        nothing = {**columns, **dict.fromkeys(keys, "string")}
        cells = ", ".join(f"CAST(NULL AS {_TYPES[kind]}) AS {n}" for n, kind in nothing.items())
        return f"SELECT {cells} WHERE false"
    chosen = [*(_cell(name, kind) for name, kind in columns.items()), *keys]
    listed = exp.Array(expressions=[exp.Literal.string(str(path)) for path in files])
    texts = ", ".join(f"'{key}': VARCHAR" for key in keys)
    options = f"hive_partitioning = true, hive_types = {{{texts}}}"
    source = f"read_parquet({listed.sql('duckdb')}, {options})"
    return exp.select(*chosen, dialect="duckdb").from_(source, dialect="duckdb").sql("duckdb")


def _cell(name: str, kind: str) -> str:
    if kind == "timestamp":
        return f"{name} AT TIME ZONE 'UTC' AS {name}"
    return f"CAST({name} AS {_TYPES[kind]}) AS {name}"
