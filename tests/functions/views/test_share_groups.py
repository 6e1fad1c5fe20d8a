# SPDX-License-Identifier: Apache-2.0
"""Share groups: what Burrow's API, /metrics, the status page and `why` say of them."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Console

from kafka_lag.views import app
from kafka_lag.views.http import Answer, Request
from kafka_lag.views.latest_run import LatestRun, Snapshots, find_latest_run
from kafka_lag_cli.why.explanation import explain
from kafka_lag_cli.why.output import print_explanation
from tests.builders import MINUTE, NOON
from tests.fakes import MemoryStore
from tests.functions.brokers.brokers import Brokers, Runs, Topic
from tests.functions.views.page.reading import read
from tests.functions.views.prometheus.scrapes import stored

RUNS = 25
NOW = NOON + RUNS * MINUTE
# 200 records a minute are written.
END = 200 * (RUNS - 1)
# The first cluster's brokers say the lags except that of `unsaid`; the second's are of Kafka 4.1.
NEW, OLD = "shop", "before-4-2"


@pytest.fixture(name="store", scope="module")
def _store() -> MemoryStore:
    store = MemoryStore()
    for cluster, version in ((NEW, 1), (OLD, 0)):
        brokers = Brokers({}, {})
        brokers.members, brokers.offers_share = 3, version
        runs = Runs(brokers)
        for minute in range(RUNS):
            end = 200 * minute
            brokers.topics = {"jobs": Topic([(0, end)])}
            starts = {"stalled": 0, "behind": end // 2, "unsaid": end // 2}
            lags = {"stalled": end // 4, "behind": end // 2, "unsaid": -1}
            brokers.groups = {name: {"jobs": [start]} for name, start in starts.items()}
            brokers.shared = {name: {"jobs": [lag]} for name, lag in lags.items()}
            runs()
            stored(runs.collector.memory.newest, cluster, store)
    return store


def ask(store: MemoryStore, path: str, code: int = 200, query: str = "") -> Answer:
    request = Request.of("GET", path, query, {"host": "lag.example"})
    found = app.answer(request, Snapshots(store, lambda: NOW / 1000), NOW)
    assert found.status == code, found.body
    return found


@pytest.mark.parametrize(
    ("cluster", "group", "status", "partitions"),
    [
        (NEW, "stalled", "ERR", [("STALL", 0, END // 4, 1)]),
        (NEW, "behind", "WARN", [("WARN", END // 2, END // 2, 1)]),
        # Burrow has no value for unknown. Records after the start offset may be finished.
        (NEW, "unsaid", "NOTFOUND", [("NOTFOUND", END // 2, 0, 0)]),
        (OLD, "behind", "NOTFOUND", []),
    ],
)
def test_burrows_api(
    store: MemoryStore, cluster: str, group: str, status: str, partitions: list[Any]
) -> None:
    path = f"/v3/kafka/{cluster}/consumer/{group}"
    found = ask(store, f"{path}/lag", 404 if status == "NOTFOUND" else 200)
    result = json.loads(found.body)["status"]
    names = ("status", "current_lag", "complete")
    seen = [(p["end"]["offset"], *(p[name] for name in names)) for p in result["partitions"]]
    assert seen == [(start, word, lag, whole) for word, start, lag, whole in partitions]
    assert result["status"] == status
    assert result["totallag"] == sum(lag for _, _, lag, _ in partitions)
    windows = json.loads(ask(store, path).body)["topics"].get("jobs", [])
    assert [window["current-lag"] for window in windows] == [lag for _, _, lag, _ in partitions]


LAGS = (
    "kafka_lag_group_lag",
    "kafka_consumergroup_lag_sum",
    "kafka_consumergroup_lag",
)
TIMES = (
    "kafka_lag_group_time_lag_seconds",
    "kafka_lag_topic_time_lag_seconds",
    "kafka_lag_partition_time_lag_seconds",
)
STATUSES = ("kafka_lag_group_status", "kafka_lag_partition_status")


@pytest.mark.parametrize(
    ("cluster", "group", "lag", "seconds", "statuses"),
    [
        (NEW, "stalled", END // 4, 24 * 60, [2, 4]),
        (NEW, "behind", END // 2, 12 * 60, [1, 1]),
        (NEW, "unsaid", None, None, []),
        (OLD, "behind", None, None, []),
    ],
)
def test_metrics(
    store: MemoryStore,
    cluster: str,
    group: str,
    lag: float | None,
    seconds: float | None,
    statuses: list[float],
) -> None:
    body = ask(store, "/metrics", query="level=partition").body.decode()
    samples = [
        (sample.name, sample.value)
        for family in text_string_to_metric_families(body)
        for sample in family.samples
        if (sample.labels["cluster"], sample.labels.get("consumergroup")) == (cluster, group)
    ]
    found = dict(samples)
    assert len(found) == len(samples)
    assert [found.get(name) for name in LAGS] == [lag] * 3
    # To a second, because of the reading's milliseconds.
    times = [found.get(name) for name in TIMES]
    assert [each and round(each) for each in times] == [seconds] * 3
    assert [found[name] for name in STATUSES if name in found] == statuses
    assert found["kafka_lag_group_members"] == 3


UNSAID = "(Unknown: nothing committed, or a part was not read)\u2013"
BEFORE = "(Unknown: share group: lag needs Kafka 4.2)\u2013"
NO_AGE = "(Unknown: nothing is known of any record's age)\u2013"


@pytest.mark.parametrize(
    ("cluster", "group", "title", "lag", "age"),
    [
        (NEW, "stalled", "ERR: stalled, lag", "1,200 / growing", "24 min \u00b1 3 min"),
        (NEW, "behind", "WARN: behind, lag", "2,400 / growing", "12 min \u00b1 1 min 1 s"),
        (NEW, "unsaid", "unknown: unsaid, lag", UNSAID, NO_AGE),
        (OLD, "behind", "unknown: behind, lag", BEFORE, NO_AGE),
    ],
)
def test_the_status_page(
    store: MemoryStore, cluster: str, group: str, title: str, lag: str, age: str
) -> None:
    lines = read(ask(store, f"/cluster/{cluster}/group/{group}")).lines
    assert lines[0] == title
    shown = {f"Lag: {lag}", f"Time lag: {age}", "State: Stable / share consumer", "Members: 3"}
    assert shown <= set(lines)
    # Nobody owns a partition alone.
    assert "3 members; the members of a share group read the same partitions." in lines


LOOK = (
    "to look: kafka-share-groups --bootstrap-server BROKERS --command-config FILE "
    "--describe --group"
)


@pytest.mark.parametrize(
    ("cluster", "group", "said"),
    [
        (
            NEW,
            "stalled",
            [
                "status ERR since 12:12 UTC (stalled since 12:01 UTC), lag 1,200 \u2191, time lag "
                "24 min \u00b1 3 min",
                f"{LOOK} stalled --members --verbose",
            ],
        ),
        (
            NEW,
            "behind",
            [
                "status WARN since 12:22 UTC (falling behind since 12:02 UTC), lag 2,400 \u2191, "
                "time lag 12 min \u00b1 61 s",
                f"{LOOK} behind --members --verbose",
            ],
        ),
        (NEW, "unsaid", ["status OK? since 12:01 UTC, lag ?, time lag ?, first loss ?"]),
        (
            OLD,
            "behind",
            ["status ?, lag ?, time lag ?, first loss ?", "share group: lag needs Kafka 4.2"],
        ),
    ],
)
def test_why(store: MemoryStore, cluster: str, group: str, said: list[str]) -> None:
    snapshots = Snapshots(store, lambda: NOW / 1000)
    newest = find_latest_run(snapshots, cluster, NOW, NOW)
    assert isinstance(newest, LatestRun)
    screen = Console(width=120, file=io.StringIO())
    print_explanation(explain(snapshots, newest, group, 1), screen)
    assert isinstance(screen.file, io.StringIO)
    lines = screen.file.getvalue().splitlines()
    assert {*said, "state Stable (type share, protocol consumer), members 3"} <= set(lines)
