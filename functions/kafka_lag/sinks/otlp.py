# SPDX-License-Identifier: Apache-2.0
"""Metrics over the OpenTelemetry protocol (OTLP): gauges as protobuf over HTTP, gzip.

Dimensions are attributes, with Kafka's own values and not CloudWatch's legal forms, because OTLP
carries any text. 429, 502, 503 and 504 may be tried again, after Retry-After if there is one, and
no other answer may [OpenTelemetry, OTLP specification, OTLP/HTTP response].
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping
from http.client import responses
from typing import Any
from urllib.parse import urlsplit

import boto3
import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError
from urllib3.exceptions import HTTPError, InvalidHeader

from kafka_lag import contract
from kafka_lag.aws import AWS_ERRORS, error_code, make_client, read_secret
from kafka_lag.errors import ConfigError, SinkError
from kafka_lag.sinks.config import CLOUDWATCH_NAMES, OtlpConfig
from kafka_lag.sinks.deadline import ONE_ATTEMPT, PublishDeadline, Timing
from kafka_lag.sinks.metric_sets import MetricSet
from kafka_lag.sinks.otlp_messages import (
    PartialSuccess,
    RequestLimits,
    decode_answer,
    encode_requests,
)

_SUCCESS = range(200, 300)
_RETRYABLE = {429, 502, 503, 504}
_DENIED = {401, 403}
_LONGEST_ATTEMPT = 10.0
# Level 9 saves a seventh of the bytes and takes five times as long.
_COMPRESSION = 6
# The time may end between reading the clock and sending; urllib3 takes no timeout of 0.
_SHORTEST_ATTEMPT = 0.05
_HEADERS = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "gzip",
    "User-Agent": "msk-lag-reporter",
}
# Characters of an endpoint's message that are logged.
_SHOWN = 200

# CloudWatch's name in a signature, also for its OTLP endpoint.
_CLOUDWATCH_SERVICE = "monitoring"
_CLOUDWATCH_HOST = re.compile(r"monitoring\.([a-z0-9-]+)\.(?:amazonaws|api)\.[a-z.]+")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# Headers that the sink sets itself, about the body and its destination.
_OWN_HEADERS = {"content-type", "content-encoding", "content-length", "transfer-encoding", "host"}


class Authorization:
    """Authorizes requests to an endpoint; this one is for an endpoint that needs none."""

    def headers(self, url: str, body: bytes, base: Mapping[str, str]) -> dict[str, str]:  # noqa: ARG002
        """Returns all headers to send, the base included. Raises SinkError."""
        return dict(base)

    def renew(self) -> bool:
        """Reads the login again after a 401 or 403; returns True if it changed.

        Raises SinkError.
        """
        return False


class SigV4(Authorization):
    """A signature with the credentials of the function's role, for CloudWatch in one region.

    Another signature of the same role would be rejected, too, so it cannot be renewed.
    """

    def __init__(self, credentials: Any, region: str) -> None:
        self._credentials = credentials
        self._region = region

    def headers(self, url: str, body: bytes, base: Mapping[str, str]) -> dict[str, str]:
        """Returns the headers with a new signature: it is valid for minutes, and credentials
        rotate.
        """
        request = AWSRequest(method="POST", url=url, data=body, headers=dict(base))
        try:
            frozen = self._credentials.get_frozen_credentials()
            SigV4Auth(frozen, _CLOUDWATCH_SERVICE, self._region).add_auth(request)
        except BotoCoreError as error:
            raise SinkError(
                f"Metrics cannot be signed for {url}: the function's role gives no credentials "
                f"({type(error).__name__})."
            ) from error
        return dict(request.headers.items())


class SecretHeaders(Authorization):
    """Headers from a JSON object in Secrets Manager, read when needed and after a rejection."""

    def __init__(self, client: Any, secret_id: str) -> None:
        self._client = client
        self._secret_id = secret_id
        self._cached: dict[str, str] | None = None

    def headers(self, url: str, body: bytes, base: Mapping[str, str]) -> dict[str, str]:  # noqa: ARG002
        """Returns the secret's headers and the base."""
        if self._cached is None:
            self._cached = self._read()
        return {**self._cached, **base}

    def renew(self) -> bool:
        """Reads the secret again, because it may have been rotated; returns True if it changed."""
        previous, self._cached = self._cached, None
        self._cached = self._read()
        return self._cached != previous

    def _read(self) -> dict[str, str]:
        try:
            return _parse_headers(json.loads(read_secret(self._client, self._secret_id) or ""))
        except AWS_ERRORS as error:
            raise SinkError(
                f"The secret {self._secret_id} with the headers for OTLP cannot be read "
                f"({error_code(error)})."
            ) from error
        except ValueError:
            # Without its cause, which might quote the secret.
            raise SinkError(
                f"The secret {self._secret_id} must be a JSON object of headers and their "
                "values, both text, none of them about the body or the host."
            ) from None


def _parse_headers(fields: Any) -> dict[str, str]:
    """Returns the headers. Raises ValueError for what cannot be sent as headers."""
    if not isinstance(fields, dict):
        raise ValueError("no object")
    for name, value in fields.items():
        good = _HEADER_NAME.fullmatch(name) and name.lower() not in _OWN_HEADERS
        if not (good and isinstance(value, str) and value.isascii() and value.isprintable()):
            raise ValueError("no header")
    return fields


_LIMITS, _TIMING = RequestLimits(), Timing()


