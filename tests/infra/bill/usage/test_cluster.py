# SPDX-License-Identifier: Apache-2.0
"""Quantities of one cluster, reckoned by hand for an average month of 30.4 days."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.bill.usage.cluster import cluster_usage
from kafka_lag_cdk.config.shared import Shared
from tests.infra.configured import cluster, cluster_json

RUNS = 1440 * 30.4
GB = 1024**3
HOURS = 24 * 30.4


def quantities(shared: Shared | None = None, **changes: Any) -> dict[tuple[str, str], float]:
    found = cluster_usage(cluster(**changes), shared or Shared())
    return {(item.service, item.what): item.quantity for item in found}


def test_a_run_a_minute_is_43776_a_month() -> None:
    found = quantities()
    assert found["Lambda", "requests"] == RUNS == 43_776
    assert found["Lambda", "schedule"] == RUNS


def test_a_run_every_five_minutes_is_a_fifth_of_it() -> None:
    found = quantities(interval_seconds=300)
    assert found["Lambda", "requests"] == pytest.approx(RUNS / 5)
    assert found["CloudWatch metrics", "by topic"] == 120


def test_half_a_gigabyte_for_a_run_on_its_share_of_a_core() -> None:
    a_run = (0.03 + 60_000 * 0.31 / 60_000) / (512 / 1769) + 0.15
    found = quantities(expected={"group_partitions": 60_000})
    assert found["Lambda", "time"] == pytest.approx(RUNS * a_run * 0.5)


def test_memory_beyond_a_core_makes_no_run_shorter() -> None:
    one, two = (
        quantities(function={"memory_mb": memory})["Lambda", "time"] for memory in (1769, 3538)
    )
    assert two == pytest.approx(2 * one)


def test_a_run_of_the_default_size_logs_34_kilobytes() -> None:
    groups, topics = 20 * (225 + 4 * 60), 60 * (265 + 2 * 60)
    found = quantities(function={"log_days": 7})
    a_run = (groups + topics + 870 + 800) / GB
    assert found["CloudWatch logs", "ingestion"] == pytest.approx(RUNS * a_run)
    assert found["CloudWatch logs", "storage"] == pytest.approx(7 * 1440 * a_run)


WITHOUT_REPORT = Shared.model_validate({"report": {"enabled": False}})


def test_three_objects_a_run_are_written_and_read_by_the_job() -> None:
    found = quantities()
    cold = 12 * 30.4
    assert found["S3", "writes"] == pytest.approx(3 * RUNS + 6 * cold)
    assert found["S3", "reads"] == pytest.approx(6 * 3 * RUNS + 35 * cold)


def test_snapshots_are_kept_for_their_days() -> None:
    a_run = (6_500 + 600 * 20) + (18_000 + 600 * 33) + (12_500 + 20 * 45)
    found = quantities(Shared.model_validate({"keep": {"snapshot_days": 10}}))
    assert found["S3", "snapshots"] == pytest.approx(10 * 1440 * a_run / GB)


def test_history_is_one_object_a_day_and_dataset() -> None:
    a_day = 6_500 + 18_000 + 12_500 + 1440 * (600 * 18 + 600 * 39 + 20 * 40)
    assert quantities()["S3", "history"] == pytest.approx(400 * a_day / GB)


def test_reports_are_a_row_a_partition_the_hours_of_groups_and_a_page() -> None:
    a_day = 600 * 120 + 20 * 2_000 + 500_000
    assert quantities()["S3", "reports"] == pytest.approx(400 * a_day / GB)


def test_snapshots_that_nothing_compacts_are_those_of_a_year() -> None:
    a_run = (6_500 + 600 * 20) + (18_000 + 600 * 33) + (12_500 + 20 * 45)
    found = quantities(WITHOUT_REPORT)
    assert found["S3", "snapshots"] == pytest.approx(365 * 1440 * a_run / GB)
    assert {what for service, what in found if service == "S3"} == {"writes", "reads", "snapshots"}


@pytest.mark.parametrize(
    ("shared", "lever"),
    [(Shared(), "shared.keep.snapshot_days"), (WITHOUT_REPORT, "interval_seconds")],
    ids=["compacted", "not compacted"],
)
def test_days_to_keep_snapshots_are_a_lever_where_these_expire(shared: Shared, lever: str) -> None:
    items = cluster_usage(cluster(), shared)
    assert {item.what: item.lever for item in items}["snapshots"] == lever


def test_an_endpoint_is_paid_in_every_subnet() -> None:
    made = {"cidr": "10.0.0.0/16", "endpoints": {"secrets_manager": True, "monitoring": True}}
    found = quantities(vpc=cluster_json()["vpc"] | made)
    for what in ("secrets endpoint", "CloudWatch endpoint"):
        assert found["Network", what] == pytest.approx(2 * HOURS)
    assert ("Network", "secrets endpoint") not in quantities()


def test_a_nat_gateway_is_paid_by_the_hour_and_by_what_goes_through() -> None:
    a_run = (6_500 + 600 * 20) + (18_000 + 600 * 33) + (12_500 + 20 * 45)
    found = quantities(expected={"nat_gateways": 2})
    assert found["Network", "NAT gateways"] == pytest.approx(2 * HOURS)
    objects = 3 * 1440 + 12 * 35
    assert found["Network", "through NAT"] == pytest.approx(30.4 * objects * a_run / 3 / GB)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, set(), id="none-is-told"),
        pytest.param(
            {
                "expected": {"nat_gateways": 1},
                "vpc": cluster_json()["vpc"]
                | {"endpoints": {"s3": True}, "route_tables": ["rtb-0a1b2c3d"]},
            },
            {"NAT gateways"},
            id="snapshots-by-an-endpoint",
        ),
        pytest.param(
            {"expected": {"nat_gateways": 1}, "paused": True}, {"NAT gateways"}, id="paused"
        ),
    ],
)
def test_nothing_goes_through_nat_that_need_not(
    changes: dict[str, Any], expected: set[str]
) -> None:
    assert {what for _, what in quantities(**changes) if "NAT" in what} == expected


def test_two_thirds_of_the_traffic_cross_zones_and_are_paid_twice() -> None:
    found = quantities()
    assert found["Network", "between zones"] == pytest.approx(2 * RUNS * 1_200 * 60 * 2 / 3 / GB)


def test_a_paused_cluster_keeps_its_alarms_and_its_dashboard_alone() -> None:
    found = quantities(paused=True)
    assert set(found) == {
        ("CloudWatch alarms", "of the reporter"),
        ("CloudWatch dashboard", "of the cluster"),
    }


def test_no_dashboard_costs_nothing() -> None:
    assert ("CloudWatch dashboard", "of the cluster") not in quantities(dashboard=False)


@pytest.mark.parametrize("architecture", ["arm64", "x86_64"])
def test_time_has_the_price_of_its_architecture(architecture: str) -> None:
    items = cluster_usage(cluster(function={"architecture": architecture}), Shared())
    assert f"lambda_{architecture}" in {item.price for item in items}
