# SPDX-License-Identifier: Apache-2.0
"""Working on a day without its bad objects: few of them are left out, many stop the run.

Every footer is looked at before the work, since Spark would read a foreign file as rows of nulls
and never fail on a column that is missing. What only its rows betray, Spark names while it works.
"""

import re
from collections.abc import Callable, Iterator
from typing import TypeVar
from urllib.parse import unquote

from pyspark.sql import SparkSession

from kafka_lag_report.errors import UNDECODED, DataError, StoreError
from kafka_lag_report.storage.files import JVM_FAILURES, unreachable
from kafka_lag_report.storage.parquet import naming_broken_files, whole_text
from kafka_lag_report.storage.snapshots.day import Day, Run
from kafka_lag_report.storage.snapshots.flaws import flaw
from kafka_lag_report.storage.snapshots.footers import Footers

T = TypeVar("T")

# Each repeats the whole work; damage that footers do not show is rare.
MOST_REPEATS = 3
# A day that lacks more than every hundredth run is no longer that day.
MOST_LEFT_OUT = 100
_NAMED = re.compile(r"(\w+)/(cluster=[^/\n]+)/dt=[\d-]+/(hour=\d\d/[^/\s]+\.parquet)")


def leaving_out_bad(spark: SparkSession, day: Day, work: Callable[[Day], T]) -> tuple[Day, T]:
    """Do the work on the day's usable objects; the day says what was left out and why.

    `work` is done again, a few times at most, without an object that Spark then fails on, so it
    must leave nothing behind when it fails. DataError if more than one in a hundred of a dataset's
    objects of a cluster are bad (one is always allowed), or all; it names the first.
    """
    day = _checked(Footers(spark), day)
    for _ in range(1 + MOST_REPEATS):
        try:
            with naming_broken_files():
                return day, work(day)
        except (DataError, *JVM_FAILURES) as error:
            named = {} if isinstance(error, StoreError) else _named(day, whole_text(error))
            if not named:
                raise
            day = day.without(named)
            _insist_on_few(day)
    raise DataError(
        f"cannot read {', '.join(named)}: {UNDECODED}, as those of {MOST_REPEATS} others; "
        "restore or remove them"
    )


def _checked(footers: Footers, day: Day) -> Day:
    runs = [(dataset, run) for dataset, _, run in _read(day)]
    found = footers.of([run.path for _, run in runs])
    verdicts = {
        run.path: flaw(dataset, run, footer)
        for (dataset, run), footer in zip(runs, found, strict=True)
    }
    day = day.without({path: verdict for path, verdict in verdicts.items() if verdict})
    day = day.counted({run.path: f.rows for (_, run), f in zip(runs, found, strict=True) if f})
    _insist_on_few(day)
    return day


def _insist_on_few(day: Day) -> None:
    """Raise where so many objects are bad that what is left would not be the day."""
    for (dataset, cluster), runs in day.runs.items():
        bad = day.left_out(dataset, cluster)
        few = len(bad) <= max(1, len(runs) // MOST_LEFT_OUT) and len(bad) < len(runs)
        if few or not bad:
            continue
        others = f", as are {len(bad) - 1} more of" if len(bad) > 1 else ", of"
        raise DataError(
            f"cannot read {bad[0].path}: {day.flaws[bad[0].path]}{others} the {len(runs)} objects "
            f"of {dataset} of {cluster} on {day.date}; restore or remove them"
        )


def _named(day: Day, text: str) -> dict[str, str]:
    """The day's objects whose bytes a failure blames, and what to say of them."""
    if unreachable(text):
        return {}
    # in a path as Spark writes it % is escaped once more
    names = {part for found in _NAMED.findall(text) for part in (found, _unquoted(found))}
    return {
        run.path: UNDECODED
        for dataset, folder, run in _read(day)
        if (dataset, folder, run.name) in names and run.path not in day.flaws
    }


def _unquoted(found: tuple[str, str, str]) -> tuple[str, str, str]:
    dataset, folder, name = found
    return dataset, unquote(folder), name


def _read(day: Day) -> Iterator[tuple[str, str, Run]]:
    """The objects that are read as such, with dataset and cluster folder."""
    for (dataset, cluster), runs in day.runs.items():
        if cluster in day.clusters and not day.reads_history(cluster):
            for run in runs:
                yield dataset, day.clusters[cluster], run
