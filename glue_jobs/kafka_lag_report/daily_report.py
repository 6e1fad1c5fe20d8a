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
from typing import Any

from kafka_lag_report.cluster_day import Job, report_cluster
from kafka_lag_report.compaction import delete_compacted
from kafka_lag_report.day_message import deliver_message
from kafka_lag_report.errors import DataError, FailedError, NoSnapshotsError, ReportError, cause
from kafka_lag_report.options import Options, parse, utc_now
from kafka_lag_report.publishing import remove_staging, unfinished
from kafka_lag_report.read_snapshots import (
    FROM_SNAPSHOTS,
    Day,
    find_day,
    requested_days,
    snapshot_dates,
)
from kafka_lag_report.session import open_session, quick_session
from kafka_lag_report.storage import Storage
from kafka_lag_report.success_metric import metric_client, publish_success
from kafka_lag_report.tables.usual import write_usual
from kafka_lag_report.time_limit import TimeLimit, cancelling_late_jobs
from kafka_lag_report.timings import Timings

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
) -> int:
    """Write each day's reports and send their message; the exit code, after a line a failure.

    The seconds of `clock` measure stages and what is left of the time limit. `metrics` gives a
    client of CloudWatch for a region. `begin` has each stage as it begins, and its cluster.
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
        run(options, storage(), TimeLimit(options.time_limit, began, clock), begin)
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
) -> None:
    """Report each day in order, cluster by cluster; ReportError for all that a user can cause.

    Each failure is one line as soon as it happens: a run that is killed has named those before.
    """
    timings = Timings(limit.clock, print if options.timings else _nothing, begin)
    with timings.stage("session"):
        spark = open_session()
    job = Job(spark, storage, options, timings)
    failures, clusters = list[str](), dict[str, str]()
    remove_staging(storage, options.output)
    for place, finish in unfinished(storage, options.output).items():
        failures += _attempt(job, "publish", f"half replaced reports of {place}", finish)
    try:
        for day in requested_days(storage, options, say):
            clusters |= {**day.absent, **day.clusters}
            failures += _report(job, day, limit)
    except NoSnapshotsError as error:
        if not clusters:
            raise
        say(str(error))
        failures.append(str(error))
    for cluster, folder in clusters.items() if options.snapshot_days else ():
        failures += _attempt(
            job, "delete", f"old snapshots of {cluster}", partial(_delete_old, job, cluster, folder)
        )
    if failures:
        raise FailedError(failures)


def _report(job: Job, day: Day, limit: TimeLimit) -> Iterator[str]:
    """Report the day's clusters, then send the message; the names of all that failed."""
    with cancelling_late_jobs(job.spark.sparkContext, limit):
        failed = _each_cluster(job, day, limit)
    yield from (f"{cluster} on {day.date}" for cluster in failed)
    done = day.only(name for name in day.clusters if name not in failed)
    # of a day in progress nothing is usual yet
    for cluster in done.clusters if job.options.history and not day.in_progress else ():
        write = partial(write_usual, job.spark, job.storage, job.options.output, day, cluster)
        yield from _attempt(job, "usual", f"usual figures of {cluster} on {day.date}", write)
    deliver = partial(deliver_message, job, done, failed)
    yield from _attempt(job, "message", f"message of {day.date}", deliver)


def _each_cluster(job: Job, day: Day, limit: TimeLimit) -> dict[str, str]:
    """Report the clusters, each by itself; the causes of those that failed.

    Small ones a few at a time, in a session that plans quickly; then the others one by one, the
    largest last, so that it takes no time from any other.
    """
    sizes = {name: day.only([name]).size for name in day.clusters}
    ascending = sorted(day.clusters, key=lambda name: (sizes[name], name))
    # how much there is of a day that is only in the history, nobody looked at
    known = [name for name in ascending if day.sources[name] == FROM_SNAPSHOTS]
    small = [name for name in known if is_small(day.only([name]))]
    quick = replace(job, spark=quick_session(job.spark)) if small else job
    with ThreadPoolExecutor(SMALL_AT_ONCE) as pool:
        causes = dict(
            zip(small, pool.map(partial(_cluster, quick, day, limit), small), strict=True)
        )
    causes |= {name: _cluster(job, day, limit, name) for name in ascending if name not in causes}
    return {name: why for name in day.clusters if (why := causes[name])}


def is_small(day: Day) -> bool:
    """Whether the day's objects hold few rows."""
    objects = sum(map(len, day.runs.values()))
    return day.size - objects * EMPTY_OBJECT_BYTES <= SMALL_BYTES


def _cluster(job: Job, day: Day, limit: TimeLimit, name: str) -> str | None:
    """Why the cluster has no report; null if it has one."""
    late = f"the run's time of {limit.minutes} minutes was over"
    try:
        if limit.reached:
            raise DataError(f"{late} before it was begun")
        report_cluster(job, day, name)
    except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
        why = cause(error) if isinstance(error, ReportError) or not limit.reached else late
        say(f"no report of {name} on {day.date}: {why}")
        return why
    return None


def _attempt(job: Job, stage: str, what: str, work: Callable[[], None]) -> Iterator[str]:
    """Do the work; its name if it failed."""
    try:
        with job.timings.stage(stage):
            work()
    except Exception as error:  # noqa: BLE001 - whatever it is, the rest is done
        say(f"{what}: {cause(error)}")
        yield what


def _delete_old(job: Job, cluster: str, folder: str) -> None:
    """Delete the cluster's raw objects of all days that are old enough and in the history."""
    options = job.options
    oldest = options.today - timedelta(days=options.snapshot_days or 0)
    root, errors = f"{options.input}/snapshots", []
    for date in snapshot_dates(job.storage, root, folder):
        if date >= oldest:
            continue
        try:
            old = find_day(
                job.storage, options.input, options.output, date, [cluster], options.today
            )
            _, why_not = delete_compacted(job.spark, job.storage, old, cluster)
        except DataError as error:
            errors.append(error)
            continue
        if why_not:
            say(
                f"snapshots of {cluster} on {date} stay: {why_not}; run the job for that day "
                f"(--date {date})"
            )
    if errors:
        raise DataError(". Also: ".join(map(str, errors)))


def _nothing(_: str) -> None:
    """Send nothing."""


if __name__ == "__main__":
    # Glue takes any SystemExit for a failure
    if code := main():
        sys.exit(code)
