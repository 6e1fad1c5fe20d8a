# SPDX-License-Identifier: Apache-2.0
"""From what brokers answer to what people read, through real snapshots."""

from __future__ import annotations

from kafka_lag.lag.model import ClusterReading
from kafka_lag.notify.notifier import StoredRuns
from tests.builders import MINUTE, NOON, a_reading
from tests.fakes import MemoryStore
from tests.functions.notify.fakes import Bench
from tests.functions.runs import Run

OWNERS = {("g", "orders", 0): "m-1"}


def test_a_consumer_that_sticks_recovers_and_is_deleted_is_reported_in_time() -> None:
    store = MemoryStore()
    bench = Bench(runs=StoredRuns(store))
    readings = [a_minute(minute) for minute in range(40)]
    readings.append(a_reading({}, {"orders": [(0, 9_999)]}, gone_groups=["g"]))
    collect = Run(*readings, store=store)
    sent: list[int] = []
    for minute in range(41):
        collect(NOON + minute * MINUTE)
        bench.event(minute)
        sent += [minute] * (len(bench.channel.sent) - len(sent))

    opened, resolved, gone = (message.notice for message in bench.channel.sent)
    assert bench.channel.kinds == [("g", "opened"), ("g", "resolved"), ("g", "gone")]
    assert sent == [13, 22, 40]
    assert opened.thread == resolved.thread != gone.thread


def a_minute(minute: int) -> ClusterReading:
    """Ten records a minute come; the consumer sticks for 20 minutes and leaves 3 in the end."""
    end = 100 + 10 * minute
    commit = 95 if minute < 20 else end - 3 * (minute > 35)
    at = NOON + minute * MINUTE
    return a_reading({"g": {"orders": [commit]}}, {"orders": [(0, end)]}, at=at, owners=OWNERS)
