# SPDX-License-Identifier: Apache-2.0
"""What the saved queries answer from the daily reports: the job's own, and written ones."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from kafka_lag_cdk import report_columns as reports
from tests.infra.storage.queries.athena import Athena, Row
from tests.infra.storage.queries.conftest import Reported
from tests.infra.storage.queries.reported import FRIDAY, SATURDAY, write_report
from tests.infra.storage.queries.story import NOW, OTHER, SHOP, STOPPED
from tests.infra.storage.queries.story import SATURDAY as RUNS

Days = dict[str, list[dict[str, Any]]]


def ask(folder: Path, key: str, name: str, days: Days, **narrowed: str) -> list[Row]:
    """A saved query's rows where a report says this of these days."""
    for day, rows in days.items():
        write_report(folder, name, rows, day=day)
    return Athena(folder, NOW).ask(key, **narrowed)


@pytest.mark.spark
def test_the_command_names_the_pages_that_it_wrote(saturday: Reported) -> None:
    for cluster in (SHOP, OTHER):
        page = saturday.folder / f"reports/page/cluster={cluster}/dt={SATURDAY}/report.html"
        assert f"Page of {cluster}: {page}\n" in saturday.printed
        assert "<html" in page.read_text()


@pytest.mark.spark
def test_an_uneven_topic_is_listed_with_its_top_partition(reported: Athena) -> None:
    (row,) = reported.ask("skewed_topics")

    assert (row["cluster"], row["consumer_group"], row["topic"]) == (SHOP, "slow", "clicks")
    assert (row["lag_top_partition"], row["lag_top_share"]) == (1, 0.9)
    assert row["lag_max_to_mean"] == 2.7
    assert row["production_skewed"] is False


@pytest.mark.spark
def test_the_weeks_losses_are_listed_from_the_reports(reported: Athena) -> None:
    (row,) = reported.ask("retention_risk_of_the_week")

    assert (row["consumer_group"], row["topic"], row["records_lost"]) == ("loser", "logs", 500)
    assert (row["days_lost"], row["days_at_risk"]) == (1, 0)
    assert row["least_margin"] == 0


@pytest.mark.spark
def test_the_group_that_lagged_most_is_listed_from_the_reports(reported: Athena) -> None:
    rows = reported.ask("groups_lagging_most_yesterday")

    assert [row["consumer_group"] for row in rows][:2] == ["loser", "billing"]
    assert rows[1]["most_seconds"] == pytest.approx((59 - STOPPED) * 60, abs=2)
    assert rows[1]["most_records"] == 2 * 60 * (59 - STOPPED)
    assert (rows[1]["owner"], rows[1]["worst_topic"]) == ("payments", "orders")


@pytest.mark.spark
def test_a_time_lag_that_nobody_knows_is_not_zero(reported: Athena) -> None:
    (row,) = reported.ask("groups_lagging_most_yesterday", cluster=OTHER)

    assert (row["consumer_group"], row["most_seconds"]) == ("billing", None)


@pytest.mark.spark
def test_minutes_within_a_service_level_are_listed_from_the_reports(reported: Athena) -> None:
    (row,) = reported.ask("sla_by_week", cluster=SHOP, group="billing")

    # A run is a minute; the one before the gap stands for two.
    assert row["minutes_within"] == len([m for m in RUNS if m <= STOPPED + 5])
    assert row["minutes_known"] == len(RUNS) + 1
    assert (row["owner"], row["sla_seconds"]) == ("payments", 330.0)


def test_the_worse_of_a_topics_two_ratios_gives_its_place(tmp_path: Path) -> None:
    ratios = {
        "third": (4.0, 1.0),
        "fourth": (2.0, 3.0),
        "second": (None, 5.0),
        "first": (6.0, None),
    }
    uneven = [
        {"consumer_group": "g", "topic": topic, "lag_skewed": True, "production_skewed": True}
        | {"lag_max_to_mean": of_lag, "production_max_to_mean": of_production}
        for topic, (of_lag, of_production) in ratios.items()
    ]

    rows = ask(tmp_path, "skewed_topics", reports.PARTITION_SKEW, {SATURDAY: uneven})

    assert [row["topic"] for row in rows] == ["first", "second", "third", "fourth"]


