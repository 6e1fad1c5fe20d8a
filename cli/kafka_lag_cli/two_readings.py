# SPDX-License-Identifier: Apache-2.0
"""Two readings of a cluster, by which `show` sees who stands still."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from rich.console import Console

from kafka_lag import contract
from kafka_lag.collector import Collector, WarningLogger
from kafka_lag.errors import StoreError
from kafka_lag.lag.frame import locate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import LagReport, Snapshot
from kafka_lag.settings import Settings
from kafka_lag_cli.connecting.collect_options import CollectOptions
from kafka_lag_cli.schedule import describe_unkept
from kafka_lag_cli.state.shared import HeldStore, find_interval


@dataclass(frozen=True, slots=True)
class TwoReadings:
    """The second of two readings, `gap` seconds after the first one; 0 if there is only one.

    `idle`: by group, how many partitions have lag and no new commit in between, and how many have
    lag. Where nothing else is known of them for as long as a status takes, the snapshot has no
    status of them. A broker that was not read may know of more groups.
    """

    cluster: str
    snapshot: Snapshot
    gap: int
    idle: Mapping[str, tuple[int, int]]
    unread_brokers: tuple[str, ...] = ()


def read_twice(
    collect: CollectOptions,
    gap: int,
    stderr: Console,
    logger: WarningLogger,
    *,
    by_document: bool = False,
) -> TwoReadings:
    """Reads the cluster, waits and reads it again. Raises ReporterError.

    Beside somebody who collects into the same state it keeps nothing, and judges by that one's
    interval, unless a configuration says it. With filters it keeps nothing beside what they hide.
    """
    settings = replace(collect.settings, interval_ms=max(gap, 1) * 1000)
    # A reading by hand is not made to be kept.
    held = HeldStore(collect.open_store(lambda _sentence: None))

    def find(cluster: str) -> int | None:
        return find_interval(collect.state, cluster, time.time())

    def adapt(settings: Settings) -> Settings:
        interval = None if by_document else find(settings.cluster)
        return settings if interval is None else judge_at(settings, interval)

    collector = replace(collect, settings=settings).open_into(held, logger, adapt=adapt)
    keep = find(collector.cluster) is None
    readings = take_readings(collector, held, gap, stderr.status, logger, keep=keep)
    report = readings[-1]
    for note in report.notes:
        logger.warning(note)
    if len(readings) == 1:
        found = TwoReadings(collector.cluster, report.snapshot, 0, {})
    else:
        first, second = (reading.snapshot for reading in readings)
        found = compare_readings(collector.cluster, first, second, collector.rules, gap)
    if keep:
        collect.remove_old_days()
    brokers = (problem.name for problem in report.problems if problem.scope == "broker")
    return replace(found, unread_brokers=tuple(dict.fromkeys(brokers)))


def judge_at(settings: Settings, interval_ms: int) -> Settings:
    """Return settings for runs as far apart as those of the collector that shares the state."""
    return replace(settings, rules=settings.rules.at_interval(interval_ms))


def take_readings(
    collector: Collector,
    held: HeldStore,
    gap: int,
    waiting: Callable[[str], AbstractContextManager[object]],
    logger: WarningLogger,
    *,
    keep: bool,
    wait: Callable[[float], object] = time.sleep,
    clock: Callable[[], float] = time.time,
) -> list[LagReport]:
    """One reading, and another after `gap` seconds unless that is 0. Raises ReporterError.

    The last one alone is saved, if any shall be: two so close together are no interval. A store
    that fails costs no reading, and is warned of.
    """
    with waiting("reading the cluster"):
        outcomes = [collector.collect(int(clock()) * 1000)]
    if gap:
        # From the end of the first reading, which may take longer than the gap.
        with waiting(f"reading again {gap} s later, to see who stands still (--gap 0: do not)"):
            wait(gap)
            outcomes.append(collector.collect(int(clock()) * 1000))
    failure = outcomes[-1].failure
    if keep and not failure:
        try:
            held.save(outcomes[-1].report.snapshot.taken_at)
        except StoreError as error:
            failure = error
    if failure:
        logger.warning(describe_unkept(failure))
    return [outcome.report for outcome in outcomes]


def compare_readings(
    cluster: str, first: Snapshot, second: Snapshot, rules: Rules, gap: int
) -> TwoReadings:
    """Find groups that stood still between two readings; their status is not known yet."""
    rows = second.group_partitions
    before = first.group_partitions.take(locate(rows, first.group_partitions, contract.ROW_KEY))
    same = rows.numbers("committed_offset") == before.numbers("committed_offset")
    lagging = rows.numbers("lag") > 0
    idle = same & lagging
    window_ms = rules.window_ms
    is_old = ~(rows.numbers("time_lag_seconds") * 1000 <= window_ms)
    seen_shortly = ~(rows.numbers("commit_changed_at") <= second.taken_at - window_ms)
    unproven = idle & is_old & seen_shortly & rows.strings("status").is_in([contract.OK])
    names = rows.strings("consumer_group")
    idle_of, lagging_of = (Counter(names.only(mask).to_list()) for mask in (idle, lagging))
    counts = {name: (idle_of[name], lagging_of[name]) for name in idle_of if name is not None}
    groups = second.groups
    unsure = groups.strings("consumer_group").is_in(
        names.only(unproven).pruned().categories
    ) & groups.strings("status").is_in([contract.OK])
    snapshot = replace(
        second,
        group_partitions=rows.with_columns(status=rows.strings("status").only(~unproven)),
        groups=groups.with_columns(status=groups.strings("status").only(~unsure)),
    )
    return TwoReadings(cluster, snapshot, gap, counts)
