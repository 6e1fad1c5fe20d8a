# SPDX-License-Identifier: Apache-2.0
"""SQL in Athena's dialect over a folder or a bucket: translated by sqlglot, run by DuckDB.

Of each table only the partitions are read that the query's conditions on `cluster`, `dt` and `hour`
leave, as in Athena.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import Scope, traverse_scope

from kafka_lag import contract
from kafka_lag.contract.reports import COVERAGE
from kafka_lag.errors import ConfigError, StoreError, UnusableError
from kafka_lag.snapshots.store import BrowsableStore
from kafka_lag.wording.formatting import format_list
from kafka_lag_cli.query.parameters import ATHENA, as_of
from kafka_lag_config.catalog import DATE, Table, catalog_tables

_DUCKDB = "duckdb"
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
# As Athena prints a timestamp.
_LOCAL_TIME = "%Y-%m-%d %H:%M:%S.%g"
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

_READ_WHOLE = "CREATE OR REPLACE TEMP TABLE whole AS SELECT * FROM read_parquet(?)"

# Where an object's file lies on this machine; it may have to be fetched first.
Fetch = Callable[[Sequence[str]], Sequence[Path]]
# The values of a table's partition columns.
Partition = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows with the names of their columns; times are in UTC, without a zone.

    In a query with AT TIME ZONE times may be local ones: there they are texts.
    `unread` has the tables of which no object was read, with the first and the last day that there
    are of them, or null where there are none.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    unread: Mapping[str, tuple[str, str] | None]


@dataclass(frozen=True, slots=True)
class Engine:
    """Answers queries from what is in a store, which errors call `place`."""

    store: BrowsableStore
    fetch: Fetch
    place: str

    def run(self, tree: exp.Query, now: datetime) -> Answer:
        """The rows of a query, as of `now` UTC.

        Raises ConfigError for one that cannot be run, and where there is none of what it is about;
        StoreError where that cannot be read.
        """
        tree = as_of(tree, now)
        days: dict[str, list[str]] = {}
        keys: dict[str, list[str]] = {}
        tables = catalog_tables()
        files: dict[str, Path] = {}
        with duckdb.connect(config=_CONFIG) as engine, self._map_errors(files):
            engine.execute("SET TimeZone = 'UTC'")
            for name, alternatives in _partition_conditions(tree).items():
                finder = _Finder(self.store, engine, tables[name])
                found = finder.find(alternatives)
                self._check_whole(tables[name], found.partitions)
                keys[name], days[name] = found.keys, found.days
                if not days[name]:
                    self._check_made(tables[name])
            files.update(self._fetch(keys))
            for name, of_table in keys.items():
                engine.execute(_view(tables[name], [files[key] for key in of_table]))
            result = engine.sql(tree.transform(_translate).sql(dialect=_DUCKDB))
            columns = tuple(result.columns)
            rows = _without_zones(result, local=tree.find(exp.AtTimeZone) is not None).fetchall()
        unread = {
            name: (min(days[name]), max(days[name])) if days[name] else None
            for name, of_table in keys.items()
            if not of_table
        }
        return Answer(columns, rows, unread)

    def _fetch(self, keys: Mapping[str, Iterable[str]]) -> dict[str, Path]:
        wanted = list(dict.fromkeys(key for found in keys.values() for key in found))
        return dict(zip(wanted, self.fetch(wanted), strict=True))

    @contextmanager
    def _map_errors(self, files: Mapping[str, Path]) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            # Errors of these types come from stored files and from a query's own values alike.
            if type(error) in (duckdb.Error, duckdb.IOException, duckdb.InvalidInputException):
                self._check_readable(files)
            raise ConfigError(f"The query cannot be run: {_sentence(error)}") from error

    def _check_readable(self, files: Mapping[str, Path]) -> None:
        """Raises StoreError if DuckDB cannot read one of the files; often it does not name it."""
        with duckdb.connect(config=_CONFIG) as engine:
            for key, path in files.items():
                try:
                    engine.execute(_READ_WHOLE, [str(path)])
                except duckdb.Error as error:
                    text = _sentence(error).replace(str(path), key)
                    named = text if key in text else f"{key}: {text}"
                    raise StoreError(f"What is in {self.place} cannot be read: {named}") from error

    def _check_whole(self, table: Table, partitions: Collection[Partition]) -> None:
        """Raises StoreError where reports of one run and of another lie side by side."""
        if table.prefix != contract.REPORT_PREFIX:
            return
        root = f"{table.prefix}/{contract.REPLACING_FOLDER}/"
        begun = {
            (cluster, date)
            for cluster in self.store.folders(root)
            for date in self.store.folders(f"{root}{cluster}/")
        }
        for partition in partitions:
            place = tuple(map("{}={}".format, table.keys, partition))
            if place in begun and self._exists(f"{root}{'/'.join(place)}/{contract.COMPLETE_NAME}"):
                raise StoreError(
                    f"The reports of {'/'.join(place)} in {self.place} are being replaced. If this "
                    "stays, a run was ended meanwhile: run kafka-lag report, which finishes it."
                )

    def _exists(self, key: str) -> bool:
        try:
            self.store.read(key)
        except UnusableError:
            return False
        return True

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


def parse(text: str) -> exp.Query:
    """A query in Athena's dialect. Raises ConfigError for what is no query, or not one alone."""
    try:
        with _quiet(logging.getLogger("sqlglot")):
            trees = [tree for tree in sqlglot.parse(text, read=ATHENA) if tree is not None]
    except SqlglotError as error:
        errors = getattr(error, "errors", None)
        where = f" (line {errors[0]['line']}, column {errors[0]['col']})" if errors else ""
        raise ConfigError(f"This is no SQL as Athena takes it{where}.") from error
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        tables = catalog_tables()
        names = format_list(sorted(tables), len(tables))
        raise ConfigError(f"Only one SELECT can be run here. The tables are {names}.")
    for table in trees[0].find_all(exp.Table):
        # Athena's own texts name the database.
        table.set("db", None)
        table.set("catalog", None)
    return trees[0]


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Without its warnings: what is no query is answered by an error of our own."""
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _translate(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.CountIf):
        # Where nothing is true Athena counts 0, DuckDB of nulls alone null.
        return exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=node.this))
    if isinstance(node, exp.AtTimeZone):
        # Athena takes a plain timestamp for one in UTC, DuckDB for one of the zone itself.
        time = node.unnest()
        while isinstance(time, exp.AtTimeZone):
            time = time.this.unnest()
        instant = exp.cast(time, _STORED_TIME)
        return exp.Anonymous(this="timezone", expressions=[node.args["zone"], instant])
    if type(node) in _KEEPING_NULLS:
        arguments = node.this, node.expression
        return exp.Anonymous(this=_KEEPING_NULLS[type(node)], expressions=arguments)
    return node


def _without_zones(result: duckdb.DuckDBPyRelation, *, local: bool) -> duckdb.DuckDBPyRelation:
    """The rows with times in UTC without a zone; `local`: with plain ones as texts.

    DuckDB's Python takes pytz for a time with a zone.
    """
    cells = []
    for number, kind in enumerate(map(str, result.types), 1):
        plain = kind.replace("TIMESTAMP WITH TIME ZONE", "TIMESTAMP")
        if plain != kind:
            cells.append(f"CAST(#{number} AS {plain})")
        elif local and kind == "TIMESTAMP":
            cells.append(f"strftime(#{number}, '{_LOCAL_TIME}')")
        else:
            cells.append(f"#{number}")
    return result.project(", ".join(cells))


def _sentence(error: Exception) -> str:
    """The first line of what DuckDB says, which goes on with the query's text."""
    return str(error).partition("\n")[0]


