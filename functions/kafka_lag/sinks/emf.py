# SPDX-License-Identifier: Apache-2.0
"""CloudWatch's embedded metric format on stdout: one compact line for each metric set.

Limits of the format: 100 metrics and 30 dimensions a line, timestamps in milliseconds, unknown
values absent [Amazon CloudWatch, Embedded metric format specification]. Lines may arrive more than
once, so every alarm and dashboard reads Maximum.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TextIO

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag.errors import SinkError
from kafka_lag.sinks.metric_sets import MetricSet


class EmfSink:
    """Writes to a stream that CloudWatch Logs collects, such as a Lambda's stdout."""

    def __init__(self, stream: TextIO, namespace: str = contract.NAMESPACE) -> None:
        self._stream = stream
        self._namespace = namespace

    def publish(self, sets: list[MetricSet], taken_at: int, _seconds: float = 0.0) -> None:
        """Writes all lines at once, so that the lines of a run stay together. Raises SinkError."""
        lines = [emf_line(one, taken_at, self._namespace) for one in sets]
        try:
            self._stream.write("".join(f"{line}\n" for line in lines))
            self._stream.flush()
        except (OSError, ValueError) as error:
            raise SinkError(f"The metrics could not be written to stdout ({error}).") from error


def emf_line(one: MetricSet, taken_at: int, namespace: str) -> str:
    """Returns a metric set as one line of JSON, with dimension values in their legal form."""
    names = tuple(name for name, _ in one.dimensions), tuple(name for name, _ in one.values)
    members: dict[str, object] = {
        **{name: dimension_value(value) for name, value in one.dimensions},
        **dict(one.values),
    }
    return (
        f'{{"_aws":{{"Timestamp":{taken_at},{_directive(namespace, *names)}}},{_dump(members)[1:]}'
    )


# Thousands of lines of a run share a handful of directives, each longer than the rest of its line.
@lru_cache(maxsize=256)
def _directive(namespace: str, dimensions: tuple[str, ...], metrics: tuple[str, ...]) -> str:
    """Returns the member of `_aws` that names the metrics of a line for CloudWatch."""
    directive = {
        "Namespace": namespace,
        "Dimensions": [dimensions],
        "Metrics": [{"Name": name, "Unit": contract.METRIC_UNITS[name]} for name in metrics],
    }
    return f'"CloudWatchMetrics":{_dump([directive])}'


_dump = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
