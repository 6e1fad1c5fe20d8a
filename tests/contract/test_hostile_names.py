# SPDX-License-Identifier: Apache-2.0
"""Groups that any client may invent: their names and number, from the brokers to people."""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag.lag.model import ClusterReading, Snapshot
from kafka_lag.notify.notifier import StoredRuns
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import MetricSet
from kafka_lag.snapshots.previous import load_newest
from kafka_lag.views.app import answer
from kafka_lag.views.http import Answer, Request
from kafka_lag.views.latest_run import Snapshots
from tests.builders import MINUTE, NOON, Groups, a_reading, cell, table
from tests.fakes import MemoryStore, RecordingSink
from tests.functions.notify.builders import a_row, a_set
from tests.functions.notify.fakes import Bench
from tests.functions.runs import Run

# What strangers choose for groups, topics and clients: data, and never markup, a formula, a path or
# a statement.
LONGEST = 249

NAMES = (
    "plain",
    "ü" * LONGEST,
    "a/b",
    "a%2Fb",
    "a b",
    " leading and trailing ",
    "..",
    "../../etc/passwd",
    "",
    "%",
    "line\nbreak\r\n",
    "nul\0byte",
    "bell\x07 escape\x1b[2J tab\t",
    "\u202ereversed\u2066",
    "שלום-عليكم",
    "zero\u200bwidth\ufeff",
    "日本語-🦄-e\u0301",
    "\u00e9",
    "e\u0301",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "]]><!--",
    "\"quoted\" 'twice' `thrice` \\",
    "{{ 7*7 }} {% raw %} ${jndi:ldap://x}",
    "'; DROP TABLE groups; --",
    "=cmd|' /C calc'!A0",
    "consumer=x,partition=y",
    "a,b;c\td=e&f?g#h",
    "null",
    "NaN",
    "true",
    "__consumer_offsets_like",
)

# So many groups that keep up that those that do not are no bulk change.
CALM = tuple(f"calm-{number}" for number in range(2 * len(NAMES)))
MINUTES = 16
INVENTED = 8_000
MOST_BYTES = 6 * 1024 * 1024
# No path is cut by a NUL or climbs, however it is encoded.
NO_ADDRESS = tuple(name for name in NAMES if "\0" in name or name == "..")
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200b\u202a-\u202e\u2066-\u2069\ufeff]")


class Through(RecordingSink):
    """Hands on to lines of a log."""

    def __init__(self, stream: io.StringIO) -> None:
        super().__init__()
        self._lines = EmfSink(stream)

    def publish(self, sets: list[MetricSet], taken_at: int, seconds: float = 10.0) -> None:
        self._lines.publish(sets, taken_at, seconds)


@dataclass(frozen=True, slots=True)
class Collected:
    """What a cluster of such groups came to: its store, its log's lines, its messages."""

    store: MemoryStore
    lines: list[dict[str, Any]]
    bench: Bench
    at: int

    @property
    def snapshot(self) -> Snapshot:
        return load_newest(self.store, "shop", self.at + 1).value

    def get(self, path: str, query: str = "") -> Answer:
        snapshots = Snapshots(self.store, lambda: self.at / 1000 + 1)
        request = Request.of("GET", path, query, {"host": "lag.example"})
        return answer(request, snapshots, self.at + 1_000)


@pytest.fixture(name="collected", scope="module")
def _collected() -> Collected:
    stream, store = io.StringIO(), MemoryStore()
    readings = [a_minute(minute) for minute in range(MINUTES)]
    collect = Run(*readings, store=store, sinks=[Through(stream)])
    bench = Bench(runs=StoredRuns(store))
    for minute in range(MINUTES):
        stream.truncate(stream.seek(0))
        collect(NOON + minute * MINUTE)
        bench.event(minute)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    return Collected(store, lines, bench, NOON + (MINUTES - 1) * MINUTE)


def a_minute(minute: int) -> ClusterReading:
    """Ten records come; each group of a hostile name and member stands at its own offset."""
    end = 200 + 10 * minute
    groups: Groups = {
        **{name: {"orders": [number]} for number, name in enumerate(NAMES)},
        **{name: {"orders": [end]} for name in CALM},
    }
    owners = {(name, "orders", 0): name for name in NAMES}
    return a_reading(groups, {"orders": [(0, end)]}, at=NOON + minute * MINUTE, owners=owners)


def lag_of(name: str) -> int:
    return 200 + 10 * (MINUTES - 1) - NAMES.index(name)


def test_each_name_has_its_own_row_in_the_files(collected: Collected) -> None:
    rows = collected.snapshot.groups
    for name in NAMES:
        assert cell(rows, "lag", consumer_group=name) == lag_of(name)
        assert cell(rows, "worst_member", consumer_group=name) == name
        assert cell(rows, "held_status", consumer_group=name) == contract.ERR
    partitions = collected.snapshot.group_partitions
    owned = dict(table(partitions, "consumer_group", "client_host"))
    assert all(owned[name] == (name and f"/{name}") for name in NAMES)


def test_each_name_has_a_metric_of_its_own(collected: Collected) -> None:
    found = {
        line[contract.DIMENSION_GROUP]: line[contract.OFFSET_LAG]
        for line in collected.lines
        if contract.DIMENSION_GROUP in line and contract.DIMENSION_TOPIC not in line
    }
    assert {name: found[dimension_value(name)] for name in NAMES} == {
        name: lag_of(name) for name in NAMES
    }