def _partition_conditions(tree: exp.Query) -> dict[str, list[list[exp.Expr]]]:
    """Return for each table the conditions on its partitions, at each place where it is read.

    Raises ConfigError for a table that there is not.
    """
    found: dict[str, list[list[exp.Expr]]] = {}
    tables = catalog_tables()
    for scope in traverse_scope(tree):
        for alias, (_, source) in scope.selected_sources.items():
            if not isinstance(source, exp.Table):
                continue
            if source.name not in tables or not isinstance(source.this, exp.Identifier):
                names = format_list(sorted(tables), len(tables))
                raise ConfigError(f"There is no table {source.name}. The tables are {names}.")
            conditions = list(_conditions(scope, alias, tables[source.name]))
            found.setdefault(source.name, []).append(conditions)
    return found


def _conditions(scope: Scope, alias: str, table: Table) -> Iterator[exp.Expr]:
    """Yield the conditions on all rows of a table that its partition columns alone decide."""
    where = scope.expression.args.get("where")
    joins = scope.expression.args.get("joins") or []
    if where is None or any(join.side for join in joins):
        # Where an outer join found nothing, a row has no partition that could be left out.
        return
    owners = (alias,) if joins else (alias, "")
    for condition in _conjuncts(where.this):
        columns = list(condition.find_all(exp.Column))
        if (
            columns
            and not condition.find(exp.Query, exp.AggFunc, exp.Window)
            and all(each.name in table.keys and each.table in owners for each in columns)
        ):
            yield condition


