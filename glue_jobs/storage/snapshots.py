# SPDX-License-Identifier: Apache-2.0
"""The snapshots of one day: finding them by folder name, reading them, naming a broken file.

<input>/snapshots/<dataset>/cluster=<c>/dt=YYYY-MM-DD/hour=HH/<stamp>Z-0of1.parquet
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from glue_jobs.errors import DataError
from glue_jobs.schemas import CLUSTER, SNAPSHOTS, STRING
from glue_jobs.storage.files import JVM_FAILURES, Files

_CLUSTER = "cluster="
# as text: Spark would take a cluster named 007 for the number 7
_FOLDERS = [CLUSTER, StructField("dt", STRING), StructField("hour", STRING)]
_BROKEN_FILE = re.compile(r"(\w+:/\S+?\.parquet)(?: is (not a Parquet file\.?)|\.) *([^\n]*)")


@dataclass(frozen=True, slots=True)
class Day:
    """Where the snapshots of one UTC date lie: folders by cluster name and by dataset."""

    root: str
    date: date
    clusters: Mapping[str, str]
    paths: Mapping[str, Sequence[str]]


def find_day(files: Files, source: str, day: date, wanted: Sequence[str]) -> Day:
    """Find the day's folders of the wanted clusters (none: all that have any); DataError if not."""
    root = f"{source}/snapshots"
    known = _clusters(files, root)
    if not known:
        raise DataError(f"no snapshots under {root}; --input must be the folder that holds them")
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        raise DataError(
            f"no cluster {', '.join(unknown)} under {root}; there are: {', '.join(sorted(known))}"
        )
    chosen = {name: known[name] for name in wanted or sorted(known)}
    paths = {
        (dataset, name): path
        for dataset in SNAPSHOTS
        for name, folder in chosen.items()
        if files.holds(path := f"{root}/{dataset}/{folder}/dt={day}", ".parquet")
    }
    found = {name: folder for name, folder in chosen.items() if any(n == name for _, n in paths)}
    absent = [name for name in chosen if name not in found]
    if not found or (wanted and absent):
        raise DataError(_nothing(files, root, day, {name: chosen[name] for name in absent}))
    by_dataset = {d: [path for (of, _), path in paths.items() if of == d] for d in SNAPSHOTS}
    return Day(root=root, date=day, clusters=found, paths=by_dataset)


def read(spark: SparkSession, day: Day, dataset: str) -> DataFrame:
    """Rows of the day with their `cluster`; lazily, and no folder but the day's is listed."""
    schema = SNAPSHOTS[dataset]
    if not day.paths[dataset]:
        return spark.createDataFrame([], StructType([CLUSTER, *schema.fields]))
    rows = (
        spark.read.schema(StructType([*schema.fields, *_FOLDERS]))
        .option("basePath", f"{day.root}/{dataset}")
        .option("pathGlobFilter", "*.parquet")
        .parquet(*(_literal(path) for path in day.paths[dataset]))
    )
    # Spark decodes %XX byte by byte, which takes names outside ASCII apart
    names = {unquote(folder, "latin-1")[len(_CLUSTER) :]: n for n, folder in day.clusters.items()}
    for read_as, name in names.items():
        if read_as != name:
            rows = rows.replace(read_as, name, subset=["cluster"])
    return rows.select("cluster", *schema.names)


@contextmanager
def naming_broken_files() -> Iterator[None]:
    """Turn Spark's failure on a file into DataError naming the file; let every other one pass."""
    try:
        yield
    except JVM_FAILURES as error:
        found = _BROKEN_FILE.findall(str(error))
        if not found:
            raise
        path, *reason = found[-1]
        text = " ".join(part.strip() for part in reason if part)
        raise DataError(f"cannot read {path}: {text}; restore or remove this file") from error


def _clusters(files: Files, root: str) -> dict[str, str]:
    """Folder by cluster name, over all datasets."""
    return {
        unquote(folder.removeprefix(_CLUSTER)): folder
        for dataset in SNAPSHOTS
        for folder in files.folders(f"{root}/{dataset}")
        if folder.startswith(_CLUSTER)
    }


def _nothing(files: Files, root: str, day: date, absent: Mapping[str, str]) -> str:
    """Say that the day is not there, and which is the newest that is."""
    days = [
        folder.removeprefix("dt=")
        for name in absent.values()
        for folder in files.folders(f"{root}/topic_partitions/{name}")
        if folder.startswith("dt=")
    ]
    newest = f"the newest day there is {max(days)}" if days else "there are none of any day"
    return f"no snapshots of {', '.join(absent)} for {day} under {root}; {newest}"


def _literal(path: str) -> str:
    """Keep Spark from reading brackets and stars in a folder's name as a pattern."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", path)
