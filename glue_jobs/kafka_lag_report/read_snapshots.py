# SPDX-License-Identifier: Apache-2.0
"""Finds a UTC day of snapshots, checks the footers of its objects, and reads their rows.

    <input>/snapshots/<dataset>/cluster=<c>/dt=YYYY-MM-DD/hour=HH/<stamp>Z-0of1.parquet
    <output>/history/<dataset>/cluster=<c>/dt=YYYY-MM-DD/*.parquet

Every footer is checked first, because Spark would read a foreign file as rows of nulls and does not
fail on a missing column. A few corrupt objects are skipped; if there are many, the cluster's day
fails.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import partial
from itertools import chain, groupby, product
from typing import TypeVar
from urllib.parse import unquote

import pyarrow as pa
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StructField, StructType

from kafka_lag.contract import KEYS, RISES, SCHEMA_VERSION
from kafka_lag_report.errors import (
    UNDECODED,
    DamagedFileError,
    DataError,
    NoSnapshotsError,
    NothingYetError,
)
from kafka_lag_report.options import Options
from kafka_lag_report.schemas import LONG, SNAPSHOTS, SPARK_TYPES, STRING
from kafka_lag_report.storage import (
    AT_ONCE,
    PARQUET,
    VERSION_KEY,
    Footer,
    Storage,
    parse_file,
    read_files,
)

T = TypeVar("T")

# Where a cluster's day was found; the values of `source` in the report `coverage`.
FROM_SNAPSHOTS = "snapshots"
FROM_HISTORY = "history"

# The version of the contract's columns.
_NEWEST = tuple(map(int, SCHEMA_VERSION.split(".")))
MAJOR = _NEWEST[0]
DAMAGED = "not a Parquet file, or a damaged one"

# Skip at most one object in this many: reports without more runs would be misleading.
MOST_SKIPPED = 100

# The call and the Spark version decide which of Spark's two errors is raised.
_READ_FAILURES = (Py4JJavaError, PySparkException, pa.ArrowException)
_CLUSTER, _DATE = "cluster=", "dt="
_STAMP = "%Y%m%dT%H%M%SZ"
# MAJOR.MINOR; without a dot MINOR is 0.
_VERSION = re.compile(r"([1-9][0-9]*)(?:\.([0-9]+))?", re.ASCII)
# The Arrow types that Spark reads as each of its own types.
_TYPES = {
    "string": {"string", "large_string"},
    "bigint": {"int64"},
    "int": {"int32"},
    "double": {"double"},
    "boolean": {"bool"},
    "timestamp": {"timestamp[ms, tz=UTC]", "timestamp[us, tz=UTC]"},
    "array<int>": {"list<int32>"},
    "array<double>": {"list<double>"},
    "array<string>": {"list<string>"},
}


@dataclass(frozen=True, slots=True)
class Run:
    """One dataset's object of one run; `name` is its path below the folder of the date.

    `size` is in bytes. `taken_at` is null if the name does not fit a run of that date and hour.
    """

    path: str
    name: str
    size: int
    taken_at: datetime | None

    @property
    def second(self) -> int | None:
        """Returns `taken_at` in seconds since 1970; null if it is null."""
        return None if self.taken_at is None else int(self.taken_at.timestamp())


@dataclass(frozen=True, slots=True)
class Day:
    """One cluster's date: its objects by dataset, and the place of its history.

    `folder` is the name of the cluster's folder. `source` says where the day was found; null if it
    has no data. `flaws` says, by path, why an object is skipped. `rows` has the row counts of the
    other objects, by path, if they were checked. `more` has the types of columns that only a newer
    MINOR version has, by dataset. `compacted` means that rows are read from the history, wherever
    the day was found.
    """

    cluster: str
    folder: str
    root: str
    history: str
    date: date
    in_progress: bool
    source: str | None
    runs: Mapping[str, tuple[Run, ...]]
    flaws: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    more: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    compacted: bool = False

    @property
    def place(self) -> str:
        """Returns the path of the date's folder below that of a report or dataset."""
        return f"{self.folder}/{_DATE}{self.date}"

    @property
    def size(self) -> int:
        """Returns the size of all its objects in bytes."""
        return sum(run.size for runs in self.runs.values() for run in runs)

    @property
    def reads_history(self) -> bool:
        """Returns whether rows are read from the history."""
        return self.compacted or self.source == FROM_HISTORY

    def snapshot_folder(self, dataset: str) -> str:
        """Returns the folder of the date's snapshot objects."""
        return f"{self.root}/{dataset}/{self.place}"

    def history_folder(self, dataset: str) -> str:
        """Returns the folder of the date's files of the history, which may not exist yet."""
        return f"{self.history}/{dataset}/{self.place}"

    def usable(self, dataset: str) -> tuple[Run, ...]:
        """Returns the objects that are not skipped, in order of time."""
        return tuple(run for run in self.runs[dataset] if run.path not in self.flaws)

    def skipped(self, dataset: str) -> tuple[Run, ...]:
        """Returns the objects that are skipped, in order of their names."""
        return tuple(run for run in self.runs[dataset] if run.path in self.flaws)

    def run_rows(self, dataset: str) -> dict[int, int]:
        """Returns the number of rows by run (seconds since 1970) of usable objects.

        Runs without rows are left out.
        """
        rows: dict[int, int] = {}
        for run in self.usable(dataset):
            if run.second is not None and self.rows[run.path]:
                rows[run.second] = rows.get(run.second, 0) + self.rows[run.path]
        return rows

    def without(self, flaws: Mapping[str, str]) -> "Day":
        """Returns the day without these objects; `flaws` says, by path, what is wrong with each."""
        return replace(self, flaws={**self.flaws, **flaws})

    def from_history(self) -> "Day":
        """Returns the day reading from the history, once that has all its rows.

        `source` stays the same.
        """
        return replace(self, compacted=True)


