# SPDX-License-Identifier: Apache-2.0
"""One request to an OTLP endpoint: tried again where the protocol says so, within its time.

429, 502, 503 and 504 may be tried again, after Retry-After if that is told, and no other answer
may [OpenTelemetry, OTLP specification, OTLP/HTTP response].
"""

from __future__ import annotations

import gzip
from http.client import responses
from typing import Any

import urllib3
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsPartialSuccess,
    ExportMetricsServiceResponse,
)
from urllib3.exceptions import HTTPError, InvalidHeader

from kafka_lag.errors import SinkError
from kafka_lag.sinks.otlp.access import Access
from kafka_lag.sinks.patience import Patience

_TAKEN = range(200, 300)
_PASSING = {429, 502, 503, 504}
_DENIED = {401, 403}
_LONGEST_ATTEMPT = 10.0
# The time may end between looking at the clock and asking; urllib3 takes no timeout of nothing.
_SHORTEST_ATTEMPT = 0.05
_TOLD = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "gzip",
    "User-Agent": "msk-lag-reporter",
}


class Endpoint:
    """A URL that takes OTLP metrics; `pool` is urllib3's."""

    def __init__(self, url: str, access: Access, pool: Any | None = None) -> None:
        self._url = url
        self._access = access
        self._pool = pool or urllib3.PoolManager()

    def send(self, body: bytes, patience: Patience) -> ExportMetricsPartialSuccess:
        """What the endpoint says of a request that it took. Raises SinkError."""
        # The body's bytes must not depend on the clock, so that a repeated one is the same.
        packed = gzip.compress(body, mtime=0)
        cause = "no time was left"
        for _ in patience.attempts():
            try:
                response = self._post(packed, patience.left())
            except HTTPError as error:
                cause = type(error).__name__
                continue
            if response.status in _TAKEN:
                return _understood(response.data)
            cause = f"{response.status} {responses.get(response.status, '')}".strip()
            if response.status in _DENIED and self._access.refused():
                continue
            if response.status not in _PASSING:
                raise SinkError(f"{self._url} refused them ({cause}).")
            if not patience.wait(_asked_pause(response)):
                break
        raise SinkError(f"{self._url} did not take them in time ({cause}).")

    def _post(self, packed: bytes, seconds: float) -> Any:
        """One attempt. A redirect is not followed: it would carry the headers elsewhere."""
        return self._pool.request(
            "POST",
            self._url,
            body=packed,
            headers=self._access.headers(self._url, packed, _TOLD),
            timeout=urllib3.Timeout(total=min(max(seconds, _SHORTEST_ATTEMPT), _LONGEST_ATTEMPT)),
            retries=False,
            redirect=False,
        )


def _asked_pause(response: Any) -> float:
    """Seconds that the endpoint asks for; 0 where it asks for none, or in no known form."""
    try:
        return urllib3.Retry().get_retry_after(response) or 0.0
    except InvalidHeader:
        return 0.0


def _understood(data: bytes) -> ExportMetricsPartialSuccess:
    try:
        told: ExportMetricsPartialSuccess = ExportMetricsServiceResponse.FromString(
            data
        ).partial_success
    except DecodeError:
        doubt = "its answer is no OTLP response: is this the URL for metrics?"
        told = ExportMetricsPartialSuccess(error_message=doubt)
    return told
