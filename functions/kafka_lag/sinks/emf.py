# SPDX-License-Identifier: Apache-2.0
"""CloudWatch's embedded metric format on stdout: one compact line a metric set.

Limits of the format: 100 metrics and 30 dimensions a line, timestamps in milliseconds, unknown
values absent [Amazon CloudWatch, Embedded metric format specification]. It is at-least-once, so
every alarm and dashboard reads Maximum.
"""

from __future__ import annotations

import json
from typing import TextIO

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag.errors import SinkError
from kafka_lag.sinks.metric_sets import MetricSet


class EmfSink:
    """Writes to a stream that CloudWatch Logs collects, as a Lambda's stdout."""

    def __init__(self, stream: TextIO, namespace: str = contract.NAMESPACE) -> None:
        self._stream = stream
        self._namespace = namespace

    def publish(self, sets: list[MetricSet], taken_at: int, _seconds: float = 0.0) -> None:
        """One write for all lines, so that lines of a run stand together; it takes no time."""
        lines = [emf_line(one, taken_at, self._namespace) for one in sets]
        try:
            self._stream.write("".join(f"{line}\n" for line in lines))
            self._stream.flush()
        except (OSError, ValueError) as error:
            raise SinkError(f"The metrics could not be written to stdout ({error}).") from error


def emf_line(one: MetricSet, taken_at: int, namespace: str) -> str:
    """A metric set as one line of JSON; dimension values in their legal form."""
    metrics = [{"Name": n, "Unit": contract.METRIC_UNITS[n]} for n, _ in one.values]
    directive = {
        "Namespace": namespace,
        "Dimensions": [[name for name, _ in one.dimensions]],
        "Metrics": metrics,
    }
    document: dict[str, object] = {
        "_aws": {"Timestamp": taken_at, "CloudWatchMetrics": [directive]},
        **{name: dimension_value(value) for name, value in one.dimensions},
        **dict(one.values),
    }
    return json.dumps(document, separators=(",", ":"), allow_nan=False)
