# SPDX-License-Identifier: Apache-2.0
"""Snapshots in memory, and the metrics in a scrape of them."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client.parser import text_string_to_metric_families

from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.store import write_snapshot
from kafka_lag.views.http import Answer, Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.views.prometheus import answer
from tests.builders import MINUTE, NOON
from tests.fakes import MemoryStore

NOW = NOON + MINUTE // 2

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


def stored(
    snapshot: Snapshot, cluster: str = "shop", store: MemoryStore | None = None
) -> MemoryStore:
    store = store or MemoryStore()
    write_snapshot(store, cluster, snapshot)
    return store


def with_groups(snapshot: Snapshot, groups: Frame) -> Snapshot:
    return Snapshot(snapshot.taken_at, snapshot.topic_partitions, snapshot.group_partitions, groups)


def ask(
    store: MemoryStore, query: Mapping[str, str] | None = None, *, gzip: bool = False, **more: int
) -> Answer:
    request = Request(path="/metrics", query=query or {}, host="lag.example", accepts_gzip=gzip)
    return answer(request, Snapshots(store, lambda: NOW / 1000), NOW, **more)


def scrape(store: MemoryStore, **query: str) -> Series:
    """Every sample by name and labels; each name and labels must be there once."""
    result = ask(store, query)
    assert result.status == 200, result.body
    samples = [
        ((sample.name, frozenset(sample.labels.items())), sample.value)
        for family in text_string_to_metric_families(result.body.decode())
        for sample in family.samples
    ]
    assert len(dict(samples)) == len(samples), "a series is there twice"
    return dict(samples)


def value(series: Series, name: str, **labels: str) -> float | None:
    """The sample with exactly these labels (cluster shop by default), None where it is absent."""
    return series.get((name, frozenset({"cluster": "shop", **labels}.items())))


def names(series: Series) -> set[str]:
    return {name for name, _ in series}
