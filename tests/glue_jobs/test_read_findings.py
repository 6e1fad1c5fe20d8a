# SPDX-License-Identifier: Apache-2.0
"""From report tables to findings: worst first, never more than is asked for."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from kafka_lag_report.findings import Findings, Limits
from kafka_lag_report.page.drawn import Bar, Peak, Stretch
from kafka_lag_report.page.render import read_page
from kafka_lag_report.page.sections import Page
from kafka_lag_report.read_findings import read_findings
from kafka_lag_report.schemas import REPORTS, SNAPSHOTS, report_schema
from tests.glue_jobs.page.pages import DAY, at

Rows = Sequence[Mapping[str, Any]]
PARTITIONS = (
    "cluster string, consumer_group string, topic string, partition_id int, leader int,"
    " mean_lag double, produced bigint"
)
MINUTE = timedelta(minutes=1)


def tables(**rows: Rows) -> dict[str, pa.Table]:
    """All reports, empty unless named; what a row does not name is null."""
    return {
        name: pa.Table.from_pylist([*rows.get(name, ())], schema=report_schema(name))
        for name in REPORTS
    }


def frame(spark: SparkSession, schema: str, rows: Rows) -> DataFrame:
    """Of cluster `demo` unless a row says otherwise."""
    names = [column.strip().split()[0] for column in schema.split(", ")]
    full = [{"cluster": "demo", **row} for row in rows]
    return spark.createDataFrame([tuple(row.get(name) for name in names) for row in full], schema)


def findings_of(rows: Mapping[str, Rows], limits: Limits | None = None) -> Findings:
    found = read_findings("demo", DAY, tables(**rows), limits=limits)
    assert found is not None
    return found


def page_of(spark: SparkSession, groups: Rows, partitions: Rows, **rows: Rows) -> Page:
    """The page of cluster `demo` with these rows by report."""
    columns = (f"{f.name} {f.dataType.simpleString()}" for f in SNAPSHOTS["groups"])
    return read_page(
        findings_of(rows),
        frame(spark, ", ".join(["cluster string", *columns]), groups),
        frame(spark, PARTITIONS, partitions),
    )


def seen(minute: int, lag: float | None, status: str | None = "OK", **more: Any) -> dict[str, Any]:
    """A row of `groups` of billing at this minute of the day."""
    row = {"consumer_group": "billing", "taken_at": at(0) + minute * MINUTE}
    return {**row, "time_lag_seconds": lag, "time_lag_error_seconds": 0.0, "status": status, **more}


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

    assert [one.group for one in found.rows] == ["lacking", "enough", "unknown"]
    assert found.rows[0].hours == {3: 4, 7: 5}


def test_of_objectives_who_has_the_smallest_share_of_its_budget_left_comes_first() -> None:
    def objective(group: str, left: float, budget: float) -> dict[str, Any]:
        return {"consumer_group": group, "budget_left_minutes": left, "budget_minutes": budget}

    rows = [objective("calm", 50, 60), objective("over", -5, 100), objective("half", 60, 120)]

    found = findings_of({"coverage": [{"dataset": "groups"}], "slo": rows}).objectives

    assert [(one.group, one.is_broken) for one in found.rows] == [
        ("over", True),
        ("half", False),
        ("calm", False),
    ]


def test_a_day_without_rows_has_no_findings() -> None:
    assert read_findings("demo", DAY, tables()) is None


_TOPIC = {"consumer_group": "billing", "topic": "orders"}
_CULPRIT = {"worst_topic": "orders", "worst_partition": 3, "worst_leader": 2}


def _rows_of_groups() -> dict[str, Any]:
    return {
        "lag_summary": [
            {"consumer_group": "geo", "known_minutes": 9.0},
            {"consumer_group": "billing", "err_minutes": 3.0, "owner": "payments"},
            {**_TOPIC, "err_minutes": 9.0},
        ],
        "consumer_hotspots": [
            {"consumer_group": "billing", "client_id": "app", "hot": True},
            {"consumer_group": "geo", "hot": None},
        ],
        "anomalies": [
            {"consumer_group": "geo", "hour": 3, "measure": "produce_rate", "direction": "low"}
        ],
        "groups": [
            seen(0, 5.0),
            seen(1, 90.0, "ERR", **_CULPRIT),
            seen(2, 70.0, "ERR"),
            seen(3, 99.0, "ERR", unread_reason="timeout"),
            seen(10, None, None),
            seen(11, 0.0),
            seen(12, 500.0, consumer_group="not asked for"),
        ],
        "coverage": [
            {
                "dataset": "groups",
                "runs": 9,
                "first_run": at(0, 1),
                "in_progress": False,
                "interval_seconds": 60.0,
            }
        ],
    }


def _rows_of_topics() -> dict[str, Any]:
    return {
        "retention_risk": [
            {**_TOPIC, "partition_id": 0, "retention_risk": "SAFE", "records_lost": 0},
            {
                **_TOPIC,
                "partition_id": 1,
                "retention_risk": "AT_RISK",
                "records_lost": 0,
                "least_seconds_until_loss": 60.0,
                "least_seconds_until_loss_at": at(14, 5),
                "least_margin": 7,
            },
            {**_TOPIC, "partition_id": 2, "retention_risk": "LOST", "records_lost": 5},
        ],
        "partition_skew": [
            {
                **_TOPIC,
                "lag_skewed": True,
                "cause": "broker",
                "cause_partitions": [1],
                "lag_mean": 2.0,
            },
            {**_TOPIC, "topic": "even", "lag_skewed": False, "production_skewed": None},
        ],
        "partitions": [
            {**_TOPIC, "partition_id": 1, "leader": 2, "mean_lag": 9.0, "produced": 4},
            {**_TOPIC, "partition_id": 0, "leader": 1, "mean_lag": None},
            {**_TOPIC, "topic": "even", "partition_id": 0, "mean_lag": 3.0},
        ],
        "broker_hotspots": [
            {"leader": 1, "lag_share": 0.2},
            {"leader": 2, "lag_share": 0.8, "hot": True},
        ],
    }


@pytest.fixture(name="page", scope="module")
def _page(spark: SparkSession) -> Page:
    """A page with rows in every report, gathered once."""
    return page_of(spark, **_rows_of_groups(), **_rows_of_topics())


@pytest.mark.spark
def test_every_report_reaches_its_section(page: Page) -> None:
    found = page.findings
    assert [(day.group, day.owner) for day in found.groups.rows] == [
        ("billing", "payments"),
        ("geo", None),
    ]
    risk = found.risks.rows[0]
    assert (risk.partitions_lost, risk.partitions_at_risk, risk.records_lost) == (1, 1, 5)
    assert (risk.worst_partition, risk.seconds_left, risk.seconds_left_at) == (1, 60.0, at(14, 5))
    assert [(skew.topic, skew.cause_partitions) for skew in found.skews.rows] == [("orders", (1,))]
    assert page.bars["billing", "orders"].rows == (Bar(0, 1, None), Bar(1, 2, 9.0, 4))
    assert [broker.leader for broker in found.brokers.rows] == [2, 1]
    assert [one.client for one in found.consumers.rows] == ["app"]
    assert [one.hour for one in found.unusual.rows] == [3]
    assert found.coverage[0].first_run == at(0, 1)


@pytest.mark.spark
def test_a_day_s_curve_has_gaps_where_nothing_was_read(page: Page) -> None:
    curve = page.curves["billing"]
    assert curve.seconds[:4] == (90.0, None, 0.0, None)
    assert len(curve.seconds) == 288
    assert curve.statuses == (
        Stretch(0, 1, "OK"),
        Stretch(1, 2, "ERR"),
        Stretch(3, 8, None),
        Stretch(11, 2, "OK"),
        Stretch(13, 1427, None),
    )
    assert curve.peak == Peak(1, 90.0, "orders", 3, 2)
    assert set(page.curves) <= {"billing", "geo"}


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

    assert ([day.group for day in found.groups.rows], found.groups.total) == (["g4", "g3", "g2"], 5)
    assert ([risk.records_lost for risk in found.risks.rows], found.risks.total) == ([4, 3], 5)
    assert ([skew.group for skew in found.skews.rows], found.skews.total) == (["g4", "g3"], 5)
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

    causes = {skew.group: skew.cause for skew in found.skews.rows}
    assert causes == {
        **dict.fromkeys(("g", "slow", "unsure"), "production"),
        "stood": "stopped",
    }
