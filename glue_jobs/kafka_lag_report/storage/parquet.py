# SPDX-License-Identifier: Apache-2.0
"""Parquet below cluster=<c>/dt=<date>/ as rows, and which file it was that Spark failed on."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from kafka_lag_report.errors import DataError
from kafka_lag_report.schemas import STRING
from kafka_lag_report.storage.files import JVM_FAILURES, Files

ENDING = ".parquet"
_BROKEN_FILE = re.compile(
    r"(\w+:/\S+?\.parquet)(?: is (not a Parquet file\.?)| (does not exist)|\.) *([^\n]*)"
)


def rows_below(
    spark: SparkSession,
    root: str,
    paths: Sequence[str],
    schema: StructType,
    keys: Sequence[str],
    clusters: Mapping[str, str] | None = None,
) -> DataFrame:
    """Rows of folders and files below `root`, with the folders' own `keys` as text.

    `clusters` are folders by name, where Spark did not name them itself. Nothing but `paths` is
    listed, and a column that a file lacks is null. Without paths there are no rows.
    """
    # as text: Spark would take a cluster named 007 for the number 7
    whole = StructType([*schema.fields, *(StructField(key, STRING) for key in keys)])
    if not paths:
        return spark.createDataFrame([], whole)
    rows = (
        spark.read.schema(whole)
        .option("basePath", root)
        .option("pathGlobFilter", f"*{ENDING}")
        .parquet(*(_literal(path) for path in paths))
    )
    # Spark decodes %XX byte by byte, which takes names outside ASCII apart
    for name, folder in (clusters or {}).items():
        read_as = unquote(folder, "latin-1").partition("=")[2]
        if read_as != name:
            rows = rows.replace(read_as, name, subset=["cluster"])
    return rows


def written_folders(files: Files, folder: str) -> dict[str, str]:
    """Folders by cluster that Spark wrote: it escapes fewer letters than the collector does."""
    return {
        unquote(below).removeprefix("cluster="): f"{folder}/{below}"
        for below in files.folders(folder)
    }


@contextmanager
def naming_broken_files() -> Iterator[None]:
    """Turn Spark's failure on a file into DataError naming the file; let every other one pass."""
    try:
        yield
    except JVM_FAILURES as error:
        found = _BROKEN_FILE.findall(whole_text(error))
        if not found:
            raise
        path, *reason = found[-1]
        text = " ".join(part.strip() for part in reason if part)
        raise DataError(f"cannot read {path}: {text}; restore or remove this file") from error


def whole_text(error: BaseException | None) -> str:
    """What an error and its causes say, on Python's side and the JVM's."""
    said = []
    while error is not None:
        said.append(str(error))
        error = error.__cause__
    return "\n".join(said)


def _literal(path: str) -> str:
    """Keep Spark from reading brackets and stars in a folder's name as a pattern."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)
