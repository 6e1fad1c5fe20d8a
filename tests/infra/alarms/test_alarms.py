# SPDX-License-Identifier: Apache-2.0
"""What every alarm has, by the properties that CloudFormation gets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from kafka_lag_cdk.alarm_rules import (
    ANY_GROUP,
    ANY_UNUSUAL,
    BY_MEMBER,
    GROUP_NOW,
    HEARTBEAT,
    OF_ANY_GROUP,
    OF_REPORTER,
    REPORT_MISSING,
    RULES,
    Missing,
    Rule,
    left_out,
    query_groups,
    query_rules,
)
from kafka_lag_cdk.alarms import MISSING, OPERATORS, ClusterSubject
from kafka_lag_cdk.saved_queries import read_queries
from tests.infra.alarms.conftest import (
    LOG_GROUP,
    ByName,
    alarms_of,
    watched,
    watched_cluster,
)
from tests.infra.alarms.simulated import REBALANCES, STEADY, STOPS
from tests.infra.configured import cluster

BY_NAME = {rule.name: rule for rule in RULES}
_TREATMENTS = {"missing", "ignore", "breaching", "notBreaching"}


def rule_of(name: str) -> Rule:
    return BY_NAME[name.partition("/")[0]]


def asked(alarm: Mapping[str, Any]) -> str:
    (query,) = alarm["Metrics"]
    return str(query["Expression"])


def test_there_is_an_alarm_for_every_rule(alarms: ByName) -> None:
    """That on the daily report is of a region."""
    assert {rule_of(name) for name in alarms} == set(RULES) - {REPORT_MISSING}


def test_every_alarm_says_how_often_of_how_many_and_what_silence_means(alarms: ByName) -> None:
    for name, alarm in alarms.items():
        rule = rule_of(name)
        observed = (
            alarm["DatapointsToAlarm"],
            alarm["EvaluationPeriods"],
            alarm["TreatMissingData"],
        )
        assert observed == (rule.datapoints, rule.periods, rule.missing.value), name


def test_a_promise_is_watched_in_as_many_runs_as_the_document_has() -> None:
    runs = {REBALANCES: {"datapoints": 5, "periods": 10}}
    found = alarms_of(watched(alarms={"groups": [REBALANCES], "sla_runs": runs}))
    alarm = found[f"sla/{REBALANCES}"]
    assert (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == (5, 10)


@pytest.mark.parametrize("any_group", [True, False])
@pytest.mark.parametrize("any_unusual", [True, False])
def test_the_rules_on_all_groups_are_those_that_a_stack_deploys(
    any_group: bool, any_unusual: bool
) -> None:
    chosen = {"any_group": any_group, "any_unusual": any_unusual}
    deployed = {name for name in alarms_of(watched(alarms=chosen)) if name.startswith("any-")}
    assert {rule.name for rule in query_rules(watched_cluster(alarms=chosen))} == deployed


def test_only_the_heartbeat_takes_silence_for_bad_and_warms_up(alarms: ByName) -> None:
    bad = {n for n, alarm in alarms.items() if alarm["TreatMissingData"] == "breaching"}
    assert bad == {n for n, alarm in alarms.items() if "WarmUpConfiguration" in alarm}
    assert bad == {"heartbeat"}


def test_every_alarm_reads_the_maximum_and_no_unit(alarms: ByName) -> None:
    for name, alarm in alarms.items():
        stats = [
            each["MetricStat"]["Stat"] for each in alarm.get("Metrics", ()) if "MetricStat" in each
        ]
        if name.startswith(("any-", "broker-")):
            worst = "MIN" if name == "broker-cpu" else "MAX"
            assert asked(alarm).startswith(f"SELECT {worst}(")
        else:
            assert (alarm.get("Statistic") or stats[0]) == "Maximum", name
        assert "Unit" not in str(alarm), name


def test_names_are_unique_and_short_enough(template: dict[str, Any]) -> None:
    found = template["Resources"].values()
    names = [
        each["Properties"]["AlarmName"]
        for each in found
        if each["Type"] == "AWS::CloudWatch::Alarm"
    ]
    assert len(set(names)) == len(names)
    assert all(name.startswith("kafka-lag/shop/") and len(name) <= 255 for name in names)


def test_descriptions_say_what_is_wrong_what_to_do_and_where_to_read_on(alarms: ByName) -> None:
    for name, alarm in alarms.items():
        rule, observed = rule_of(name), alarm["AlarmDescription"]
        assert rule.meaning in observed
        assert rule.to_do in observed
        assert observed.endswith(f"docs/operations.md#{rule.name}.")


def test_alarms_on_the_reporter_say_where_its_log_is(alarms: ByName) -> None:
    observed = [alarms[rule.name]["AlarmDescription"] for rule in OF_REPORTER]
    assert [each for each in observed if f" Log: {LOG_GROUP}. " not in each] == []


def test_alarms_on_groups_name_the_query_and_the_dashboard_that_show_more(alarms: ByName) -> None:
    for name, title in (
        (f"status/{STOPS}", GROUP_NOW),
        (f"sla/{REBALANCES}", BY_MEMBER),
        (f"data-loss/{STOPS}", GROUP_NOW),
        ("any-group", GROUP_NOW),
        ("any-sla", BY_MEMBER),
        ("any-loss", GROUP_NOW),
    ):
        observed = alarms[name]["AlarmDescription"]
        assert f"'{title}' in Athena" in observed
        assert " Dashboard: kafka-lag-shop. " in observed
    assert "(GroupStatus on the dashboard)" in alarms[f"sla/{REBALANCES}"]["AlarmDescription"]


def test_what_aws_counts_is_counted_of_this_function_and_its_log_alone(alarms: ByName) -> None:
    observed = {
        "AWS/Lambda": ("FunctionName", "collector"),
        "AWS/Logs": ("LogGroupName", LOG_GROUP),
    }
    for rule in OF_REPORTER:
        if rule.namespace:
            (dimension,) = alarms[rule.name]["Dimensions"]
            assert (dimension["Name"], dimension["Value"]) == observed[rule.namespace]


def test_the_query_that_descriptions_name_is_saved() -> None:
    assert {GROUP_NOW, BY_MEMBER} <= {query.title for query in read_queries()}


def test_a_cluster_without_a_dashboard_points_at_none() -> None:
    observed = ClusterSubject(cluster(dashboard=False), "billing").shown
    assert observed == ""


@pytest.mark.parametrize("rule", RULES)
def test_a_description_fits_whatever_is_named_in_it(rule: Rule) -> None:
    subject = ClusterSubject(cluster(name="c" * 128), "g" * 300, "d" * 40)
    # CloudFormation names a log group after its stack, 128 characters at most, and the resource.
    for where in (subject.shown, f"Log: {'l' * 255}."):
        assert len(subject.description(rule, where)) <= 1024


def test_data_loss_says_that_thirty_days_is_no_warning(alarms: ByName) -> None:
    observed = alarms[f"data-loss/{STOPS}"]["AlarmDescription"]
    assert "30 days is the value for no risk" in observed
    assert "only within risk_horizon_hours" in observed


def test_groups_with_an_alarm_of_their_own_page_once(alarms: ByName) -> None:
    excluded = re.findall(r""" AND "Consumer Group"!='([^']*)'""", asked(alarms["any-group"]))
    named = [name.removeprefix("status/") for name in alarms if name.startswith("status/")]
    assert excluded == named
    for other in ("any-sla", "any-loss"):
        assert re.findall(r"!='([^']*)'", asked(alarms[other])) == named
    # What is only compared with its own past has no status alarm.
    assert "!=" not in asked(alarms_of(watched(alarms={"anomalies": [STOPS]}))["any-group"])


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


