# SPDX-License-Identifier: Apache-2.0
"""Groups that are named and would not be heard of are faults, with their place and the reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kafka_lag.sinks.budget import plan
from kafka_lag_cdk.config.faults import ConfigurationError
from tests.functions.sinks.reports import a_report
from tests.infra.config.refused import cluster_faults
from tests.infra.configured import SERVICE, STEPS, cluster, cluster_json, deployment

BY_STEPS = {**SERVICE, "max": 8, "steps": STEPS}
BY_AGE = {**SERVICE, "max": 8, "steps": {**STEPS, "metric": "EstimatedTimeLag"}}
TRACKED = {**SERVICE, "max": 8, "tracking": {"lag_per_member": 10}}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"scaling": [BY_STEPS]},
        {"scaling": [TRACKED], "groups": {"allow": "^bill"}},
        {"scaling": [BY_STEPS], "levels": {"scaling": {"allow": "."}}},
        {"scaling": [BY_STEPS], "interval_seconds": 300},
        {"scaling": [BY_STEPS], "levels": {"max_metrics": 16}},
        {"levels": {"max_metrics": 0}},
    ],
)
def test_nothing_is_wrong_with(given: dict[str, Any]) -> None:
    assert cluster_faults(**given) == ()


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ({"deny": "^bill"}, "groups.deny matches it"),
        ({"allow": "^ok$"}, "groups.allow does not match it"),
        ({"allow": "^ok$", "deny": "^bill"}, "groups.deny matches it"),
    ],
)
def test_a_group_that_is_kept_out_is_named_with_its_places_and_the_reason(
    groups: dict[str, str], reason: str
) -> None:
    alarms = {"groups": ["ok", "billing"], "anomalies": ["billing"]}
    found = cluster_faults(scaling=[BY_STEPS], alarms=alarms, groups=groups)
    kept_out = f"the group billing is not read: {reason}"
    assert [fault for fault in found if "billing" in fault] == [
        f"alarms.groups[1]: {kept_out}",
        f"alarms.anomalies[0]: {kept_out}",
        f"scaling[0].group: {kept_out}",
    ]


def test_groups_that_are_read_are_no_fault() -> None:
    assert cluster_faults(alarms={"groups": ["ok"]}, groups={"allow": "^(ok|X)"}) == ()


@pytest.mark.parametrize("scaling", [BY_STEPS, BY_AGE, TRACKED], ids=["steps", "age", "tracking"])
@pytest.mark.parametrize("wanted", [{"allow": "^other"}, {"deny": "billing"}])
def test_a_group_without_the_metrics_for_scaling_cannot_scale(
    scaling: dict[str, Any], wanted: dict[str, str]
) -> None:
    assert cluster_faults(scaling=[scaling], levels={"scaling": wanted}) == (
        "scaling[0].group: billing gets no ScalingLag, as levels.scaling keeps it out; without "
        "levels.scaling it follows from scaling",
    )


@pytest.mark.parametrize(
    ("levels", "own", "wrong"),
    [
        ({"scaling": {"deny": "."}}, {"scaling": {}}, ["scaling[0].group"]),
        ({"max_metrics": 0}, {"max_metrics": 1_000}, ["levels.max_metrics"]),
        ({}, {"scaling": {"deny": "."}, "max_metrics": 0}, []),
    ],
)
def test_levels_that_an_endpoint_alone_has_neither_make_nor_mend_a_fault(
    levels: dict[str, Any], own: dict[str, Any], wrong: list[str]
) -> None:
    sinks = ["emf", {"otlp": {"sigv4": True, "levels": own}}]
    found = cluster_faults(scaling=[BY_STEPS], levels=levels, sinks=sinks)
    assert [fault.partition(": ")[0] for fault in found] == wrong


def test_the_fault_is_told_of_the_service_that_has_it() -> None:
    scaling = [{**BY_STEPS, "group": "good", "service": "other"}, BY_STEPS]
    (fault,) = cluster_faults(scaling=scaling, groups={"deny": "bill"})
    assert fault.startswith("scaling[1].group: ")


@pytest.mark.parametrize(
    ("given", "needed"),
    [
        pytest.param({}, 16, id="the group alone"),
        pytest.param({"levels": {"members": True, "rebalancing": True}}, 18, id="with options"),
        pytest.param({"alarms": {"groups": ["billing", "stock"]}}, 20, id="beside another"),
    ],
)
def test_all_groups_that_are_named_must_fit_into_the_budget(
    given: dict[str, Any], needed: int
) -> None:
    message = {"scaling": [BY_STEPS], **given}
    levels = message.pop("levels", {})
    assert cluster_faults(**message, levels={**levels, "max_metrics": needed}) == ()
    assert cluster_faults(**message, levels={**levels, "max_metrics": needed - 1}) == (
        f"levels.max_metrics: {needed - 1} leaves no room for the groups that alarms and scaling "
        f"name; they need {needed}",
    )


@pytest.mark.parametrize(("spared", "published"), [(0, [True, True]), (1, [False, True])])
def test_the_collectors_own_budget_agrees(spared: int, published: list[bool]) -> None:
    """`stock` and `billing` are named, and the last of them is what would be dropped."""
    given = {"scaling": [BY_STEPS], "alarms": {"groups": ["stock"]}}
    (fault,) = cluster_faults(**given, levels={"members": True, "max_metrics": 0})
    needed = int(fault.rpartition(" ")[2])
    enough = cluster(**given, levels={"members": True, "max_metrics": needed}).published_levels
    levels = replace(enough, max_metrics=needed - spared)
    report = a_report({"billing": {"orders": 1}, "stock": {"orders": 1}})
    assert sorted(plan(report, report.snapshot.empty(), levels).groups.tolist()) == published


def test_tracking_needs_a_value_every_minute() -> None:
    (fault,) = cluster_faults(scaling=[TRACKED], interval_seconds=300)
    assert fault == (
        "scaling[0].tracking: needs ScalingLagPerMember every minute, and interval_seconds makes "
        "it every 5; give steps"
    )


def test_a_document_with_faults_of_its_own_is_left_to_those() -> None:
    with pytest.raises(ConfigurationError) as caught:
        deployment(cluster_json(alarms={"groups": ["X-1"]}, groups={"deny": "("}))
    assert [fault.partition(":")[0] for fault in caught.value.faults] == ["clusters[0].groups.deny"]


def test_what_would_not_be_heard_of_is_refused_with_its_cluster() -> None:
    with pytest.raises(ConfigurationError, match=r"clusters\[1\]\.alarms\.groups\[0\]: the group"):
        deployment(
            cluster_json(), cluster_json(name="b", alarms={"groups": ["X"]}, groups={"deny": "X"})
        )


@pytest.mark.parametrize("name", ["x" * 256, "ü" * 43])
def test_a_name_that_no_alarm_can_be_made_of_is_refused(name: str) -> None:
    (fault,) = cluster_faults(alarms={"groups": [name]})
    assert fault.startswith("alarms.groups[0]: as a dimension the name has 25")


@pytest.mark.parametrize("name", ["x" * 255, "ü" * 42])
def test_the_longest_name_is_none(name: str) -> None:
    assert cluster_faults(alarms={"groups": [name]}) == ()


TEAM = "arn:aws:sns:eu-west-1:111122223333:billing-team"


def test_a_topic_for_an_owner_of_no_named_group_is_refused() -> None:
    """Nothing would ever be sent there."""
    alarms = {"groups": ["billing"], "owner_topics": {"Biling": TEAM}}
    assert cluster_faults(owner={"^billing$": "Billing"}, alarms=alarms) == (
        "alarms.owner_topics.Biling: owns no group that alarms name, which alone have alarms of "
        "their own: write the name as owner has it",
    )
    alarms["owner_topics"] = {"Billing": TEAM}
    assert cluster_faults(owner={"^billing$": "Billing"}, alarms=alarms) == ()


@pytest.mark.parametrize(
    ("key", "alarms"),
    [
        ("alarms.topic", {"topic": TEAM.replace("eu-west-1", "us-east-1")}),
        (
            "alarms.owner_topics.Billing",
            {
                "groups": ["billing"],
                "owner_topics": {"Billing": TEAM.replace("eu-west-1", "us-east-1")},
            },
        ),
    ],
)
def test_a_topic_of_another_region_is_refused(key: str, alarms: dict[str, Any]) -> None:
    assert cluster_faults(owner={"^billing$": "Billing"}, alarms=alarms) == (
        f"{key}: the topic is in us-east-1, and alarms publish in their own region only, eu-west-1",
    )
