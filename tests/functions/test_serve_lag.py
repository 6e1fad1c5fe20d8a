# SPDX-License-Identifier: Apache-2.0
"""The function behind the URL: which callers it answers, and its answers if something fails."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator
from itertools import product
from typing import Any

import boto3
import pytest
from moto import mock_aws

from kafka_lag import contract, serve_lag
from kafka_lag.errors import ConfigError
from tests.functions.views.burrow.snapshots import Shop, a_group, a_partition
from tests.functions.views.test_app import an_event

BUCKET, SECRET, TOKEN = "kept", "views-token", "correct-horse"
SIGNED = {"iam": {"userArn": "arn:aws:iam::111122223333:user/grafana"}}
LAG = "/v3/kafka/shop/consumer/billing/lag"


@pytest.fixture(scope="module", autouse=True)
def _aws() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as environ, mock_aws():
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            environ.setenv(name, "testing")
        environ.setenv("AWS_DEFAULT_REGION", "us-east-1")
        environ.delenv("AWS_PROFILE", raising=False)
        environ.setenv(contract.ENV_BUCKET, BUCKET)
        s3 = boto3.client("s3")
        s3.create_bucket(Bucket=BUCKET)
        for key, data in Shop([a_partition()], [a_group()]).store.objects.items():
            s3.put_object(Bucket=BUCKET, Key=key, Body=data)
        boto3.client("secretsmanager").create_secret(Name=SECRET, SecretString=TOKEN)
        yield


@pytest.fixture(autouse=True)
def _cold() -> Iterator[None]:
    serve_lag._app.cache_clear()
    yield
    serve_lag._app.cache_clear()


@pytest.fixture(name="signing")
def _signing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(contract.ENV_AUTH, contract.AUTH_IAM)


@pytest.fixture(name="scraping")
def _scraping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(contract.ENV_AUTH, contract.AUTH_BEARER)
    monkeypatch.setenv(contract.ENV_TOKEN_SECRET, SECRET)


def call(path: str = LAG, authorization: str | None = None, **context: Any) -> dict[str, Any]:
    event = an_event(path, **context)
    del event["headers"]["Accept-Encoding"]
    if authorization is not None:
        event["headers"]["authorization"] = authorization
    return serve_lag.handler(event, None)


def body(expected: dict[str, Any]) -> str:
    return b64decode(expected["body"]).decode()


@pytest.mark.usefixtures("signing")
def test_who_signed_is_answered() -> None:
    result = call(authorizer=SIGNED)

    assert result["statusCode"] == 200
    assert result["headers"]["Content-Type"] == "application/json"
    assert json.loads(body(result))["status"]["totallag"] == 5


@pytest.mark.usefixtures("signing")
@pytest.mark.parametrize("authorization", [None, f"Bearer {TOKEN}"])
def test_who_did_not_sign_is_not_answered_even_by_an_open_url(authorization: str | None) -> None:
    result = call(authorization=authorization)

    assert result["statusCode"] == 401
    assert "billing" not in json.loads(body(result))["message"]


@pytest.mark.usefixtures("scraping")
def test_who_has_the_token_is_answered_and_a_signature_is_none() -> None:
    assert call(authorization=f"Bearer {TOKEN}")["statusCode"] == 200
    assert call(authorizer=SIGNED)["statusCode"] == 401


@pytest.mark.usefixtures("scraping")
def test_whoever_else_is_rejected_whatever_the_request() -> None:
    requested = product([LAG, "/metrics", "/", "/none"], [None, "", "Bearer no", f"Basic {TOKEN}"])

    result = [call(path, authorization) for path, authorization in requested]

    assert {each["statusCode"] for each in result} == {401}
    assert {each["headers"]["WWW-Authenticate"] for each in result} == {"Bearer"}
    assert all("send the token" in body(each) for each in result)
    assert TOKEN not in str([body(each) for each in result])


@pytest.mark.usefixtures("scraping")
def test_a_secret_that_is_gone_lets_nobody_in(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(contract.ENV_TOKEN_SECRET, "another")
    monkeypatch.setattr(serve_lag, "_logger", serve_lag._logger.__wrapped__)

    with pytest.raises(ConfigError, match="another"):
        call(authorization=f"Bearer {TOKEN}")

    logged = capsys.readouterr().out
    assert '"error_type":"ConfigError"' in logged
    assert TOKEN not in logged


@pytest.mark.usefixtures("signing")
def test_a_bucket_that_cannot_be_read_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(contract.ENV_BUCKET, "another")

    result = call(authorizer=SIGNED)

    assert result["statusCode"] == 503
    assert "another" not in body(result)
    assert "Traceback" not in body(result)


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({}, "KAFKA_LAG_AUTH must be set"),
        ({contract.ENV_AUTH: "none"}, "must be iam or bearer: the views are never open"),
        ({contract.ENV_AUTH: "bearer"}, "KAFKA_LAG_TOKEN_SECRET must be set"),
        ({contract.ENV_AUTH: "iam", contract.ENV_BUCKET: ""}, "KAFKA_LAG_BUCKET must be set"),
    ],
)
def test_a_function_that_would_be_open_answers_nobody(
    environ: dict[str, str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (contract.ENV_AUTH, contract.ENV_TOKEN_SECRET):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(ConfigError, match=sentence):
        call(authorizer=SIGNED)
