# SPDX-License-Identifier: Apache-2.0
"""Groups that do well and badly on a real cluster, looked at once a second for a while."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from confluent_kafka import KafkaException

from dev.kafka import KafkaCluster
from dev.traffic import BEHAVIOURS, Behaviour, Traffic, possible
from dev.traffic.stage import PER_TICK, TICK, Stage
from kafka_lag.contract import OK
from kafka_lag.lag.model import LagReport
from tests.kafka.looking import commit, create, group, looker, only, partitions, produce

# Ten intervals are the window, as by default, but of a second each, not a minute.
RULES = replace(only("^(orders-)?seen-"), interval_ms=1_000, window_ms=10_000)
RUNS = 42
# The seconds before which nothing happens to a group; each happens before a run of its own.
LEAVES, REWINDS, REACHES_AGAIN, RETURNS, SPEEDS_UP = 4, 5, 7, 22, 23
REWOUND = ("rewound", "rewound-briefly")
TRAFFIC = ("healthy", "kip848", "commit-only", "rebalancing", "stopped", "stuck")

# Records a tick: all, a twelfth of what is written, three times that, none.
_ALL, _SLOW, _FAST, _AWAY = 1_000, PER_TICK // 12, PER_TICK * 3, 0
_BETWEEN_RECORDS, _UNTIL_COMMITTED = round(15 / TICK), round(3 / TICK)
_RECORDS = 200


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

    The traffic began before it: `began` is negative. `happened` has the run that came just after
    something was done to a group, by the second it was due.
    """

    began: int
    happened: dict[int, int] = field(default_factory=dict)
    runs: dict[int, dict[str, Seen]] = field(default_factory=dict)

    def of(self, name: str, since: int = 0) -> dict[int, Seen]:
        """What was seen of a group, by run, from the first that knew of it."""
        known = {run: seen.get(name) for run, seen in self.runs.items() if run >= since}
        return {run: seen for run, seen in known.items() if seen is not None}

    def first(self, name: str, holds: Callable[[Seen], bool]) -> int:
        """The first run in which this holds of a group."""
        found = [run for run, seen in self.of(name).items() if holds(seen)]
        assert found, f"never seen of {name}"
        return found[0]


def recorded(cluster: KafkaCluster) -> Recording:
    """All groups at once, each with a topic of its own."""
    paces = {"returning": _ALL, "slow": _SLOW, "speeding-up": _SLOW}
    script: dict[int, Callable[[], None]] = {
        LEAVES: lambda: paces.update({"returning": _AWAY}),
        REWINDS: lambda: _commit(cluster, _RECORDS // 2, *REWOUND),
        REACHES_AGAIN: lambda: _commit(cluster, _RECORDS, "rewound-briefly"),
        RETURNS: lambda: paces.update({"returning": _FAST}),
        SPEEDS_UP: lambda: paces.update({"speeding-up": _FAST}),
    }
    for name in REWOUND:
        create(cluster, f"orders-seen-{name}")
        produce(cluster, f"orders-seen-{name}", {0: _RECORDS})
    _commit(cluster, _RECORDS, *REWOUND)
    with looker(cluster, RULES) as eyes, Traffic(cluster, _behaviours(paces)) as traffic:
        began = time.monotonic()
        # Rates begin with the first two looks: by then writers and readers have their pace.
        for name in paces:
            traffic[f"seen-{name}"].wait_until_ready()
        recording = Recording(math.floor(began - time.monotonic()))
        for run in _on_the_clock():
            # A look that comes late must still find what was done before the next is done.
            for due in [at for at in sorted(script) if at <= run][:1]:
                script.pop(due)()
                recording.happened[due] = run
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


def _commit(cluster: KafkaCluster, offset: int, *names: str) -> None:
    for name in names:
        commit(cluster, f"seen-{name}", f"orders-seen-{name}", [offset])


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


def _behaviours(paces: Mapping[str, int]) -> Iterator[Behaviour]:
    """Those of the catalogue under other names: theirs have a past on a shared cluster."""
    for name in set(TRAFFIC) & {*possible()}:
        yield replace(BEHAVIOURS[name], name=f"seen-{name}")
    for name in paces:
        yield _on_one_partition(f"seen-{name}", "reads at a pace that changes", _at(paces, name))
    yield _on_one_partition("seen-trickle", "writes a record now and then", _trickle)


def _on_one_partition(name: str, summary: str, act: Callable[[Stage], None]) -> Behaviour:
    # A slow member reads what it has fetched of one partition before it goes on to the next.
    return Behaviour(name, summary, act, lambda view: view.lags != [], partitions=1)


def _at(paces: Mapping[str, int], name: str) -> Callable[[Stage], None]:
    """Read as many records a tick as the pace is then, and leave the group while it is none."""

    def act(stage: Stage) -> None:
        consumer = None
        while stage.tick():
            stage.produce()
            pace = paces[name]
            if pace != _AWAY:
                consumer = consumer or stage.member()
                consumer.consume(pace, timeout=0)
            elif consumer is not None:
                consumer.close()
                consumer = None

    return act


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
