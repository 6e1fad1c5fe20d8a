# SPDX-License-Identifier: Apache-2.0
"""AWS through boto3: clients, secrets, conditional puts and error codes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

# All errors that a call of boto3 raises, with or without an answer of AWS.
AWS_ERRORS = (ClientError, BotoCoreError)

# The versions of a secret: a rotation makes the current one the previous.
CURRENT, PREVIOUS = "AWSCURRENT", "AWSPREVIOUS"

_NO_SUCH_SECRET = "ResourceNotFoundException"  # noqa: S105  # an error's code
_OBJECT_EXISTS = "PreconditionFailed"
_CONFLICT = "ConditionalRequestConflict"
_PUT_ATTEMPTS = 3


def make_client(service: str, config: Config, region: str | None = None) -> Any:
    """Returns a client of a service, in the function's own region by default; does not connect."""
    # boto3's types know services by literals only.
    make: Any = boto3.client
    return make(service, region_name=region, config=config)


def error_code(error: Exception) -> str:
    """Returns AWS's code of an error, else the error's type; never content of the request."""
    if isinstance(error, ClientError):
        return str(error.response["Error"]["Code"])
    return type(error).__name__


def http_status(error: ClientError) -> int:
    """Returns the HTTP status of AWS's answer, 0 if it has none."""
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def read_secret(client: Any, secret_id: str, version: str | None = None) -> str | None:
    """Returns the text of a secret in Secrets Manager, by default of its current version.

    Returns "" if the secret holds bytes, None if there is no previous version. Raises AWS_ERRORS
    unchanged.
    """
    stage = {"VersionStage": version} if version else {}
    try:
        answer = client.get_secret_value(SecretId=secret_id, **stage)
    except ClientError as error:
        if version == PREVIOUS and error_code(error) == _NO_SUCH_SECRET:
            return None
        raise
    text: str = answer.get("SecretString", "")
    return text


def conditional_put(
    client: Any, lost: Collection[str] = (_OBJECT_EXISTS,), **request: Any
) -> str | None:
    """Puts an object on the condition in the request and returns its ETag.

    Returns None if S3 answers with one of the codes `lost`. Raises AWS_ERRORS unchanged.
    """
    for attempts_left in reversed(range(_PUT_ATTEMPTS)):
        try:
            return str(client.put_object(**request)["ETag"])
        except ClientError as error:
            if error_code(error) in lost:
                break
            # Two writers put at once, and S3 asks the loser to try again.
            if error_code(error) != _CONFLICT or not attempts_left:
                raise
    return None
