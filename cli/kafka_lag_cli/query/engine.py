# SPDX-License-Identifier: Apache-2.0
"""Saved queries over a folder or a bucket: translated from Athena's dialect, run by DuckDB.

A saved query reads one table. Of that only the partitions are read that the query's conditions on
`cluster`, `dt` and `hour` leave, as in Athena.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from kafka_lag import contract
from kafka_lag.contract.reports import COVERAGE
from kafka_lag.errors import ConfigError, StoreError
from kafka_lag.snapshots.store import BrowsableStore
from kafka_lag_config.catalog import DATE, Table, catalog_tables

_ATHENA, _DUCKDB = "athena", "duckdb"
_TYPES = {
    contract.STRING: "VARCHAR",
    contract.LONG: "BIGINT",
    contract.INT: "INTEGER",
    contract.DOUBLE: "DOUBLE",
    contract.BOOLEAN: "BOOLEAN",
    contract.TIMESTAMP: "TIMESTAMP",
    contract.INT_LIST: "INTEGER[]",
    contract.DOUBLE_LIST: "DOUBLE[]",
}
# As which a Parquet file's times in UTC are read.
_STORED_TIME = "TIMESTAMPTZ"
# DuckDB's own pass over a row whose first argument is null; Athena's give that null.
_KEEPING_NULLS: dict[type[exp.Expr], str] = {
    exp.ArgMax: "arg_max_null",
    exp.ArgMin: "arg_min_null",
}
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    # What a query needs is built in; nothing is fetched from the network.
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}

# Where an object's file lies on this machine; it may have to be fetched first.
Fetch = Callable[[Sequence[str]], Sequence[Path]]
# The values of a table's partition columns.
Partition = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows with the names of their columns; times are in UTC, without a zone.

    `unread` is None if anything of the `table` was read; else the first and the last day that there
    are of it, or nothing if there are none.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    table: str
    unread: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Engine:
    """Answers queries from what is in a store, which errors call `place`."""

    store: BrowsableStore
    fetch: Fetch
    place: str

    def run(self, text: str) -> Answer:
        """The rows of a saved query in Athena's dialect.

        Raises ConfigError where there is none of what it is about; StoreError where that cannot be
        read.
        """
        tree, tables = sqlglot.parse_one(text, read=_ATHENA), catalog_tables()
        (source,) = (each for each in tree.find_all(exp.Table) if each.name in tables)
        table = tables[source.name]
        with duckdb.connect(config=_CONFIG) as engine:
            engine.execute("SET TimeZone = 'UTC'")
            partitions, days = self._find(engine, table, list(_partition_conditions(source, table)))
            if not days:
                self._check_made(table)
            keys = sorted(key for each in partitions for key in self._keys(_prefix(table, each)))
            files = dict(zip(keys, self.fetch(keys), strict=True))
            try:
                engine.execute(_view(table, list(files.values())))
                result = engine.sql(tree.transform(_translate).sql(dialect=_DUCKDB))
                columns, rows = tuple(result.columns), result.fetchall()
            except duckdb.Error as error:
                # The first line; then comes the query's text.
                text, _, _ = str(error).partition("\n")
                for key, path in files.items():
                    text = text.replace(str(path), key)
                raise StoreError(f"What is in {self.place} cannot be read: {text}") from error
        unread = None if keys else [min(days), max(days)] if days else []
        return Answer(columns, rows, table.name, unread)

    def _find(
        self, engine: duckdb.DuckDBPyConnection, table: Table, conditions: Sequence[exp.Expr]
    ) -> tuple[list[Partition], list[str]]:
        """Returns the partitions that fulfil the conditions, and the days that there are.

        Folders are listed one below the other, so that few are listed in vain. Days of clusters
        that no condition leaves are not among the days.
        """
        partitions: list[Partition] = [()]
        days: list[str] = []
        for depth, column in enumerate(table.keys, 1):
            partitions = [
                (*partition, name.removeprefix(f"{column}="))
                for partition in partitions
                for name in self.store.folders(_prefix(table, partition))
                if name.startswith(f"{column}=")
            ]
            if column == DATE:
                days = [partition[-1] for partition in partitions]
            if partitions:
                columns = table.keys[:depth]
                rows = exp.values(partitions, alias="partitions", columns=columns)
                decided = [each for each in conditions if _names(each) == {column}]
                query = exp.select(*columns).from_(rows).where(*decided)
                text = query.transform(_translate).sql(dialect=_DUCKDB)
                partitions = sorted(engine.execute(text).fetchall())
        return partitions, days

    def _keys(self, prefix: str) -> Iterator[str]:
        """Without those that are being written, which begin so for every reader of such folders."""
        for key in self.store.keys(prefix):
            parts = key.removeprefix(prefix).split("/")
            if key.endswith(".parquet") and not any(part.startswith(("_", ".")) for part in parts):
                yield key

    def _check_made(self, table: Table) -> None:
        """Raises ConfigError where the table has no object as nothing has made it yet."""
        if table.prefix == contract.SNAPSHOT_PREFIX:
            raise ConfigError(f"There are no snapshots in {self.place}: run kafka-lag watch first.")
        # A report without rows has no object; of each day that was reported this one has.
        reported = catalog_tables()[COVERAGE].folder
        if table.prefix == contract.REPORT_PREFIX and self.store.folders(f"{reported}/"):
            return
        what = "history" if table.prefix == contract.HISTORY_PREFIX else "daily report"
        raise ConfigError(f"There is no {what} in {self.place} yet: run kafka-lag report first.")


def _partition_conditions(source: exp.Table, table: Table) -> Iterator[exp.Expr]:
    """Yields the conditions on the table's rows that one of its partition columns decides."""
    select = source.find_ancestor(exp.Select)
    assert select is not None  # noqa: S101 - a saved query selects
    for condition in _conjuncts(select.args["where"].this):
        if len(names := _names(condition)) == 1 and names <= set(table.keys):
            yield condition


