# SPDX-License-Identifier: Apache-2.0
"""Groups simulated over days and weeks at one run a minute."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Rows, Seconds, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import AnyColumn, Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import PreviousRuns, Snapshot
from kafka_lag.lag.movement import add_movement
from kafka_lag.lag.previous_rows import match_previous
from kafka_lag.lag.rates import add_produce_rate, add_rates
from kafka_lag.lag.status import add_status
from kafka_lag.snapshots.previous import select_log_ends
from tests.builders import MINUTE, NOON, a_reading, table
from tests.functions.lag.builders import exact_ages, stable

# Days of a cluster at one run a minute: behaviours as rows of one frame, ages known exactly.

RUNS = 4 * 1_440
STEP_SECONDS = 15
A_RUN = 60 // STEP_SECONDS
STEPS = RUNS * A_RUN
# The clock of the simulation: seconds since its first run, and the minute of each step.
SECONDS = np.arange(STEPS) * STEP_SECONDS
MINUTES = SECONDS // 60


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Offsets step by step; `owned` is false while no member owns the partition."""

    end: Rows
    committed: Rows
    owned: Mask


def behaviour(end: Rows, committed: Rows, away: Mask | None = None) -> Behaviour:
    """A partition that a member owns while its group is stable, as it is by default."""
    away_at = np.zeros(STEPS, bool) if away is None else away
    return Behaviour(end, committed, ~away_at)


def produced(a_minute: float, seed: int | None = None) -> Rows:
    """The log's end: records at random, or as regularly as whole records can be."""
    if seed is not None:
        return np.random.default_rng(seed).poisson(a_minute / A_RUN, STEPS).cumsum()
    return np.floor(np.arange(1, STEPS + 1) * a_minute / A_RUN).astype(np.int64)


