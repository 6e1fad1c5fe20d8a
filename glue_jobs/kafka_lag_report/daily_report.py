# SPDX-License-Identifier: Apache-2.0
"""The daily job: `python -m kafka_lag_report.daily_report --help`, or the script of a Glue job.

Glue gets this file as its script and the package as a zip in --extra-py-files.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial

from kafka_lag_report.errors import FailedError, ReportError, cause
from kafka_lag_report.history.marking import mark_compacted
from kafka_lag_report.job import Job, say
from kafka_lag_report.one_day import report_day
from kafka_lag_report.options import Options, parse
from kafka_lag_report.storage.files import Files
from kafka_lag_report.storage.objects import Anywhere, Objects
from kafka_lag_report.storage.session import open_session
from kafka_lag_report.storage.snapshots import Day, asked_days
from kafka_lag_report.telling import send, serve, tell
from kafka_lag_report.timings import Timings

# Of a cluster's raw objects of a day, up to which its day takes seconds, most of them planning.
SMALL_BYTES = 32 << 20
SMALL_AT_ONCE = 3


def utc_now() -> datetime:
    """The clock that decides which day yesterday was."""
    return datetime.now(UTC)


def main(
    argv: Sequence[str] | None = None,
    now: Callable[[], datetime] = utc_now,
    objects: Callable[[], Objects] = Anywhere,
) -> int:
    """Write and print each day's reports; the exit code, after one sentence if it is not 0."""
    try:
        options = parse(argv, now)
        if options.ignored:
            say(f"ignored, not options of this job: {', '.join(options.ignored)}")
        run(options, objects())
    except FailedError as error:
        # of a single failure all is said
        if len(error.failures) > 1:
            say(str(error))
        return error.exit_code
    except ReportError as error:
        say(str(error))
        return error.exit_code
    return 0


def run(options: Options, objects: Objects) -> None:
    """Report each day in order, cluster by cluster; ReportError for all that a user can cause."""
    timings = Timings(time.monotonic, print if options.timings else _nothing)
    with timings.stage("session"):
        spark = open_session()
    job = Job(spark, Files(spark), objects, options, timings)
    failures = [each for day in asked_days(job.files, options, say) for each in _report(job, day)]
    if failures:
        raise FailedError(failures)


def _report(job: Job, day: Day) -> Iterator[str]:
    """Report the day's clusters, then tell people of those that succeeded; every failure's name.

    Each failure is one line as soon as it happens: a run that is killed has named those before.
    """
    failed = _each_cluster(job, day)
    yield from (f"{cluster} on {day.date}" for cluster in failed)
    done = day.only(name for name in day.clusters if name not in failed)
    ways: dict[str, Callable[[], None]] = {"send": partial(send, job, done, failed)}
    if done.clusters:
        ways = {"tell": partial(tell, job, done), **ways}
    for name, way in ways.items():
        try:
            with job.timings.stage(name):
                way()
        except Exception as error:  # noqa: BLE001 - whatever it is, the others are done
            say(f"{day.date}: {cause(error)}")
            yield f"{name} on {day.date}"


def _each_cluster(job: Job, day: Day) -> dict[str, str]:
    """Report the clusters, each by itself; the causes of those that failed.

    Small ones a few at a time, as most of their time is Spark's planning; then the others one by
    one, the largest last, so that it takes no time from any other.
    """
    sizes = {name: day.only([name]).size for name in day.clusters}
    ascending = sorted(day.clusters, key=lambda name: (sizes[name], name))
    small = [name for name in ascending if sizes[name] <= SMALL_BYTES]
    with ThreadPoolExecutor(SMALL_AT_ONCE) as pool:
        causes = dict(zip(small, pool.map(partial(_cluster, job, day), small), strict=True))
    causes |= {name: _cluster(job, day, name) for name in ascending if name not in causes}
    return {name: why for name in day.clusters if (why := causes[name])}


def _cluster(job: Job, day: Day, name: str) -> str | None:
    """Why the cluster has no report, or not all of it; null if nothing failed."""
    try:
        one = report_day(job, day.only([name]))
        for stage, way in (("serve", serve), ("mark", _mark)):
            with job.timings.stage(stage):
                way(job, one)
    except Exception as error:  # noqa: BLE001 - whatever it is, the others go on
        why = cause(error)
        say(f"no report of {name} on {day.date}: {why}")
        return why
    return None


def _mark(_: Job, day: Day) -> None:
    mark_compacted(day)


def _nothing(_: str) -> None:
    """Tell nobody."""


if __name__ == "__main__":
    # Glue takes any SystemExit for a failure
    if code := main():
        sys.exit(code)
