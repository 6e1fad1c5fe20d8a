# SPDX-License-Identifier: Apache-2.0
"""Advice on a group's tasks, from its newest row and its runs over days."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from kafka_lag.wording.tasks import (
    count_partitions_wanted,
    explain_limits,
    explain_tasks_needed,
)
from kafka_lag_cli.state.groups_over_time import GroupsOverTime, Period
from kafka_lag_cli.tasks import comparison, shared_limit
from kafka_lag_cli.tasks.comparison import Comparison, compare
from kafka_lag_cli.tasks.policy import follow_tasks_needed
from kafka_lag_cli.tasks.shared_limit import SaturatedDay, find_saturated_days
from kafka_lag_cli.tasks.week import HourOfWeek, Quartiles, find_quartiles, summarise_week
from kafka_lag_cli.terminal.group_rows import Row

# What is read of each run: for all groups, and for one.
COLUMNS_OF_ALL = ("tasks_needed",)
COLUMNS_OF_ONE = tuple(dict.fromkeys((*comparison.COLUMNS, *shared_limit.COLUMNS)))


@dataclass(frozen=True, slots=True)
class Service:
    """The service that is compared: the bounds of its tasks, and the members of each.

    `most` None: as many as have a partition.
    """

    least: int = 1
    most: int | None = None
    members_per_task: int = 1

    def bounds(self, partitions: int) -> tuple[int, int]:
        """The least and the most tasks for so many partitions."""
        most = self.most
        if most is None:
            most = max(math.ceil(partitions / self.members_per_task), 1)
        return self.least, max(most, self.least)


@dataclass(frozen=True, slots=True)
class Needed:
    """A group's newest row, and the tasks that it needed in a period; None: never known."""

    cluster: str
    row: Row
    needed: Quartiles | None

    @property
    def why(self) -> str:
        """Why so many now, or why that is not known, with names as Kafka has them."""
        return explain_tasks_needed(self.row)


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice on one group: now, by hour of the week, and the past beside what would have been.

    `partitions_wanted`: without which what is written cannot be read. `bounds` of its tasks.
    """

    now: Needed
    period: Period
    runs: int
    unreadable: int
    partitions_wanted: int | None
    limits: tuple[str, ...]
    week: tuple[HourOfWeek, ...]
    bounds: tuple[int, int]
    comparison: Comparison | None
    saturated: tuple[SaturatedDay, ...]


def summarise_group(cluster: str, row: Row, over_time: GroupsOverTime) -> Needed:
    """Its newest row with the quartiles of the period."""
    runs = over_time.of_group(row["consumer_group"])
    needed = find_quartiles(runs.numbers("tasks_needed"), over_time.period.slot_ms)
    return Needed(cluster, row, needed)


def advise(cluster: str, row: Row, over_time: GroupsOverTime, service: Service) -> Advice:
    """From the newest row and the columns `COLUMNS_OF_ONE` of the period."""
    runs, slot_ms = over_time.of_group(row["consumer_group"]), over_time.period.slot_ms
    partitions = row["partitions"] or 1
    least, most = service.bounds(partitions)
    saturated = tuple(find_saturated_days(runs, slot_ms))
    return Advice(
        now=summarise_group(cluster, row, over_time),
        period=over_time.period,
        runs=int(over_time.has_run.sum()),
        unreadable=over_time.unreadable,
        partitions_wanted=count_partitions_wanted(row),
        limits=tuple(explain_limits(row, service.members_per_task)),
        week=tuple(summarise_week(runs, slot_ms)),
        bounds=(least, most),
        comparison=compare(
            runs,
            slot_ms,
            partial(follow_tasks_needed, least=least, most=most),
            partitions=partitions,
            members_per_task=service.members_per_task,
            sla_seconds=row["sla_seconds"],
        ),
        saturated=saturated,
    )
