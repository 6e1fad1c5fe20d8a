# SPDX-License-Identifier: Apache-2.0
"""Findings out of the reports' frames."""

from collections.abc import Callable
from typing import TypeAlias

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.summary.cause import Cause
from kafka_lag_report.summary.collecting import findings
from kafka_lag_report.summary.findings import (
    Broker,
    Coverage,
    Findings,
    Group,
    GroupDay,
    Heat,
    Hour,
    Risk,
    Skew,
    Topic,
    Unusual,
)
from tests.glue_jobs.days import Row
from tests.glue_jobs.summary.frames import covered, group_row, reports, row

pytestmark = pytest.mark.spark
Collect: TypeAlias = Callable[..., Findings]
_CLIENT = {"cause_client_id": "c-1", "cause_client_host": "/10.0.0.1", "cause_member": "c-1-uuid"}
_HEAT = {"hot": True, "lag_share": 0.6, "partitions_share": 0.25, "lag_to_partitions": 2.4}
_HOUR = {"hour": 13, "measure": "time_lag_seconds", "value": 400.0, "usual": 20.0}


@pytest.fixture(name="collect")
def _collect(spark: SparkSession) -> Collect:
    def collect(
        before: Findings | None = None,
        at_most: int = 100,
        groups_at_most: int = 100,
        **rows: list[Row],
    ) -> Findings:
        return findings(reports(spark, **rows), before, at_most, groups_at_most)

    return collect


def test_a_day_without_rows_has_no_findings(collect: Collect) -> None:
    assert collect() == Findings()


def test_topics_give_what_was_found_of_their_partitions(collect: Collect) -> None:
    at_risk = {"retention_risk": "AT_RISK", "records_lost": 0}
    by_member = {"cause": "consumer", "cause_partitions": [1, 2], **_CLIENT}

    found = collect(
        retention_risk=[
            row(retention_risk="LOST", records_lost=7),
            row(partition_id=1, retention_risk="LOST", records_lost=5),
            row(partition_id=2, **at_risk, least_seconds_until_loss=90.0),
            row(partition_id=3, **at_risk, least_seconds_until_loss=60.0),
            row(partition_id=4),
            row(topic="safe", retention_risk="SAFE", records_lost=0),
            row(topic="unknown"),
        ],
        partition_skew=[
            row(lag_skewed=True, lag_max_to_mean=2.5, **by_member),
            row(topic="even", lag_skewed=False),
            row(topic="unknown", production_skewed=True),
        ],
    )

    topic, blamed = Topic("demo", "g", "t"), Cause("consumer", (1, 2), None, "c-1", "/10.0.0.1")
    assert found == Findings(
        risks={topic: Risk(2, 2, 12, 60.0)}, skews={topic: Skew(True, 2.5, blamed)}
    )


def test_groups_brokers_hours_and_coverage_are_collected_whole(collect: Collect) -> None:
    found = collect(
        lag_summary=[
            group_row(sla_compliance=0.5, err_minutes=3.0, gone=False),
            group_row(consumer_group="left", gone=True),
            row(err_minutes=9.0),
        ],
        broker_hotspots=[
            {"cluster": "demo", "leader": 3, "leader_rack": "az-a", **_HEAT},
            {"cluster": "demo", "partitions_share": 0.75, "lag_share": None},
        ],
        anomalies=[row(deviation=-7.0, **_HOUR)],
        coverage=[covered(objects_skipped=2), covered("other", "groups", in_progress=True)],
    )

    assert found == Findings(
        groups={Group("demo", "g"): GroupDay(0.5, 3.0), Group("demo", "left"): GroupDay(gone=True)},
        brokers={
            Broker("demo", 3, "az-a"): Heat(True, 0.6, 0.25),
            Broker("demo", None, None): Heat(None, None, 0.75),
        },
        unusual={Hour("demo", "g", "time_lag_seconds", 13): Unusual(400.0, 20.0, -7.0)},
        coverage={
            "demo": {"groups": Coverage(1440, 2, 60.0, 60.0)},
            "other": {"groups": Coverage(1440, 0, 60.0, 60.0, in_progress=True)},
        },
    )
    assert found.clusters == {"demo", "other"}
    assert found.in_progress


def test_what_became_of_the_findings_before_is_collected_where_it_is_known(
    collect: Collect,
) -> None:
    was = ("a", "b", "c")
    before = Findings(
        risks={Topic("demo", "g", topic): Risk(lost=1) for topic in was},
        skews={Topic("demo", "g", topic): Skew(True) for topic in was},
    )
    found = collect(
        before,
        retention_risk=[
            row(topic="a", retention_risk="SAFE"),
            row(topic="b"),
            row(topic="new", retention_risk="LOST", records_lost=1),
            row(topic="calm", retention_risk="SAFE"),
        ],
        partition_skew=[
            row(topic="a", lag_skewed=False, lag_max_to_mean=1.1),
            row(topic="b"),
            row(topic="calm", lag_skewed=False),
        ],
    )

    assert found.risks == {
        Topic("demo", "g", "a"): Risk(),
        Topic("demo", "g", "new"): Risk(lost=1, records_lost=1),
    }
    assert found.skews == {Topic("demo", "g", "a"): Skew(False, 1.1)}


def test_the_worst_are_kept_and_a_cut_is_told(collect: Collect) -> None:
    risks = [
        row(topic=f"t{n}", retention_risk="LOST", records_lost=n, least_seconds_until_loss=0.0)
        for n in range(5)
    ]
    groups = [group_row(consumer_group=f"g{n}", sla_compliance=n / 10) for n in range(5)]
    anomalies = [row(deviation=float(n), **{**_HOUR, "hour": n}) for n in (-9, 6, 7)]

    found = collect(
        retention_risk=risks,
        lag_summary=groups,
        anomalies=[{**each, "hour": n} for n, each in enumerate(anomalies)],
        at_most=2,
        groups_at_most=3,
    )

    assert found.cut == {"retention_risk", "lag_summary", "anomalies"}
    assert [topic.topic for topic in found.risks][:2] == ["t4", "t3"]
    assert [group.group for group in found.groups][:3] == ["g0", "g1", "g2"]
    assert [each.deviation for each in found.unusual.values()][:2] == [-9.0, 7.0]


def test_as_many_as_the_limit_are_no_cut(collect: Collect) -> None:
    skewed = [row(topic=topic, lag_skewed=True, lag_max_to_mean=2.0) for topic in "ab"]
    before = Findings(skews={Topic("demo", "g", "even"): Skew(True)})

    found = collect(
        before, partition_skew=[*skewed, row(topic="even", lag_skewed=False)], at_most=2
    )

    assert (len(found.skews), found.cut) == (3, frozenset())
