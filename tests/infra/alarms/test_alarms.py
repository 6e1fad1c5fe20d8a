# SPDX-License-Identifier: Apache-2.0
"""Properties that every alarm has, as CloudFormation gets them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from kafka_lag_cdk.alarms import subject_of
from kafka_lag_config.alarm_rules import (
    ANY_GROUP,
    BY_MEMBER,
    GROUP_NOW,
    OF_ANY_GROUP,
    RULES,
    Rule,
    left_out,
    query_groups,
    query_rules,
)
from kafka_lag_config.saved_queries import read_queries
from tests.infra.alarms.conftest import (
    NOTICE_TOPIC,
    URGENT_TOPIC,
    ByName,
    alarms_of,
    watched_cluster,
)
from tests.infra.alarms.simulated import REBALANCES, STOPS
from tests.infra.configured import cluster


def asked(alarm: Mapping[str, Any]) -> str:
    (query,) = alarm["Metrics"]
    return str(query["Expression"])


def test_a_promise_is_watched_in_as_many_runs_as_the_document_has() -> None:
    runs = {REBALANCES: {"datapoints": 5, "periods": 10}}
    found = alarms_of(alarms={"groups": [REBALANCES], "sla_runs": runs})
    alarm = found[f"sla/{REBALANCES}"]
    assert (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == (5, 10)


@pytest.mark.parametrize(("any_group", "any_unusual"), [(True, True), (False, True)])
def test_the_rules_on_all_groups_are_those_that_a_stack_deploys(
    any_group: bool, any_unusual: bool
) -> None:
    chosen = {"any_group": any_group, "any_unusual": any_unusual}
    deployed = {name for name in alarms_of(alarms=chosen) if name.startswith("any-")}
    assert {rule.name for rule in query_rules(watched_cluster(alarms=chosen))} == deployed


# Rules that wake somebody; all others are for the day.
WAKING = {
    *("heartbeat", "status", "sla", "data-loss", "slo-fast", "slo-slow", "offset-lag"),
    *("any-group", "any-sla", "any-loss"),
}


def test_only_what_cannot_wait_goes_to_the_topic_that_wakes_somebody(alarms: ByName) -> None:
    for name, alarm in alarms.items():
        urgent = name.split("/")[0] in WAKING
        assert alarm["AlarmActions"] == [URGENT_TOPIC if urgent else NOTICE_TOPIC]
        severity = "urgent" if urgent else "notice"
        assert f"/{severity}/{name}" in alarm["AlarmName"]
        assert alarm["AlarmDescription"].startswith(f"{severity.capitalize()}. ")


def test_each_alarm_can_be_changed() -> None:
    found = alarms_of(
        alarms={
            "groups": [REBALANCES],
            "rules": {
                "status": {"datapoints": 2, "periods": 4, "threshold": 1, "action": "notice"},
                "heartbeat": {"action": "none"},
            },
        }
    )
    status = found[f"status/{REBALANCES}"]
    assert (status["DatapointsToAlarm"], status["EvaluationPeriods"]) == (2, 4)
    assert (status["Threshold"], status["AlarmActions"]) == (1, [NOTICE_TOPIC])
    assert "/notice/status/" in status["AlarmName"]
    assert "AlarmActions" not in found["heartbeat"]


def test_an_alarm_links_the_groups_runbook_or_else_the_manual() -> None:
    page = "https://wiki.example.com/billing"
    found = alarms_of(
        alarms={"groups": [REBALANCES, STOPS], "manual_url": "https://wiki.example.com/alarms"},
        runbook_url={f"^{REBALANCES}$": page},
    )
    assert found[f"status/{REBALANCES}"]["AlarmDescription"].endswith(f" See {page}")
    manual = "See https://wiki.example.com/alarms#status"
    assert found[f"status/{STOPS}"]["AlarmDescription"].endswith(manual)


def test_the_query_that_descriptions_name_is_saved() -> None:
    assert {GROUP_NOW, BY_MEMBER} <= {query.title for query in read_queries()}


@pytest.mark.parametrize("rule", RULES)
def test_a_description_fits_whatever_is_named_in_it(rule: Rule) -> None:
    subject = subject_of(cluster(name="c" * 128).facts, "g" * 300, "d" * 40)
    # CloudFormation names a log group after its stack, 128 characters at most, and the resource.
    for where in ("", f"Log: {'l' * 255}."):
        assert len(subject.description(rule, where)) <= 1024


def test_groups_with_an_alarm_of_their_own_page_once(alarms: ByName) -> None:
    excluded = re.findall(r""" AND "Consumer Group"!='([^']*)'""", asked(alarms["any-group"]))
    named = [name.removeprefix("status/") for name in alarms if name.startswith("status/")]
    assert excluded == named
    for other in ("any-sla", "any-loss"):
        assert re.findall(r"!='([^']*)'", asked(alarms[other])) == named
    # What is only compared with its own past has no status alarm.
    assert "!=" not in asked(alarms_of(alarms={"anomalies": [STOPS]})["any-group"])