def test_alarms_of_another_deployment_have_names_of_their_own(alarms: ByName) -> None:
    other = alarms_of(watched(name="staging"), "staging")
    assert set(other) == set(alarms)
    mine = {alarm["AlarmName"] for alarm in alarms.values()}
    assert mine.isdisjoint(alarm["AlarmName"] for alarm in other.values())
    assert " Dashboard: staging-shop. " in other["any-group"]["AlarmDescription"]


def test_recoveries_are_told_unless_they_are_not_wanted(alarms: ByName) -> None:
    quiet = alarms_of(watched(recovered=False))
    assert not [name for name, alarm in quiet.items() if "OKActions" in alarm]
    silent = [name for name, alarm in alarms.items() if alarm.get("OKActions") is None]
    # a first deploy would tell an OK of each counter of faults
    counters = {rule.name for rule in OF_REPORTER if rule is not HEARTBEAT}
    assert set(silent) == {*(rule.name for rule in (*OF_ANY_GROUP, ANY_UNUSUAL)), *counters}


def test_data_that_is_missing_tells_nobody(alarms: ByName) -> None:
    assert not [name for name, alarm in alarms.items() if "InsufficientDataActions" in alarm]


def test_a_paused_cluster_has_no_heartbeat_to_miss() -> None:
    paused = alarms_of(watched(paused=True))
    assert "heartbeat" not in paused
    assert "collector-errors" in paused


