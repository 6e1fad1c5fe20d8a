# SPDX-License-Identifier: Apache-2.0
"""What every day of a run shares."""

import sys
from dataclasses import dataclass

from pyspark.sql import SparkSession

from kafka_lag_report.options import Options
from kafka_lag_report.storage.files import Files
from kafka_lag_report.storage.objects import Objects
from kafka_lag_report.timings import Timings


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