def _conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that all must be true for this one to be."""
    inner = condition.unnest()
    if isinstance(inner, exp.And):
        yield from _conjuncts(inner.left)
        yield from _conjuncts(inner.right)
    else:
        yield inner


@dataclass(frozen=True, slots=True)
class _Found:
    """The partitions that a query leaves of a table, their keys, and the days that there are."""

    partitions: list[Partition]
    keys: list[str]
    days: list[str]


@dataclass(frozen=True, slots=True)
class _Finder:
    """Finds the objects of a table, folder by folder, so that few are listed in vain."""

    store: BrowsableStore
    engine: duckdb.DuckDBPyConnection
    table: Table

    def find(self, alternatives: Sequence[Sequence[exp.Expr]]) -> _Found:
        """Return the files in partitions that fulfil all conditions of an alternative.

        Days of clusters that no condition leaves are not among the days.
        """
        partitions: list[Partition] = [()]
        days: list[str] = []
        for depth, column in enumerate(self.table.keys, 1):
            partitions = [
                (*partition, name.removeprefix(f"{column}="))
                for partition in partitions
                for name in self.store.folders(self._prefix(partition))
                if name.startswith(f"{column}=")
            ]
            if column == DATE:
                days = [partition[-1] for partition in partitions]
            partitions = self._chosen(partitions, self.table.keys[:depth], alternatives)
        keys = (key for each in partitions for key in self._keys(self._prefix(each)))
        return _Found(partitions, sorted(keys), days)

    def _prefix(self, partition: Partition) -> str:
        pairs = zip(self.table.keys, partition, strict=False)
        return "".join((f"{self.table.folder}/", *(f"{key}={value}/" for key, value in pairs)))

    def _keys(self, prefix: str) -> Iterator[str]:
        """Without those that are being written, which begin so for every reader of such folders."""
        for key in self.store.keys(prefix):
            parts = key.removeprefix(prefix).split("/")
            if key.endswith(".parquet") and not any(part.startswith(("_", ".")) for part in parts):
                yield key

    def _chosen(
        self,
        partitions: list[Partition],
        columns: Sequence[str],
        alternatives: Sequence[Sequence[exp.Expr]],
    ) -> list[Partition]:
        """The partitions that an alternative's conditions on these columns leave."""
        decided = [
            [each for each in conditions if _names(each) <= set(columns)]
            for conditions in alternatives
        ]
        if not partitions or not all(decided):
            return partitions
        rows = exp.values(partitions, alias="partitions", columns=columns)
        some = exp.or_(*(exp.and_(*conditions) for conditions in decided))
        query = exp.select(*columns).from_(rows).where(some)
        text = _unqualified(query).transform(_translate).sql(dialect=_DUCKDB)
        return sorted(self.engine.execute(text).fetchall())


def _names(condition: exp.Expr) -> set[str]:
    return {column.name for column in condition.find_all(exp.Column)}


def _unqualified(tree: exp.Expr) -> exp.Expr:
    return tree.transform(
        lambda node: exp.column(node.name) if isinstance(node, exp.Column) else node
    )


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
