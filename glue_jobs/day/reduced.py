# SPDX-License-Identifier: Apache-2.0
"""All that the reports need of a day's rows, computed by one scan of each dataset and kept."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame

from glue_jobs.day import group_partitions, topic_partitions
from glue_jobs.day.runs import intervals, run_weights


@dataclass(frozen=True, slots=True)
class Reduced:
    """A day's rows as the small frames that all reports are derived from."""

    groups: DataFrame
    weights: DataFrame
    intervals: DataFrame
    segments: DataFrame
    minutes: DataFrame
    topic_segments: DataFrame
    topic_minutes: DataFrame


class Keeper:
    """Computes frames now, and keeps them until it is told to let go."""

    def __init__(self) -> None:
        self._kept: list[DataFrame] = []

    def keep(self, frame: DataFrame) -> DataFrame:
        """The same rows, computed; as few partitions as there are tasks at once."""
        # Spark does not merge the small partitions of a kept frame by itself: 200 tasks a step
        few = frame.coalesce(frame.sparkSession.sparkContext.defaultParallelism).persist()
        self._kept.append(few)
        few.count()
        return few

    def release(self) -> None:
        """Give back the memory of all that was kept."""
        while self._kept:
            self._kept.pop().unpersist()


def reduced(
    groups: DataFrame, group_rows: DataFrame, topic_rows: DataFrame, keeper: Keeper
) -> Reduced:
    """Reduce the rows of `groups`, `group_partitions` and `topic_partitions`."""
    runs = keeper.keep(groups)
    group_levels = keeper.keep(group_partitions.reduced(group_rows))
    topic_levels = keeper.keep(topic_partitions.reduced(topic_rows))
    return Reduced(
        groups=runs,
        weights=keeper.keep(run_weights(runs)),
        intervals=keeper.keep(intervals(runs)),
        segments=keeper.keep(group_partitions.segments(group_levels)),
        minutes=group_partitions.minutes(group_levels),
        topic_segments=keeper.keep(topic_partitions.topic_segments(topic_levels)),
        topic_minutes=topic_partitions.topic_minutes(topic_levels),
    )


@contextmanager
def keeping() -> Iterator[Keeper]:
    """A keeper that lets go of everything in the end."""
    keeper = Keeper()
    try:
        yield keeper
    finally:
        keeper.release()
