# SPDX-License-Identifier: Apache-2.0
"""Tables over the objects that the store really writes, found by projection alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import boto3
import pytest
from moto import mock_aws

from kafka_lag import contract
from kafka_lag.contract.reports import REPORT_COLUMNS
from kafka_lag.snapshots.s3_store import S3Store
from kafka_lag.snapshots.store import write_snapshot
from tests.builders import HOUR, NOON, a_snapshot
from tests.infra.storage.stack import CLUSTERS, tables, template

BUCKET = "databuckete6b0faa8"
DAY_AFTER = datetime.fromtimestamp(NOON / 1000, UTC) + timedelta(days=1)


def projected(table: dict[str, Any], now: datetime) -> Iterator[str]:
    """Every location that Athena computes for a table, by the rules of its user guide."""
    parameters = table["Parameters"]
    assert parameters["projection.enabled"] == "true"
    keys = [key["Name"] for key in table["PartitionKeys"]]
    for values in product(*(_values(parameters, key, now) for key in keys)):
        location: str = parameters["storage.location.template"]
        for key, value in zip(keys, values, strict=True):
            location = location.replace(f"${{{key}}}", value)
        yield location


def _values(parameters: dict[str, str], key: str, now: datetime) -> list[str]:
    kind = parameters[f"projection.{key}.type"]
    if kind == "enum":
        return parameters[f"projection.{key}.values"].split(",")
    if kind == "integer":
        first, last = map(int, parameters[f"projection.{key}.range"].split(","))
        digits = int(parameters[f"projection.{key}.digits"])
        return [f"{number:0{digits}}" for number in range(first, last + 1)]
    assert parameters[f"projection.{key}.format"] == "yyyy-MM-dd"
    step = parameters[f"projection.{key}.interval"], parameters[f"projection.{key}.interval.unit"]
    assert step == ("1", "DAYS")
    match = re.fullmatch(r"NOW-(\d+)DAYS,NOW", parameters[f"projection.{key}.range"])
    assert match is not None
    return [f"{now - timedelta(days=n):%Y-%m-%d}" for n in range(int(match[1]) + 1)]


@pytest.fixture(name="keys", scope="module")
def _keys() -> dict[str, list[str]]:
    """The keys that a run at 09:00 of each cluster leaves in S3, by cluster."""
    snapshot = a_snapshot({"g": {"t": [1]}}, {"t": [(0, 2)]}, at=NOON - 3 * HOUR)
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket=BUCKET)
        store = S3Store(client, BUCKET)
        for cluster in CLUSTERS:
            write_snapshot(store, cluster, snapshot)
        found = store.keys("")
    return {
        cluster: [key for key in found if f"/cluster={cluster}/" in key] for cluster in CLUSTERS
    }


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_what_the_store_writes_is_in_exactly_one_projected_partition(
    keys: dict[str, list[str]], cluster: str
) -> None:
    for dataset in contract.DATASETS:
        (key,) = (key for key in keys[cluster] if key.split("/")[1] == dataset)
        places = projected(tables()[dataset], DAY_AFTER)
        (found,) = [place for place in places if f"s3://{BUCKET}/{key}".startswith(place)]
        assert "/" not in f"s3://{BUCKET}/{key}".removeprefix(found)


def test_history_and_reports_are_projected_by_cluster_and_date() -> None:
    folders = {f"history_{name}": f"history/{name}" for name in contract.COLUMNS}
    folders |= {name: f"reports/{name}" for name in REPORT_COLUMNS}
    for name, folder in folders.items():
        places = set(projected(tables()[name], DAY_AFTER))
        for cluster in CLUSTERS:
            assert f"s3://{BUCKET}/{folder}/cluster={cluster}/dt=2026-01-31/" in places


def test_database_and_tables_go_with_their_stack() -> None:
    of_glue = [r for r in template()["Resources"].values() if r["Type"].startswith("AWS::Glue::")]
    assert {each.get("DeletionPolicy", "Delete") for each in of_glue} == {"Delete"}
