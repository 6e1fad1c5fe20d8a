# SPDX-License-Identifier: Apache-2.0
"""Runs the daily report: `python -m kafka_lag_report.daily_report --help`, or as a Glue job.

Glue gets this file as its script and the package as a zip in --extra-py-files.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any

from pyspark.sql import SparkSession

from kafka_lag_report.aws import metric_client, publish_success
from kafka_lag_report.cluster_day import Job, report_day
from kafka_lag_report.day_message import deliver_message
from kafka_lag_report.errors import (
    DataError,
    FailedError,
    NoSnapshotsError,
    ReportError,
    describe_error,
)
from kafka_lag_report.history import delete_compacted
from kafka_lag_report.options import Options, parse, utc_now
from kafka_lag_report.publishing import find_unfinished
from kafka_lag_report.read_snapshots import (
    FROM_SNAPSHOTS,
    Day,
    find_days,
    find_requested_days,
    list_snapshot_dates,
)
from kafka_lag_report.report_files import reports_root
from kafka_lag_report.session import open_session
from kafka_lag_report.storage import Storage
from kafka_lag_report.time_limit import TimeLimit, cancelling_late_jobs
from kafka_lag_report.timings import Timings
from kafka_lag_report.usual import write_usual

# A cluster's day with fewer bytes of rows takes seconds, most of them for planning queries.
SMALL_BYTES = 32 << 20
# Size of an object with hardly any rows: the 4,320 objects of a day are then 65 MB.
EMPTY_OBJECT_BYTES = 15_000
SMALL_AT_ONCE = 3
# Cores that the queries of a large cluster keep busy.
LARGE_CORES = 4


def main(
    argv: Sequence[str] | None = None,
    now: Callable[[], datetime] = utc_now,
    storage: Callable[[], Storage] = Storage,
    clock: Callable[[], float] = time.monotonic,
    metrics: Callable[[str], Any] = metric_client,
    begin: Callable[[str, str | None], object] | None = None,
    session: Callable[..., SparkSession] = open_session,
) -> int:
    """Writes the reports of each day, sends their message, and returns the exit code.

    Prints a line to stderr for each failure. `clock` counts the seconds of stages and of the time
    limit. `metrics` returns a CloudWatch client for a region. `begin` is called with the name of
    each stage and its cluster when the stage begins. `session` opens the Spark session, like
    `open_session`.
    """
    began = clock()
    try:
        options = parse(argv, now)
    except ReportError as error:
        say(str(error))
        return error.exit_code
    if options.ignored:
        say(f"ignored, not options of this job: {', '.join(options.ignored)}")
    code = 0
    try:
        run(options, storage(), TimeLimit(options.time_limit, began, clock), begin, session)
    except FailedError as error:
        # a single failure has already been printed
        if len(error.failures) > 1:
            say(str(error))
        code = error.exit_code
    except ReportError as error:
        say(str(error))
        code = error.exit_code
    if options.success_metric and options.scheduled:
        region, deployment = options.success_metric
        try:
            publish_success(metrics(region), deployment, succeeded=code == 0)
        except DataError as error:
            # the reports are complete anyway
            say(str(error))
    return code


def say(sentence: str) -> None:
    """Prints a sentence to stderr, for the person or service that started the job."""
    print(f"daily_report: {sentence}", file=sys.stderr)


def run(
    options: Options,
    storage: Storage,
    limit: TimeLimit,
    begin: Callable[[str, str | None], object] | None = None,
    session: Callable[..., SparkSession] = open_session,
) -> None:
    """Reports all days in order, cluster by cluster.

    Raises ReportError for everything that a user can cause. Each failure is printed when it
    happens, so that the log of a killed run names the earlier ones.
    """
    timings = Timings(limit.clock, print if options.timings else _ignore, begin)
    failures, clusters = list[str](), dict[str, Day]()
    roots = {"reports": reports_root(options.output), "history": f"{options.output}/history"}
    for what, root in roots.items():
        for place, finish in find_unfinished(storage, root).items():
            failures += _attempt(timings, "publish", f"half replaced {what} of {place}", finish)
    dates = find_requested_days(storage, options, say)
    first = next(dates)
    with timings.stage("session"):
        spark = session(few_rows=all(is_small(day) for day in first if day.source))
    job = Job(spark, storage, options, timings)
    try:
        for days in chain([first], dates):
            clusters |= {day.cluster: day for day in days}
            failures += _report_date(job, days, limit)
    except NoSnapshotsError as error:
        say(str(error))
        failures.append(str(error))
    for cluster, newest in clusters.items() if options.snapshot_days else ():
        delete = partial(_delete_old, job, newest)
        failures += _attempt(timings, "delete", f"old snapshots of {cluster}", delete)
    if failures:
        raise FailedError(failures)


def _report_date(job: Job, days: Sequence[Day], limit: TimeLimit) -> Iterator[str]:
    """Reports all clusters for one date, then sends the message; yields what failed."""
    on = days[0].date
    with cancelling_late_jobs(job.spark.sparkContext, limit):
        failed = _report_clusters(job, [day for day in days if day.source], limit)
    yield from (f"{cluster} on {on}" for cluster in failed)
    done = [day for day in days if day.cluster not in failed]
    for day in done:
        # a day in progress does not count for the usual figures yet
        if day.source and job.options.history and not day.in_progress:
            write = partial(write_usual, job.spark, job.storage, job.options.output, day)
            yield from _attempt(
                job.timings, "usual", f"usual figures of {day.cluster} on {on}", write
            )
    deliver = partial(deliver_message, job, on, done, failed)
    yield from _attempt(job.timings, "message", f"message of {on}", deliver)


def _report_clusters(job: Job, days: Sequence[Day], limit: TimeLimit) -> dict[str, str]:
    """Reports each cluster independently; returns the reasons of failures by cluster.

    Small clusters run a few at a time, in a session that plans queries quickly. The others run side
    by side as far as the workers have cores for them, the largest last, so that it takes no time
    from the rest.
    """
    small = [day for day in days if is_small(day)]
    others = sorted((day for day in days if day not in small), key=lambda day: day.size)
    at_once = max(1, job.spark.sparkContext.defaultParallelism // LARGE_CORES)
    found = dict[str, str]()
    for some, each_job, count in (
        (small, replace(job, few_rows=True), SMALL_AT_ONCE),
        (others, job, at_once),
    ):
        with ThreadPoolExecutor(count) as pool:
            causes = pool.map(partial(_report_cluster, each_job, limit), some)
            found |= {day.cluster: why for day, why in zip(some, causes, strict=True) if why}
    return {day.cluster: found[day.cluster] for day in days if day.cluster in found}


def is_small(day: Day) -> bool:
    """Returns whether the day's snapshots hold few rows.

    A day that only the history has is not small.
    """
    objects = sum(map(len, day.runs.values()))
    few = day.size - objects * EMPTY_OBJECT_BYTES <= SMALL_BYTES
    return few and day.source == FROM_SNAPSHOTS


def _report_cluster(job: Job, limit: TimeLimit, day: Day) -> str | None:
    """Reports one cluster's day; returns the reason if that failed, else null."""
    late = f"the run's time limit of {limit.minutes} minutes was over"
    try:
        if limit.reached:
            raise DataError(f"{late} before this cluster began")
        report_day(job, day)
    except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
        why = describe_error(error) if isinstance(error, ReportError) or not limit.reached else late
        say(f"no report of {day.cluster} on {day.date}: {why}")
        return why
    return None


