# SPDX-License-Identifier: Apache-2.0
"""Partial aggregates: a day's rows become few in Arrow's columns, and Spark adds up what is left.

A `Shape` says what a row adds to the key that it belongs to, and how that of several rows becomes
one. The same rule puts rows, row groups and files together: numpy does it within a task, which has
a file of the history, and Spark over tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas import functions as pandas_functions
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from kafka_lag.contract import RISES
from kafka_lag_report.history_file import (
    ROW_GROUP_ROWS,
    STRETCH_ROWS,
    Order,
    of_one_piece,
    order_by,
    rank,
    row_groups,
)
from kafka_lag_report.rises import with_rises
from kafka_lag_report.schemas import (
    BOOLEAN,
    DOUBLE,
    LONG,
    SNAPSHOTS,
    TEXT,
    arrow_schema,
    in_columns,
)
from kafka_lag_report.skew import grouped
from kafka_lag_report.storage import Storage

Mask = npt.NDArray[np.bool_]

# Partial rows of a task that wait to be put together: some 300 MB.
HELD_ROWS = 1_000_000
_SPARK_TYPES = {"i": LONG, "f": DOUBLE, "b": BOOLEAN}


class How(Enum):
    """How several values become one, in SQL too; what is not known is passed over."""

    SUM = "sum({0})"
    LEAST = "min({0})"
    GREATEST = "max({0})"
    # of the row in which another column is least or greatest; it may be unknown there
    FIRST = "min_by({0}, {1})"
    LAST = "max_by({0}, {1})"


@dataclass(frozen=True, slots=True)
class Measure:
    """How a column's values become one. `by` is the column that orders them, of FIRST and LAST."""

    how: How
    by: str = ""

    def sql(self, name: str) -> str:
        """The aggregate over partial rows, of which the column is `name`."""
        return self.how.value.format(name, self.by)


SUM, LEAST, GREATEST = Measure(How.SUM), Measure(How.LEAST), Measure(How.GREATEST)


@dataclass(frozen=True, slots=True)
class Values:
    """Whole numbers, doubles or flags of rows, and where they are known."""

    values: npt.NDArray[Any]
    known: Mask

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Values:
        """Doubles and flags as they are, all else as whole numbers; times in milliseconds."""
        kind, empty = column.type, 0
        if pa.types.is_boolean(kind):
            empty = False
        elif not pa.types.is_floating(kind):
            kind = pa.int64()
        if not column.null_count:
            return cls.everywhere(column.cast(kind).to_numpy())
        values = column.cast(kind).fill_null(empty).to_numpy()
        return cls(values, column.is_valid().to_numpy())

    @classmethod
    def everywhere(cls, values: npt.NDArray[Any]) -> Values:
        """Known in each row."""
        return cls(values, np.ones(len(values), dtype=np.bool_))

    def only(self, mask: Mask) -> Values:
        """Unknown wherever the mask is false."""
        return Values(self.values, self.known & mask)

    def take(self, places: Order) -> Values:
        """In these rows."""
        return Values(self.values[places], self.known[places])

    def to_arrow(self) -> pa.Array:
        """Null where it is not known."""
        return pa.array(self.values, mask=~self.known)


@dataclass(frozen=True, slots=True)
class Shape:
    """What a dataset's rows are reduced to: `measures`, a row for each of the `keys`.

    `of_rows` has the measures of each row, of a table of one piece with the `keys` and `reads`.
    Rows that were not read take part if it `takes_unread`.
    """

    dataset: str
    keys: tuple[str, ...]
    reads: tuple[str, ...]
    measures: Mapping[str, Measure]
    of_rows: Callable[[pa.Table], Mapping[str, Values]]
    takes_unread: bool = False

    @property
    def read(self) -> pa.Schema:
        """All columns that are read."""
        own = arrow_schema(self.dataset)
        rise = pa.field(RISES[self.dataset], pa.int64())
        names = dict.fromkeys((*self.keys, *self.reads, "unread_reason"))
        return pa.schema(rise if name == rise.name else own.field(name) for name in names)

    @property
    def result(self) -> StructType:
        """Columns of partial rows in Spark: the keys and the measures."""
        of_none = self.of_rows(self.read.empty_table().combine_chunks())
        kinds = {name: _SPARK_TYPES[of_none[name].values.dtype.kind] for name in self.measures}
        keys = [SNAPSHOTS[self.dataset][name] for name in self.keys]
        return StructType([*keys, *(StructField(name, kind) for name, kind in kinds.items())])


