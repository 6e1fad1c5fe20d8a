# SPDX-License-Identifier: Apache-2.0
"""The daily job: `python -m glue_jobs.daily_report --help`, or the script of a Glue job.

Glue gets this file as its script and the package as a zip in --extra-py-files.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from pyspark.sql import DataFrame

from glue_jobs.errors import ReportError
from glue_jobs.options import Options, parse
from glue_jobs.partition_day import group_partition_days, topic_partition_days
from glue_jobs.partition_skew import partition_skew
from glue_jobs.retention_risk import retention_risk
from glue_jobs.storage.files import Files
from glue_jobs.storage.reports import publish
from glue_jobs.storage.session import open_session
from glue_jobs.storage.snapshots import find_day, naming_broken_files, read
from glue_jobs.summary import print_reports


def utc_now() -> datetime:
    """The clock that decides which day yesterday was."""
    return datetime.now(UTC)


def main(argv: Sequence[str] | None = None, now: Callable[[], datetime] = utc_now) -> int:
    """Write and print the day's reports; the exit code, after one sentence if it is not 0."""
    try:
        options = parse(argv, now)
        if options.ignored:
            _say(f"ignored, not options of this job: {', '.join(options.ignored)}")
        run(options)
    except ReportError as error:
        _say(str(error))
        return error.exit_code
    return 0


def run(options: Options) -> None:
    """Read, reduce, publish, print; ReportError for all that a user can cause."""
    spark = open_session()
    files = Files(spark)
    day = find_day(files, options.input, options.date, options.clusters)
    with (
        _kept(group_partition_days(read(spark, day, "group_partitions"))) as groups,
        _kept(topic_partition_days(read(spark, day, "topic_partitions"))) as topics,
    ):
        reports = {
            "partition_skew": partition_skew(groups, topics),
            "retention_risk": retention_risk(groups),
        }
        publish(files, reports, options.output, day)
        print_reports(reports, day.date, options.show)
    print(f"\nWritten for {', '.join(day.clusters)}: {options.output}/reports")


@contextmanager
def _kept(days: DataFrame) -> Iterator[DataFrame]:
    """Compute a frame once, before anything is written, and keep it for all that derive from it."""
    # Spark does not merge the small partitions of a kept frame by itself: 200 tasks a step
    kept = days.coalesce(days.sparkSession.sparkContext.defaultParallelism).persist()
    try:
        with naming_broken_files():
            kept.count()
        yield kept
    finally:
        kept.unpersist()


def _say(sentence: str) -> None:
    print(f"daily_report: {sentence}", file=sys.stderr)


if __name__ == "__main__":
    # Glue takes any SystemExit for a failure
    if code := main():
        sys.exit(code)