@pytest.mark.parametrize("name", NAMES, ids=[repr(name)[:20] for name in NAMES])
def test_each_name_is_found_by_its_address(collected: Collected, name: str) -> None:
    sent = quote(name, safe="")
    response = collected.get(f"/v3/kafka/shop/consumer/{sent}/lag")
    if name in NO_ADDRESS:
        assert response.status == 404
        return
    assert response.status == 200
    body = json.loads(response.body)["status"]
    assert (body["group"], body["totallag"]) == (name, lag_of(name))


def test_each_name_is_a_label_of_its_own(collected: Collected) -> None:
    text = collected.get("/metrics").body.decode()
    found = {
        sample.labels["consumergroup"]: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "kafka_lag_group_lag"
    }
    assert {name: found[name] for name in NAMES} == {name: lag_of(name) for name in NAMES}


@pytest.mark.parametrize("name", [None, *NAMES], ids=lambda name: repr(name)[:20])
def test_no_name_acts_on_a_page(collected: Collected, name: str | None) -> None:
    path = "/" if name is None else f"/cluster/shop/group/{quote(name, safe='')}"
    response = collected.get(path)
    text = response.body.decode()
    assert response.status == (404 if name in NO_ADDRESS else 200)
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert "onerror=alert(1)>" not in text
    assert not _UNSAFE.search(text)


def test_each_name_is_in_a_message_that_it_does_not_act_in(collected: Collected) -> None:
    notices = [sent.notice for sent in collected.bench.channel.sent]
    groups = [notice.attributes["group"] for notice in notices]
    assert set(groups) == {dimension_value(name) for name in NAMES}
    assert len(groups) == len(NAMES)
    assert len({notice.thread for notice in notices}) == len(NAMES)
    for notice in notices:
        assert notice.subject.isascii()
        assert notice.subject.isprintable()
        assert len(notice.subject) <= 100
        assert not _UNSAFE.search(notice.text)
        assert all(line.isprintable() for line in notice.text.splitlines())


@pytest.fixture(name="crowd", scope="module")
def _crowd() -> Collected:
    """A group of ours, and a minute later thousands that one client has invented."""
    stream, store = io.StringIO(), MemoryStore()
    before: Groups = {"zz-ours": {"orders": [6]}}
    ours: Groups = {"zz-ours": {"orders": [7]}}
    invented: Groups = {f"a-{number:05d}": {"orders": [3]} for number in range(INVENTED)}
    readings = [
        a_reading(groups, {"orders": [(0, 10)]}, at=NOON + minute * MINUTE)
        for minute, groups in enumerate((before, {**invented, **ours}))
    ]
    levels = Levels(max_metrics=1_000)
    collect = Run(*readings, store=store, sinks=[Through(stream)], levels=levels)
    collect(NOON)
    stream.truncate(stream.seek(0))
    collect(NOON + MINUTE)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    return Collected(store, lines, Bench(), NOON + MINUTE)


def test_no_cost_follows_invented_groups_and_ours_stay(crowd: Collected) -> None:
    metrics = sum(
        len(line["_aws"]["CloudWatchMetrics"][0]["Metrics"])
        for line in crowd.lines
        if contract.DIMENSION_GROUP in line
    )
    assert metrics <= 1_000
    ours = [line for line in crowd.lines if line.get(contract.DIMENSION_GROUP) == "zz-ours"]
    assert [line[contract.OFFSET_LAG] for line in ours] == [3, 3]
    (omitted,) = [line for line in crowd.lines if contract.METRICS_OMITTED in line]
    assert omitted[contract.METRICS_OMITTED] > INVENTED


def test_invented_groups_are_in_the_files_all_of_them(crowd: Collected) -> None:
    assert len(crowd.snapshot.groups) == len(crowd.snapshot.group_partitions) == INVENTED + 1
    assert sum(map(len, crowd.store.objects.values())) < MOST_BYTES


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/", ""),
        ("/", "q=zz-ours"),
        ("/metrics", "group=zz-ours"),
        ("/metrics", "shard=0of8"),
        ("/v3/kafka/shop/consumer", "limit=1000"),
        ("/v3/kafka/shop/consumer/zz-ours/lag", ""),
        ("/cluster/shop/topic/orders", ""),
    ],
)
def test_among_invented_groups_ours_is_still_shown(crowd: Collected, path: str, query: str) -> None:
    response = crowd.get(path, query)
    assert response.status == 200
    assert len(response.body) < MOST_BYTES
    if "zz-ours" in path + query:
        assert b"zz-ours" in response.body


def test_invented_groups_that_go_wrong_at_once_are_one_message() -> None:
    calm = a_set(*(a_row(f"a-{number:05d}") for number in range(INVENTED)))
    rows = (a_row(f"a-{n:05d}", contract.ERR, lag=5) for n in range(INVENTED))
    bench = Bench({NOON: calm, NOON + MINUTE: a_set(*rows)})
    bench.event(0)
    bench.event(1)
    (sent,) = bench.channel.sent
    assert len(sent.notice.text.encode()) < 256 * 1024
    assert len(sent.events) == INVENTED
