# SPDX-License-Identifier: Apache-2.0
"""A UTC day of snapshots: its objects found by listing, judged by their footers, read as rows.

    <input>/snapshots/<dataset>/cluster=<c>/dt=YYYY-MM-DD/hour=HH/<stamp>Z-0of1.parquet
    <output>/history/<dataset>/cluster=<c>/dt=YYYY-MM-DD/*.parquet

Every footer is looked at first, since Spark would read a foreign file as rows of nulls and never
fail on a column that is missing. Few corrupt objects are skipped; many are the cluster's error.
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
import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from kafka_lag.contract import KEYS, RISES, SCHEMA_VERSION
from kafka_lag_report.errors import (
    UNDECODED,
    CorruptObjectsError,
    DataError,
    NoSnapshotsError,
    NothingYetError,
)
from kafka_lag_report.options import Options
from kafka_lag_report.schemas import LONG, SNAPSHOTS, STRING
from kafka_lag_report.storage import (
    AT_ONCE,
    PARQUET,
    VERSION_KEY,
    Footer,
    Storage,
    footers,
)

T = TypeVar("T")

# Where a cluster's day was found: the words of the coverage report.
FROM_SNAPSHOTS = "snapshots"
FROM_HISTORY = "history"

# The version whose columns are the contract's.
_NEWEST = tuple(map(int, SCHEMA_VERSION.split(".")))
MAJOR = _NEWEST[0]
DAMAGED = "not a Parquet file, or a damaged one"

# Each repeats the whole work; damage that footers do not show is rare.
MOST_REPEATS = 3
# A day that lacks more than every hundredth run is no longer that day.
MOST_SKIPPED = 100

# Which of the two comes depends on the call and on the Spark version.
_SPARK_FAILURES = (Py4JJavaError, PySparkException)
_CLUSTER, _DATE = "cluster=", "dt="
_STAMP = "%Y%m%dT%H%M%SZ"
# MAJOR.MINOR; without a dot MINOR is 0.
_VERSION = re.compile(r"([1-9][0-9]*)(?:\.([0-9]+))?", re.ASCII)
# By Spark's name of a column's type: Arrow's, and the readings of it that Spark takes alike.
_TYPES = {
    "string": {"string", "large_string"},
    "bigint": {"int64"},
    "int": {"int32"},
    "double": {"double"},
    "boolean": {"bool"},
    "timestamp": {"timestamp[ms, tz=UTC]", "timestamp[us, tz=UTC]"},
    "array<int>": {"list<int32>"},
    "array<double>": {"list<double>"},
}


@dataclass(frozen=True, slots=True)
class Run:
    """One dataset's object of one run; `name` is its path below the folder of the date.

    `size` is in bytes; `taken_at` is null for a name that no run of that date and hour has.
    """

    path: str
    name: str
    size: int
    taken_at: datetime | None

    @property
    def second(self) -> int | None:
        """`taken_at` in seconds since 1970."""
        return None if self.taken_at is None else int(self.taken_at.timestamp())


@dataclass(frozen=True, slots=True)
class Day:
    """One cluster's date: its objects, by dataset, and where its history lies, or is to lie.

    `folder` is the cluster's. `source` says where the day was found, null: nowhere. `flaws` says by
    path what is wrong with each object that is skipped, `rows` how many rows the others have, as
    far as they were looked at. `compacted` means that rows are to be read from the history,
    wherever they were found.
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
    compacted: bool = False

    @property
    def size(self) -> int:
        """Bytes of all its objects."""
        return sum(run.size for runs in self.runs.values() for run in runs)

    @property
    def reads_history(self) -> bool:
        """Whether rows come from the history."""
        return self.compacted or self.source == FROM_HISTORY

    def snapshot_folder(self, dataset: str) -> str:
        """Where the date's objects lie."""
        return f"{self.root}/{dataset}/{self.folder}/{_DATE}{self.date}"

    def history_folder(self, dataset: str) -> str:
        """Where the date's compacted rows lie, or are to lie."""
        return f"{self.history}/{dataset}/{self.folder}/{_DATE}{self.date}"

    def usable(self, dataset: str) -> tuple[Run, ...]:
        """The objects that are read, by time."""
        return tuple(run for run in self.runs[dataset] if run.path not in self.flaws)

    def skipped(self, dataset: str) -> tuple[Run, ...]:
        """The objects that are not read, by name."""
        return tuple(run for run in self.runs[dataset] if run.path in self.flaws)

    def run_rows(self, dataset: str) -> dict[int, int]:
        """Rows by the run's second, of the runs that have any; objects that are read only."""
        rows: dict[int, int] = {}
        for run in self.usable(dataset):
            if run.second is not None and self.rows[run.path]:
                rows[run.second] = rows.get(run.second, 0) + self.rows[run.path]
        return rows

    def without(self, flaws: Mapping[str, str]) -> "Day":
        """The same day without these objects too: what is wrong with each, by path."""
        return replace(self, flaws={**self.flaws, **flaws})

    def counted(self, rows: Mapping[str, int]) -> "Day":
        """The same day with the objects' row counts by path."""
        return replace(self, rows=rows)

    def from_history(self) -> "Day":
        """The same day once all its rows are in the history; it stays known where it was found."""
        return replace(self, compacted=True)


