# SPDX-License-Identifier: Apache-2.0
"""The daily job: `python -m kafka_lag_report.daily_report --help`, or the script of a Glue job.

Glue gets this file as its script and the package as a zip in --extra-py-files.
"""

import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

from kafka_lag_report.errors import DataError, ReportError
from kafka_lag_report.history.marking import mark_compacted
from kafka_lag_report.job import Job, say
from kafka_lag_report.one_day import report_day
from kafka_lag_report.options import Options, parse
from kafka_lag_report.reports.usual import write_usual
from kafka_lag_report.storage.files import Files
from kafka_lag_report.storage.objects import Anywhere, Objects
from kafka_lag_report.storage.session import open_session
from kafka_lag_report.storage.snapshots import Day, asked_days
from kafka_lag_report.telling import send, serve, tell
from kafka_lag_report.timings import Timings


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
    except ReportError as error:
        say(str(error))
        return error.exit_code
    return 0


def run(options: Options, objects: Objects) -> None:
    """Report each day in order; ReportError for all that a user can cause."""
    timings = Timings(time.monotonic, print if options.timings else _nothing)
    with timings.stage("session"):
        spark = open_session()
    job = Job(spark, Files(spark), objects, options, timings)
    failed = [day.date for day in asked_days(job.files, options, say) if not _reported(job, day)]
    if failed:
        raise DataError(f"not reported as asked: {', '.join(map(str, failed))}; see above")


def _reported(job: Job, day: Day) -> bool:
    """Whether all went well; of several days, one that fails is told and the others go on."""
    try:
        _report(job, day)
    except DataError as error:
        if len(job.options.dates) == 1:
            raise
        say(f"{day.date}: {error}")
        return False
    return True


def _report(job: Job, day: Day) -> None:
    """Write what the day has, then let the world know: each way is tried, whatever others say."""
    done = report_day(job, day)
    ways = {
        "usual": partial(write_usual, job, done),
        "serve": partial(serve, job, done),
        "tell": partial(tell, job, done),
        "send": partial(send, job, done),
        "mark": partial(mark_compacted, done),
    }
    refused = [error for name, way in ways.items() if (error := _tried(job, name, way))]
    if refused:
        raise DataError(". Also: ".join(map(str, refused)))


def _tried(job: Job, name: str, way: Callable[[], None]) -> DataError | None:
    with job.timings.stage(name):
        try:
            way()
        except DataError as error:
            return error
    return None


def _nothing(_: str) -> None:
    """Tell nobody."""


if __name__ == "__main__":
    # Glue takes any SystemExit for a failure
    if code := main():
        sys.exit(code)
