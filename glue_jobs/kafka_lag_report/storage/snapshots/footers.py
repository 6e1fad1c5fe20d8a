# SPDX-License-Identifier: Apache-2.0
"""What Parquet files say of themselves, without their rows: many footers at once, on the driver.

Through the JVM's own reader, which knows every file system that Spark knows.
"""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

from pyspark.sql import SparkSession

from kafka_lag_report.errors import DataError
from kafka_lag_report.schemas import SNAPSHOTS
from kafka_lag_report.storage.files import AT_ONCE, JVM_FAILURES, Files, naming, unreachable
from kafka_lag_report.storage.parquet import ENDING
from kafka_lag_report.storage.snapshots.day import Day

DAMAGED = "not a Parquet file, or a damaged one"
VERSION_KEY = "kafka_lag_schema_version"

# `  optional int64 taken_at (TIMESTAMP(MILLIS,true));`
_COLUMN = re.compile(r"^  \w+ (\S+) (\w+)(?: \((.*)\))?(?: = \d+)? ?[;{]$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Footer:
    """A file's schema version (null: it names none), its rows, and its columns' types.

    A type is spelled as Parquet does, such as `int64 TIMESTAMP(MILLIS,true)`.
    """

    version: str | None
    rows: int
    columns: Mapping[str, str]


class Footers:
    """Reads footers of one session's file systems."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._settings: Any = spark.sparkContext._jsc.hadoopConfiguration()
        self._path: Any = jvm.org.apache.hadoop.fs.Path
        parquet: Any = jvm.org.apache.parquet
        self._file: Any = parquet.hadoop.util.HadoopInputFile
        self._reader: Any = parquet.hadoop.ParquetFileReader
        # made once: made for each file they take twenty times as long as the footer
        self._options: Any = parquet.HadoopReadOptions.builder(self._settings).build()

    def of(self, paths: Sequence[str]) -> list[Footer | None]:
        """Each file's footer, null where it is damaged; DataError if a file cannot be reached."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(self._read, paths))

    def _read(self, path: str) -> Footer | None:
        try:
            file = self._file.fromPath(self._path(path), self._settings)
            reader = self._reader.open(file, self._options)
            try:
                said = reader.getFooter().getFileMetaData()
                version = said.getKeyValueMetaData().get(VERSION_KEY)
                columns = _columns(said.getSchema().toString())
                rows = int(reader.getRecordCount())
            finally:
                reader.close()
        except JVM_FAILURES as error:
            _insist_on_reach(path, error)
            return None
        return Footer(version, rows, columns)


@lru_cache(maxsize=64)
def _columns(schema: str) -> Mapping[str, str]:
    """Types by column; the same object for all files of one schema, which a day is full of."""
    return {name: f"{kind} {meaning}".strip() for kind, name, meaning in _COLUMN.findall(schema)}


def history_rows(spark: SparkSession, day: Day) -> dict[tuple[str, str], int]:
    """Rows that the history holds of the day by dataset and cluster; 0 where it has none."""
    files, footers = Files(spark), Footers(spark)
    rows = {}
    for dataset, cluster in product(SNAPSHOTS, day.clusters):
        folder = day.history_folder(dataset, cluster)
        paths = [f"{folder}/{file.name}" for file in files.objects(folder, ENDING)]
        found = footers.of(paths)
        broken = [path for path, footer in zip(paths, found, strict=True) if footer is None]
        if broken:
            raise DataError(f"cannot read {broken[0]}: {DAMAGED}; restore or remove this file")
        rows[dataset, cluster] = sum(footer.rows for footer in found if footer)
    return rows


def _insist_on_reach(path: str, error: Exception) -> None:
    """Raise for what the store did not give; what the file's own bytes made fail may pass."""
    if unreachable(str(error)):
        with naming(f"cannot read {path}"):
            raise error