def _conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """Yields the conditions that all must be true for this one to be."""
    inner = condition.unnest()
    if isinstance(inner, exp.And):
        yield from _conjuncts(inner.left)
        yield from _conjuncts(inner.right)
    else:
        yield inner


def _names(condition: exp.Expr) -> set[str]:
    return {column.name for column in condition.find_all(exp.Column)}


def _prefix(table: Table, partition: Partition) -> str:
    pairs = zip(table.keys, partition, strict=False)
    return "".join((f"{table.folder}/", *(f"{key}={value}/" for key, value in pairs)))


def _translate(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.CountIf):
        # Where nothing is true Athena counts 0, DuckDB of nulls alone null.
        return exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=node.this))
    if type(node) in _KEEPING_NULLS:
        arguments = node.this, node.expression
        return exp.Anonymous(this=_KEEPING_NULLS[type(node)], expressions=arguments)
    return node


def _view(table: Table, files: Sequence[Path]) -> str:
    """A table as a view of these files; a column that none of them has is null."""
    columns = {**table.columns, **dict.fromkeys(table.keys, contract.STRING)}
    nothing = ", ".join(
        f'CAST(NULL AS {_STORED_TIME if kind == contract.TIMESTAMP else _TYPES[kind]}) AS "{name}"'
        for name, kind in columns.items()
    )
    source = f"SELECT {nothing} WHERE false"
    if files:
        listed = exp.Array(expressions=[exp.Literal.string(str(path)) for path in files])
        texts = ", ".join(f"'{key}': VARCHAR" for key in table.keys)
        options = f"union_by_name = true, hive_partitioning = true, hive_types = {{{texts}}}"
        parquet = f"read_parquet({listed.sql(_DUCKDB)}, {options})"
        source = f"SELECT * FROM {parquet} UNION ALL BY NAME {source}"  # noqa: S608 - our names, quoted paths
    cells = ", ".join(_cell(name, kind) for name, kind in columns.items())
    return f'CREATE VIEW "{table.name}" AS SELECT {cells} FROM ({source})'  # noqa: S608 - our names


def _cell(name: str, kind: str) -> str:
    if kind == contract.TIMESTAMP:
        return f'CAST("{name}" AS {_STORED_TIME}) AT TIME ZONE \'UTC\' AS "{name}"'
    return f'CAST("{name}" AS {_TYPES[kind]}) AS "{name}"'
