# SPDX-License-Identifier: Apache-2.0
"""CloudWatch's PutMetricData, which costs less than log lines if there are many metrics.

A request takes 1,000 metrics and a megabyte [botocore cloudwatch PutMetricData]; botocore
compresses it. Dimension values are in the same legal form as in log lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from kafka_lag import contract
from kafka_lag.aws import error_code, http_status
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag.errors import SinkError
from kafka_lag.sinks.deadline import PublishDeadline, Timing
from kafka_lag.sinks.metric_sets import MetricSet

_MOST_METRICS = 1_000
_MOST_BYTES = 900_000
# Bytes of a metric without its dimensions and of a dimension without its value, in the widest of
# the service's protocols, and of an escaped character.
_METRIC_BYTES, _DIMENSION_BYTES, _CHARACTER_BYTES = 350, 150, 3
_RETRYABLE = {"Throttling", "ThrottlingException", "LimitExceeded", "LimitExceededFault"}
_TIMING = Timing()


class CloudWatchSink:
    """Publishes with a boto3 client that tries once and gives up within seconds."""

    def __init__(
        self, client: Any, namespace: str = contract.NAMESPACE, timing: Timing = _TIMING
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._timing = timing

    def publish(self, sets: list[MetricSet], taken_at: int, seconds: float = 10.0) -> None:
        """Sends the metrics within the seconds.

        Raises SinkError with how many were not accepted.
        """
        deadline = PublishDeadline(seconds, self._timing)
        lost, causes = 0, []
        for request in _requests(sets, datetime.fromtimestamp(taken_at / 1000, UTC)):
            try:
                self._put(request, deadline)
            except SinkError as error:
                # The next request may be accepted, so it is tried while there is time.
                lost += len(request)
                causes.append(str(error))
        if causes:
            raise SinkError(f"{lost} metrics were not published: {causes[0]}")

    def _put(self, request: list[dict[str, Any]], deadline: PublishDeadline) -> None:
        cause = "no time was left"
        for _ in deadline.attempts():
            try:
                self._client.put_metric_data(Namespace=self._namespace, MetricData=request)
            except ClientError as error:
                cause = error_code(error)
                if not _is_retryable(error):
                    raise SinkError(
                        f"CloudWatch refused them ({cause}).{_advice(error)}"
                    ) from error
            except BotoCoreError as error:
                cause = error_code(error)
            else:
                return
        raise SinkError(
            f"CloudWatch did not take them in time ({cause}). The function needs a way to it: NAT, "
            "or the VPC's monitoring endpoint."
        )


def _advice(error: ClientError) -> str:
    if http_status(error) != HTTPStatus.FORBIDDEN:
        return ""
    return " The function's role needs cloudwatch:PutMetricData for this namespace."


def _is_retryable(error: ClientError) -> bool:
    status = http_status(error)
    return (
        error_code(error) in _RETRYABLE
        or status == HTTPStatus.TOO_MANY_REQUESTS
        or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    )


def _requests(sets: list[MetricSet], at: datetime) -> Iterator[list[dict[str, Any]]]:
    """Yields the metrics of each request, within both limits."""
    request: list[dict[str, Any]] = []
    size = 0
    for one in sets:
        dimensions = [{"Name": n, "Value": dimension_value(v)} for n, v in one.dimensions]
        more = _METRIC_BYTES + sum(
            _DIMENSION_BYTES + _CHARACTER_BYTES * len(each["Value"]) for each in dimensions
        )
        for name, value in one.values:
            if len(request) == _MOST_METRICS or size + more > _MOST_BYTES:
                yield request
                request, size = [], 0
            request.append(_datum(name, float(value), dimensions, at))
            size += more
    if request:
        yield request


def _datum(
    name: str, value: float, dimensions: list[dict[str, str]], at: datetime
) -> dict[str, Any]:
    return {
        "MetricName": name,
        "Dimensions": dimensions,
        "Timestamp": at,
        "Value": value,
        "Unit": contract.METRIC_UNITS[name],
    }