def find_requested_days(
    storage: Storage, options: Options, say: Callable[[str], object]
) -> Iterator[list[Day]]:
    """Yields the clusters' days of each requested date that has any snapshots, in order of dates.

    Each date is looked up only when its turn comes. The list includes clusters without data on that
    date. If several dates were requested, a date without snapshots and a named cluster without any
    are passed to `say` and skipped. Raises NoSnapshotsError if no date has snapshots, or, after the
    other clusters, if the only date lacks those of a named cluster. Raises NothingYetError if a
    scheduled run came before the first whole day.
    """
    done, missing = 0, ""
    for each in options.dates:
        days = find_days(
            storage, options.input, options.output, each, options.clusters, options.today
        )
        absent = [day for day in days if not day.source]
        there = len(absent) < len(days)
        # a cluster that was not named may be newer than this date, or deleted
        if absent and (options.clusters or not there):
            sentence, too_early = _describe_absence(storage, absent, options)
            if too_early and not there:
                raise NothingYetError(sentence)
            if len(options.dates) == 1 and not too_early:
                missing = sentence
            else:
                say(sentence)
        if there:
            done += 1
            yield days
    if missing:
        raise NoSnapshotsError(missing)
    if not done:
        first, last = options.dates[0], options.dates[-1]
        raise NoSnapshotsError(f"no day from {first} to {last} has snapshots in {options.input}")


def find_days(
    storage: Storage, source: str, output: str, day: date, wanted: Sequence[str], today: date
) -> list[Day]:
    """Returns the date of each wanted cluster, or of all clusters if none is named.

    Snapshots are in `source`. If a cluster's snapshots of any dataset are gone, its day is taken
    from the history in `output`. A date from `today` on is in progress. Raises DataError if no
    folder is named after a wanted cluster, or if there are no snapshots at all.
    """
    root, history = f"{source}/snapshots", f"{output}/history"
    known = _find_clusters(storage, (root, history))
    if not known:
        raise DataError(f"no snapshots under {root}; --input must be the folder that holds them")
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        raise DataError(
            f"no cluster {', '.join(unknown)} under {root}; there are: {', '.join(sorted(known))}"
        )
    names = wanted or sorted(known)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        places = list(product(names, SNAPSHOTS))
        listed = pool.map(lambda at: _list_runs(storage, root, at[1], known[at[0]], day), places)
        runs = dict(zip(places, listed, strict=True))
        days = [
            Day(
                cluster=name,
                folder=known[name],
                root=root,
                history=history,
                date=day,
                in_progress=day >= today,
                source=FROM_SNAPSHOTS,
                runs={dataset: runs[name, dataset] for dataset in SNAPSHOTS},
            )
            for name in names
        ]
        sources = pool.map(partial(_find_source, storage), days)
        return [replace(day, source=found) for day, found in zip(days, sources, strict=True)]


def _find_source(storage: Storage, day: Day) -> str | None:
    gone = [dataset for dataset, runs in day.runs.items() if not runs]
    if any(storage.objects(day.history_folder(dataset), PARQUET) for dataset in gone):
        return FROM_HISTORY
    return FROM_SNAPSHOTS if len(gone) < len(day.runs) else None