@pytest.mark.parametrize("name", ["it's", 'so "called"', "back\\slash"])
def test_a_group_whose_name_cannot_be_quoted_for_certain_stays_in_the_query(name: str) -> None:
    assert "!=" not in query_groups(ANY_GROUP, "KafkaLag", "shop", [name])
    assert "!='b'" in query_groups(ANY_GROUP, "KafkaLag", "shop", [name, "b"])


def test_the_query_is_never_longer_than_cloudwatch_takes() -> None:
    room = 2048 - len(query_groups(ANY_GROUP, "KafkaLag", "shop", ["a" * 1000, "b"])) + 1
    full = query_groups(ANY_GROUP, "KafkaLag", "shop", ["a" * 1000, "b" * room])
    assert (len(full), full.count("!=")) == (2048, 2)
    assert full.endswith(' GROUP BY "Cluster Name","Consumer Group" ORDER BY MAX() DESC')
    too_long = ["a" * 1000, "b" * (room + 1)]
    assert query_groups(ANY_GROUP, "KafkaLag", "shop", too_long).count("!=") == 1


def test_a_group_that_has_no_room_in_the_query_does_not_keep_others_in_it() -> None:
    asked = query_groups(ANY_GROUP, "KafkaLag", "shop", ["a" * 1000, "b" * 1000, "c"])
    assert [f"!='{name}" in asked for name in "abc"] == [True, False, True]


def test_what_the_query_leaves_out_is_told_by_the_groups_own_names() -> None:
    names = ["naïve", "it's", "a" * 1000, "b" * 1000, "c"]
    assert left_out(ANY_GROUP, "KafkaLag", "shop", names) == ("naïve", "a" * 1000, "c")


@pytest.fixture(name="by_minutes", scope="module")
def _by_minutes(alarms: ByName) -> dict[int, ByName]:
    """All alarms by the minutes between runs."""
    seldom = {n: alarms_of(interval_seconds=60 * n) for n in (30, 60)}
    return {1: alarms, **seldom}


@pytest.mark.parametrize(("minutes", "counts"), [(1, (3, 5)), (30, (3, 5)), (60, (3, 3))])
def test_the_query_asks_for_no_more_than_the_three_hours_that_it_can_see(
    minutes: int, counts: tuple[int, int], by_minutes: dict[int, ByName]
) -> None:
    for rule in OF_ANY_GROUP:
        alarm = by_minutes[minutes][rule.name]
        assert (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == counts
        assert alarm["EvaluationPeriods"] * alarm["Metrics"][0]["Period"] <= 3 * 3600


def test_the_window_of_no_alarm_is_longer_than_cloudwatch_takes(
    by_minutes: dict[int, ByName],
) -> None:
    for minutes, longest in ((30, 86_400), (60, 7 * 86_400)):
        for name, alarm in by_minutes[minutes].items():
            assert alarm["EvaluationPeriods"] * minutes * 60 <= longest, name