def requested_days(
    storage: Storage, options: Options, say: Callable[[str], object]
) -> Iterator[list[Day]]:
    """The clusters' days of each requested date that has snapshots, found only when its turn comes.

    Dates come in order, with the clusters that have nothing of them. Of several dates, one without
    snapshots and a named cluster that lacks one go to `say` and are passed over. NoSnapshotsError
    if the only date lacks them, after the clusters that have it, or no date has any;
    NothingYetError if a scheduled run came before the first whole day.
    """
    done, missing = 0, ""
    for each in options.dates:
        days = find_days(
            storage, options.input, options.output, each, options.clusters, options.today
        )
        absent = [day for day in days if not day.source]
        there = len(absent) < len(days)
        # a cluster that nobody named may have come later, or gone
        if absent and (options.clusters or not there):
            sentence, too_early = _absence(storage, absent, options)
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
    """The date of each wanted cluster (none: of all there are), by name; `today` is in progress.

    Snapshots come from `source`. A cluster whose snapshots are gone, in whole or for one dataset,
    is taken from the history in `output`. DataError for a cluster that no folder is named after.
    """
    root, history = f"{source}/snapshots", f"{output}/history"
    known = _clusters(storage, (root, history))
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
        listed = pool.map(lambda at: _runs(storage, root, at[1], known[at[0]], day), places)
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
        sources = pool.map(partial(_source_of, storage), days)
        return [replace(day, source=found) for day, found in zip(days, sources, strict=True)]


def _source_of(storage: Storage, day: Day) -> str | None:
    gone = [dataset for dataset, runs in day.runs.items() if not runs]
    if any(storage.objects(day.history_folder(dataset), PARQUET) for dataset in gone):
        return FROM_HISTORY
    return FROM_SNAPSHOTS if len(gone) < len(day.runs) else None


def snapshot_dates(storage: Storage, root: str, folder: str) -> list[date]:
    """Every date of which the cluster's folder has anything below `root`, oldest first."""
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


def run_time(name: str, day: date) -> datetime | None:
    """The scheduled time, UTC, in an object's name; null unless its hour and the date agree."""
    folder, _, file = name.rpartition("/")
    stamp = file.partition("-")[0]
    try:
        time = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None
    return time if time.date() == day and folder == f"hour={time:%H}" else None


def flaw(dataset: str, run: Run, footer: Footer | None) -> str | None:
    """Why an object is no usable snapshot; null if it is one.

    DataError for one of a newer MAJOR version, which is right and must not be skipped.
    """
    if run.taken_at is None:
        return "its name is no run's of this date and hour"
    if footer is None:
        return DAMAGED
    named = _VERSION.fullmatch(footer.version or "")
    if named is None:
        return f"no snapshot of this reporter: its metadata has no number as {VERSION_KEY}"
    version = int(named[1]), int(named[2] or 0)
    if version[0] > MAJOR:
        raise DataError(
            f"{run.path} is of schema version {footer.version} and this job reads up to {MAJOR}.x; "
            "deploy the job of the collector's release"
        )
    # an older version lacks what came after it, which is null then
    required = SNAPSHOTS[dataset].names if version >= _NEWEST else (*KEYS[dataset], "taken_at")
    for column in SNAPSHOTS[dataset]:
        expected, found = column.dataType.simpleString(), footer.columns.get(column.name)
        if found is None and column.name in required:
            return f"no snapshot of {dataset}: column {column.name} is missing"
        if found is not None and found not in _TYPES[expected]:
            return f"column {column.name} is {found} and should be {expected}"
    return None


