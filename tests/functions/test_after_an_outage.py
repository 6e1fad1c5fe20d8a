# SPDX-License-Identifier: Apache-2.0
"""A broker that did not respond for some runs: values carried over are not readings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.lag.model import ClusterReading
from kafka_lag.snapshots.previous import load_newest
from tests.builders import MINUTE, NOON, Log, a_reading, table
from tests.fakes import MemoryStore
from tests.functions.runs import Run

# `a_reading` requests ends 160 ms into a run, and has the answer at 200 ms.
REQUESTED, READ = 160, 200
# The log grows by ten records a minute. Of this minute the broker is read for the last time; the
# group has read all of that, and rests. It is none that downsampling retains for long.
LAST_READ = NOON + 3 * MINUTE
LAST, GROWTH = 1_000, 10


def reading(minute: int, back: int) -> ClusterReading:
    """A minute's reading; the broker responds until 0, and again from `back`."""
    responds = minute <= 0 or minute >= back
    log: Log = (0, LAST + GROWTH * minute) if responds else contract.TIMEOUT
    committed = min(LAST, LAST + GROWTH * minute)
    return a_reading(
        {"g": {"orders": [committed]}}, {"orders": [log]}, at=LAST_READ + minute * MINUTE
    )


# The minute from which on each run is by a new collector over the same store.
COLD = -10


def warm_or_cold(back: int, until: int, cold_from: int) -> Iterator[tuple[int, Run]]:
    """Each minute's collector after its run: one until `cold_from`, then always a new one."""
    store, minutes = MemoryStore(), range(-10, until + 1)
    one = Run(*(reading(minute, back) for minute in minutes), store=store)
    for minute in minutes:
        run = one if minute < cold_from else Run(reading(minute, back), store=store)
        run(LAST_READ + minute * MINUTE)
        yield minute, run


def dated(run: Run, minute: int) -> tuple[Any, ...]:
    rows = load_newest(run.store, "shop", LAST_READ + minute * MINUTE + 1).value.group_partitions
    (row,) = table(rows, "next_record_after", "next_record_before", "lag")
    return row


@pytest.mark.parametrize(
    ("back", "cold_from"),
    [
        pytest.param(11, COLD, id="11-cold"),
        pytest.param(61, 60, id="61-cold-since-60"),
    ],
)
def test_what_came_meanwhile_came_after_the_last_reading_before(back: int, cold_from: int) -> None:
    """Also where that run's own ends are not stored any more, as it is too long ago; and no run
    warns that clocks contradict each other."""
    for minute, run in warm_or_cold(back, back + 5, cold_from):
        assert run.logger.warnings == []
        if minute >= back:
            first = LAST_READ + back * MINUTE
            lag = GROWTH * minute
            assert dated(run, minute) == (LAST_READ + REQUESTED, first + READ, lag)