def _attempt(timings: Timings, stage: str, what: str, work: Callable[[], None]) -> Iterator[str]:
    """Does the work; yields `what` if it failed."""
    try:
        with timings.stage(stage):
            work()
    except Exception as error:  # noqa: BLE001 - whatever it is, the rest is done
        say(f"{what}: {describe_error(error)}")
        yield what


def _delete_old(job: Job, newest: Day) -> None:
    """Deletes raw objects of days that are older than the limit and complete in the history."""
    options, storage, cluster = job.options, job.storage, newest.cluster
    oldest = options.today - timedelta(days=options.snapshot_days or 0)
    errors = list[DataError]()
    for on in list_snapshot_dates(storage, newest.root, newest.folder):
        if on >= oldest:
            continue
        try:
            (old,) = find_days(storage, options.input, options.output, on, [cluster], options.today)
            _, why_not = delete_compacted(job.spark, storage, old)
        except DataError as error:
            errors.append(error)
            continue
        if why_not:
            say(
                f"snapshots of {cluster} on {on} stay: {why_not}; run the job for that day "
                f"(--date {on})"
            )
    if errors:
        raise DataError(". Also: ".join(map(str, errors)))


def _ignore(_: str) -> None:
    pass


if __name__ == "__main__":
    # Glue treats every SystemExit as a failure
    if code := main():
        sys.exit(code)
