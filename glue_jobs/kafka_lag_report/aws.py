# SPDX-License-Identifier: Apache-2.0
"""Calls AWS with clients that give up within a minute, so that a slow call cannot stop a report."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from kafka_lag import contract
from kafka_lag_report.errors import DataError

_CONNECT_SECONDS, _READ_SECONDS, _ATTEMPTS = 5, 10, 4


def make_client(service: str, region: str) -> Any:
    """Returns a boto3 client for a service in a region, with short timeouts and four attempts."""
    # Imported here, because a run that publishes nothing needs no AWS.
    import boto3  # noqa: PLC0415
    from botocore.config import Config  # noqa: PLC0415

    config = Config(
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=_READ_SECONDS,
        retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
    )
    # The type stubs of boto3 accept only literal names of services.
    client: Any = boto3.client
    return client(service, region_name=region, config=config)


@contextmanager
def naming_refusals(failed: str, check: str, kind: type[DataError] = DataError) -> Iterator[None]:
    """Raises an error of AWS in this block again as `kind`: what failed, why, and what to check."""
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise kind(f"{failed}: {error}; check {check}") from error


def metric_client(region: str) -> Any:
    """Returns a client of CloudWatch in the region."""
    return make_client("cloudwatch", region)


def publish_success(client: Any, deployment: str, *, succeeded: bool) -> None:
    """Publishes `DailyReportSuccess`: 1 for a run that did everything, else 0.

    Its absence raises an alarm if the job never starts. Raises DataError if CloudWatch refuses.
    """
    datum = {
        "MetricName": contract.DAILY_REPORT_SUCCESS,
        "Dimensions": [{"Name": contract.DIMENSION_DEPLOYMENT, "Value": deployment}],
        "Value": int(succeeded),
        "Unit": contract.COUNT,
    }
    failed = f"the metric {contract.DAILY_REPORT_SUCCESS} could not be published"
    check = f"that the job may put metric data in the namespace {contract.NAMESPACE}"
    with naming_refusals(failed, check):
        client.put_metric_data(Namespace=contract.NAMESPACE, MetricData=[datum])
