# SPDX-License-Identifier: Apache-2.0
"""The Lambda behind a function URL: Burrow's API, /metrics and the status page."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import LambdaFunctionUrlResolver
from botocore.config import Config

from kafka_lag import contract
from kafka_lag.errors import ConfigError, ReporterError
from kafka_lag.snapshots.s3_store import S3Store
from kafka_lag.views.auth import Bearer, is_signed
from kafka_lag.views.function_url import Guard, check_event, headers_of, make_resolver
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.views.secret_token import read_secret_token

_AWS = Config(connect_timeout=3, read_timeout=10, retries={"mode": "standard"})
_SERVER_ERRORS = 500

# Made at the first request and kept by a warm function, together with the snapshots it has read.
_logger = cache(lambda: Logger(service="serve_lag", stream=sys.stdout))
_app = cache(lambda: build_app(os.environ))


def handler(event: Any, context: Any) -> dict[str, Any]:
    """Answers one request.

    Raises one clear error, not shown to the caller, if it cannot check the caller's access.
    """
    try:
        answer = _app().resolve(check_event(event), context)
    except ReporterError as error:
        _logger().error(str(error), error_type=type(error).__name__)
        raise
    if answer["statusCode"] >= _SERVER_ERRORS:
        _logger().error("The request failed.", status=answer["statusCode"], path=event["rawPath"])
    return answer


def build_app(environ: Mapping[str, str]) -> LambdaFunctionUrlResolver:
    """Returns the app behind this function's URL. Raises ConfigError; does not connect."""
    names = [contract.ENV_BUCKET, contract.ENV_AUTH]
    if environ.get(contract.ENV_AUTH) == contract.AUTH_BEARER:
        names.append(contract.ENV_TOKEN_SECRET)
    if missing := [name for name in names if not environ.get(name)]:
        raise ConfigError(f"{' and '.join(missing)} must be set in the environment.")
    store = S3Store(boto3.client("s3", config=_AWS), environ[contract.ENV_BUCKET])
    snapshots = Snapshots(store, time.time)
    return make_resolver(snapshots, _build_guard(environ), lambda: int(time.time() * 1000))


def _build_guard(environ: Mapping[str, str]) -> Guard:
    auth = environ[contract.ENV_AUTH]
    if auth == contract.AUTH_IAM:
        return is_signed
    if auth != contract.AUTH_BEARER:
        raise ConfigError(
            f"{contract.ENV_AUTH} must be {contract.AUTH_IAM} or {contract.AUTH_BEARER}: "
            "the views are never open."
        )
    client = boto3.client("secretsmanager", config=_AWS)
    read = partial(read_secret_token, client, environ[contract.ENV_TOKEN_SECRET])
    bearer = Bearer(read, time.monotonic)
    return lambda event: bearer.allows(headers_of(event).get("authorization", ""))
