# SPDX-License-Identifier: Apache-2.0
"""Findings from report tables: worst first, and never more than the limit."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import DataType, StructField, StructType

from kafka_lag_report.findings import Findings, Limits
from kafka_lag_report.page.drawn import Stretch
from kafka_lag_report.page.render import read_page
from kafka_lag_report.queries import Queries
from kafka_lag_report.read_findings import read_findings
from kafka_lag_report.schemas import DOUBLE, INT, LONG, REPORTS, STRING, report_schema
from tests.glue_jobs.days import Row, frame, frame_of
from tests.glue_jobs.page.pages import DAY, at, bar, peak

Rows = Sequence[Mapping[str, Any]]


def _columns(**types: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in types.items()])


PARTITIONS = _columns(
    consumer_group=STRING,
    topic=STRING,
    partition_id=INT,
    leader=INT,
    mean_lag=DOUBLE,
)
PRODUCTION = _columns(topic=STRING, partition_id=INT, produced=LONG)
MADE: Row = {"topic": "orders", "partition_id": 1, "produced": 4}
AGED = {"time_lag_error_seconds": 0.0}


def tables(**rows: Rows) -> dict[str, pa.Table]:
    """All reports, empty unless named; what a row does not name is null."""
    return {
        name: pa.Table.from_pylist([*rows.get(name, ())], schema=report_schema(name))
        for name in REPORTS
    }


def findings_of(rows: Mapping[str, Rows], limits: Limits | None = None) -> Findings:
    found = read_findings("demo", DAY, tables(**rows), limits=limits)
    assert found is not None
    return found


def test_of_tasks_needed_who_has_too_few_members_comes_first_each_with_its_hours() -> None:
    def needed(group: str, hour: int | None, most: int, members: int | None) -> dict[str, Any]:
        quartiles = dict.fromkeys(("lower_quartile", "median", "upper_quartile", "most"), most)
        return {"consumer_group": group, "hour": hour, "members": members, **quartiles}

    rows = [
        needed("enough", None, 9, 9),
        needed("lacking", None, 5, 2),
        needed("lacking", 3, 4, 2),
        needed("lacking", 7, 5, 2),
        needed("unknown", None, 7, None),
    ]

    found = findings_of({"coverage": [{"dataset": "groups"}], "tasks_needed": rows}).tasks

    assert [one["consumer_group"] for one in found.rows] == ["lacking", "enough", "unknown"]
    assert found.rows[0]["hours"] == {3: 4, 7: 5}


def test_of_objectives_who_has_the_smallest_share_of_its_budget_left_comes_first() -> None:
    def objective(group: str, left: float, budget: float) -> dict[str, Any]:
        return {"consumer_group": group, "budget_left_minutes": left, "budget_minutes": budget}

    rows = [objective("calm", 50, 60), objective("over", -5, 100), objective("half", 60, 120)]

    found = findings_of({"coverage": [{"dataset": "groups"}], "slo": rows}).objectives

    assert [one["consumer_group"] for one in found.rows] == ["over", "half", "calm"]


def test_a_day_without_rows_has_no_findings() -> None:
    assert read_findings("demo", DAY, tables()) is None


_CULPRIT = {"worst_topic": "orders", "worst_partition": 3, "worst_leader": 2}


@pytest.mark.spark
def test_a_curve_has_gaps_where_nothing_was_read(spark: SparkSession) -> None:
    seen_at: dict[int, Row] = {
        0: {"time_lag_seconds": 5.0, "status": "OK"},
        1: {"time_lag_seconds": 90.0, "status": "ERR", **_CULPRIT},
        2: {"time_lag_seconds": 70.0, "status": "ERR"},
        3: {"time_lag_seconds": 99.0, "status": "ERR", "unread_reason": "timeout"},
        10: {},
        11: {"time_lag_seconds": 0.0, "status": "OK"},
    }
    groups = [
        {"consumer_group": "billing", "taken_at": at(0, minute), **AGED, **row}
        for minute, row in seen_at.items()
    ]
    lag: Row = {"consumer_group": "billing", "topic": "orders"}
    partitions = [
        {**lag, "partition_id": 1, "leader": 2, "mean_lag": 9.0},
        {**lag, "partition_id": 0, "leader": 1, "mean_lag": None},
    ]
    times: Row = {"runs": 9, "first_run": at(0, 1), "interval_seconds": 60.0, "in_progress": False}
    skew: Row = {"consumer_group": "billing", "topic": "orders", "cause": "broker"}
    findings = findings_of(
        {
            "lag_summary": [{"consumer_group": "billing", "err_minutes": 3.0}],
            "partition_skew": [{**skew, "lag_skewed": True, "cause_partitions": [1]}],
            "coverage": [{"dataset": "groups", **times}],
        }
    )

    queries = Queries(spark, midnight=int(at(0, 0).timestamp()))
    rows = frame(spark, "groups", groups)
    queries.view("group_runs", rows.withColumn("is_age_least", sf.lit(False)))
    queries.view("partition_days", frame_of(spark, PARTITIONS, partitions))
    queries.view("production", frame_of(spark, PRODUCTION, [MADE]))

    page = read_page(findings, queries)

    curve = page.curves["billing"]
    assert (curve.seconds[:4], len(curve.seconds)) == ((90.0, None, 0.0, None), 288)
    assert curve.statuses == (
        Stretch(0, 1, "OK"),
        Stretch(1, 2, "ERR"),
        Stretch(3, 8, None),
        Stretch(11, 2, "OK"),
        Stretch(13, 1427, None),
    )
    assert curve.peak == peak(1, 90.0, topic="orders", partition=3, leader=2)
    drawn = [bar(0, 1, None), bar(1, 2, 9.0, 4)]
    for row, expected in zip(page.bars["billing", "orders"].rows, drawn, strict=True):
        assert {name: row[name] for name in expected} == expected


def _five_of_each() -> dict[str, Any]:
    topics = [{"consumer_group": f"g{number}", "topic": "t"} for number in range(5)]
    return {
        "lag_summary": [
            {"consumer_group": f"g{number}", "err_minutes": float(number)} for number in range(5)
        ],
        "retention_risk": [
            {**topic, "partition_id": 0, "retention_risk": "LOST", "records_lost": number}
            for number, topic in enumerate(topics)
        ],
        "partition_skew": [
            {**topic, "lag_skewed": True, "lag_max": float(number), "lag_mean": 0.0}
            for number, topic in enumerate(topics)
        ],
        "broker_hotspots": [{"leader": number} for number in range(5)],
        "coverage": [
            {
                "dataset": "groups",
                "interval_seconds": 60.0,
                "in_progress": True,
                "last_run": at(0, 1),
            }
        ],
    }


def test_what_grows_with_the_cluster_is_cut_and_counted() -> None:
    found = findings_of(_five_of_each(), Limits(groups=3, topics=2, rows=2))

    assert ([day["consumer_group"] for day in found.groups.rows], found.groups.total) == (
        ["g4", "g3", "g2"],
        5,
    )
    assert ([risk.records_lost for risk in found.risks.rows], found.risks.total) == ([4, 3], 5)
    assert ([skew["consumer_group"] for skew in found.skews.rows], found.skews.total) == (
        ["g4", "g3"],
        5,
    )
    assert (len(found.brokers.rows), found.brokers.total) == (2, 5)


_UNEVEN = {"lag_skewed": True, "lag_mean": 1.0, "lag_max": 9.0, "cause": "production"}
_NOTHING = {"consumed": 0, "partitions_owned": 1.0}


def test_a_group_without_owner_that_consumed_nothing_is_stopped() -> None:
    found = findings_of(
        {
            "coverage": [{"dataset": "groups"}],
            "partition_skew": [
                {"consumer_group": "g", "topic": "moving", **_UNEVEN},
                {"consumer_group": "stood", "topic": "t", **_UNEVEN},
                {"consumer_group": "slow", "topic": "t", **_UNEVEN},
                {"consumer_group": "unsure", "topic": "t", **_UNEVEN},
            ],
            "consumer_hotspots": [
                {"consumer_group": "g", "member_id": "m", **_NOTHING},
                {"consumer_group": "stood", **_NOTHING},
                {"consumer_group": "slow", **_NOTHING, "consumed": 7},
                {"consumer_group": "unsure", "partitions_owned": 1.0},
            ],
        }
    )

    causes = {skew["consumer_group"]: skew["cause"] for skew in found.skews.rows}
    assert causes == {
        **dict.fromkeys(("g", "slow", "unsure"), "production"),
        "stood": "stopped",
    }