@dataclass(frozen=True, slots=True)
class DayRows:
    """A dataset's rows of a day. `files` of the history hold the same rows, and all have the rises;
    none: only the frame has them. Where they are `few`, one task is enough.
    """

    frame: DataFrame
    files: Sequence[str] = ()
    storage: Storage = field(default_factory=Storage)
    few: bool = False


# Partial rows as they are to lie before they are added up: the same rows.
Lay = Callable[[DataFrame], DataFrame]


def as_they_lie(partial_rows: DataFrame) -> DataFrame:
    """The same frame."""
    return partial_rows


def reduce_rows(
    rows: DayRows, shape: Shape, columns: Mapping[str, str], lay: Lay = as_they_lie
) -> DataFrame:
    """A row for each of the shape's keys, with these columns: SQL over its measures."""
    spark, schema = rows.frame.sparkSession, shape.result
    files = partial(_of_files, shape=shape, files=rows.files, storage=rows.storage)
    if rows.files and rows.few and not spark.version.startswith("3."):
        # to ask a worker takes longer than the work; Spark 3 takes no table of Arrow's
        numbers = pa.table({"number": range(len(rows.files))})
        batches = files(numbers.to_batches())
        found = spark.createDataFrame(
            pa.Table.from_batches(batches, to_arrow_schema(schema)), schema
        )
    elif rows.files:
        numbers = spark.range(0, len(rows.files), 1, len(rows.files))
        found = _map_in_arrow(numbers, files, schema)
    else:
        has_rise = RISES[shape.dataset] in shape.reads
        whole = with_rises(rows.frame, shape.dataset) if has_rise else rows.frame
        work = partial(_of_batches, shape=shape)
        found = _map_in_arrow(whole.select(*shape.read.names), work, schema)
    aggregates = {name: measure.sql(name) for name, measure in shape.measures.items()}
    return grouped(lay(found), shape.keys, aggregates).selectExpr(
        *shape.keys, *(f"{column} AS {name}" for name, column in columns.items())
    )


def _map_in_arrow(
    frame: DataFrame,
    work: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: StructType,
) -> DataFrame:
    # Spark declares the function as one of pandas, for which it asks, and which it does not use
    pandas_functions.require_minimum_pandas_version = lambda: None  # type: ignore[attr-defined]
    return frame.mapInArrow(work, schema)


def _of_files(
    numbers: Iterable[pa.RecordBatch], *, shape: Shape, files: Sequence[str], storage: Storage
) -> Iterator[pa.RecordBatch]:
    """Partial rows of the files of these numbers, each by itself."""
    for number in chain.from_iterable(batch.column(0).to_pylist() for batch in numbers):
        try:
            with storage.mapped(files[number]) as data:
                yield from partial_rows(row_groups(files[number], data, shape.read), shape)
        finally:
            # the worker stays for as long as the job, which needs the memory for its own
            pa.default_memory_pool().release_unused()


def _of_batches(batches: Iterable[pa.RecordBatch], *, shape: Shape) -> Iterator[pa.RecordBatch]:
    """Partial rows of Spark's small batches, of which many are one table."""
    yield from partial_rows(_many_at_once(batches, shape.read), shape)


