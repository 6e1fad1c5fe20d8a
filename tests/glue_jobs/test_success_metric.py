# SPDX-License-Identifier: Apache-2.0
"""The daily job reports its success to CloudWatch, for scheduled runs only."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from kafka_lag_report.aws import metric_client, publish_success
from kafka_lag_report.daily_report import main
from kafka_lag_report.errors import DataError

NOW = datetime(2026, 2, 1, 1, tzinfo=UTC)


@pytest.fixture(name="cloudwatch")
def _cloudwatch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    sdk: Any = boto3
    with mock_aws():
        yield sdk.client("cloudwatch", region_name="eu-central-1")


@pytest.mark.parametrize(("succeeded", "value"), [(True, 1.0), (False, 0.0)])
def test_the_metric_is_the_deployments_in_its_region(
    succeeded: bool, value: float, cloudwatch: Any
) -> None:
    publish_success(metric_client("eu-central-1"), "ours", succeeded=succeeded)

    (metric,) = cloudwatch.list_metrics(Namespace="KafkaLag")["Metrics"]
    assert metric["MetricName"] == "DailyReportSuccess"
    assert metric["Dimensions"] == [{"Name": "Deployment", "Value": "ours"}]
    found = cloudwatch.get_metric_statistics(
        Namespace="KafkaLag",
        MetricName="DailyReportSuccess",
        Dimensions=metric["Dimensions"],
        StartTime=datetime(2020, 1, 1, tzinfo=UTC),
        EndTime=datetime(2100, 1, 1, tzinfo=UTC),
        Period=3600,
        Statistics=["Maximum"],
    )
    assert [each["Maximum"] for each in found["Datapoints"]] == [value]


class _Denied:
    def put_metric_data(self, **_: Any) -> None:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "PutMetricData")


def test_a_denied_metric_names_itself_and_the_namespace() -> None:
    with pytest.raises(DataError, match=r"DailyReportSuccess .*AccessDenied.* namespace KafkaLag"):
        publish_success(_Denied(), "ours", succeeded=True)


class _Published:
    """Stands in for CloudWatch, in the regions that were asked for."""

    def __init__(self) -> None:
        self.values = list[tuple[str, float]]()

    def __call__(self, region: str) -> Any:
        self._region = region
        return self

    def put_metric_data(self, *, Namespace: str, MetricData: list[Any]) -> None:  # noqa: N803
        assert Namespace == "KafkaLag"
        self.values.append((self._region, MetricData[0]["Value"]))


@pytest.mark.parametrize(
    ("more", "expected"),
    [([], [("eu-west-1", 0)]), (["--date", "2026-01-31"], [])],
    ids=["scheduled", "by hand"],
)
def test_a_scheduled_run_that_fails_publishes_none_and_one_by_hand_nothing(
    more: list[str], expected: list[tuple[str, float]], tmp_path: Path
) -> None:
    metrics = _Published()
    argv = ["--input", f"{tmp_path}", "--output", f"{tmp_path}"]
    argv += ["--success-metric", "eu-west-1/ours", *more]
    assert main(argv, lambda: NOW, metrics=metrics) == 1
    assert metrics.values == expected