def check_objects(storage: Storage, day: Day) -> Day:
    """The day with each object's verdict and rows, by its footer; however many are flawed."""
    runs = [(dataset, run) for dataset, each in _read_runs(day).items() for run in each]
    found = footers(storage, [run.path for _, run in runs])
    checked = [(dataset, run, footer) for (dataset, run), footer in zip(runs, found, strict=True)]
    verdicts = {run.path: flaw(dataset, run, footer) for dataset, run, footer in checked}
    rows = {run.path: footer.rows for _, run, footer in checked if footer}
    return day.without({path: why for path, why in verdicts.items() if why}).counted(rows)


def skip_corrupt_objects(storage: Storage, day: Day, work: Callable[[Day], T]) -> tuple[Day, T]:
    """Do the work on the day's usable objects; the day says what was skipped and why.

    `work` is done again, a few times at most, without objects whose rows turn out not to decode,
    so it must be fit to be repeated. DataError if more than one in a hundred of a dataset's
    objects of a cluster are corrupt (one is always allowed), or all; it names the first.
    """
    day = check_objects(storage, day)
    _check_few_skipped(day)
    for _ in range(1 + MOST_REPEATS):
        try:
            return day, work(day)
        except (CorruptObjectsError, *_SPARK_FAILURES) as error:
            runs = chain.from_iterable(_read_runs(day).values())
            paths = {run.path for run in runs} - set(day.flaws)
            if isinstance(error, CorruptObjectsError):
                corrupt = [path for path in error.paths if path in paths]
            else:
                if day.reads_history:
                    for dataset in SNAPSHOTS:
                        check_files(storage, _history_files(storage, day, dataset))
                corrupt = undecodable(storage, sorted(paths))
            if not corrupt:
                raise
            day = day.without(dict.fromkeys(corrupt, UNDECODED))
            _check_few_skipped(day)
    raise DataError(
        f"cannot read {', '.join(corrupt)}: {UNDECODED}, as those of {MOST_REPEATS} others; "
        "restore or remove them"
    )


def read(spark: SparkSession, storage: Storage, day: Day, dataset: str) -> DataFrame:
    """Rows of the day; lazily, and no folder but the day's is listed.

    Those of the history have its own column, RISES, if all its files do.
    """
    schema = SNAPSHOTS[dataset]
    if not day.reads_history:
        return rows_in(spark, _paths(day, dataset), schema)
    files = _history_files(storage, day, dataset)
    if dataset in RISES and _have(RISES[dataset], storage, files):
        schema = StructType([*schema, StructField(RISES[dataset], LONG)])
    return rows_in(spark, files, schema)


def _have(column: str, storage: Storage, paths: Sequence[str]) -> bool:
    """Whether all the files have the history's own column: those of earlier releases lack it."""
    return all(footer is None or column in footer.columns for footer in footers(storage, paths))


def rows_in(
    spark: SparkSession, paths: Sequence[str], schema: StructType, *, dates_in: str | None = None
) -> DataFrame:
    """Rows of folders and files, with the date of their folders in `dates_in` as `dt`, a text.

    Nothing but `paths` is listed, and a column that a file lacks is null. Without paths there are
    no rows.
    """
    reader = spark.read.option("pathGlobFilter", f"*{PARQUET}")
    if dates_in:
        schema = StructType([*schema, StructField("dt", STRING)])
        reader = reader.option("basePath", dates_in)
    if not paths:
        return spark.createDataFrame([], schema)
    # brackets and stars in a folder's name are no pattern
    escaped = (re.sub(r"([\[\]{}*?\\])", r"\\\1", path) for path in paths)
    return reader.schema(schema).parquet(*escaped)


