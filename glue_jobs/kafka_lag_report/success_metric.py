# SPDX-License-Identifier: Apache-2.0
"""The metric `DailyReportSuccess`, by whose absence an alarm notices a job that never starts."""

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from kafka_lag import contract
from kafka_lag_report.errors import DataError

_CONNECT_SECONDS, _READ_SECONDS, _ATTEMPTS = 5, 10, 4


def metric_client(region: str) -> Any:
    """A client of CloudWatch; gives up within a minute."""
    # Only here, as a run without the metric needs no AWS.
    import boto3  # noqa: PLC0415
    from botocore.config import Config  # noqa: PLC0415

    config = Config(
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=_READ_SECONDS,
        retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
    )
    return boto3.client("cloudwatch", region_name=region, config=config)


def publish_success(client: Any, deployment: str, *, succeeded: bool) -> None:
    """Publish 1 for a run that did all it should, else 0; DataError if CloudWatch takes neither."""
    datum = {
        "MetricName": contract.DAILY_REPORT_SUCCESS,
        "Dimensions": [{"Name": contract.DIMENSION_DEPLOYMENT, "Value": deployment}],
        "Value": int(succeeded),
        "Unit": contract.COUNT,
    }
    try:
        client.put_metric_data(Namespace=contract.NAMESPACE, MetricData=[datum])
    except (BotoCoreError, ClientError) as error:
        raise DataError(
            f"the metric {contract.DAILY_REPORT_SUCCESS} could not be published: {error}; check "
            f"that the job may put metric data in the namespace {contract.NAMESPACE}"
        ) from error
