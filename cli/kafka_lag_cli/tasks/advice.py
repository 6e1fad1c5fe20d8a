# SPDX-License-Identifier: Apache-2.0
"""Advice on a group's tasks, from its newest row and its runs over days."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lag.wording.tasks import (
    count_partitions_wanted,
    explain_limits,
    explain_tasks_needed,
    is_in_vain,
)
from kafka_lag_cli.state.groups_over_time import GroupsOverTime, Period
from kafka_lag_cli.tasks.week import HourOfWeek, Quartiles, find_quartiles, summarise_week
from kafka_lag_cli.terminal.group_rows import Row

# The columns that are read of each run.
COLUMNS = ("tasks_needed",)


@dataclass(frozen=True, slots=True)
class Needed:
    """A group's newest row, and the tasks that it needed in a period; null if never known."""

    cluster: str
    row: Row
    needed: Quartiles | None

    @property
    def why(self) -> str:
        """Why so many now, or why that is not known, with names as Kafka has them."""
        return explain_tasks_needed(self.row)

    @property
    def why_in_short(self) -> str:
        """The same, and whether more tasks help: for a line a group."""
        if self.row["members"] == 0:
            return f"nobody reads; {self.why}"
        return f"more do not help; {self.why}" if is_in_vain(self.row) else self.why


@dataclass(frozen=True, slots=True)
class Advice:
    """Advice on one group: now, by hour of the week, and where more tasks do not help.

    `partitions_wanted`: the partitions that let members read what is written; null if it has them.
    """

    now: Needed
    period: Period
    runs: int
    unreadable: int
    partitions_wanted: int | None
    limits: tuple[str, ...]
    week: tuple[HourOfWeek, ...]


def summarise_group(cluster: str, row: Row, over_time: GroupsOverTime) -> Needed:
    """Returns a group's newest row with the quartiles of the period."""
    runs = over_time.of_group(row["consumer_group"])
    needed = find_quartiles(runs.numbers("tasks_needed"), over_time.period.slot_ms)
    return Needed(cluster, row, needed)


def advise(cluster: str, row: Row, over_time: GroupsOverTime, members_per_task: int) -> Advice:
    """Returns advice from the newest row and the columns `COLUMNS` of the period."""
    runs, slot_ms = over_time.of_group(row["consumer_group"]), over_time.period.slot_ms
    return Advice(
        now=summarise_group(cluster, row, over_time),
        period=over_time.period,
        runs=int(over_time.has_run.sum()),
        unreadable=over_time.unreadable,
        partitions_wanted=count_partitions_wanted(row),
        limits=tuple(explain_limits(row, members_per_task)),
        week=tuple(summarise_week(runs, slot_ms)),
    )
