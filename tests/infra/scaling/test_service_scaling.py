# SPDX-License-Identifier: Apache-2.0
"""What a scaled service becomes: one target, a policy each way, an alarm each policy."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.scaling_rules import rules_of, template_of
from tests.infra.resolve import of_type
from tests.infra.scaling import services
from tests.infra.scaling.services import Resources

TARGET = "AWS::ApplicationAutoScaling::ScalableTarget"
POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy"
ALARM = "AWS::CloudWatch::Alarm"

STEPPING = ("steps", "age", "slow")
OUT, IN = "GreaterThanOrEqualToThreshold", "LessThanThreshold"


def alarm_of(resources: Resources, operator: str) -> dict[str, Any]:
    found = of_type(resources, ALARM).values()
    (alarm,) = [each for each in found if each["ComparisonOperator"] == operator]
    return alarm


def policy_of(templates: Resources, operator: str) -> dict[str, Any]:
    """The policy that the alarm of one direction runs."""
    (action,) = alarm_of(templates, operator)["AlarmActions"]
    properties: dict[str, Any] = templates[action["Ref"]]["Properties"]
    return properties


def steps_of(templates: Resources, operator: str) -> list[tuple[Any, Any, int]]:
    configured = policy_of(templates, operator)["StepScalingPolicyConfiguration"]
    return [
        (
            step.get("MetricIntervalLowerBound"),
            step.get("MetricIntervalUpperBound"),
            step["ScalingAdjustment"],
        )
        for step in configured["StepAdjustments"]
    ]


def test_a_service_is_registered_within_its_bounds(templates: dict[str, Resources]) -> None:
    assert list(of_type(templates["steps"], TARGET).values()) == [
        {
            "ServiceNamespace": "ecs",
            "ScalableDimension": "ecs:service:DesiredCount",
            "ResourceId": "service/web/worker",
            "MinCapacity": 1,
            "MaxCapacity": 8,
            "SuspendedState": {
                "DynamicScalingInSuspended": False,
                "DynamicScalingOutSuspended": False,
                "ScheduledScalingSuspended": False,
            },
        }
    ]


@pytest.mark.parametrize("kind", [*STEPPING, "tracking", "two"])
def test_there_is_nothing_but_targets_policies_and_alarms(
    templates: dict[str, Resources], kind: str
) -> None:
    kinds = {resource["Type"] for resource in templates[kind].values()}
    assert kinds <= {TARGET, POLICY, ALARM}


@pytest.mark.parametrize("kind", [*STEPPING, "tracking", "two"])
def test_every_policy_names_its_target_whole(templates: dict[str, Resources], kind: str) -> None:
    targets = of_type(templates[kind], TARGET)
    named = [policy["ScalingTargetId"] for policy in of_type(templates[kind], POLICY).values()]
    assert {each["Ref"] for each in named} == set(targets)


def test_steps_out_follow_each_other_without_a_gap(templates: dict[str, Resources]) -> None:
    assert steps_of(templates["steps"], OUT) == [
        (0, 4000, 1),
        (4000, 19000, 2),
        (19000, None, 4),
    ]
    assert alarm_of(templates["steps"], OUT)["Threshold"] == 1000


def test_the_step_in_takes_all_below_its_threshold(templates: dict[str, Resources]) -> None:
    assert steps_of(templates["steps"], IN) == [(None, 0, -1)]
    assert alarm_of(templates["steps"], IN)["Threshold"] == 100


@pytest.mark.parametrize("kind", STEPPING)
@pytest.mark.parametrize("direction", [OUT, IN])
def test_policies_change_by_number_and_wait(
    templates: dict[str, Resources], kind: str, direction: str
) -> None:
    configured = policy_of(templates[kind], direction)["StepScalingPolicyConfiguration"]
    assert configured["AdjustmentType"] == "ChangeInCapacity"
    assert configured["MetricAggregationType"] == "Maximum"
    assert configured["Cooldown"] == {OUT: 120, IN: 600}[direction]


def test_a_suspended_service_has_all_and_nothing_acts(templates: dict[str, Resources]) -> None:
    (target,) = of_type(templates["suspended"], TARGET).values()
    (acting,) = of_type(templates["steps"], TARGET).values()
    assert target == {
        **acting,
        "SuspendedState": {
            "DynamicScalingInSuspended": True,
            "DynamicScalingOutSuspended": True,
            "ScheduledScalingSuspended": True,
        },
    }
    kinds = [resource["Type"] for resource in templates["suspended"].values()]
    assert kinds == [resource["Type"] for resource in templates["steps"].values()]


@pytest.mark.parametrize("kind", STEPPING)
@pytest.mark.parametrize("direction", [OUT, IN])
def test_missing_data_is_never_a_breach_nor_keeps_one(
    templates: dict[str, Resources], kind: str, direction: str
) -> None:
    assert alarm_of(templates[kind], direction)["TreatMissingData"] == "notBreaching"


@pytest.mark.parametrize(
    ("kind", "direction", "datapoints", "periods", "seconds"),
    [
        pytest.param("steps", OUT, 3, 5, 60, id="out"),
        pytest.param("steps", IN, 15, 15, 60, id="in"),
        # Three minutes are one run of five minutes, as are three and two to spare.
        pytest.param("slow", OUT, 1, 1, 300, id="out-every-five-minutes"),
        pytest.param("slow", IN, 3, 3, 300, id="in-every-five-minutes"),
    ],
)
def test_minutes_become_runs(
    templates: dict[str, Resources],
    kind: str,
    direction: str,
    datapoints: int,
    periods: int,
    seconds: int,
) -> None:
    alarm = alarm_of(templates[kind], direction)
    assert (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == (datapoints, periods)
    assert alarm["Period"] == seconds
    assert alarm["Statistic"] == "Maximum"


def test_lag_is_watched_as_it_is_published(templates: dict[str, Resources]) -> None:
    alarm = alarm_of(templates["steps"], OUT)
    assert (alarm["Namespace"], alarm["MetricName"]) == ("KafkaLag", "ScalingLag")
    assert alarm["Dimensions"] == [
        {"Name": "Cluster Name", "Value": "orders"},
        {"Name": "Consumer Group", "Value": "billing"},
    ]


@pytest.mark.parametrize("direction", [OUT, IN])
def test_age_is_watched_only_where_the_lag_is_known(
    templates: dict[str, Resources], direction: str
) -> None:
    queries = {each["Id"]: each for each in alarm_of(templates["age"], direction)["Metrics"]}
    (result,) = [each for each in queries.values() if "Expression" in each]
    assert result["Expression"] == "age + 0 * lag"
    stats = {key: queries[key]["MetricStat"] for key in ("age", "lag")}
    names = {key: stat["Metric"]["MetricName"] for key, stat in stats.items()}
    assert names == {"age": "EstimatedTimeLag", "lag": "ScalingLag"}
    assert {(stat["Stat"], stat["Period"]) for stat in stats.values()} == {("Maximum", 60)}


def test_tracking_follows_the_lag_of_a_member(templates: dict[str, Resources]) -> None:
    (policy,) = of_type(templates["tracking"], POLICY).values()
    assert policy["PolicyType"] == "TargetTrackingScaling"
    assert policy["TargetTrackingScalingPolicyConfiguration"] == {
        "TargetValue": 500.5,
        "ScaleOutCooldown": 60,
        "ScaleInCooldown": 600,
        "DisableScaleIn": True,
        "CustomizedMetricSpecification": {
            "Namespace": "Lag",
            "MetricName": "ScalingLagPerMember",
            "Statistic": "Maximum",
            "Dimensions": [
                {"Name": "Cluster Name", "Value": "orders"},
                {"Name": "Consumer Group", "Value": "na%C3%AFve"},
            ],
        },
    }


def test_tracking_leaves_the_alarms_to_aws(templates: dict[str, Resources]) -> None:
    assert of_type(templates["tracking"], ALARM) == {}


def test_alarms_have_names_to_be_read(templates: dict[str, Resources]) -> None:
    names = {each["AlarmName"] for each in of_type(templates["steps"], ALARM).values()}
    assert names == {
        "kafka-lag/orders/scale-out/web/worker",
        "kafka-lag/orders/scale-in/web/worker",
    }


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("steps", {"kafka-lag/orders/scale-out", "kafka-lag/orders/scale-in"}),
        ("age", {"staging/orders/scale-out", "staging/orders/scale-in"}),
        ("tracking", {"staging/orders/tracking"}),
    ],
)
def test_names_begin_with_the_deployments(
    templates: dict[str, Resources], kind: str, names: set[str]
) -> None:
    policies = of_type(templates[kind], POLICY).values()
    assert {policy["PolicyName"] for policy in policies} == names
    for alarm in of_type(templates[kind], ALARM).values():
        assert any(alarm["AlarmName"] == f"{name}/web/worker" for name in names)


def test_names_too_long_for_cloudwatch_are_cut_and_stay_apart(
    templates: dict[str, Resources],
) -> None:
    names = [each["AlarmName"] for each in of_type(templates["two"], ALARM).values()]
    assert len(set(names)) == 4
    assert {len(name) for name in names} == {255}


@pytest.mark.parametrize("kind", STEPPING)
@pytest.mark.parametrize(
    ("direction", "word"), [(OUT, "more tasks"), (IN, "fewer tasks")], ids=["out", "in"]
)
def test_descriptions_say_what_happens(
    templates: dict[str, Resources], kind: str, direction: str, word: str
) -> None:
    description = alarm_of(templates[kind], direction)["AlarmDescription"]
    assert "billing on orders" in description
    assert f"web/worker gets {word}" in description
    assert "Without data it stays" in description


def test_no_service_gets_more_tasks_than_partitions(templates: dict[str, Resources]) -> None:
    (target,) = of_type(templates["few"], TARGET).values()
    assert target["MaxCapacity"] == 2


def test_synthesis_warns_of_other_masters(info: str) -> None:
    assert "number of tasks of web/worker" in info
    assert "describe-scalable-targets --service-namespace ecs" in info
    assert "--resource-ids service/web/worker" in info
    assert "DesiredCount in the service's own template" in info


def the_template_without_cdk(kind: str) -> dict[str, Any]:
    """The same service as its rules have it as data."""
    cluster = services.CLUSTERS[kind]
    (scaling,) = cluster.scaling
    minutes = cluster.interval_minutes
    return template_of(rules_of(scaling), scaling, cluster.name, cluster.namespace, minutes)


def comparable(alarm: dict[str, Any]) -> dict[str, Any]:
    """What decides of an alarm: neither names and labels, nor the id of its result."""
    queries: dict[str, Any] = {}
    for each in alarm.get("Metrics", ()):
        queries["" if "Expression" in each else each["Id"]] = {
            key: value for key, value in each.items() if key in ("Expression", "MetricStat")
        }
    without = ("AlarmActions", "AlarmName", "AlarmDescription", "Metrics")
    return {key: value for key, value in alarm.items() if key not in without} | {"queries": queries}


def same(some: list[Any], others: list[Any]) -> bool:
    """The same in any order."""
    return len(some) == len(others) and all(each in others for each in some)


@pytest.mark.parametrize("kind", ["steps", "age", "slow", "tasks", "many"])
def test_the_template_has_the_rules_that_are_simulated(
    resolved: dict[str, Resources], kind: str
) -> None:
    as_data, key = the_template_without_cdk(kind), "StepScalingPolicyConfiguration"
    deployed, simulated = (
        [comparable(each) for each in of_type(resources, ALARM).values()]
        for resources in (resolved[kind], as_data)
    )
    assert same(deployed, simulated)
    deployed, simulated = (
        [each[key] for each in of_type(resources, POLICY).values()]
        for resources in (resolved[kind], as_data)
    )
    assert same(deployed, simulated)


def test_tasks_that_are_needed_are_set_exactly(templates: dict[str, Resources]) -> None:
    (policy,) = of_type(templates["tasks"], POLICY).values()
    configured = policy["StepScalingPolicyConfiguration"]
    assert configured["AdjustmentType"] == "ExactCapacity"
    assert [step["ScalingAdjustment"] for step in configured["StepAdjustments"]] == [*range(1, 13)]
    (alarm,) = of_type(templates["tasks"], ALARM).values()
    assert (alarm["MetricName"], alarm["Threshold"]) == ("TasksNeeded", 0)
    assert alarm["TreatMissingData"] == "notBreaching"
    assert (alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]) == (1, 1)
    assert alarm["AlarmName"] == "kafka-lag/orders/tasks-needed/web/worker"


def test_no_policy_has_more_steps_than_aws_takes(templates: dict[str, Resources]) -> None:
    policies = of_type(templates["many"], POLICY).values()
    numbers = [
        [step["ScalingAdjustment"] for step in steps["StepAdjustments"]]
        for policy in policies
        if (steps := policy["StepScalingPolicyConfiguration"])["AdjustmentType"] == "ExactCapacity"
    ]
    assert sorted(numbers) == [[*range(20)], [*range(20, 40)], [*range(40, 46)]]


def test_bounds_change_by_the_schedule(templates: dict[str, Resources]) -> None:
    (target,) = of_type(templates["many"], TARGET).values()
    assert target["ScheduledActions"] == [
        {
            "ScheduledActionName": "bounds-0",
            "Schedule": "cron(0 7 ? * MON-FRI *)",
            "Timezone": "Europe/Berlin",
            "ScalableTargetAction": {"MinCapacity": 6, "MaxCapacity": 45},
        },
        {
            "ScheduledActionName": "bounds-1",
            "Schedule": "cron(0 19 ? * MON-FRI *)",
            "Timezone": "UTC",
            "ScalableTargetAction": {"MinCapacity": 0, "MaxCapacity": 20},
        },
    ]


def test_a_service_of_another_account_watches_metrics_of_the_clusters(
    templates: dict[str, Resources],
) -> None:
    (alarm,) = of_type(templates["elsewhere"], ALARM).values()
    (query,) = alarm["Metrics"]
    assert query["AccountId"] == "111122223333"
    assert query["MetricStat"]["Metric"]["MetricName"] == "TasksNeeded"