@contextmanager
def naming_corrupt_files(storage: Storage, places: Callable[[], Iterable[str]]) -> Iterator[None]:
    """Turn Spark's failure on one of the files, or on one in these folders, into DataError that
    names the file."""
    try:
        yield
    except _SPARK_FAILURES:
        for place in places():
            names = [f"{place}/{file.name}" for file in storage.objects(place, PARQUET)]
            check_files(storage, [place] if place.endswith(PARQUET) else names)
        raise


def check_files(storage: Storage, paths: Sequence[str]) -> None:
    """Raise DataError that names the first whose rows cannot be decoded."""
    if corrupt := undecodable(storage, paths):
        raise DataError(f"cannot read {corrupt[0]}: {UNDECODED}; restore or remove this file")


def undecodable(storage: Storage, paths: Sequence[str]) -> list[str]:
    """Those of the files whose rows cannot be decoded; StoreError if one cannot be reached."""

    def corrupt(path: str) -> bool:
        data = storage.read(path)
        try:
            pq.ParquetFile(pa.BufferReader(data)).read().validate(full=True)
        except (pa.ArrowException, ValueError, OSError):
            return True
        return False

    # few at once, as each is held as a whole
    with ThreadPoolExecutor(2) as pool:
        return [path for path, bad in zip(paths, pool.map(corrupt, paths), strict=True) if bad]


def _absence(storage: Storage, absent: Sequence[Day], options: Options) -> tuple[str, bool]:
    """What to say of the absent clusters, and whether the schedule was merely early for them."""
    there = sorted(
        each
        for day in absent
        for root in (day.root, day.history)
        for each in snapshot_dates(storage, root, day.folder)
    )
    names, first = ", ".join(day.cluster for day in absent), absent[0]
    nothing = f"no snapshots of {names} for {first.date} under {first.root}"
    if options.scheduled and there and there[0] >= options.today:
        return f"{nothing} yet: the first day is {there[0]}, which a later run reports", True
    newest = f"the newest day there is {there[-1]}" if there else "there are none of any day"
    return f"{nothing}; {newest}", False


def _runs(storage: Storage, root: str, dataset: str, cluster: str, day: date) -> tuple[Run, ...]:
    folder = f"{root}/{dataset}/{cluster}/{_DATE}{day}"
    return tuple(
        Run(f"{folder}/{file.name}", file.name, file.size, run_time(file.name, day))
        for file in storage.objects(folder, PARQUET)
    )


def _clusters(storage: Storage, roots: Sequence[str]) -> dict[str, str]:
    """Folder by cluster name, over all datasets."""
    return {
        unquote(folder.removeprefix(_CLUSTER)): folder
        for root in roots
        for dataset in SNAPSHOTS
        for folder in storage.folders(f"{root}/{dataset}")
        if folder.startswith(_CLUSTER)
    }


def _check_few_skipped(day: Day) -> None:
    """Raise where so many objects are corrupt that what is left would not be the day."""
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


def _read_runs(day: Day) -> Mapping[str, Sequence[Run]]:
    """The objects that are read as such, by dataset."""
    return {} if day.reads_history else day.runs


def _history_files(storage: Storage, day: Day, dataset: str) -> list[str]:
    folder = day.history_folder(dataset)
    return [f"{folder}/{file.name}" for file in storage.objects(folder, PARQUET)]


def _paths(day: Day, dataset: str) -> list[str]:
    """The folders of whole hours; object by object the hours that others must be kept out of.

    These are hours with an object that is skipped, and the newest of a day in progress, where more
    may come: every dataset is to be read as it was when the day was found.
    """
    usable = day.usable(dataset)
    open_hours = {_hour(run) for run in day.skipped(dataset)}
    if usable and day.in_progress:
        open_hours.add(_hour(usable[-1]))
    paths = []
    for hour, runs in groupby(usable, _hour):
        folder = f"{day.snapshot_folder(dataset)}/{hour}"
        paths += [run.path for run in runs] if hour in open_hours else [folder]
    return paths


def _hour(run: Run) -> str:
    return run.name.partition("/")[0]
