# SPDX-License-Identifier: Apache-2.0
"""Builds snapshots from rows in a line or two, and requests Burrow's paths of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from kafka_lag.views import burrow
from kafka_lag.views.http import Answer, Request
from kafka_lag.views.latest_run import Snapshots
from tests.builders import MINUTE, NOON
from tests.fakes import MemoryStore
from tests.functions.views.page.rows import frame_of

Row = dict[str, Any]
CLUSTER = "shop"


def a_partition(number: int = 0, committed: int | None = 5, end: int = 10, **more: Any) -> Row:
    """A partition of the group `billing` as read at noon, its commit first seen a minute before."""
    lag = None if committed is None else end - committed
    result = {
        "consumer_group": "billing",
        "topic": "orders",
        "topic_id": "id-1",
        "partition_id": number,
        "committed_offset": committed,
        "commit_changed_at": None if committed is None else NOON - MINUTE,
        "read_at": NOON + 150,
        "start_offset": 0,
        "end_offset": end,
        "lag": lag,
        "status": "OK",
        "last_status": "OK",
    }
    return result | more


def a_group(name: str = "billing", status: str | None = "OK", **more: Any) -> Row:
    """A group's row with all its partitions read."""
    return {"consumer_group": name, "status": status, "complete": 1.0, **more}


class Shop:
    """One cluster's snapshots, a run at noon by default, and Burrow's API on them."""

    def __init__(
        self, partitions: Sequence[Row] = (), groups: Sequence[Row] = (), topics: Sequence[Row] = ()
    ) -> None:
        self.store = MemoryStore()
        self.now_ms = NOON + MINUTE
        if partitions or groups or topics:
            self.run(NOON, partitions, groups, topics)

    def run(
        self,
        at: int,
        partitions: Sequence[Row] = (),
        groups: Sequence[Row] = (),
        topics: Sequence[Row] = (),
        servers: Sequence[str] = (),
    ) -> None:
        result = (topics, partitions, groups)
        for dataset, rows in zip(contract.DATASETS, result, strict=True):
            frame = frame_of(dataset, rows) if rows else Frame.empty(dataset)
            data = to_parquet(frame, dataset, servers)
            self.store.objects[object_key(dataset, CLUSTER, at)] = data

    def ask(self, path: str, query: str = "") -> Answer:
        request = Request.of("GET", path, query, {"host": "lag.example"})
        snapshots = Snapshots(self.store, lambda: self.now_ms / 1000)
        return burrow.answer(request, snapshots, self.now_ms)

    def body(self, path: str, query: str = "", code: int = 200) -> Any:
        answer = self.ask(path, query)
        assert (answer.status, answer.content_type) == (code, "application/json")
        return json.loads(answer.body)

    def status(self, kind: str = "lag", group: str = "billing", code: int = 200) -> Any:
        return self.body(f"/v3/kafka/{CLUSTER}/consumer/{group}/{kind}", code=code)["status"]