class OtlpSink:
    """Sends gauges to a URL, request by request; a rejected one does not stop the others.

    `warn` gets, once for all requests that were accepted, what was rejected of them and why.
    """

    def __init__(
        self,
        url: str,
        authorization: Authorization,
        warn: Callable[[str], None],
        namespace: str = contract.NAMESPACE,
        limits: RequestLimits = _LIMITS,
        timing: Timing = _TIMING,
        names: str = CLOUDWATCH_NAMES,
    ) -> None:
        self._url = url
        self._names = names
        self._authorization = authorization
        self._warn = warn
        self._namespace = namespace
        self._limits = limits
        self._timing = timing
        self._pool = urllib3.PoolManager()

    def publish(self, sets: list[MetricSet], taken_at: int, seconds: float = 10.0) -> None:
        """Sends the points within the seconds. Raises SinkError with how many were not accepted."""
        deadline = PublishDeadline(seconds, self._timing)
        points = rejected = lost = 0
        messages, causes = [], []
        for request in encode_requests(sets, taken_at, self._namespace, self._limits, self._names):
            points += request.points
            try:
                answer = _check_answer(self._send(request.body, deadline), request.points)
            except SinkError as error:
                # The next request may be accepted; once there is no time left, none is tried.
                lost += request.points
                causes.append(str(error))
            else:
                rejected += answer.rejected
                messages += [answer.message] * bool(answer.message)
        if rejected or messages:
            self._warn(_describe_rejected(rejected, points, *messages[:1]))
        if causes:
            lost += rejected
            raise SinkError(f"{lost} OTLP data points were not published: {causes[0]}")

    def _send(self, body: bytes, deadline: PublishDeadline) -> PartialSuccess:
        """Returns the answer to a request that was accepted. Raises SinkError."""
        # The bytes must not depend on the clock, so that a repeated request is the same.
        packed = gzip.compress(body, _COMPRESSION, mtime=0)
        cause = "no time was left"
        for _ in deadline.attempts():
            try:
                response = self._post(packed, deadline.left())
            except HTTPError as error:
                cause = type(error).__name__
                continue
            if response.status in _SUCCESS:
                return _parse_answer(response.data)
            cause = f"{response.status} {responses.get(response.status, '')}".strip()
            if response.status in _DENIED and self._authorization.renew():
                continue
            if response.status not in _RETRYABLE:
                raise SinkError(f"{self._url} refused them ({cause}).")
            if not deadline.wait(_retry_after(response)):
                break
        raise SinkError(f"{self._url} did not take them in time ({cause}).")

    def _post(self, packed: bytes, seconds: float) -> Any:
        """Makes one attempt. A redirect is not followed: it would carry the headers elsewhere."""
        return self._pool.request(
            "POST",
            self._url,
            body=packed,
            headers=self._authorization.headers(self._url, packed, _HEADERS),
            timeout=urllib3.Timeout(total=min(max(seconds, _SHORTEST_ATTEMPT), _LONGEST_ATTEMPT)),
            retries=False,
            redirect=False,
        )


def _check_answer(answer: PartialSuccess, points: int) -> PartialSuccess:
    """Returns the answer to an accepted request; it must not be sent again.

    Raises SinkError if all of its points were rejected.
    """
    if answer.rejected >= points:
        line = _describe_rejected(points, points, answer.message)
        raise SinkError(f"the endpoint took the request, and {line}.")
    return answer


def _describe_rejected(rejected: int, points: int, message: str = "") -> str:
    line = f"of {points} OTLP data points {rejected} were rejected"
    return f"{line}: {message[:_SHOWN]!r}" if message else line


def _retry_after(response: Any) -> float:
    """Returns the seconds that the endpoint asks to wait; 0 if it names none in a known form."""
    try:
        return urllib3.Retry().get_retry_after(response) or 0.0
    except InvalidHeader:
        return 0.0


def _parse_answer(data: bytes) -> PartialSuccess:
    try:
        return decode_answer(data)
    except ValueError:
        doubt = "its answer is not an OTLP response: is this the URL for metrics?"
        return PartialSuccess(message=doubt)


def make_otlp_sink(
    config: OtlpConfig, region: str, namespace: str, warn: Callable[[str], None]
) -> OtlpSink:
    """Returns the sink of an endpoint, not connected yet. Raises ConfigError.

    `region` is the function's, "" outside AWS.
    """
    url = config.endpoint or cloudwatch_url(region)
    authorization = Authorization()
    if config.headers_secret:
        client = make_client("secretsmanager", ONE_ATTEMPT, region or None)
        authorization = SecretHeaders(client, config.headers_secret)
    elif config.sigv4:
        credentials = boto3.Session().get_credentials()
        if credentials is None:
            raise ConfigError("sinks: otlp with sigv4 needs a function that runs as a role.")
        authorization = SigV4(credentials, region_of(url) or region)
    return OtlpSink(url, authorization, warn, namespace, names=config.names)


def cloudwatch_url(region: str) -> str:
    """Returns the URL of CloudWatch's own OTLP endpoint for metrics, where boto3 finds CloudWatch.

    It does not connect.
    """
    endpoint = make_client("cloudwatch", ONE_ATTEMPT, region).meta.endpoint_url
    return f"{endpoint}/v1/metrics"


def region_of(url: str) -> str | None:
    """Returns the region of a CloudWatch endpoint; None for any other endpoint."""
    found = _CLOUDWATCH_HOST.fullmatch(urlsplit(url).hostname or "")
    return found[1] if found else None