def test_the_cause_of_an_uneven_lag_is_listed_with_whom_it_names(tmp_path: Path) -> None:
    of_a_member = {
        "consumer_group": "g",
        "topic": "t",
        "lag_skewed": True,
        "cause": "consumer",
        "cause_partitions": [1, 4],
        "cause_client_id": "c-1",
        "cause_client_host": "/10.0.0.1",
    }

    (row,) = ask(tmp_path, "skewed_topics", reports.PARTITION_SKEW, {SATURDAY: [of_a_member]})

    columns = ("cause", "cause_partitions", "cause_leader", "cause_client_id", "cause_client_host")
    assert [row[name] for name in columns] == ["consumer", [1, 4], None, "c-1", "/10.0.0.1"]


def a_group(name: str, **more: Any) -> dict[str, Any]:
    return {"consumer_group": name, **more}


def test_the_group_that_lagged_most_comes_first_with_its_worst_topic(tmp_path: Path) -> None:
    rows = ask(
        tmp_path,
        "groups_lagging_most_yesterday",
        reports.LAG_SUMMARY,
        {
            SATURDAY: [
                a_group("late", owner="payments", time_lag_max=900.0, lag_max=40.0),
                a_group("late", topic="slow", time_lag_max=900.0),
                a_group("late", topic="quick", time_lag_max=3.0),
                a_group("later", time_lag_max=901.0, err_minutes=7.04),
                a_group("unknown", topic="t"),
                a_group("unknown", unknown_minutes=60.0),
            ],
            FRIDAY: [a_group("earlier", time_lag_max=5000.0)],
        },
    )

    listed = [(row["consumer_group"], row["most_seconds"], row["worst_topic"]) for row in rows]
    assert listed == [("later", 901.0, None), ("late", 900.0, "slow"), ("unknown", None, None)]
    assert (rows[0]["err_minutes"], rows[1]["owner"]) == (7.0, "payments")


def with_sla(met: float, known: float, seconds: float = 330.0) -> dict[str, Any]:
    share = met / known if known else None
    minutes = {"sla_met_minutes": met, "sla_minutes": known, "sla_compliance": share}
    return a_group("billing", owner="payments", sla_seconds=seconds, **minutes)


def test_a_service_level_is_listed_by_week_with_its_worst_day(tmp_path: Path) -> None:
    rows = ask(
        tmp_path,
        "sla_by_week",
        reports.LAG_SUMMARY,
        {
            SATURDAY: [with_sla(600, 1200), with_sla(1, 1) | {"topic": "t"}, a_group("other")],
            FRIDAY: [with_sla(1400, 1400)],
            "2026-01-20": [with_sla(5, 10)],
        },
        group="billing",
    )

    listed = [(row["week"], row["minutes_within"], row["minutes_known"]) for row in rows]
    assert listed == [(date(2026, 1, 26), 2000, 2600), (date(2026, 1, 19), 5, 10)]
    assert rows[0]["share_within"] == pytest.approx(2000 / 2600, abs=1e-5)
    assert (rows[0]["worst_day"], rows[0]["worst_share"]) == (SATURDAY, 0.5)
    assert (rows[0]["owner"], rows[0]["days_reported"]) == ("payments", 2)


def test_a_week_without_a_known_age_has_no_share_within_its_service_level(tmp_path: Path) -> None:
    days = {SATURDAY: [with_sla(0, 0)], FRIDAY: [with_sla(9, 10, seconds=60.0)]}

    rows = ask(tmp_path, "sla_by_week", reports.LAG_SUMMARY, days)

    assert [(row["sla_seconds"], row["share_within"]) for row in rows] == [
        (60.0, 0.9),
        (330.0, None),
    ]


def test_the_broker_that_was_hot_on_most_days_comes_first(tmp_path: Path) -> None:
    def broker(leader: int | None, ratio: float | None, hot: bool | None) -> dict[str, Any]:
        return {"leader": leader, "lag_to_partitions": ratio, "hot": hot, "lag_share": ratio}

    days = {
        SATURDAY: [broker(1, 0.4, False), broker(2, 3.0, True), broker(None, None, None)],
        FRIDAY: [broker(1, 2.5, True), broker(2, 2.0, True)],
    }

    rows = ask(tmp_path, "brokers_hot_this_week", reports.BROKER_HOTSPOTS, days)

    listed = [(row["leader"], row["days_hot"], row["days_known"], row["worst_day"]) for row in rows]
    assert listed == [(2, 2, 2, SATURDAY), (1, 1, 2, FRIDAY), (None, 0, 0, None)]
    assert rows[0]["share_of_lag"] == 2.5


