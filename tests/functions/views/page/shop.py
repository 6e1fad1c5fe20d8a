# SPDX-License-Identifier: Apache-2.0
"""A cluster with a group in each possible state, as its snapshots hold it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from kafka_lag.views.http import Answer, Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.views.page import answer
from tests.fakes import MemoryStore
from tests.functions.views.page.rows import (
    DAY,
    HOUR,
    MINUTE,
    NOON,
    Row,
    a_group,
    a_log,
    a_partition,
    frame_of,
)

NASTY = "<script>alert(1)</script>"
NAMES = (NASTY, "a/b%2Fc?d#e", "größe 日本", "..", "\u202eabc\u2066\n", "w" * 3_000)


STALLED = a_group(
    "billing",
    owner="ledger team",
    sla_seconds=300.0,
    lag=48_200,
    max_lag=40_100,
    time_lag_seconds=5_400.0,
    time_lag_error_seconds=5.4,
    drain_seconds=None,
    consume_rate=0.0,
    seconds_until_loss=50_000.0,
    status="ERR",
    last_status="ERR",
    held_status="ERR",
    held_since=NOON - 80 * MINUTE,
    incident_since=NOON - 83 * MINUTE,
    worst_topic="orders",
    worst_partition=2,
    worst_status="stalled",
    sla_broken_since=NOON - 85 * MINUTE,
    worst_member="client-0-6f9619ff",
    worst_leader=3,
)
UNREAD = a_group(
    "reports",
    unread_reason="no_coordinator",
    group_state=None,
    members=None,
    lag=None,
    time_lag_seconds=None,
    time_lag_error_seconds=None,
    status=None,
    partitions_unknown=3,
)
LOSING = a_group(
    "search-indexer",
    owner="search",
    records_lost=1_234,
    seconds_until_loss=5_000.0,
    lag=910_000,
    time_lag_seconds=600_000.0,
    time_lag_error_seconds=None,
    time_lag_method="at_least",
    status="ERR",
    last_status="ERR",
    status_reason="records_lost",
    worst_status="stopped",
    loss_since=NOON - HOUR,
    held_status="ERR",
    held_since=NOON - 2 * DAY,
    group_state="Empty",
    members=0,
    worst_topic="clicks",
    worst_partition=0,
)
SLOW = a_group(
    "mailer",
    owner="ledger team",
    lag=7_700,
    time_lag_seconds=960.0,
    time_lag_error_seconds=0.96,
    seconds_until_loss=70_000.0,
    status="WARN",
    last_status="WARN",
    held_status="OK",
    worst_topic="orders",
    worst_partition=0,
)
GONE = a_group(
    "old-import",
    **dict.fromkeys(("lag", "time_lag_seconds", "members", "status", "seconds_until_loss")),
    last_status="ERR",
    status_reason="gone",
)
GROUPS = (
    *(STALLED, UNREAD, LOSING, SLOW, GONE),
    *(a_group(name) for name in ("checkout", "fraud-scores", *NAMES)),
)
_READ = {
    "mailer": "orders",
    "search-indexer": "clicks",
    **{name: name for name in NAMES},
}
PARTITIONS = (
    *(a_partition("billing", "orders", number) for number in range(2)),
    a_partition(
        *("billing", "orders", 2),
        status="STALL",
        last_status="STALL",
        consumer_status="stalled",
        lag=40_100,
        time_lag_seconds=5_400.0,
        time_lag_error_seconds=5.4,
        retention_risk="AT_RISK",
        seconds_until_loss=50_000.0,
    ),
    a_partition(
        *("billing", "invoices", 0),
        unread_reason="no_leader",
        leader=None,
        lag=None,
        time_lag_seconds=None,
        status=None,
        last_status="STOP",
        consumer_status="stopped",
    ),
    a_partition(
        *("billing", "refunds", 0),
        committed_offset=None,
        lag=None,
        time_lag_seconds=None,
        member_id=None,
        status=None,
        last_status=None,
        uncounted="uncommitted",
    ),
    *(a_partition(group, topic, 0) for group, topic in _READ.items()),
)
LOGS = (
    *(a_log("orders", number) for number in range(2)),
    a_log("orders", 2, in_sync_replicas=(1,), unread_reason="timeout"),
    *(a_log(topic, 0) for topic in ("clicks", "refunds", *NAMES)),
)


def put(
    store: MemoryStore,
    at: int = NOON,
    *,
    cluster: str = "shop",
    groups: Sequence[Row] = GROUPS,
    partitions: Sequence[Row] = PARTITIONS,
    logs: Sequence[Row] = LOGS,
) -> MemoryStore:
    """The store with one run's three datasets."""
    for dataset, rows in zip(contract.DATASETS, (logs, partitions, groups), strict=True):
        store.objects[object_key(dataset, cluster, at)] = to_parquet(
            frame_of(dataset, rows), dataset
        )
    return store


def six_hours(store: MemoryStore, every: int = 20 * MINUTE, until: int = NOON) -> MemoryStore:
    """Runs of the last hours, ending with a whole one: ages rise and fall, some unknown."""
    for number, at in enumerate(range(until - 6 * HOUR, until, every)):
        wave = 1 + math.sin(number / 3)
        rows = [
            {**row, "time_lag_seconds": row["time_lag_seconds"] and row["time_lag_seconds"] * wave}
            for row in GROUPS
        ]
        frame = frame_of(contract.GROUPS, rows if number not in (10, 11) else rows[2:])
        store.objects[object_key(contract.GROUPS, "shop", at)] = to_parquet(frame, contract.GROUPS)
    return put(store, until)


def opened(
    store: MemoryStore, path: str = "/", query: str = "", *, now: int = NOON + 30_000
) -> Answer:
    """The page at a path and query as sent."""
    request = Request.of("GET", path, query, {"host": "lag.example"})
    return answer(request, Snapshots(store, lambda: now / 1000), now)


def text_of(given: Answer) -> str:
    return given.body.decode()


def many(count: int) -> list[Row]:
    """So many calm groups."""
    lags = np.random.default_rng(1).integers(0, 10_000, count)
    return [a_group(f"group-{n:05d}", lag=int(lag)) for n, lag in enumerate(lags)]
