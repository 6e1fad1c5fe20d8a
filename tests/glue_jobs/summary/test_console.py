# SPDX-License-Identifier: Apache-2.0
"""The printed reports."""

from datetime import UTC, date, datetime

import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.summary import print_reports
from tests.glue_jobs.days import Row
from tests.glue_jobs.summary.frames import covered, group_row, reports, row

pytestmark = pytest.mark.spark


def printed(spark: SparkSession, limit: int = 20, **rows: list[Row]) -> dict[str, list[str]]:
    """The lines of each section, by the first word of its headline."""
    texts: list[str] = []
    print_reports(reports(spark, **rows), date(2026, 1, 31), limit, texts.append)
    assert all(text.startswith("\n") for text in texts)
    return {text.split(maxsplit=1)[0]: text.splitlines()[1:] for text in texts}


def test_reports_without_rows_are_a_line_each(spark: SparkSession) -> None:
    assert [line for lines in printed(spark).values() for line in lines] == [
        "Retention risk on 2026-01-31: 0 of 0 group partitions lost records",
        "Groups on 2026-01-31: 0 of 0 missed their SLA or were in ERR",
        "Partition skew on 2026-01-31: 0 of 0 group topics skewed",
        "Brokers on 2026-01-31: 0 of 0 hot",
        "Unusual on 2026-01-31: 0 hours of groups",
        "Coverage of 2026-01-31: 0 of 0 datasets with gaps",
    ]


@pytest.fixture(name="whole", scope="module")
def _whole(spark: SparkSession) -> dict[str, list[str]]:
    """One cluster's day with something in every report."""
    return printed(
        spark,
        retention_risk=_RISKS,
        partition_skew=_SKEWS,
        lag_summary=_GROUPS,
        broker_hotspots=_BROKERS,
        anomalies=_UNUSUAL,
        coverage=_COVERAGE,
    )


_RISKS = [
    row(topic="un\x1b[2J\nknown"),
    row(topic="caught-up", records_lost=0, least_margin=0, lag_at_least_margin=0),
    row(topic="near", records_lost=0, least_margin=5, lag_at_least_margin=9),
    row(
        topic="soon",
        retention_risk="AT_RISK",
        records_lost=0,
        least_margin=1_200,
        least_margin_at=datetime(2026, 1, 31, 13, 5, 7, tzinfo=UTC),
        lag_at_least_margin=2_000,
        least_seconds_until_loss=18_000.0,
        retention_seconds=86_400.0,
        retention_needed_seconds=129_600.0,
    ),
    row(topic="lost", records_lost=7, retention_risk="LOST", least_margin=0),
    row(topic="lost-more", records_lost=8, retention_risk="LOST", least_margin=0),
]
_SKEWED = {"lag_skewed": True, "lag_max": 900.0}
_KEYS = {"cause": "production", "cause_partitions": [0]}
_SKEWS = [
    row(topic="even", lag_skewed=False, lag_max_to_mean=1.0),
    row(topic="keys", lag_max_to_mean=2.0, lag_skewed_minutes=90.0, **_SKEWED, **_KEYS),
    row(topic="worse", lag_max_to_mean=3.0, **_SKEWED, cause="broker", cause_leader=7),
    row(topic="made", production_skewed=True, production_max_to_mean=1.8),
]
_GROUPS = [
    group_row(consumer_group="slow", time_lag_p99=900.0),
    group_row(consumer_group="fast", time_lag_p99=1.0, sla_compliance=1.0),
    group_row(consumer_group="err", err_minutes=3.0),
    group_row(consumer_group="missed", sla_compliance=0.99, time_lag_p99=60.0),
    group_row(consumer_group="missed-more", sla_compliance=0.4, gone=True),
    row(consumer_group="topic-row", err_minutes=100.0),
]
_BROKERS: list[Row] = [
    {"cluster": "demo", "leader": 1, "hot": False, "lag_to_partitions": 0.5},
    {"cluster": "demo", "leader": 2, "hot": True, "lag_to_partitions": 2.5, "lag_share": 0.625},
    {"cluster": "demo"},
]
_UNUSUAL = [
    row(hour=3, measure="produce_rate", value=0.25, usual=52.0, deviation=-9.5, days=14),
    row(hour=13, measure="time_lag_seconds", value=720.0, usual=20.0, deviation=70.0),
]
_COVERAGE = [
    covered(last_run=datetime(2026, 1, 31, 23, 59, tzinfo=UTC)),
    covered(dataset="group_partitions", objects_skipped=1, skipped="x\n.parquet"),
]


