# SPDX-License-Identifier: Apache-2.0
"""The runs of a described day, each by the collector's own arithmetic from the one before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from dev.days.cluster import Commits, Consumers, Logs
from dev.days.describe import HOUR, Day, Events, Missing, NullColumns, Span
from dev.days.reading import Reader
from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.previous import Memory, downsample

WHOLE_DAY = Span(0.0, 24.0)
_WINDOW_RUNS = 10


def runs(
    day: Day, midnight: datetime, every: timedelta, hours: Span = WHOLE_DAY
) -> Iterator[Snapshot]:
    """The snapshots of the runs scheduled in these hours of the day that starts at `midnight`.

    Wherever they begin, the consumers are where they would be, and the collector remembers
    what it has to of what it saw since its deployment.
    """
    events, step = Events(day.events), every.total_seconds()
    consumers = Consumers(day, Logs(day), events)
    commits, reader = Commits(consumers, events), Reader(consumers, events, _ms(midnight, 0))
    rules, memory = _rules(day.rules, every), Memory.empty()
    usual = _usual(day)
    first, begin, end = (
        round(hour * HOUR / step) for hour in (-day.warm_up_hours, hours.begin, hours.end)
    )
    remembered = _remembered(midnight, [number * step for number in range(first, begin)], step)
    for number in range(min(first, begin), end):
        second = number * step
        moved, at = commits.move_on(second), _ms(midnight, second)
        computed = number >= begin or day.whole_warm_up or at in remembered
        if events.on(Missing, second) or not computed:
            continue
        previous = replace(memory.previous_runs(), usual=usual)
        report = evaluate(reader.read(second, moved), previous, rules, at)
        memory = memory.add_run(report.snapshot, rules.interval_ms, stored=True)
        if number >= begin:
            yield _finished(report.snapshot, events, second)


def _remembered(midnight: datetime, seconds: list[float], step: float) -> set[int]:
    """Those of earlier runs whose log ends a collector still knows after the last of them."""
    times = [_ms(midnight, second) for second in seconds]
    return set(downsample(times, times[-1] + 1, round(step * 1_000))) if times else set()


def _usual(day: Day) -> Frame:
    """The same at every hour, and half of it as spread."""
    learnt = [group for group in day.groups if any(group.usual)]
    lag, age = (np.array([group.usual[n] for group in learnt], float) for n in (0, 1))
    return Frame.of(
        {
            "consumer_group": Strings.of(group.name for group in learnt),
            "usual_lag": Column.of(lag),
            "lag_spread": Column.of(lag / 2),
            "usual_time_lag": Column.of(age),
            "time_lag_spread": Column.of(age / 2),
            "usual_produce_rate": Column.unknown(len(learnt), float),
            "produce_rate_spread": Column.unknown(len(learnt), float),
        }
    )


def _ms(midnight: datetime, second: float) -> int:
    return round((midnight.timestamp() + second) * 1_000)


def _rules(rules: Rules, every: timedelta) -> Rules:
    interval = round(every.total_seconds() * 1_000)
    return replace(rules, interval_ms=interval, window_ms=_WINDOW_RUNS * interval)


def _finished(snapshot: Snapshot, events: Events, second: float) -> Snapshot:
    """With what the sinks would have published; without what is forgotten."""
    rows = snapshot.group_partitions
    level = Strings.constant(contract.PUBLISHED_TOPIC, len(rows))
    frames = {name: snapshot.dataset(name) for name in contract.DATASETS}
    frames[contract.GROUP_PARTITIONS] = rows.with_columns(published=level)
    for event in events.on(NullColumns, second):
        frames[event.dataset] = _without(frames[event.dataset], event)
    return Snapshot(snapshot.taken_at, *frames.values())


def _without(frame: Frame, event: NullColumns) -> Frame:
    named = np.zeros(len(frame), bool)
    for key in {"consumer_group", "topic"} & set(frame.columns):
        named |= frame.strings(key).is_in([event.name])
    return frame.with_columns(**{n: frame.columns[n].only(~named) for n in event.columns})
