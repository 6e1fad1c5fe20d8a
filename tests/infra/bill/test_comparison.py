# SPDX-License-Identifier: Apache-2.0
"""MSK's own levels for the same groups, reckoned by hand."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.bill.comparison import Comparison, compared
from kafka_lag_cdk.bill.prices import price_lists
from tests.infra.configured import cluster_json, deployment

METRIC = price_lists()["us-east-1"]["custom_metric"]
FACTS = {"groups": 20, "group_topics": 200, "group_partitions": 4_800}


def comparison(*clusters: dict[str, Any]) -> Comparison:
    return compared(deployment(*clusters).clusters, METRIC)


def test_msk_has_three_metrics_a_group_and_partition() -> None:
    told = comparison(cluster_json(expected=FACTS))
    assert told.msk_metrics == 14_400
    assert told.msk_usd == pytest.approx(10_000 * 0.30 + 4_400 * 0.10)


def test_here_there_are_those_of_the_configuration() -> None:
    told = comparison(cluster_json(expected=FACTS))
    assert told.here_metrics == 9 + 80 + 400
    assert told.here_usd == pytest.approx(489 * 0.30)


def test_by_partition_the_budget_does_not_count() -> None:
    told = comparison(cluster_json(expected=FACTS))
    assert told.here_by_partition_metrics == 9 + 80 + 400 + 9_600
    assert told.here_by_partition_usd == pytest.approx(10_000 * 0.30 + 89 * 0.10)


def test_clusters_of_a_region_are_compared_together() -> None:
    told = comparison(*(cluster_json(name=f"c{n}", expected=FACTS) for n in range(3)))
    assert (told.clusters, told.msk_metrics) == (3, 3 * 14_400)


def test_a_cluster_that_is_not_msks_is_not_compared() -> None:
    own = cluster_json(name="own") | {
        "arn": None,
        "region": "eu-west-1",
        "account": "111122223333",
        "bootstrap_servers": ["kafka.example:9096"],
    }
    told = comparison(own, cluster_json())
    assert (told.clusters, told.msk_metrics) == (1, 1_800)


def test_msk_serverless_has_no_level_by_partition_to_compare() -> None:
    provisioned = cluster_json()
    arn = provisioned["arn"].removesuffix("-7") + "-s2"
    serverless = cluster_json(name="less", arn=arn, auth={"type": "iam"})
    told = comparison(provisioned, serverless)
    assert (told.clusters, told.serverless, told.msk_metrics) == (2, 1, 1_800)
    assert told.here_metrics == 2 * comparison(provisioned).here_metrics


def test_a_paused_cluster_publishes_nothing() -> None:
    assert comparison(cluster_json(paused=True)).here_metrics == 0
