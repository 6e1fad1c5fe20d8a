# SPDX-License-Identifier: Apache-2.0
"""What every day of a run shares."""

import sys
from dataclasses import dataclass

from pyspark.sql import SparkSession

from glue_jobs.options import Options
from glue_jobs.storage.files import Files
from glue_jobs.storage.objects import Objects
from glue_jobs.timings import Timings


@dataclass(frozen=True, slots=True)
class Job:
    """The session with its file systems, what was asked for, and who hears of the seconds.

    `objects` is what the session's workers read and write by themselves.
    """

    spark: SparkSession
    files: Files
    objects: Objects
    options: Options
    timings: Timings


def say(sentence: str) -> None:
    """Tell whoever started the job, beside its output."""
    print(f"daily_report: {sentence}", file=sys.stderr)