def bursts(records: int, every_minutes: int, lasting_minutes: int = 2) -> Rows:
    """The log's end where producers write now and then."""
    writing = MINUTES % every_minutes < lasting_minutes
    end: Rows = np.cumsum(np.where(writing, records // (lasting_minutes * A_RUN), 0))
    return end


def random_bursts(capacity: int, share: float, every_minutes: int, seed: int) -> Rows:
    """The log's end where bursts come at random, that take this share of a consumer's time."""
    random, rate = np.random.default_rng(seed), np.zeros(STEPS)
    starts = np.cumsum(random.exponential(every_minutes * A_RUN, STEPS // A_RUN)).astype(np.int64)
    starts = starts[starts < STEPS]
    np.add.at(rate, starts, random.exponential(share * every_minutes * capacity, len(starts)))
    end: Rows = np.floor(rate.cumsum()).astype(np.int64)
    return end


def behind(end: Rows, seconds: int) -> Rows:
    """Commits of a group that stays so far behind."""
    steps = seconds // STEP_SECONDS
    return np.concatenate([np.zeros(steps, np.int64), end[: STEPS - steps]])


def batches(end: Rows, every_minutes: int, work_minutes: int = 0) -> Rows:
    """Commits of a job that now and then reads what is there, at an even speed or at once."""
    every, work = every_minutes * A_RUN, max(work_minutes * A_RUN, 1)
    step = np.arange(STEPS)
    due = step - step % every
    done = np.where(due > 0, end[due - every], 0)
    committed: Rows = done + (end[due] - done) * np.minimum(step - due + 1, work) // work
    return committed


def worked_off(end: Rows, a_minute: Callable[[int], float], first: int = 0) -> Rows:
    """Commits of a group of so many records a minute, by the minute, once it is behind."""
    committed, position = np.zeros(STEPS, np.int64), float(first)
    for step in range(STEPS):
        position = min(float(end[step]), position + a_minute(step // A_RUN) / A_RUN)
        committed[step] = position
    return committed


def stopped_at(committed: Rows, minute: int) -> Rows:
    """The same commits until then, and no more."""
    stopped: Rows = np.minimum(committed, committed[minute * A_RUN])
    return stopped


@dataclass(frozen=True, slots=True)
class StatusHistory:
    """Status and reason of each behaviour, run by run."""

    statuses: Mapping[str, Sequence[str | None]]
    reasons: Mapping[str, Sequence[str | None]]

    def changes(self, name: str, since: int = 0) -> list[tuple[int, str | None]]:
        """Each run from `since` on with another status than the previous run, and which."""
        statuses = self.statuses[name]
        return [
            (run, statuses[run])
            for run in range(max(1, since), len(statuses))
            if statuses[run] != statuses[run - 1]
        ]


@dataclass(frozen=True, slots=True)
class _Cluster:
    """All behaviours, a row each, a column a run; `ages` in seconds."""

    names: Strings
    end: Rows
    committed: Rows
    owned: Mask
    ages: Seconds


def simulated(behaviours: Mapping[str, Behaviour], runs: int = RUNS) -> StatusHistory:
    """So many runs, each knowing the snapshot before it and nothing else."""
    every, at = tuple(behaviours.values()), np.arange(RUNS) * A_RUN
    cluster = _Cluster(
        names=Strings.of(behaviours),
        end=np.stack([one.end[at] for one in every]),
        committed=np.stack([one.committed[at] for one in every]),
        owned=np.stack([one.owned[at] for one in every]),
        ages=np.stack([_ages(one.end, one.committed[at], at) for one in every]),
    )
    before = Snapshot.empty()
    statuses: list[list[str | None]] = []
    reasons: list[list[str | None]] = []
    for run in range(runs):
        before = _after(cluster, before, run)
        statuses.append(before.group_partitions.strings("status").to_list())
        reasons.append(before.group_partitions.strings("status_reason").to_list())
    return StatusHistory(_by_name(behaviours, statuses), _by_name(behaviours, reasons))


def _by_name(
    names: Iterable[str], runs: Sequence[Sequence[str | None]]
) -> dict[str, tuple[str | None, ...]]:
    return dict(zip(names, zip(*runs, strict=True), strict=True))


def _ages(end: Rows, committed: Rows, at: Rows) -> Seconds:
    """How long ago the log first reached past each commit; 0 where nothing is unread."""
    appended = np.searchsorted(end, committed, side="right")
    ages: Seconds = np.maximum(at - appended, 0) * float(STEP_SECONDS)
    return ages


def _after(cluster: _Cluster, before: Snapshot, run: int) -> Snapshot:
    taken_at, count = NOON + run * MINUTE, len(cluster.names)
    nothing, rules = Column.of(np.zeros(count, np.int64)), Rules()
    read_at = Column.of(np.full(count, taken_at + 150))
    end, ages = Column.of(cluster.end[:, run]), Column.of(cluster.ages[:, run])
    key: dict[str, AnyColumn] = {
        "topic": cluster.names,
        "topic_id": cluster.names,
        "partition_id": nothing,
        "taken_at": Column.of(np.full(count, taken_at)),
    }
    topics = Frame.of({**key, "end_offset": end, "read_at": read_at})
    topics = add_produce_rate(topics.completed(contract.TOPIC_PARTITIONS), before, rules)
    rows = Frame.of({**key, "consumer_group": cluster.names, "end_offset": end, "read_at": read_at})
    rows = rows.with_columns(
        committed_offset=Column.of(cluster.committed[:, run]),
        lag=Column.of(np.maximum(end.values - cluster.committed[:, run], 0)),
        time_lag_seconds=ages,
        member_id=cluster.names.only(cluster.owned[:, run]),
        owned_at=_owned_at(cluster, run),
    ).completed(contract.GROUP_PARTITIONS)
    memory = match_previous(rows, before)
    rows = add_movement(rows, memory, taken_at, rules)
    rows = add_rates(rows, memory, topics.numbers("produce_rate"), nothing, rules)
    rows = add_status(rows, stable(count), memory, exact_ages(ages), nothing, taken_at, rules)
    return Snapshot(taken_at, topics, rows, before.groups)


def _owned_at(cluster: _Cluster, run: int) -> Column:
    """The last run in which a member owned each partition."""
    since = cluster.owned[:, run::-1].argmax(axis=1)
    ever = cluster.owned[:, : run + 1].any(axis=1)
    return Column.of(NOON + (run - since) * MINUTE, ever)


# Groups that read one partition, run by run through `evaluate`, each run knowing the last ones.

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


def minutes_behind(minutes: int) -> Commits:
    """Always so many minutes minutes_behind."""
    return lambda minute, _: max(written(minute - minutes), written(0))


def report_statuses(
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
        position = {name: groups[name](minute, committed) for name, committed in position.items()}
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
        for name, *reported in table(
            before.group_partitions, "consumer_group", "status", "status_reason"
        ):
            found[name][minute] = (reported[0], reported[1])
    return found
