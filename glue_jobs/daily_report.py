# SPDX-License-Identifier: Apache-2.0
"""The daily job: `python -m glue_jobs.daily_report --help`, or the script of a Glue job.

Glue gets this file as its script and the package as a zip in --extra-py-files.
"""

import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from glue_jobs.errors import ReportError
from glue_jobs.history.marking import mark_compacted
from glue_jobs.job import Job, say
from glue_jobs.one_day import report_day
from glue_jobs.options import Options, parse
from glue_jobs.storage.files import Files
from glue_jobs.storage.session import open_session
from glue_jobs.storage.snapshots import asked_days
from glue_jobs.telling import send, serve, tell
from glue_jobs.timings import Timings


def utc_now() -> datetime:
    """The clock that decides which day yesterday was."""
    return datetime.now(UTC)


def main(argv: Sequence[str] | None = None, now: Callable[[], datetime] = utc_now) -> int:
    """Write and print each day's reports; the exit code, after one sentence if it is not 0."""
    try:
        options = parse(argv, now)
        if options.ignored:
            say(f"ignored, not options of this job: {', '.join(options.ignored)}")
        run(options)
    except ReportError as error:
        say(str(error))
        return error.exit_code
    return 0


def run(options: Options) -> None:
    """Report each day in order; ReportError for all that a user can cause."""
    timings = Timings(time.monotonic, print if options.timings else _nothing)
    with timings.stage("session"):
        spark = open_session()
    job = Job(spark, Files(spark), options, timings)
    for day in asked_days(job.files, options, say):
        done = report_day(job, day)
        with timings.stage("mark"):
            mark_compacted(done)
        with timings.stage("tell"):
            serve(job, done)
            tell(job, done)
            # of a range only the newest day is news
            if options.topic_arn and day.date == options.dates[-1]:
                send(job, done, options.topic_arn)


def _nothing(_: str) -> None:
    """Tell nobody."""


if __name__ == "__main__":
    # Glue takes any SystemExit for a failure
    if code := main():
        sys.exit(code)
