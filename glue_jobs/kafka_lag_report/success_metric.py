# SPDX-License-Identifier: Apache-2.0
"""Publishes the metric `DailyReportSuccess`.

Its absence raises an alarm if the job never starts.
"""

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from kafka_lag import contract
from kafka_lag_report.aws import make_client
from kafka_lag_report.errors import DataError


def metric_client(region: str) -> Any:
    """Returns a client of CloudWatch in the region."""
    return make_client("cloudwatch", region)


def publish_success(client: Any, deployment: str, *, succeeded: bool) -> None:
    """Publishes 1 for a run that did everything, else 0; raises DataError if CloudWatch refuses."""
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
