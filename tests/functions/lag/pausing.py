# SPDX-License-Identifier: Apache-2.0
"""Groups that read one partition, run by run through `evaluate`, each run knowing the last ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import PreviousRuns, Snapshot
from kafka_lag.snapshots.previous import select_log_ends
from tests.builders import MINUTE, NOON, a_reading, table

A_MINUTE = 600
# Minutes since the first run, from the first to before the second.
Span = tuple[int, int]
# What a group has committed by a minute, given what it had a run before.
Commits = Callable[[int, int], int]


@dataclass(frozen=True, slots=True)
class Every:
    """Runs so many minutes apart, with a window of so many."""

    minutes: int = 1
    window: int = 10

    @property
    def rules(self) -> Rules:
        """As configured."""
        interval, window = self.minutes * MINUTE, self.window * MINUTE
        return Rules(interval_ms=interval, window_ms=window, lookup_budget=0)


def written(minute: int) -> int:
    """The log's end: 600 records a minute."""
    return 1_000_000 + A_MINUTE * minute


def steady(outages: Sequence[Span], every: int = 1, speed: int = 3) -> Commits:
    """Keeps up but in outages, and works off what they leave at `speed` times the producers'.

    It is seen `every` so many minutes.
    """

    def commits(minute: int, before: int) -> int:
        if any(since <= minute < until for since, until in outages):
            return before
        return min(written(minute) - 100, before + speed * A_MINUTE * every)

    return commits


def a_job(period: int, work: int = 0) -> Commits:
    """Reads at the start of each period what is there, at once or at an even speed."""

    def commits(minute: int, _: int) -> int:
        start = minute - minute % period
        share = min(1.0, (minute - start + 1) / work) if work else 1.0
        since = written(start - period) if start else written(0)
        return int(since + (written(start) - since) * share)

    return commits


def behind(minutes: int) -> Commits:
    """Always so many minutes behind."""
    return lambda minute, _: max(written(minute - minutes), written(0))


def told(
    groups: Mapping[str, Commits],
    minutes: int,
    every: Every,
    gaps: Collection[Span] = (),
    known: int = 4,
) -> dict[str, dict[int, tuple[str | None, str | None]]]:
    """Status and reason of each group by the minute of each run; in gaps no run was.

    A run knows so many earlier log ends: a commit that lies still keeps its date without them.
    """
    before, ends = Snapshot.empty(), tuple[Frame, ...]()
    position = dict.fromkeys(groups, written(0))
    found: dict[str, dict[int, tuple[str | None, str | None]]] = {name: {} for name in groups}
    for minute in range(0, minutes, every.minutes):
        position = {name: groups[name](minute, was) for name, was in position.items()}
        if any(since <= minute < until for since, until in gaps):
            continue
        at = NOON + minute * MINUTE
        reading = a_reading(
            {name: {"orders": [commit]} for name, commit in position.items()},
            {"orders": [(0, written(minute))]},
            at=at,
            owners={(name, "orders", 0): name for name in groups},
        )
        before = evaluate(reading, PreviousRuns(before, ends), every.rules, at).snapshot
        ends = (*ends, select_log_ends(before.topic_partitions))[-known:]
        for name, *said in table(
            before.group_partitions, "consumer_group", "status", "status_reason"
        ):
            found[name][minute] = (said[0], said[1])
    return found