def list_snapshot_dates(storage: Storage, root: str, folder: str) -> list[date]:
    """Returns all dates for which the cluster's folder has data below `root`, oldest first."""
    names = {
        name for dataset in SNAPSHOTS for name in storage.folders(f"{root}/{dataset}/{folder}")
    }
    found = []
    for name in sorted(names):
        try:
            found.append(date.fromisoformat(name.removeprefix(_DATE)))
        except ValueError:
            continue
    return found


def parse_run_time(name: str, day: date) -> datetime | None:
    """Returns the scheduled time (UTC) in an object's name.

    Null unless it fits the date and the hour.
    """
    folder, _, file = name.rpartition("/")
    stamp = file.partition("-")[0]
    try:
        time = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None
    return time if time.date() == day and folder == f"hour={time:%H}" else None


def find_flaw(dataset: str, run: Run, footer: Footer | None) -> str | None:
    """Returns why an object is not a usable snapshot; null if it is one.

    Raises DataError for an object of a newer MAJOR version, because it is intact and must not be
    skipped.
    """
    if run.taken_at is None:
        return "its name does not fit a run of this date and hour"
    if footer is None:
        return DAMAGED
    named = _VERSION.fullmatch(footer.version or "")
    if named is None:
        return f"not a snapshot of this reporter: its metadata has no version number {VERSION_KEY}"
    version = int(named[1]), int(named[2] or 0)
    if version[0] > MAJOR:
        raise DataError(
            f"{run.path} is of schema version {footer.version} and this job reads up to {MAJOR}.x; "
            "deploy the job of the collector's release"
        )
    # an older version lacks newer columns, which are then null
    required = SNAPSHOTS[dataset].names if version >= _NEWEST else (*KEYS[dataset], "taken_at")
    for column in SNAPSHOTS[dataset]:
        expected, found = column.dataType.simpleString(), footer.columns.get(column.name)
        if found is None and column.name in required:
            return f"not a snapshot of {dataset}: column {column.name} is missing"
        if found is not None and found not in _TYPES[expected]:
            return f"column {column.name} is {found} and should be {expected}"
    return None


def check_objects(storage: Storage, day: Day) -> Day:
    """Returns the day with the flaw or the row count of each object, by its footer."""
    return _read_objects(storage, day, whole=False)[0]


def read_small_day(storage: Storage, day: Day) -> tuple[Day, dict[str, pa.Table]]:
    """Returns the day as `skip_corrupt_objects` does, and the rows of each dataset that has some.

    Opens each object once, which is most of the work on a small cluster's day: Spark takes 3 ms to
    open an object, and Arrow 1 ms.
    """
    day, tables = _read_objects(storage, day, whole=True)
    _check_few_skipped(day)
    return day, tables


def _read_objects(storage: Storage, day: Day, *, whole: bool) -> tuple[Day, dict[str, pa.Table]]:
    flaws, rows, tables = dict[str, str](), dict[str, int](), dict[str, pa.Table]()
    columns = dict[str, dict[str, str]]({dataset: {} for dataset in SNAPSHOTS})
    for dataset, runs in _select_runs(day).items():
        found = list[pa.Table]()
        files = read_files(storage, [run.path for run in runs], whole=whole)
        for run, (footer, table) in zip(runs, files, strict=True):
            why = find_flaw(dataset, run, footer)
            if footer:
                rows[run.path] = footer.rows
            if why or not footer or (whole and table is None):
                flaws[run.path] = why or UNDECODED
                continue
            columns[dataset] |= footer.columns
            found = [_put_together(found)] if len(found) == AT_ONCE else found
            found += [] if table is None else [table]
        if found:
            tables[dataset] = _put_together(found)
    more = {
        dataset: {n: kind for n, kind in each.items() if n not in SNAPSHOTS[dataset].names}
        for dataset, each in columns.items()
    }
    return replace(day.without(flaws), rows=rows, more=more), tables


