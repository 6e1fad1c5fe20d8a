# SPDX-License-Identifier: Apache-2.0
"""Runs the queries of the report: SQL files with one statement each.

A statement uses the views of a cluster's day by name, and constants such as `:skew_factor`: those
of `thresholds`, of the contract, and values that the day adds. `sql/reductions` has views that
other statements use, `sql/tables` the tables of the report, `sql/spells` the evidence for
incidents, and `sql/page` what the page draws.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from types import ModuleType
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as sf

from kafka_lag import contract
from kafka_lag_report import thresholds
from kafka_lag_report.schemas import TIMESTAMP

# Most of a small query is planning, which overlaps with the work of others.
QUERIES_AT_ONCE = 4

_EPOCH = datetime.fromtimestamp(0, UTC)
_MARKER = re.compile(r"(?<!:):([a-z][a-z_]*)")


class Queries:
    """The views of one cluster's day, in a Spark session of their own."""

    def __init__(self, spark: SparkSession, **values: Any) -> None:
        self.spark = spark
        self._values = values

    def add_values(self, **values: Any) -> None:
        """Adds constants that statements may use."""
        self._values |= values

    def view(self, name: str, rows: DataFrame) -> None:
        """Makes the rows available to statements by this name."""
        rows.createOrReplaceTempView(name)

    def run(self, path: str) -> DataFrame:
        """Returns the rows of a statement, such as `tables/slo`; Spark computes them later."""
        text = read_statement(path)
        values = {name: self._value(name) for name in _MARKER.findall(text)}
        return self.spark.sql(text, values)

    def collect(self, path: str) -> list[Row]:
        """Returns the rows of a statement, read by the driver."""
        return collect_rows(self.run(path))

    def derive(self, path: str, name: str = "") -> None:
        """Makes a view of the statement, named like its file unless `name` is given.

        Spark computes it later.
        """
        self.view(name or path.rpartition("/")[2], self.run(path))

    def keep(self, path: str) -> DataFrame:
        """Computes the rows of the statement once, makes a view of them, and returns them.

        Spark then forgets the plan behind the rows. It frees their memory when nothing refers to
        the view.
        """
        kept = self.run(path).localCheckpoint()
        # in joins Spark 3 would confuse these columns with those of the views that they come from
        rows = kept.toDF(*kept.columns)
        self.view(path.rpartition("/")[2], rows)
        return rows

    def _value(self, name: str) -> Any:
        return _convert(self._values[name] if name in self._values else _read_constants()[name])


def collect_rows(frame: DataFrame) -> list[Row]:
    """Returns the rows of a frame, with times in UTC."""
    times = [column.name for column in frame.schema if column.dataType == TIMESTAMP]
    # as numbers, because Python would convert timestamps to the machine's time zone
    rows = frame.withColumns({name: sf.unix_micros(name) for name in times}).collect()
    return [Row(**row.asDict() | {name: _read_time(row[name]) for name in times}) for row in rows]


@cache
def read_statement(path: str) -> str:
    """Returns the text of a statement without its comments."""
    text = files("kafka_lag_report").joinpath("sql", f"{path}.sql").read_text("utf-8")
    return re.sub(r"--.*", "", text)


def run_at_once(work: Callable[[str], Any], paths: Iterable[str]) -> dict[str, Any]:
    """Returns the results of `work` by statement, done by threads; raises the first failure."""
    with ThreadPoolExecutor(QUERIES_AT_ONCE) as pool:
        started = {path: pool.submit(work, path) for path in paths}
        return {path: done.result() for path, done in started.items()}


def _read_time(micros: int | None) -> datetime | None:
    return None if micros is None else _EPOCH + timedelta(microseconds=micros)


@cache
def _read_constants() -> Mapping[str, Any]:
    """Returns the constants of the contract and of `thresholds`, by their names in lower case."""

    def of(module: ModuleType) -> dict[str, Any]:
        return {name.lower(): value for name, value in vars(module).items() if name.isupper()}

    return of(contract) | of(thresholds)


def _convert(value: Any) -> Any:
    """Returns a value as `spark.sql` accepts it.

    Mappings and tuples become JSON, read by `from_json`.
    """
    if isinstance(value, Mapping | tuple):
        return json.dumps(value)
    # members of an enumeration become plain text
    return str(value) if isinstance(value, str) else value
