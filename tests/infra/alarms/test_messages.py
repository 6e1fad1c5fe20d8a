# SPDX-License-Identifier: Apache-2.0
"""Messages that stop, or that are given up, are alarmed like everything else that breaks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.infra.answering import resources
from tests.infra.resolve import of_type

MANUAL = (Path(__file__).parents[3] / "docs" / "views.md").read_text()
ALL = {"messages-dropped", "messages-silent"}


def alarms(kind: str) -> dict[str, dict[str, Any]]:
    found = of_type(resources(kind), "AWS::CloudWatch::Alarm").values()
    prefix = "kafka-lag/status-messages/"
    names = {each["AlarmName"]: each for each in found}
    names.pop("kafka-lag/daily-report/report-missing", None)
    assert [name for name in names if not name.startswith(prefix)] == []
    return {name.removeprefix(prefix): each for name, each in names.items()}


@pytest.mark.parametrize("kind", ["plain", "full", "bus"])
def test_both_alarms_are_there_wherever_messages_go(kind: str) -> None:
    assert set(alarms(kind)) == ALL


def test_silence_is_no_alarm_where_no_cluster_runs() -> None:
    assert set(alarms("topic")) == {"messages-dropped"}


def test_without_messages_there_is_no_alarm_on_them() -> None:
    assert alarms("off") == {}


def test_silence_is_bad_of_runs_and_good_of_drops() -> None:
    missing = {name: each["TreatMissingData"] for name, each in alarms("plain").items()}
    assert missing == {"messages-dropped": "notBreaching", "messages-silent": "breaching"}


def test_silence_is_not_alarmed_before_there_can_be_a_run() -> None:
    silent = alarms("plain")["messages-silent"]
    assert silent["WarmUpConfiguration"]["WarmUpPeriodDurationInMinutes"] > silent["Period"] / 60


def test_recoveries_are_sent_only_if_they_are_wanted() -> None:
    assert all("OKActions" in each for each in alarms("plain").values())
    assert not any("OKActions" in each for each in alarms("full").values())


@pytest.mark.parametrize("name", sorted(ALL))
def test_each_alarm_names_a_section_that_is_there(name: str) -> None:
    assert alarms("plain")[name]["AlarmDescription"].endswith(f"See docs/views.md#{name}.")
    assert f"\n#### {name}\n" in MANUAL


DECIDING = (
    *("MetricName", "ComparisonOperator", "Threshold"),
    *("DatapointsToAlarm", "EvaluationPeriods", "Period"),
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # one event a snapshot is dropped, which may be the only one of an hour
        (
            "messages-dropped",
            ("AsyncEventsDropped", "GreaterThanOrEqualToThreshold", 1, 1, 1, 15 * 60),
        ),
        # no run in two whole hours
        ("messages-silent", ("Invocations", "LessThanThreshold", 1, 2, 2, 3600)),
    ],
)
def test_what_decides_is_counted_of_the_function_alone(
    name: str, expected: tuple[object, ...]
) -> None:
    found = alarms("plain")[name]
    assert tuple(found[key] for key in DECIDING) == expected
    assert (found["Namespace"], found["Statistic"]) == ("AWS/Lambda", "Maximum")
    assert [each["Name"] for each in found["Dimensions"]] == ["FunctionName"]
