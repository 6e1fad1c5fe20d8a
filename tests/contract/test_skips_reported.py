# SPDX-License-Identifier: Apache-2.0
"""What a group skipped, or may have skipped, is on the page, in `why` and in one message."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console

from kafka_lag.lag.columns import Column
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading
from kafka_lag.notify.notifier import StoredRuns
from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.views.page import answer
from kafka_lag_cli.why.explanation import explain, read_snapshot
from kafka_lag_cli.why.output import print_explanation
from tests.builders import MINUTE, NOON, a_reading
from tests.fakes import MemoryStore
from tests.functions.notify.fakes import Bench
from tests.functions.runs import Run


def a_minute(
    minute: int, commit: int, end: int, *, members: int = 1, epoch: int | None = 3
) -> ClusterReading:
    """One partition of group g; its commit has this leader epoch."""
    at = NOON + minute * MINUTE
    reading = a_reading(
        {"g": {"orders": [commit]}},
        {"orders": [(0, end)]},
        at=at,
        members=members,
        owners={("g", "orders", 0): "m-1"} if members else {},
        cleanup_policy="delete",
    )
    rows = reading.group_partitions.with_columns(commit_epoch=Column.optional([epoch]))
    return replace(reading, group_partitions=rows)


def reported(readings: Sequence[ClusterReading]) -> tuple[list[str], str, str]:
    """The messages, the group's page after the last reading, and what `why` says then."""
    store = MemoryStore()
    bench, collect = Bench(runs=StoredRuns(store)), Run(*readings, store=store)
    for minute in range(len(readings)):
        collect(NOON + minute * MINUTE)
        bench.event(minute)
    now = NOON + (len(readings) - 1) * MINUTE
    snapshots = Snapshots(store, lambda: now / 1_000)
    page = answer(Request.of("GET", "/cluster/shop/group/g", "", {}), snapshots, now)
    newest = read_snapshot(store, "shop", now)
    found = explain(store, "shop", "g", newest, 1, Rules(), lambda _: lambda __: None)
    screen = Console(width=300, file=io.StringIO())
    print_explanation(found, screen)
    assert isinstance(screen.file, io.StringIO)
    texts = [f"{each.notice.subject}\n{each.notice.text}" for each in bench.channel.sent]
    return texts, page.body.decode(), screen.file.getvalue()


def test_a_restart_that_leaves_nothing_unread_is_reported_once_as_read_or_skipped() -> None:
    running = [a_minute(n, 481 * n, 481 * n) for n in range(4)]
    stopped = [a_minute(n, 481 * 3, 481 * n, members=0) for n in (4, 5)]
    again = [a_minute(n, 481 * n, 481 * n) for n in range(6, 10)]
    (message,), page, why = reported([*running, *stopped, *again])

    said = "read or skipped: not known of 1,443 records"
    assert message.startswith("Kafka lag: g on shop: read or skipped\n")
    assert f"g on shop, 2026-01-31 12:06 UTC: {said};" in message
    assert [text.count(said) for text in (message, page, why)] == [1, 1, 1]
    assert "at 12:06 UTC" in why
