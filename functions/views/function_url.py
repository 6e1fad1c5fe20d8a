# SPDX-License-Identifier: Apache-2.0
"""Requests and answers as a Lambda function URL passes them on: payload 2.0.

Powertools' resolver would add routes, packing and base64 of its own; the same are needed by the
local server, so they are in `routing`, and only this is left.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from functions.errors import ConfigError
from functions.views.http import Answer, Request
from functions.views.routing import refused

# Lambda takes 6 MB, base64 and headers included.
MOST_BYTES = 6 * 1024 * 1024 // 4 * 3 - 64 * 1024
_HOW_TO_PAGE = (
    "The answer is larger than the 6 MB that a function URL passes on. Ask for it packed "
    "(Accept-Encoding: gzip), or for less of it: ?offset=0&limit=1000 of Burrow's lists, "
    "?shard=0of4 of /metrics, ?page=1 of the page."
)


def request_of(event: Any) -> Request:
    """The request in an event. Raises ConfigError for an event of anything but a URL."""
    try:
        method = event["requestContext"]["http"]["method"]
        path, query = event["rawPath"], event.get("rawQueryString", "")
    except (TypeError, KeyError, AttributeError) as error:
        raise ConfigError(
            "The event is not a request of a function URL (payload 2.0): "
            "call the function by its URL."
        ) from error
    return Request.of(method, path, query, headers_of(event))


def headers_of(event: Mapping[str, Any]) -> dict[str, str]:
    """The request's headers, names in lower case."""
    return {name.lower(): value for name, value in (event.get("headers") or {}).items()}


def is_signed(event: Mapping[str, Any]) -> bool:
    """Whether Lambda itself has checked an IAM signature."""
    authorizer = event["requestContext"].get("authorizer") or {}
    return bool(authorizer.get("iam"))


def reply_of(request: Request, answer: Answer) -> dict[str, Any]:
    """The answer as Lambda takes it; one that is too large becomes a sentence how to page."""
    if len(answer.body) > MOST_BYTES:
        answer = refused(request, 413, _HOW_TO_PAGE)
    return {
        "statusCode": answer.status,
        "headers": {"Content-Type": answer.content_type, **answer.headers},
        "body": b64encode(answer.body).decode(),
        "isBase64Encoded": True,
    }
