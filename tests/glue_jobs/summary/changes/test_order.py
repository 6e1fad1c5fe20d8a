# SPDX-License-Identifier: Apache-2.0
"""All findings of a day together."""

from kafka_lag_report.summary.changes import Kind, changes
from kafka_lag_report.summary.findings import Group, GroupDay, Risk, Topic
from tests.glue_jobs.summary.changes.days import (
    AT_RISK,
    BROKER,
    GROUP,
    HOT,
    LOST,
    LOST_MORE,
    SAFE,
    TOPIC,
    day,
    told_of,
)


def test_the_worst_comes_first_over_all_clusters() -> None:
    risks = {
        Topic("b", "g", "t"): LOST,
        Topic("a", "g", "t"): AT_RISK,
        Topic("b", "g", "u"): Risk(at_risk=1),
        Topic("b", "g", "v"): Risk(at_risk=1, least_seconds_until_loss=60.0),
        Topic("a", "g", "w"): LOST_MORE,
        Topic("a", "g", "x"): SAFE,
    }
    before = day(risks={Topic("a", "g", "x"): AT_RISK})

    found = changes(day(risks=risks, brokers={BROKER: HOT}), before)

    assert [(change.cluster, change.text.partition(":")[0]) for change in found] == [
        ("a", "g on w"),
        ("b", "g on t"),
        ("b", "g on v"),
        ("a", "g on t"),
        ("b", "g on u"),
        ("demo", "broker 3 in az-a"),
        ("a", "g on x"),
    ]


def test_without_a_day_before_findings_are_told_and_no_group_is_new() -> None:
    today = day(
        risks={TOPIC: AT_RISK},
        groups={GROUP: GroupDay(0.5, 3.0), Group("demo", "calm"): GroupDay()},
    )

    assert [kind for kind, _ in told_of(today, None)] == [Kind.AT_RISK, Kind.SLA_MISSED, Kind.ERR]
