# SPDX-License-Identifier: Apache-2.0
"""What a deployed `serve_lag` is made of: its snapshots, whom it answers, and the time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial

import boto3
from aws_lambda_powertools.event_handler import LambdaFunctionUrlResolver
from botocore.config import Config

from kafka_lag import contract
from kafka_lag.errors import ConfigError
from kafka_lag.snapshots.store import S3Store
from kafka_lag.views.bearer import Bearer, secret_token
from kafka_lag.views.function_url import Guard, headers_of, is_signed, resolver
from kafka_lag.views.snapshots import Snapshots

_AWS = Config(connect_timeout=3, read_timeout=10, retries={"mode": "standard"})


def wired(environ: Mapping[str, str]) -> LambdaFunctionUrlResolver:
    """What answers this function's URL. Raises ConfigError; connects to nothing yet."""
    names = [contract.ENV_BUCKET, contract.ENV_AUTH]
    if environ.get(contract.ENV_AUTH) == contract.AUTH_BEARER:
        names.append(contract.ENV_TOKEN_SECRET)
    if missing := [name for name in names if not environ.get(name)]:
        raise ConfigError(f"{' and '.join(missing)} must be set in the environment.")
    store = S3Store(boto3.client("s3", config=_AWS), environ[contract.ENV_BUCKET])
    snapshots = Snapshots(store, time.time)
    return resolver(snapshots, _guard(environ), lambda: int(time.time() * 1000))


def _guard(environ: Mapping[str, str]) -> Guard:
    auth = environ[contract.ENV_AUTH]
    if auth == contract.AUTH_IAM:
        return is_signed
    if auth != contract.AUTH_BEARER:
        raise ConfigError(
            f"{contract.ENV_AUTH} must be {contract.AUTH_IAM} or {contract.AUTH_BEARER}: "
            "the views are never open."
        )
    client = boto3.client("secretsmanager", config=_AWS)
    read = partial(secret_token, client, environ[contract.ENV_TOKEN_SECRET])
    bearer = Bearer(read, time.monotonic)
    return lambda event: bearer.allows(headers_of(event).get("authorization", ""))
