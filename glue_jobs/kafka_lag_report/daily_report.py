# SPDX-License-Identifier: Apache-2.0
"""The daily job: `python -m kafka_lag_report.daily_report --help`, or the script of a Glue job.

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

from kafka_lag_report.cluster_day import Job, report_day
from kafka_lag_report.compaction import delete_compacted
from kafka_lag_report.day_message import deliver_message
from kafka_lag_report.errors import DataError, FailedError, NoSnapshotsError, ReportError, cause
from kafka_lag_report.options import Options, parse, utc_now
from kafka_lag_report.publishing import remove_staging, unfinished
from kafka_lag_report.read_snapshots import (
    FROM_SNAPSHOTS,
    Day,
    find_days,
    requested_days,
    snapshot_dates,
)
from kafka_lag_report.session import open_session
from kafka_lag_report.storage import Storage
from kafka_lag_report.success_metric import metric_client, publish_success
from kafka_lag_report.time_limit import TimeLimit, cancelling_late_jobs
from kafka_lag_report.timings import Timings
from kafka_lag_report.usual import write_usual

# Of a cluster's rows of a day, up to which its day takes seconds, most of them planning.
SMALL_BYTES = 32 << 20
# What an object weighs with hardly a row in it: 4,320 of them are 65 MB.
EMPTY_OBJECT_BYTES = 15_000
SMALL_AT_ONCE = 3


def main(
    argv: Sequence[str] | None = None,
    now: Callable[[], datetime] = utc_now,
    storage: Callable[[], Storage] = Storage,
    clock: Callable[[], float] = time.monotonic,
    metrics: Callable[[str], Any] = metric_client,
    begin: Callable[[str, str | None], object] | None = None,
    session: Callable[..., SparkSession] = open_session,
) -> int:
    """Write each day's reports and send their message; the exit code, after a line a failure.

    The seconds of `clock` measure stages and what is left of the time limit. `metrics` gives a
    client of CloudWatch for a region. `begin` has each stage as it begins, and its cluster.
    `session` opens what `open_session` does.
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
        # of a single failure all is said
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
            # the reports are right all the same
            say(str(error))
    return code


def say(sentence: str) -> None:
    """Answer whoever started the job, beside its output."""
    print(f"daily_report: {sentence}", file=sys.stderr)


def run(
    options: Options,
    storage: Storage,
    limit: TimeLimit,
    begin: Callable[[str, str | None], object] | None = None,
    session: Callable[..., SparkSession] = open_session,
) -> None:
    """Report each day in order, cluster by cluster; ReportError for all that a user can cause.

    Each failure is one line as soon as it happens: a run that is killed has named those before.
    """
    timings = Timings(limit.clock, print if options.timings else _nothing, begin)
    failures, clusters = list[str](), dict[str, Day]()
    remove_staging(storage, options.output)
    for place, finish in unfinished(storage, options.output).items():
        failures += _attempt(timings, "publish", f"half replaced reports of {place}", finish)
    dates = requested_days(storage, options, say)
    first = next(dates)
    with timings.stage("session"):
        spark = session(few_rows=all(is_small(day) for day in first if day.source))
    job = Job(spark, storage, options, timings)
    try:
        for days in chain([first], dates):
            clusters |= {day.cluster: day for day in days}
            failures += _report(job, days, limit)
    except NoSnapshotsError as error:
        say(str(error))
        failures.append(str(error))
    for cluster, newest in clusters.items() if options.snapshot_days else ():
        delete = partial(_delete_old, job, newest)
        failures += _attempt(timings, "delete", f"old snapshots of {cluster}", delete)
    if failures:
        raise FailedError(failures)


def _report(job: Job, days: Sequence[Day], limit: TimeLimit) -> Iterator[str]:
    """Report the clusters' days of a date, then send the message; the names of all that failed."""
    on = days[0].date
    with cancelling_late_jobs(job.spark.sparkContext, limit):
        failed = _each_cluster(job, [day for day in days if day.source], limit)
    yield from (f"{cluster} on {on}" for cluster in failed)
    done = [day for day in days if day.cluster not in failed]
    for day in done:
        # of a day in progress nothing is usual yet
        if day.source and job.options.history and not day.in_progress:
            write = partial(write_usual, job.spark, job.storage, job.options.output, day)
            yield from _attempt(
                job.timings, "usual", f"usual figures of {day.cluster} on {on}", write
            )
    deliver = partial(deliver_message, job, on, done, failed)
    yield from _attempt(job.timings, "message", f"message of {on}", deliver)


def _each_cluster(job: Job, days: Sequence[Day], limit: TimeLimit) -> dict[str, str]:
    """Report the clusters, each by itself; the causes of those that failed.

    Small ones a few at a time, in a session that plans quickly; then the others one by one, the
    largest last, so that it takes no time from any other.
    """
    small = [day for day in days if is_small(day)]
    others = sorted((day for day in days if day not in small), key=lambda day: day.size)
    quick = replace(job, few_rows=True)
    with ThreadPoolExecutor(SMALL_AT_ONCE) as pool:
        causes = list(pool.map(partial(_cluster, quick, limit), small))
    causes += [_cluster(job, limit, day) for day in others]
    found = {day.cluster: why for day, why in zip([*small, *others], causes, strict=True) if why}
    return {day.cluster: found[day.cluster] for day in days if day.cluster in found}


def is_small(day: Day) -> bool:
    """Whether the day's objects hold few rows; what only the history has, nobody looked at."""
    objects = sum(map(len, day.runs.values()))
    few = day.size - objects * EMPTY_OBJECT_BYTES <= SMALL_BYTES
    return few and day.source == FROM_SNAPSHOTS


def _cluster(job: Job, limit: TimeLimit, day: Day) -> str | None:
    """Why the cluster has no report; null if it has one."""
    late = f"the run's time of {limit.minutes} minutes was over"
    try:
        if limit.reached:
            raise DataError(f"{late} before it was begun")
        report_day(job, day)
    except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
        why = cause(error) if isinstance(error, ReportError) or not limit.reached else late
        say(f"no report of {day.cluster} on {day.date}: {why}")
        return why
    return None


def _attempt(timings: Timings, stage: str, what: str, work: Callable[[], None]) -> Iterator[str]:
    """Do the work; its name if it failed."""
    try:
        with timings.stage(stage):
            work()
    except Exception as error:  # noqa: BLE001 - whatever it is, the rest is done
        say(f"{what}: {cause(error)}")
        yield what


def _delete_old(job: Job, newest: Day) -> None:
    """Delete the cluster's raw objects of all days that are old enough and in the history."""
    options, storage, cluster = job.options, job.storage, newest.cluster
    oldest = options.today - timedelta(days=options.snapshot_days or 0)
    errors = list[DataError]()
    for on in snapshot_dates(storage, newest.root, newest.folder):
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


def _nothing(_: str) -> None:
    """Send nothing."""


if __name__ == "__main__":
    # Glue takes any SystemExit for a failure
    if code := main():
        sys.exit(code)