def skip_corrupt_objects(storage: Storage, day: Day, work: Callable[[Day], T]) -> tuple[Day, T]:
    """Returns the day with all objects that it skipped, and the result of `work` on the others.

    If rows of objects cannot be decoded, `work` is repeated without these objects, so it must be
    repeatable. Raises DataError, with the name of the first object, if more than one in a hundred
    of a dataset's objects are corrupt, or all of them; one corrupt object is always allowed.
    """
    day = check_objects(storage, day)
    _check_few_skipped(day)
    try:
        return day, work(day)
    except _READ_FAILURES:
        if day.reads_history:
            for dataset in SNAPSHOTS:
                check_files(storage, list_history_files(storage, day, dataset))
        runs = chain.from_iterable(_select_runs(day).values())
        paths = {run.path for run in runs} - set(day.flaws)
        corrupt = find_undecodable(storage, sorted(paths))
        if not corrupt:
            raise
    day = day.without(dict.fromkeys(corrupt, UNDECODED))
    _check_few_skipped(day)
    return day, work(day)


def read(
    spark: SparkSession,
    storage: Storage,
    day: Day,
    dataset: str,
    *,
    whole: bool = False,
    packed: str | None = None,
) -> DataFrame:
    """Returns the rows of a dataset's day, read lazily; no folder except the day's is listed.

    Rows of the history include its column of RISES if all its files have it. Rows of snapshots
    include the columns of a newer MINOR version if they are read as a `whole`. The file `packed`
    has the rows of all usable objects, and is read instead of them if it is given.
    """
    schema = SNAPSHOTS[dataset]
    if not day.reads_history:
        more = _make_fields(day.more.get(dataset, {})) if whole else ()
        paths = [packed] if packed else _choose_paths(day, dataset)
        return read_paths(spark, paths, StructType([*schema, *more]))
    files = list_history_files(storage, day, dataset)
    if dataset in RISES and _have_column(RISES[dataset], storage, files):
        schema = StructType([*schema, StructField(RISES[dataset], LONG)])
    return read_paths(spark, files, schema)


def _put_together(tables: Sequence[pa.Table]) -> pa.Table:
    """Returns the rows of all tables, with each column in one piece."""
    if any(table.schema != tables[0].schema for table in tables):
        tables = [_with_plain_text(table) for table in tables]
    # thousands of pieces would take longer to write than to read
    return pa.concat_tables(tables, promote_options="permissive").combine_chunks()


def _with_plain_text(table: pa.Table) -> pa.Table:
    """Returns the table with text in one layout, without which Arrow puts no tables together."""
    fields = [
        pa.field(each.name, pa.string())
        if pa.types.is_dictionary(each.type) or pa.types.is_large_string(each.type)
        else each
        for each in table.schema
    ]
    return table.cast(pa.schema(fields))


def _make_fields(columns: Mapping[str, str]) -> list[StructField]:
    """Returns the columns that Spark can read; `columns` are their Arrow types by name."""
    kinds = {name: kind for kind in SPARK_TYPES.values() for name in _TYPES[kind.simpleString()]}
    return [
        StructField(name, kinds[kind]) for name, kind in sorted(columns.items()) if kind in kinds
    ]


def _have_column(column: str, storage: Storage, paths: Sequence[str]) -> bool:
    """Returns whether all files have the column.

    The history's files of earlier releases lack RISES.
    """
    return all(
        footer is None or column in footer.columns for footer, _ in read_files(storage, paths)
    )


def read_paths(
    spark: SparkSession, paths: Sequence[str], schema: StructType, *, dates_in: str | None = None
) -> DataFrame:
    """Returns the rows of these folders and files, read lazily; a column that a file lacks is null.

    With `dates_in`, the common parent of folders named `dt=<date>`, the rows get that date as the
    text column `dt`. Nothing but `paths` is listed. Without paths there are no rows.
    """
    reader = spark.read.option("pathGlobFilter", f"*{PARQUET}")
    if dates_in:
        schema = StructType([*schema, StructField("dt", STRING)])
        reader = reader.option("basePath", dates_in)
    if not paths:
        # an empty list of Python would start a Python worker
        columns = (sf.lit(None).cast(field.dataType).alias(field.name) for field in schema)
        return spark.range(0, 0, 1, 1).select(*columns)
    return reader.schema(schema).parquet(*escape_patterns(paths))


def escape_patterns(paths: Iterable[str]) -> list[str]:
    """Returns the paths with brackets and stars escaped, which Spark would read as a pattern."""
    return [re.sub(r"([\[\]{}*?\\])", r"\\\1", path) for path in paths]


@contextmanager
def naming_corrupt_files(storage: Storage, places: Callable[[], Iterable[str]]) -> Iterator[None]:
    """Raises Spark's failure on a damaged file again as DataError that names the file.

    `places` returns the files, and the folders of files, that Spark read.
    """
    try:
        yield
    except _READ_FAILURES:
        for place in places():
            names = [f"{place}/{file.name}" for file in storage.objects(place, PARQUET)]
            check_files(storage, [place] if place.endswith(PARQUET) else names)
        raise


