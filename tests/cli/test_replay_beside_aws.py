# SPDX-License-Identifier: Apache-2.0
"""The alarm model compared with CloudWatch's history of the same alarms.

moto has no DescribeAlarmHistory, so botocore's description checks requests and answers.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ClientError
from botocore.model import Shape
from botocore.validate import validate_parameters

from kafka_lag.snapshots.store import FolderStore
from kafka_lag_cli.account.errors import AwsError
from kafka_lag_cli.connecting.deployment_file import read_deployment
from kafka_lag_cli.replay.alarms import metrics_watched
from kafka_lag_cli.replay.beside_aws import compare_with_aws
from kafka_lag_cli.replay.recorded import read_recorded
from tests.builders import MINUTE
from tests.cli.test_replay import DAY, MIDNIGHT, MINUTES, Group, a_document, at, write_day

_SHAPE = botocore.session.get_session().get_service_model("cloudwatch")
_OPERATION = _SHAPE.operation_model("DescribeAlarmHistory")


def check(value: Mapping[str, Any], shape: Shape | None) -> None:
    assert shape is not None
    validate_parameters(value, shape)


ANY_GROUP, STATUS = "kafka-lag/shop/urgent/any-group", "kafka-lag/shop/urgent/status/billing"


class FakeCloudWatch:
    """Histories of alarms by their names, an item a page, in the time that is asked for."""

    def __init__(self) -> None:
        self.items: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.error: str | None = None

    def changed(self, name: str, minute: float, state: str, group: str | None = None) -> None:
        """A state from this minute of the day on, of an alarm or of its contributor."""
        item = {
            "HistoryItemType": "StateUpdate" if group is None else "AlarmContributorStateUpdate",
            "HistoryData": json.dumps({"version": "1.0", "newState": {"stateValue": state}}),
        }
        if group is not None:
            values = {"Cluster Name": "shop", "Consumer Group": group}
            item["AlarmContributorAttributes"] = values  # type: ignore[assignment]
        self.add(name, minute, item)

    def add(self, name: str, minute: float, item: Mapping[str, Any]) -> None:
        when = datetime.fromtimestamp((MIDNIGHT + minute * MINUTE) / 1000, UTC)
        whole = {"AlarmName": name, "AlarmType": "MetricAlarm", "Timestamp": when, **item}
        check({"AlarmHistoryItems": [whole]}, _OPERATION.output_shape)
        self.items[name].append(whole)

    def get_paginator(self, operation: str) -> FakeCloudWatch:
        assert operation == "describe_alarm_history"
        return self

    def paginate(self, **request: Any) -> Iterator[dict[str, Any]]:
        check(request, _OPERATION.input_shape)
        if self.error:
            answer = {"Error": {"Code": self.error, "Message": ""}}
            raise ClientError(answer, "DescribeAlarmHistory")  # type: ignore[arg-type]
        for item in self.items[request["AlarmName"]]:
            if request["StartDate"] <= item["Timestamp"] <= request["EndDate"]:
                yield {"AlarmHistoryItems": [item]}


def compare(folder: Path, aws: FakeCloudWatch, **groups: Group) -> dict[str, Any]:
    """The model on a recorded day beside CloudWatch."""
    write_day(folder, groups)
    cluster = read_deployment(a_document(folder / "a.json")).clusters[0]
    until = MIDNIGHT + MINUTES * MINUTE - 1
    metrics, store = metrics_watched(cluster), FolderStore(folder)
    recorded = read_recorded(store, "shop", metrics, MIDNIGHT, until, lambda _: lambda _: None)
    return compare_with_aws(aws, "kafka-lag", recorded, cluster)


def counts(found: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(found[key] for key in ("same", "moved", "cloudwatch_alone", "model_alone"))


def as_assumed(beside: Mapping[str, Any]) -> dict[str, Any]:
    (found,) = [each for each in beside["readings"] if each["as_replayed"]]
    return dict(found)


@pytest.fixture
def aws() -> FakeCloudWatch:
    return FakeCloudWatch()


def test_a_page_within_two_minutes_of_cloudwatchs_is_the_same(
    tmp_path: Path, aws: FakeCloudWatch
) -> None:
    # The model pages at 613.
    aws.changed(STATUS, 614.8, "ALARM")
    aws.changed(STATUS, 664.1, "OK")
    # A contributor of a query is its group.
    aws.changed(ANY_GROUP, 613.5, "ALARM")
    aws.changed(ANY_GROUP, 613.5, "ALARM", group="mailer")
    aws.changed(ANY_GROUP, 663.5, "OK", group="mailer")
    groups = {name: Group().stops(600, 660) for name in ("billing", "mailer")}
    beside = compare(tmp_path, aws, **groups)
    assert counts(as_assumed(beside)) == (2, 0, 0, 0)
    assert beside["differences"] == []


def test_what_only_one_of_the_two_has_and_what_comes_later_is_listed(
    tmp_path: Path, aws: FakeCloudWatch
) -> None:
    aws.changed(STATUS, 100.2, "ALARM")
    aws.changed(STATUS, 101.2, "OK")
    aws.changed(STATUS, 618, "ALARM")
    beside = compare(tmp_path, aws, billing=Group().stops(600, 660).stops(900, 960))
    # The second begins while CloudWatch's is still on, but is another one.
    assert counts(as_assumed(beside)) == (0, 1, 1, 1)
    times = [(None, f"{DAY}T01:40:12Z"), (at(613), at(618)), (at(913), None)]
    assert beside["differences"] == [
        {"alarm": "status", "consumer_group": "billing", "model": model, "cloudwatch": there}
        for model, there in times
    ]


def test_the_assumptions_that_fit_best_come_first_by_name(
    tmp_path: Path, aws: FakeCloudWatch
) -> None:
    # Whether five minutes without a value are farther than CloudWatch looks back: here they are.
    aws.changed(STATUS, 613, "ALARM")
    aws.changed(STATUS, 646, "INSUFFICIENT_DATA")
    aws.changed(STATUS, 648, "ALARM")
    aws.changed(STATUS, 703, "OK")
    beside = compare(tmp_path, aws, billing=Group().stops(600, 700).is_unread(640, 645))
    best = beside["readings"][0]
    assert (best["extra_points"], counts(best)) == (0, (2, 0, 0, 0))
    assert counts(as_assumed(beside)) == (1, 0, 1, 0)
    assert beside["differences"] == [
        {"alarm": "status", "consumer_group": "billing", "model": None, "cloudwatch": at(648)}
    ]


def test_a_right_that_is_missing_is_named(tmp_path: Path, aws: FakeCloudWatch) -> None:
    aws.error = "AccessDenied"
    with pytest.raises(AwsError, match="denies the right to cloudwatch:DescribeAlarmHistory"):
        compare(tmp_path, aws, billing=Group())
