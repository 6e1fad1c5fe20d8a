# SPDX-License-Identifier: Apache-2.0
"""What AWS calls a failure, and the write that one of two writers loses."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from botocore.exceptions import ClientError

_EXISTS = "PreconditionFailed"
_CONFLICT = "ConditionalRequestConflict"
_ATTEMPTS = 3
_SERVER_ERRORS = 500


def code_of(error: Exception) -> str:
    """The name of the error, without what the request held."""
    if isinstance(error, ClientError):
        return str(error.response["Error"]["Code"])
    return type(error).__name__


def is_certain(error: Exception) -> bool:
    """Whether AWS itself has said that it did nothing; without its answer nobody knows."""
    if not isinstance(error, ClientError):
        return False
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)) < _SERVER_ERRORS


def put_on_condition(client: Any, lost: Collection[str] = (_EXISTS,), **request: Any) -> str | None:
    """The tag of the object that was written; None where S3 answers with one of the codes `lost`.

    Raises ClientError and BotoCoreError as they come.
    """
    for attempt in range(_ATTEMPTS):
        try:
            return str(client.put_object(**request)["ETag"])
        except ClientError as error:
            if code_of(error) in lost:
                return None
            # Two writers at once: S3 asks the loser to try again.
            if code_of(error) != _CONFLICT or attempt + 1 == _ATTEMPTS:
                raise
    return None
