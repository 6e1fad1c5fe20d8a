# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes the views with a token."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from kafka_lag.lag.columns import Column
from kafka_lag.snapshots.store import write_snapshot
from kafka_lag.views.auth import Bearer
from kafka_lag.views.latest_run import Snapshots
from kafka_lag_cli.local_server import LocalServer
from tests.builders import MINUTE, NOON, a_snapshot
from tests.contract.prometheus_programs import (
    NASTY,
    Prometheus,
    clock,
    examples,
    job,
    running,
    snapshots,
)
from tests.fakes import MemoryStore

SCALING = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text()
TOKEN = "a-token-of-the-tests"
# As a string of PromQL.
QUOTED = json.dumps(NASTY, ensure_ascii=False)


def in_shards(target: str, credentials: Path) -> str:
    """The documentation's own example, of this target and at a pace for tests."""
    (text,) = (example for example in examples("prometheus.yml") if "__param_shard" in example)
    text = re.sub(r"(scrape_interval|scrape_timeout): \d+s", r"\1: 1s", text)
    text = text.replace("scheme: https", "scheme: http")
    text = text.replace("/etc/prometheus/kafka-lag.token", str(credentials))
    return re.sub(r'targets: \["[^"]*"\]', f'targets: ["{target}"]', text)


def labelled(target: str) -> dict[str, Any]:
    return {"targets": [target], "labels": {"cluster": "k8s"}}


@pytest.fixture(name="prometheus", scope="module")
def _prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """One that has scraped with the right token, with a wrong one, a level that is none, in shards,
    and with a label of its own for clusters."""
    folder = tmp_path_factory.mktemp("prometheus")
    right, wrong = folder / "right", folder / "wrong"
    right.write_text(f"{TOKEN}\n")
    wrong.write_text("another")
    with LocalServer(snapshots(), clock, bearer=Bearer(lambda: TOKEN, clock)) as server:
        target = server.url.removeprefix("http://")
        jobs = (
            job("right", target, right, level="partition"),
            job("wrong", target, wrong),
            job("odd", target, right, level="odd"),
            job("labelled", target, right) | {"static_configs": [labelled(target)]},
            job("honest", target, right)
            | {"static_configs": [labelled(target)], "honor_labels": True},
        )
        # JSON is YAML, too.
        config = in_shards(target, right) + "".join(f"  - {json.dumps(each)}\n" for each in jobs)
        with running(config, folder) as prometheus:
            yield prometheus


def test_a_scrape_with_the_token_is_taken(prometheus: Prometheus) -> None:
    answer = prometheus.targets()["right"]
    assert (answer["health"], answer["lastError"]) == ("up", "")


@pytest.mark.parametrize(("name", "status"), [("wrong", "401"), ("odd", "400")])
def test_a_scrape_that_is_refused_is_down(prometheus: Prometheus, name: str, status: str) -> None:
    answer = prometheus.targets()[name]
    assert answer["health"] == "down"
    assert f"HTTP status {status}" in answer["lastError"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('kafka_lag_group_lag{cluster="shop",consumergroup="billing"}', 6),
        ('kafka_consumergroup_lag_sum{consumergroup="billing",topic="orders"}', 6),
        ('kafka_consumergroup_lag{consumergroup="billing",topic="orders",partition="0"}', 5),
        # As the panel of kafka_exporter's own dashboard asks.
        (
            'sum(kafka_consumergroup_lag{topic=~"orders",job="right"}) '
            "by (consumergroup, topic) > 0",
            6,
        ),
        (f'sum(kafka_lag_partition_status{{job="right",consumergroup={QUOTED}}})', 0),
        ('count(kafka_lag_partition_status{job="right",leader="0"})', 1),
        ("kafka_lag_snapshot_age_seconds", 60),
        ("kafka_lag_group_sla_seconds", None),
        # Shards of one job tell each series once between them.
        ('count(up{job="kafka-lag"} == 1)', 2),
        ('count(kafka_consumergroup_lag{job="kafka-lag"})', 4),
        ('count(kafka_lag_snapshot_age_seconds{job="kafka-lag"})', 2),
        ('count(kafka_lag_group_info{job="labelled",cluster="k8s",exported_cluster="shop"})', 2),
        ('count(kafka_lag_group_info{job="honest",cluster="shop",exported_cluster=""})', 2),
    ],
)
def test_prometheus_knows_what_was_told(
    prometheus: Prometheus, query: str, expected: float | None
) -> None:
    assert prometheus.targets()["right"]["health"] == "up"
    assert prometheus.value(query) == expected


def test_a_strangers_name_arrives_as_it_is(prometheus: Prometheus) -> None:
    prometheus.targets()
    query = quote("kafka_lag_group_info")
    groups = {
        one["metric"]["consumergroup"] for one in prometheus.get(f"query?query={query}")["result"]
    }
    assert groups == {"billing", NASTY}


def test_keda_reads_the_tasks_needed_while_they_are_fresh(tmp_path: Path) -> None:
    """By the query of the documentation: a snapshot is one minute old, the other five."""
    (query,) = re.findall(r"query: (kafka_lag_group_tasks_needed.*)", SCALING)
    late = query.replace('"orders"', '"late"')
    store, token = MemoryStore(), tmp_path / "token"
    token.write_text(TOKEN)
    for cluster, at in (("orders", NOON), ("late", NOON - 4 * MINUTE)):
        plain = a_snapshot({"mailer": {"orders": [5]}}, {"orders": [(0, 10)]}, at=at)
        needed = plain.groups.with_columns(tasks_needed=Column.of(np.array([6], np.int32)))
        write_snapshot(store, cluster, replace(plain, groups=needed))

    bearer = Bearer(lambda: TOKEN, clock)
    with LocalServer(Snapshots(store, clock), clock, bearer=bearer) as server:
        target = server.url.removeprefix("http://")
        config = json.dumps({"scrape_configs": [job("lag", target, token)]})
        with running(config, tmp_path) as prometheus:
            prometheus.targets()

            assert prometheus.value(query) == 6
            assert prometheus.value(late.partition(" and ")[0]) == 6
            assert prometheus.value(late) is None