def test_an_sla_is_watched_only_where_one_is_promised(alarms: ByName) -> None:
    assert [name for name in alarms if name.startswith("sla/")] == ["sla/rebalances"]
    assert alarms["sla/rebalances"]["Threshold"] == 300


def test_anomalies_are_those_above_the_band_and_have_no_threshold(alarms: ByName) -> None:
    alarm = alarms[f"anomaly/{STOPS}"]
    assert "Threshold" not in alarm
    assert alarm["ComparisonOperator"] == "GreaterThanUpperThreshold"
    assert [each["Expression"] for each in alarm["Metrics"] if "Expression" in each] == [
        "ANOMALY_DETECTION_BAND(m0, 3)"
    ]


@pytest.mark.parametrize(("minutes", "counts"), [(1, (3, 5)), (30, (3, 5)), (60, (3, 3))])
def test_the_query_asks_for_no_more_than_the_three_hours_that_it_can_see(
    minutes: int, counts: tuple[int, int], template: dict[str, Any]
) -> None:
    observed = alarms_of(template if minutes == 1 else watched(interval_seconds=60 * minutes))
    for rule in OF_ANY_GROUP:
        alarm = observed[rule.name]
        assert (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == counts
        assert alarm["EvaluationPeriods"] * alarm["Metrics"][0]["Period"] <= 3 * 3600


def test_the_worst_groups_are_those_that_a_query_sees(alarms: ByName) -> None:
    order = {rule.name: asked(alarms[rule.name]).split()[-1] for rule in OF_ANY_GROUP}
    assert order == {"any-group": "DESC", "any-sla": "DESC", "any-loss": "ASC"}


def test_no_sla_of_any_group_is_watched_where_none_is_promised() -> None:
    assert not {"any-sla", "any-loss"} - set(alarms_of(watched()))
    assert "any-sla" not in alarms_of(watched(sla_seconds={}))


def test_the_window_of_no_alarm_is_longer_than_cloudwatch_takes() -> None:
    for minutes in (30, 60):
        for name, alarm in alarms_of(watched(interval_seconds=60 * minutes)).items():
            longest = 86_400 if minutes < 60 else 7 * 86_400
            assert alarm["EvaluationPeriods"] * minutes * 60 <= longest, name


def test_a_period_is_a_run(every_five_minutes: ByName) -> None:
    assert every_five_minutes["heartbeat"]["Period"] == 300
    assert every_five_minutes[f"status/{STEADY}"]["Period"] == 300
    assert every_five_minutes["collector-errors"]["Period"] == 300


def test_every_word_of_a_rule_has_one_of_cloudwatch() -> None:
    assert {each.value for each in Missing} == _TREATMENTS
    assert {rule.operator for rule in RULES} <= set(OPERATORS)
    assert {rule.missing for rule in RULES} <= set(MISSING)
