# SPDX-License-Identifier: Apache-2.0
"""The authorization of requests: headers from a secret, or a signature of the role."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import boto3
import pytest
from botocore.credentials import Credentials
from moto import mock_aws

from kafka_lag import contract
from kafka_lag.errors import SinkError
from kafka_lag.sinks.metric_sets import MetricSet
from kafka_lag.sinks.otlp import Authorization, OtlpSink, SecretHeaders, SigV4
from tests.builders import NOON
from tests.functions.sinks.otlp_receiver import Reply, receiving
from tests.functions.sinks.times import Waited

SECRET = "Bearer hush-hush"
SETS = [MetricSet(((contract.DIMENSION_CLUSTER, "shop"),), (("GroupsRead", 1),))]


@pytest.fixture(name="client")
def _client() -> Iterator[Any]:
    with mock_aws():
        client = boto3.client("secretsmanager", region_name="us-east-1")
        client.create_secret(Name="otlp", SecretString=json.dumps({"Authorization": SECRET}))
        yield client


def publish(url: str, access: Authorization) -> None:
    sink = OtlpSink(url, access, pytest.fail, timing=Waited().timing())
    sink.publish(SETS, NOON, 10.0)


def test_headers_of_the_secret_are_sent(client: Any) -> None:
    with receiving() as receiver:
        publish(receiver.url, SecretHeaders(client, "otlp"))
    assert receiver.received[0].headers["authorization"] == SECRET
    assert receiver.received[0].headers["content-encoding"] == "gzip"


def test_a_secret_is_read_once(client: Any) -> None:
    access = SecretHeaders(client, "otlp")
    with receiving() as receiver:
        publish(receiver.url, access)
        client.delete_secret(SecretId="otlp", ForceDeleteWithoutRecovery=True)
        publish(receiver.url, access)
    assert len(receiver.received) == 2


@pytest.mark.parametrize("status", [401, 403])
def test_a_secret_that_was_rotated_is_read_anew(client: Any, status: int) -> None:
    access = SecretHeaders(client, "otlp")
    with receiving(Reply(), Reply(status), Reply()) as receiver:
        publish(receiver.url, access)
        client.put_secret_value(SecretId="otlp", SecretString='{"Authorization": "Bearer new"}')
        publish(receiver.url, access)
    sent = [one.headers["authorization"] for one in receiver.received]
    assert sent == [SECRET, SECRET, "Bearer new"]


@pytest.mark.parametrize("signed", [False, True])
def test_a_secret_and_a_role_that_are_refused_are_tried_once(client: Any, signed: bool) -> None:
    role = SigV4(Credentials("AKIDEXAMPLE", "hush"), "eu-west-1")
    with (
        receiving(Reply(403, {}, b"the canonical string was ... hush")) as receiver,
        pytest.raises(SinkError, match=r"refused them \(403 Forbidden\)") as result,
    ):
        publish(receiver.url, role if signed else SecretHeaders(client, "otlp"))
    assert len(receiver.received) == 1
    assert "hush" not in str(result.value)


MALFORMED = (
    '{"Authorization": "hush\\r\\nHost: evil"}',
    '{"Authorization": 7, "x": "hush"}',
    '{"a b": "hush"}',
    '{"Content-Type": "hush"}',
    '{"HOST": "hush"}',
    '{"x": "hush\u00fc"}',
    '["hush"]',
    "hush",
)


def test_a_secret_that_is_malformed_is_never_quoted(client: Any) -> None:
    for fields in MALFORMED:
        client.put_secret_value(SecretId="otlp", SecretString=fields)
        with pytest.raises(SinkError, match="The secret otlp must be a JSON object") as result:
            SecretHeaders(client, "otlp").headers("https://c/v1/metrics", b"", {})
        error: BaseException | None = result.value
        while error is not None:
            assert "hush" not in f"{error!r}"
            error = error.__cause__


def test_the_signature_for_cloudwatch_is_that_of_what_arrived() -> None:
    credentials = Credentials("AKIDEXAMPLE", "hush", "a-session")
    with receiving() as receiver:
        publish(receiver.url, SigV4(credentials, "eu-west-1"))
    (received,) = receiver.received
    signed = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\d{8}/eu-west-1/monitoring/aws4_request, "
        r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})",
        received.headers["authorization"],
    )
    assert signed
    assert {"host", "x-amz-date", "content-type", "content-encoding"} <= set(signed[1].split(";"))
    assert signed[2] == signature(received.headers, received.packed)
    assert received.headers["x-amz-security-token"] == "a-session"


def signature(headers: Mapping[str, str], body: bytes) -> str:
    """AWS's signature version 4 of such a request, by its published steps."""

    def keyed(key: bytes, text: str) -> bytes:
        return hmac.new(key, text.encode(), hashlib.sha256).digest()

    names = headers["authorization"].split("SignedHeaders=")[1].split(",")[0]
    lines = [f"{name}:{headers[name]}" for name in names.split(";")]
    canonical = ["POST", "/v1/metrics", "", *lines, "", names, hashlib.sha256(body).hexdigest()]
    day = headers["x-amz-date"][:8]
    scope = f"{day}/eu-west-1/monitoring/aws4_request"
    digest = hashlib.sha256("\n".join(canonical).encode()).hexdigest()
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, digest])
    key = b"AWS4hush"
    for part in (day, "eu-west-1", "monitoring", "aws4_request"):
        key = keyed(key, part)
    return keyed(key, text).hex()


def test_each_attempt_is_signed_anew() -> None:
    class Counted(SigV4):
        times = 0

        def headers(self, url: str, body: bytes, base: Mapping[str, str]) -> dict[str, str]:
            self.times += 1
            return super().headers(url, body, base)

    access = Counted(Credentials("AKIDEXAMPLE", "hush"), "eu-west-1")
    with receiving(Reply(503), Reply()) as receiver:
        publish(receiver.url, access)
    assert access.times == 2