def check_files(storage: Storage, paths: Sequence[str]) -> None:
    """Raises DamagedFileError for the first file whose rows cannot be decoded."""
    if corrupt := find_undecodable(storage, paths):
        raise DamagedFileError(corrupt[0])


def find_undecodable(storage: Storage, paths: Sequence[str]) -> list[str]:
    """Returns the files whose rows cannot be decoded.

    Raises StoreError if one cannot be reached.
    """
    # few at once, because each file is read into memory
    with ThreadPoolExecutor(2) as pool:
        bad = pool.map(lambda path: parse_file(storage.read(path), whole=True)[1] is None, paths)
        return [path for path, is_bad in zip(paths, bad, strict=True) if is_bad]


def _describe_absence(
    storage: Storage, absent: Sequence[Day], options: Options
) -> tuple[str, bool]:
    """Returns a sentence about the absent clusters, and whether a scheduled run was too early."""
    there = sorted(
        each
        for day in absent
        for root in (day.root, day.history)
        for each in list_snapshot_dates(storage, root, day.folder)
    )
    names, first = ", ".join(day.cluster for day in absent), absent[0]
    nothing = f"no snapshots of {names} for {first.date} under {first.root}"
    if options.scheduled and there and there[0] >= options.today:
        return f"{nothing} yet: the first day is {there[0]}, which a later run reports", True
    newest = f"the newest day is {there[-1]}" if there else "no other day has any"
    return f"{nothing}; {newest}", False


def _list_runs(
    storage: Storage, root: str, dataset: str, cluster: str, day: date
) -> tuple[Run, ...]:
    folder = f"{root}/{dataset}/{cluster}/{_DATE}{day}"
    return tuple(
        Run(f"{folder}/{file.name}", file.name, file.size, parse_run_time(file.name, day))
        for file in storage.objects(folder, PARQUET)
    )


def _find_clusters(storage: Storage, roots: Sequence[str]) -> dict[str, str]:
    """Returns the folder of each cluster by name, over all datasets."""
    return {
        unquote(folder.removeprefix(_CLUSTER)): folder
        for root in roots
        for dataset in SNAPSHOTS
        for folder in storage.folders(f"{root}/{dataset}")
        if folder.startswith(_CLUSTER)
    }


def _check_few_skipped(day: Day) -> None:
    """Raises DataError if so many objects are corrupt that the rest does not represent the day."""
    for dataset, runs in day.runs.items():
        bad = day.skipped(dataset)
        few = len(bad) <= max(1, len(runs) // MOST_SKIPPED) and len(bad) < len(runs)
        if few or not bad:
            continue
        others = f", as are {len(bad) - 1} more of" if len(bad) > 1 else ", of"
        raise DataError(
            f"cannot read {bad[0].path}: {day.flaws[bad[0].path]}{others} the {len(runs)} objects "
            f"of {dataset} of {day.cluster} on {day.date}; restore or remove them"
        )


def _select_runs(day: Day) -> Mapping[str, Sequence[Run]]:
    """Returns the day's objects by dataset; none if the rows are read from the history."""
    return {} if day.reads_history else day.runs


def list_history_files(storage: Storage, day: Day, dataset: str) -> list[str]:
    """Returns the files of a dataset's day in the history."""
    folder = day.history_folder(dataset)
    return [f"{folder}/{file.name}" for file in storage.objects(folder, PARQUET)]


def _choose_paths(day: Day, dataset: str) -> list[str]:
    """Returns the paths to read: folders of whole hours, or the usable objects of an hour.

    An hour is read object by object if one of its objects is skipped, or if it is the newest hour
    of a day in progress: objects may still be added there, and all datasets must be read as they
    were when the day was found.
    """
    usable = day.usable(dataset)
    open_hours = {_cut_hour(run) for run in day.skipped(dataset)}
    if usable and day.in_progress:
        open_hours.add(_cut_hour(usable[-1]))
    paths = []
    for hour, runs in groupby(usable, _cut_hour):
        folder = f"{day.snapshot_folder(dataset)}/{hour}"
        paths += [run.path for run in runs] if hour in open_hours else [folder]
    return paths


def _cut_hour(run: Run) -> str:
    return run.name.partition("/")[0]