def _many_at_once(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    held = list[pa.RecordBatch]()
    for batch in batches:
        held.append(batch)
        if sum(each.num_rows for each in held) >= STRETCH_ROWS:
            yield in_columns(pa.Table.from_batches(held), schema)
            held = []
    if held:
        yield in_columns(pa.Table.from_batches(held), schema)


def partial_rows(
    tables: Iterable[pa.Table], shape: Shape, *, held_rows: int = HELD_ROWS
) -> Iterator[pa.RecordBatch]:
    """What the tables' rows are reduced to: a row for each of the keys, as long as there are fewer
    keys than half of `held_rows`; of more a key may have several.
    """
    held = list[pa.Table]()
    for table in tables:
        rows = of_one_piece(table if shape.takes_unread else _that_were_read(table))
        if rows.num_rows:
            held.append(_put_together(rows.select(shape.keys), shape.of_rows(rows), shape))
        if sum(each.num_rows for each in held) > held_rows:
            held = [_merge(held, shape)]
            if 2 * held[0].num_rows > held_rows:
                # hardly any are alike: to wait for more takes memory, and saves Spark little
                yield from _in_spark(held.pop())
    if held:
        yield from _in_spark(_merge(held, shape))


def _that_were_read(table: pa.Table) -> pa.Table:
    reasons = table["unread_reason"]
    # most often all were, and to filter is to copy
    return table if reasons.null_count == len(reasons) else table.filter(reasons.is_null())


def _merge(several: Sequence[pa.Table], shape: Shape) -> pa.Table:
    if len(several) == 1:
        return several[0]
    rows = of_one_piece(pa.concat_tables(several))
    values = {name: Values.of(rows[name]) for name in shape.measures}
    return _put_together(rows.select(shape.keys), values, shape)


def _in_spark(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """As Spark takes them: some rows at once, no dictionaries, and times in microseconds."""
    types = {TEXT: pa.string(), pa.timestamp("ms", tz="UTC"): pa.timestamp("us", tz="UTC")}
    schema = pa.schema([(each.name, types.get(each.type, each.type)) for each in table.schema])
    for batch in table.to_batches(max_chunksize=ROW_GROUP_ROWS):
        yield from pa.Table.from_batches([batch]).cast(schema).to_batches()


def _put_together(keys: pa.Table, values: Mapping[str, Values], shape: Shape) -> pa.Table:
    """A row for each of the keys, of rows in any order, of which there is one at least."""
    ranks = [rank(column) for column in keys.columns]
    order = order_by(ranks)
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = np.any([np.diff(each[order]) != 0 for each in ranks], axis=0)
    starts = np.flatnonzero(is_first)
    alike = _Alike(starts, _take_each(values, order))
    found = {name: alike.as_one(name, it).to_arrow() for name, it in shape.measures.items()}
    chosen = keys.take(pa.array(order[starts]))
    return pa.table([*chosen.columns, *found.values()], [*chosen.column_names, *found])


def _take_each(values: Mapping[str, Values], order: Order) -> Mapping[str, Values]:
    """The values in this order, those of several measures once."""
    # rows of the history lie in it already, but where a leader or an owner changed
    if np.all(order[1:] > order[:-1]):
        return values
    several = {id(each): each for each in values.values()}
    taken = {place: each.take(order) for place, each in several.items()}
    return {name: taken[id(each)] for name, each in values.items()}


@dataclass(frozen=True, slots=True)
class _Alike:
    """Rows in an order in which those alike lie together, from each of the `starts` on."""

    starts: Order
    values: Mapping[str, Values]
    _places: dict[Measure, tuple[Order, Mask]] = field(default_factory=dict)

    def as_one(self, name: str, measure: Measure) -> Values:
        """The column's value of each key."""
        column, starts = self.values[name], self.starts
        if measure.by:
            if measure not in self._places:
                self._places[measure] = self._find(measure)
            places, found = self._places[measure]
            return column.take(places).only(found)
        known = np.logical_or.reduceat(column.known, starts)
        if measure.how is How.SUM:
            return Values(np.add.reduceat(np.where(column.known, column.values, 0), starts), known)
        return Values(self._extremes(column, measure.how), known)

    def _extremes(self, column: Values, how: How) -> npt.NDArray[Any]:
        lowest, highest = _range(column.values.dtype)
        if how in (How.LEAST, How.FIRST):
            filled = np.where(column.known, column.values, highest)
            return np.asarray(np.minimum.reduceat(filled, self.starts))
        filled = np.where(column.known, column.values, lowest)
        return np.asarray(np.maximum.reduceat(filled, self.starts))

    def _find(self, measure: Measure) -> tuple[Order, Mask]:
        """The place of each key's first or last row, and whether there is one."""
        by = self.values[measure.by]
        count = len(by.values)
        sizes = np.diff(self.starts, append=count)
        is_it = by.known & (by.values == np.repeat(self._extremes(by, measure.how), sizes))
        places = np.minimum.reduceat(np.where(is_it, np.arange(count), count), self.starts)
        return np.minimum(places, count - 1), places < count


def _range(kind: np.dtype[Any]) -> tuple[Any, Any]:
    """The least and the greatest value of a type."""
    if kind.kind == "b":
        return False, True
    if kind.kind == "f":
        return -np.inf, np.inf
    return np.iinfo(kind).min, np.iinfo(kind).max