def test_unknown_numbers_are_dashes_and_names_are_made_safe(whole: dict[str, list[str]]) -> None:
    assert whole["Retention"][-1].split() == ["g", "un?[2J?known", "0", *"--------"]


def test_the_worst_retention_comes_first(whole: dict[str, list[str]]) -> None:
    title, *lines = whole["Retention"]

    assert title == "Retention risk on 2026-01-31: 2 of 6 group partitions lost records"
    topics = [line.split()[1] for line in lines[-6:-1]]
    assert topics == ["lost-more", "lost", "soon", "near", "caught-up"]


def test_retention_shows_what_would_have_been_enough(whole: dict[str, list[str]]) -> None:
    assert whole["Retention"][-4].split() == [
        *("g", "soon", "0", "AT_RISK", "0", "1,200", "2,000", "13:05:07"),
        *("5", "h", "24", "h", "36", "h"),
    ]


def test_a_skewed_topic_shows_its_cause(whole: dict[str, list[str]]) -> None:
    title, *_, worse, keys, made, even = whole["Partition"]

    assert title == "Partition skew on 2026-01-31: 3 of 4 group topics skewed"
    assert worse.split()[1:3] == ["worse", "lag"]
    assert worse.endswith("  broker 7")
    assert keys.endswith("  production (partition 0)")
    assert "  90 min  " in keys
    assert (made.split()[2], even.split()[2]) == ("production", "no")


def test_groups_are_sorted_by_sla_then_errors_then_time_lag(whole: dict[str, list[str]]) -> None:
    title, _, _, *lines = whole["Groups"]

    assert title == "Groups on 2026-01-31: 3 of 5 missed their SLA or were in ERR"
    names = [line.split("  ")[1] for line in lines]
    assert names == ["missed-more (gone)", "missed", "err", "slow", "fast"]
    assert lines[1].split()[1:3] == ["-", "99%"]


def test_the_hottest_broker_comes_first(whole: dict[str, list[str]]) -> None:
    lines = whole["Brokers"][-3:]

    assert [line.split()[0] for line in lines] == ["2", "1", "none"]
    assert "62.5%" in lines[0]


def test_the_most_unusual_hour_comes_first(whole: dict[str, list[str]]) -> None:
    late, few = whole["Unusual"][-2:]

    assert late.split()[1:8] == ["13:00", "time", "lag", "12", "min", "20", "s"]
    assert few.split()[1:6] == ["03:00", "records", "produced", "0.2/s", "52.0/s"]


def test_coverage_names_what_was_skipped(whole: dict[str, list[str]]) -> None:
    title, *_, skipped, rest = whole["Coverage"]

    assert title == "Coverage of 2026-01-31: 1 of 2 datasets with gaps"
    assert skipped.startswith("  group_partitions ")
    assert skipped.endswith(" x?.parquet")
    assert "23:59:00" in rest


def test_one_cluster_is_named_once(whole: dict[str, list[str]]) -> None:
    assert "\n".join(whole["Retention"]).count("demo") == 1
    assert "cluster demo;" in whole["Retention"][1]


def test_several_clusters_begin_with_a_line_each_and_are_named_in_rows(
    spark: SparkSession,
) -> None:
    risks = [row(cluster=name, retention_risk="LOST", topic=t) for name in "ab" for t in "tu"]
    found = printed(
        spark,
        3,
        retention_risk=risks,
        partition_skew=[row(cluster="b", lag_skewed=True)],
        coverage=[covered("calm")],
    )

    assert found["On"] == [
        "On 2026-01-31, of 3 clusters",
        "  cluster  lost records  SLA or ERR  skewed  hot brokers  unusual hours  gaps",
        "  a                   2           0       0            0              0     0",
        "  b                   2           0       1            0              0     0",
        "  calm                0           0       0            0              0     0",
    ]
    *_, first, second, third, more = found["Retention"]
    assert [line.split()[0] for line in (first, second, third)] == ["a", "a", "b"]
    assert more.strip() == "and 1 more: --show 4 shows all"


def test_no_rows_are_shown_where_none_are_wanted(spark: SparkSession) -> None:
    found = printed(spark, 0, retention_risk=[row(retention_risk="LOST")])

    assert found["Retention"] == [
        "Retention risk on 2026-01-31: 1 of 1 group partitions lost records"
    ]
