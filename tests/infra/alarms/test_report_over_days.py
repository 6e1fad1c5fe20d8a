# SPDX-License-Identifier: Apache-2.0
"""The alarm on the daily report: over days on which it runs, fails, or never starts."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from kafka_lag import contract
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import MetricSet
from kafka_lag_cdk.alarms import Recipients, report_alarm
from kafka_lag_cdk.simulation.evaluation import ALARM, OK, Assumptions
from kafka_lag_cdk.simulation.metrics import Metrics
from kafka_lag_cdk.simulation.timeline import states, transitions
from tests.builders import MINUTE, NOON
from tests.infra.resolve import ACCOUNT, REGION, of_type

HOUR, DAY = 60, 24 * 60
# The job's first run is on the night after the deploy, 13 hours on.
FIRST = 13 * HOUR + 5


@pytest.fixture(name="alarm", scope="module")
def _alarm() -> Mapping[str, Any]:
    stack = Stack(App(), "Report", env=Environment(account=ACCOUNT, region=REGION))
    topic = sns.Topic.from_topic_arn(stack, "Topic", f"arn:aws:sns:{REGION}:{ACCOUNT}:t")
    recipients = Recipients(topic, recovered=True)
    report_alarm(stack, "Alarm", recipients=recipients, job_name="job", name="ours")
    (found,) = of_type(Template.from_stack(stack).to_json()["Resources"], "AWS::CloudWatch::Alarm")
    template = Template.from_stack(stack).to_json()["Resources"]
    properties: Mapping[str, Any] = template[found]["Properties"]
    return properties


def runs(*values: int | None) -> Metrics:
    """What scheduled runs on following days published; None published nothing."""
    # as the collector's own metrics, of which one is renamed
    dimensions = ((contract.DIMENSION_DEPLOYMENT, "ours"),)
    metrics, stream = Metrics(NOON, 0), io.StringIO()
    for day, value in enumerate(values):
        if value is not None:
            success = MetricSet(dimensions, ((contract.COLLECTOR_SUCCESS, value),))
            EmfSink(stream).publish([success], NOON + (FIRST + day * DAY) * MINUTE)
    lines = stream.getvalue().replace(contract.COLLECTOR_SUCCESS, contract.DAILY_REPORT_SUCCESS)
    metrics.feed(lines.splitlines())
    return metrics


def hours_of(alarm: Mapping[str, Any], metrics: Metrics, days: int) -> list[tuple[int, str]]:
    observed = states(alarm, metrics, range(days * DAY), Assumptions(extra_points=0))
    return [(minute // HOUR, state) for minute, state in transitions(observed)]


def test_a_report_every_day_sends_nothing(alarm: Mapping[str, Any]) -> None:
    assert hours_of(alarm, runs(1, 1, 1, 1), 4) == [(26, OK)]


def test_a_job_that_never_starts_is_reported_after_26_hours(alarm: Mapping[str, Any]) -> None:
    assert hours_of(alarm, runs(), 3) == [(26, ALARM)]


def test_a_trigger_that_is_deactivated_is_reported_two_hours_after_the_missed_run(
    alarm: Mapping[str, Any],
) -> None:
    (_, ok), (hour, state) = hours_of(alarm, runs(1, 1), 4)
    assert (ok, state) == (OK, ALARM)
    assert FIRST // HOUR + 24 + 26 <= hour <= FIRST // HOUR + 24 + 27


def test_a_run_that_fails_is_no_success_and_the_next_good_one_ends_it(
    alarm: Mapping[str, Any],
) -> None:
    observed = hours_of(alarm, runs(1, 0, 1, 1), 4)
    assert [state for _, state in observed] == [OK, ALARM, OK]
    assert observed[-1][0] == FIRST // HOUR + 2 * 24


def test_it_reads_the_deployments_own_metric(alarm: Mapping[str, Any]) -> None:
    assert (alarm["Namespace"], alarm["MetricName"]) == ("KafkaLag", "DailyReportSuccess")
    assert alarm["Dimensions"] == [{"Name": "Deployment", "Value": "ours"}]
    # metrics may be delivered twice, so no sum
    assert alarm["Statistic"] == "Maximum"


def test_it_names_the_job_and_its_section(alarm: Mapping[str, Any]) -> None:
    assert alarm["AlarmName"] == "ours/daily-report/report-missing"
    assert "Job: job." in alarm["AlarmDescription"]
    assert "docs/operations.md#report-missing" in alarm["AlarmDescription"]
