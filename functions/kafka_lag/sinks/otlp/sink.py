# SPDX-License-Identifier: Apache-2.0
"""Publishes to an OTLP endpoint, request by request; one that is refused stops no other."""

from __future__ import annotations

from collections.abc import Callable

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsPartialSuccess,
)

from kafka_lag import contract
from kafka_lag.errors import SinkError
from kafka_lag.sinks.metrics import MetricSet
from kafka_lag.sinks.otlp.batches import Batch, Limits, batches
from kafka_lag.sinks.otlp.sending import Endpoint
from kafka_lag.sinks.patience import Patience, Time

# Of an endpoint's own words in a log.
_SHOWN = 200
_LIMITS, _TIME = Limits(), Time()


class OtlpSink:
    """Sends gauges; `warn` is told what an endpoint took and would rather not have taken."""

    def __init__(
        self,
        endpoint: Endpoint,
        warn: Callable[[str], None],
        namespace: str = contract.NAMESPACE,
        limits: Limits = _LIMITS,
        source: Time = _TIME,
    ) -> None:
        self._endpoint = endpoint
        self._warn = warn
        self._namespace = namespace
        self._limits = limits
        self._time = source

    def publish(self, sets: list[MetricSet], taken_at: int, seconds: float = 10.0) -> None:
        """All that is taken within the seconds. Raises SinkError with how many points were not."""
        patience = Patience(seconds, self._time)
        lost, causes = 0, []
        for batch in batches(sets, taken_at, self._namespace, self._limits):
            try:
                lost += self._heard(self._endpoint.send(batch.body, patience), batch)
            except SinkError as error:
                # The next may be taken; once there is no time left, none is tried.
                lost += batch.points
                causes.append(str(error))
        if causes:
            raise SinkError(f"{lost} OTLP data points were not published: {causes[0]}")

    def _heard(self, told: ExportMetricsPartialSuccess, batch: Batch) -> int:
        """Points lost of a request that was taken; it must not be sent again."""
        rejected = min(max(told.rejected_data_points, 0), batch.points)
        said = f"of {batch.points} OTLP data points {rejected} were rejected"
        if told.error_message:
            said = f"{said}: {told.error_message[:_SHOWN]!r}"
        if rejected == batch.points:
            raise SinkError(f"the endpoint took the request, and {said}.")
        if rejected or told.error_message:
            self._warn(said)
        return rejected