def test_a_client_is_hot_once_a_day_whatever_its_members_are_called(tmp_path: Path) -> None:
    def member(client: str, member_id: str, hot: bool) -> dict[str, Any]:
        known = {"lag_to_partitions": 3.0 if hot else 1.0, "lag_mean": 12.34, "hot": hot}
        return a_group("g", client_host="/h", client_id=client, member_id=member_id, **known)

    days = {
        SATURDAY: [member("a", "a-1", True), member("a", "a-2", True), member("b", "b-1", False)],
        FRIDAY: [member("a", "a-0", False)],
    }

    (row,) = ask(tmp_path, "consumers_hot_this_week", reports.CONSUMER_HOTSPOTS, days)

    assert (row["client_id"], row["members"]) == ("a", 3)
    assert (row["days_hot"], row["days_seen"]) == (1, 2)
    assert (row["worst_ratio"], row["worst_day"], row["most_lag"]) == (3.0, SATURDAY, 12.3)


def test_of_incidents_the_newest_day_and_on_it_the_worst_come_first(tmp_path: Path) -> None:
    def incident(group: str | None, level: str, **more: Any) -> dict[str, Any]:
        return {"consumer_group": group, "level": level, "kind": "stalled", "text": "", **more}

    days = {
        SATURDAY: [
            incident("warned", "warned"),
            incident("over", "serious", minutes=9.04),
            incident(None, "serious", kind="no_leader", minutes=60.0),
            incident("lost", "urgent", records_lost=5),
            incident("lost more", "urgent", records_lost=50),
        ],
        FRIDAY: [incident("before", "urgent")],
    }

    rows = ask(tmp_path, "incidents_of_the_week", reports.INCIDENTS, days)

    groups = ["lost more", "lost", None, "over", "warned", "before"]
    assert [row["consumer_group"] for row in rows] == groups
    assert rows[3]["minutes"] == 9.0


def test_tasks_needed_are_listed_by_hour_of_the_week_from_monday_on(tmp_path: Path) -> None:
    def needed(hour: int | None, median: int) -> dict[str, Any]:
        return a_group("g", hour=hour, median=median, known_minutes=59.96)

    days = {
        FRIDAY: [needed(None, 4), needed(23, 3), needed(4, 2)],
        SATURDAY: [needed(4, 9)],
    }

    rows = ask(tmp_path, "tasks_needed_by_hour", reports.TASKS_NEEDED, days)

    found = [(row["weekday"], row["hour"], row["median"]) for row in rows]
    assert found == [(5, 4, 2), (5, 23, 3), (6, 4, 9)]
    assert rows[0]["known_minutes"] == 60.0


def test_objectives_are_listed_by_the_share_of_their_budget_that_is_left(tmp_path: Path) -> None:
    def objective(group: str, left: float, budget: float, broken: float) -> dict[str, Any]:
        minutes = {"budget_left_minutes": left, "budget_minutes": budget}
        return a_group(group, **minutes, broken_minutes=broken)

    days = {
        FRIDAY: [objective("over", 90.0, 100.0, 1.0), objective("gone", 5.0, 100.0, 10.0)],
        SATURDAY: [
            objective("calm", 99.0, 100.0, 0.0),
            objective("over", -10.0, 100.0, 100.0),
            objective("half", 10.0, 20.0, 4.0),
        ],
    }

    rows = ask(tmp_path, "objectives_now", reports.SLO, days)

    found = [(row["consumer_group"], row["days_left"]) for row in rows]
    assert found == [("over", 0.0), ("gone", 0.5), ("half", 2.5), ("calm", None)]


def test_the_retention_that_was_too_short_comes_first(tmp_path: Path) -> None:
    def partition(number: int, topic: str, needed: float, **more: Any) -> dict[str, Any]:
        key = {"topic": topic, "partition_id": number}
        return a_group("g", **key, retention_needed_seconds=needed, **more)

    days = {
        SATURDAY: [
            partition(0, "enough", 1800.0, retention_seconds=7200.0),
            partition(1, "short", 9000.0, retention_seconds=7200.0, records_lost=5),
            partition(2, "short", 8000.0, retention_seconds=7200.0, records_lost=50),
            partition(0, "endless", 99_999.0),
            partition(0, "read at once", 0.0, retention_seconds=7200.0),
        ],
        FRIDAY: [partition(0, "short", 3600.0, retention_seconds=7200.0, records_lost=54)],
    }

    rows = ask(tmp_path, "retention_enough", reports.RETENTION_RISK, days)

    listed = [(row["topic"], row["share_needed"], row["needed_hours"]) for row in rows]
    assert listed == [("short", 1.25, 2.5), ("enough", 0.25, 0.5), ("endless", None, 27.78)]
    assert (rows[0]["worst_day"], rows[0]["worst_partition"]) == (SATURDAY, 1)
    assert (rows[0]["records_lost"], rows[0]["retention_hours"]) == (55, 2.0)
