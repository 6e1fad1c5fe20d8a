# SPDX-License-Identifier: Apache-2.0
"""From what brokers answer to what people read, through real snapshots."""

from __future__ import annotations

from kafka_lag import contract
from kafka_lag.lag.model import ClusterReading
from kafka_lag.notify.notifier import StoredRuns
from tests.builders import HOUR, MINUTE, NOON, a_reading
from tests.fakes import MemoryStore
from tests.functions.lag.time_index_fake import Broker, Log
from tests.functions.notify.fakes import Bench
from tests.functions.runs import Run

OWNERS = {("g", "orders", 0): "m-1"}


def test_a_consumer_that_sticks_recovers_and_is_deleted_is_reported() -> None:
    store = MemoryStore()
    bench = Bench(runs=StoredRuns(store))
    readings = [a_minute(minute) for minute in range(40)]
    readings.append(a_reading({}, {"orders": [(0, 9_999)]}, gone_groups=["g"]))
    collect = Run(*readings, store=store)
    for minute in range(41):
        collect(NOON + minute * MINUTE)
        bench.event(minute)

    opened, resolved, gone = (message.notice for message in bench.channel.sent)
    assert bench.channel.kinds == [("g", "opened"), ("g", "resolved"), ("g", "gone")]
    assert opened.thread == resolved.thread != gone.thread
    assert opened.text.splitlines()[:4] == [
        "g on shop is ERR since 2026-01-31 12:11 UTC.",
        "Now: 135 records behind, the oldest unread for at least 12 min.",
        "Stalled since 2026-01-31 12:00 UTC: a member owns the partition, and its commit does not "
        "move.",
        "Worst: orders partition 0, led by broker 0, read by m-1.",
    ]
    assert "When last seen: 3 records behind" in gone.text


def test_a_group_that_nobody_reads_is_reported_once_its_status_has_lasted() -> None:
    store = MemoryStore()
    bench = Bench(runs=StoredRuns(store))
    records = Broker({("orders", 0): Log([NOON - HOUR] * 50)})
    readings = [
        a_reading({"g": {"orders": [9]}}, {"orders": [(0, 50)]}, at=NOON + n * MINUTE, members=0)
        for n in range(5)
    ]
    collect, sent = Run(*readings, store=store, answers=records), []
    for minute in range(5):
        collect(NOON + minute * MINUTE)
        bench.event(minute)
        sent.append(len(bench.channel.sent))

    statuses = [
        value
        for sets in collect.sink.published
        for one in sets
        for name, value in one.values
        if name == contract.GROUP_STATUS
    ]
    assert statuses == [contract.GROUP_STATUS_VALUES[contract.WARN]] * 4
    assert sent == [0, 0, 0, 1, 1]
    assert "No member since " in bench.channel.sent[0].notice.text


def a_minute(minute: int) -> ClusterReading:
    """Ten records a minute come; the consumer sticks for 20 minutes and leaves 3 in the end."""
    end = 100 + 10 * minute
    commit = 95 if minute < 20 else end - 3 * (minute > 35)
    at = NOON + minute * MINUTE
    return a_reading({"g": {"orders": [commit]}}, {"orders": [(0, end)]}, at=at, owners=OWNERS)
