# SPDX-License-Identifier: Apache-2.0
"""Groups that do well and badly on a real cluster, looked at once a second for a while."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace

from confluent_kafka import KafkaException

from dev.kafka import KafkaCluster
from dev.traffic import BEHAVIOURS, Behaviour, Traffic, possible
from dev.traffic.stage import PER_TICK, TICK, Stage
from kafka_lag.contract import OK
from kafka_lag.lag.model import LagReport
from tests.kafka.looking import group, looker, only, partitions

# Ten intervals are the window, as by default, but of a second each, not a minute.
RULES = replace(only("^(orders-)?seen-"), interval_ms=1_000, window_ms=10_000)
RUNS = 42
TRAFFIC = ("healthy", "kip848", "commit-only", "rebalancing", "stopped", "stuck")

# Records a tick: all, a twelfth of what is written.
_ALL, _SLOW = 1_000, PER_TICK // 12
_BETWEEN_RECORDS, _UNTIL_COMMITTED = round(15 / TICK), round(3 / TICK)


@dataclass(frozen=True, slots=True)
class Seen:
    """What one run said of a group; `statuses` and `committed` by partition."""

    statuses: tuple[str | None, ...]
    committed: tuple[int | None, ...]
    lag: int | None
    seconds: float | None
    state: str | None

    @property
    def ok(self) -> bool:
        """Whether all is well with each partition."""
        return {*self.statuses} == {OK}


@dataclass(frozen=True, slots=True)
class Recording:
    """What was seen in each run; a run's number is the seconds since the first.

    The traffic began before it: `began` is negative.
    """

    began: int
    runs: dict[int, dict[str, Seen]] = field(default_factory=dict)

    def of(self, name: str, since: int = 0) -> dict[int, Seen]:
        """What was seen of a group, by run, from the first that knew of it."""
        return {run: seen[name] for run, seen in self.runs.items() if run >= since and name in seen}

    def first(self, name: str, holds: Callable[[Seen], bool]) -> int:
        """The first run in which this holds of a group."""
        found = [run for run, seen in self.of(name).items() if holds(seen)]
        assert found, f"never seen of {name}"
        return found[0]


def recorded(cluster: KafkaCluster) -> Recording:
    """All groups at once, each with a topic of its own."""
    with looker(cluster, RULES) as eyes, Traffic(cluster, _behaviours()) as traffic:
        began = time.monotonic()
        # Rates begin with the first two looks: by then writer and reader have their pace.
        traffic["seen-slow"].wait_until_ready()
        recording = Recording(math.floor(began - time.monotonic()))
        for run in _on_the_clock():
            recording.runs[run] = _seen(eyes.look())
        assert not traffic.errors
    return recording


def _on_the_clock() -> Iterator[int]:
    """Runs that are due, a second apart; one that takes longer leaves out those it overlaps."""
    began, run = time.monotonic(), 0
    while run < RUNS:
        yield run
        run = max(run + 1, math.ceil(time.monotonic() - began))
        time.sleep(max(0.0, began + run - time.monotonic()))


def _seen(report: LagReport) -> dict[str, Seen]:
    return {
        name.removeprefix("seen-"): _seen_of(report, name)
        for name in report.snapshot.groups.strings("consumer_group").categories
    }


def _seen_of(report: LagReport, name: str) -> Seen:
    parts = [part for _, part in sorted(partitions(report, name).items())]
    reported = group(report, name)
    return Seen(
        tuple(part["status"] for part in parts),
        tuple(part["committed_offset"] for part in parts),
        reported["lag"],
        reported["time_lag_seconds"],
        reported["group_state"],
    )


def _behaviours() -> Iterator[Behaviour]:
    """Those of the catalogue under other names: theirs have a past on a shared cluster."""
    for name in set(TRAFFIC) & {*possible()}:
        yield replace(BEHAVIOURS[name], name=f"seen-{name}")
    yield _on_one_partition("seen-slow", "reads a twelfth of what is written", _slowly)
    yield _on_one_partition("seen-trickle", "writes a record now and then", _trickle)


def _on_one_partition(name: str, summary: str, act: Callable[[Stage], None]) -> Behaviour:
    # A slow member reads what it has fetched of one partition before it goes on to the next.
    return Behaviour(name, summary, act, lambda view: view.lags != [], partitions=1)


def _slowly(stage: Stage) -> None:
    consumer = stage.member()
    while stage.tick():
        stage.produce()
        consumer.consume(_SLOW, timeout=0)


def _trickle(stage: Stage) -> None:
    """Write a record less often than once a window, and commit it late enough to be seen."""
    consumer = stage.member(enable_auto_commit=False)
    ticks = 0
    while stage.tick():
        if ticks == 0:
            stage.produce(1)
        consumer.consume(_ALL, timeout=0)
        if ticks >= _UNTIL_COMMITTED:
            with suppress(KafkaException):  # raised when there is nothing to commit
                consumer.commit()
        ticks = (ticks + 1) % _BETWEEN_RECORDS
