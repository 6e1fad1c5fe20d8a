# SPDX-License-Identifier: Apache-2.0
"""All that the reports need of a day's rows, computed by one scan of each dataset and kept."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import DataFrame

from kafka_lag_report.day import group_partitions, topic_partitions
from kafka_lag_report.day.runs import intervals, run_weights

# Rows that lie in one partition: to group, rank or join them there Spark needs no exchange, and its
# planning costs more than a second task would save.
SMALL = 100_000


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
    """Computes frames now, and keeps them until it is told to let go; from any thread."""

    def __init__(self, small: int = SMALL) -> None:
        self._small = small
        self._kept: list[DataFrame] = []

    def keep(self, frame: DataFrame) -> DataFrame:
        """The same rows, computed; in one partition if they are `small`.

        Else as few partitions as there are tasks at once.
        """
        # Spark does not merge the small partitions of a kept frame by itself: 200 tasks a step
        few = frame.coalesce(frame.sparkSession.sparkContext.defaultParallelism).persist()
        self._kept.append(few)
        return few.coalesce(1) if few.count() <= self._small else few

    def release(self) -> None:
        """Give back the memory of all that was kept."""
        while self._kept:
            self._kept.pop().unpersist()


def reduced(
    groups: DataFrame, group_rows: DataFrame, topic_rows: DataFrame, keeper: Keeper
) -> Reduced:
    """Reduce the rows of `groups`, `group_partitions` and `topic_partitions`."""
    with ThreadPoolExecutor() as pool:
        # three scans at once: one plans and exchanges while the others compute
        of_groups = pool.submit(_of_groups, groups, keeper)
        of_partitions = pool.submit(_of_partitions, group_rows, keeper)
        of_topics = pool.submit(_of_topics, topic_rows, keeper)
    return Reduced(*of_groups.result(), *of_partitions.result(), *of_topics.result())


def _of_groups(groups: DataFrame, keeper: Keeper) -> tuple[DataFrame, DataFrame, DataFrame]:
    runs = keeper.keep(groups)
    return runs, keeper.keep(run_weights(runs)), keeper.keep(intervals(runs))


def _of_partitions(rows: DataFrame, keeper: Keeper) -> tuple[DataFrame, DataFrame]:
    levels = keeper.keep(group_partitions.reduced(rows))
    return keeper.keep(group_partitions.segments(levels)), group_partitions.minutes(levels)


def _of_topics(rows: DataFrame, keeper: Keeper) -> tuple[DataFrame, DataFrame]:
    levels = keeper.keep(topic_partitions.reduced(rows))
    segments = keeper.keep(topic_partitions.topic_segments(levels))
    return segments, topic_partitions.topic_minutes(levels)


@contextmanager
def keeping() -> Iterator[Keeper]:
    """A keeper that lets go of everything in the end."""
    keeper = Keeper()
    try:
        yield keeper
    finally:
        keeper.release()
