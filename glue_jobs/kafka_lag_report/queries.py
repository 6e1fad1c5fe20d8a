# SPDX-License-Identifier: Apache-2.0
"""Runs what the report computes: SQL files, one statement each, over the views of a cluster's day.

A file names views, and constants as `:skew_factor`: those of `thresholds` and of the contract, and
what the day adds. `sql/reductions` make views of views, `sql/tables` the tables of the report,
`sql/spells` what incidents are made of, `sql/page` what the page draws.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from types import ModuleType
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from kafka_lag import contract
from kafka_lag_report import thresholds

# Most of a small query is planning, which overlaps with the work of others.
QUERIES_AT_ONCE = 4

_MARKER = re.compile(r"(?<!:):([a-z][a-z_]*)")


class Queries:
    """The views of one cluster's day, in a session whose views nobody else has."""

    def __init__(self, spark: SparkSession, **values: Any) -> None:
        self.spark = spark
        self._values = values

    def add_values(self, **values: Any) -> None:
        """Let statements use these constants, too."""
        self._values |= values

    def view(self, name: str, rows: DataFrame) -> None:
        """Let statements use the rows by this name."""
        rows.createOrReplaceTempView(name)

    def run(self, path: str) -> DataFrame:
        """The rows of a statement, such as `tables/slo`; nothing is computed yet."""
        text = statement(path)
        values = {name: self._value(name) for name in _MARKER.findall(text)}
        return self.spark.sql(text, values)

    def derive(self, path: str, name: str = "") -> None:
        """Make a view of the statement, by the name of its file; nothing is computed yet."""
        self.view(name or path.rpartition("/")[2], self.run(path))

    def keep(self, path: str) -> DataFrame:
        """Make a view of the statement whose rows are computed now, once.

        Spark then looks no more at what they came from. It gives their memory back once nobody
        has the view.
        """
        kept = self.run(path).localCheckpoint()
        # Spark 3 takes its columns for those of the views that they come from, in joins of both
        rows = kept.toDF(*kept.columns)
        self.view(path.rpartition("/")[2], rows)
        return rows

    def _value(self, name: str) -> Any:
        return _literal(self._values[name] if name in self._values else _constants()[name])


@cache
def statement(path: str) -> str:
    """The text of a statement, without what its file says before it."""
    text = files("kafka_lag_report").joinpath("sql", f"{path}.sql").read_text("utf-8")
    return re.sub(r"--.*", "", text)


def at_once(work: Callable[[str], Any], paths: Iterable[str]) -> dict[str, Any]:
    """The results by statement; of several failures the first."""
    with ThreadPoolExecutor(QUERIES_AT_ONCE) as pool:
        started = {path: pool.submit(work, path) for path in paths}
        return {path: done.result() for path, done in started.items()}


@cache
def _constants() -> Mapping[str, Any]:
    """The constants of the contract and of the thresholds, by their names in lower case."""

    def of(module: ModuleType) -> dict[str, Any]:
        return {name.lower(): value for name, value in vars(module).items() if name.isupper()}

    return of(contract) | of(thresholds)


def _literal(value: Any) -> Any:
    """As `spark.sql` takes it: several values as JSON, which statements read by `from_json`."""
    if isinstance(value, Mapping | tuple):
        return json.dumps(value)
    # a word of an enumeration is a text
    return str(value) if isinstance(value, str) else value
