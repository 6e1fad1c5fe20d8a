# SPDX-License-Identifier: Apache-2.0
"""The views behind a Lambda function URL (payload 2.0), by Powertools' event handler."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from aws_lambda_powertools.event_handler import LambdaFunctionUrlResolver, Response

from kafka_lag.errors import ConfigError
from kafka_lag.views.http import Answer, Request
from kafka_lag.views.routing import answer, refused
from kafka_lag.views.snapshots import Snapshots

# Lambda takes 6 MB, base64 and headers included.
MOST_BYTES = 6 * 1024 * 1024 // 4 * 3 - 64 * 1024
_HOW_TO_PAGE = (
    "The answer is larger than the 6 MB that a function URL passes on. Ask for it packed "
    "(Accept-Encoding: gzip), or for less of it: ?offset=0&limit=1000 of Burrow's lists, "
    "twice as many shards of /metrics (?shard=0of4, ?shard=0of8), ?page=1 of the page."
)
_WHO_IS_IT = "Sign the request, or send the token as Authorization: Bearer, as it is set up here."
# All that a function URL passes on: those that would change something are told why not.
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

# Whether an event may be answered. Raises ConfigError where that cannot be known.
Guard: TypeAlias = Callable[[Mapping[str, Any]], bool]


def resolver(
    snapshots: Snapshots, allowed: Guard, now_ms: Callable[[], int]
) -> LambdaFunctionUrlResolver:
    """Every path of the URL, for those who are `allowed`; `now_ms` tells the time in ms UTC.

    Which view a path means is told by `routing`, as the local server needs it too.
    """
    app = LambdaFunctionUrlResolver(debug=False)

    def guard(app: LambdaFunctionUrlResolver, view: Callable[..., Response[str]]) -> Response[str]:
        if allowed(app.current_event.raw_event):
            return view(app)
        request = _request(app)
        return reply(request, refused(request, 401, _WHO_IS_IT, {"WWW-Authenticate": "Bearer"}))

    app.use([guard])

    def told() -> Response[str]:
        request = _request(app)
        return reply(request, answer(request, snapshots, now_ms()))

    app.route(".*", method=_METHODS)(told)
    # other methods, and a path with a line break, which .* does not match
    app.not_found(lambda _: told())
    return app


def checked(event: Any) -> dict[str, Any]:
    """The event itself. Raises ConfigError for an event of anything but a URL."""
    try:
        if event["requestContext"]["http"]["method"] and isinstance(event["rawPath"], str):
            return dict(event)
    except (TypeError, KeyError, AttributeError):
        pass
    raise ConfigError(
        "The event is not a request of a function URL (payload 2.0): call the function by its URL."
    )


def headers_of(event: Mapping[str, Any]) -> dict[str, str]:
    """The request's headers, names in lower case."""
    return {name.lower(): value for name, value in (event.get("headers") or {}).items()}


def is_signed(event: Mapping[str, Any]) -> bool:
    """Whether Lambda itself has checked an IAM signature."""
    authorizer = event["requestContext"].get("authorizer") or {}
    return bool(authorizer.get("iam"))


def reply(request: Request, told: Answer) -> Response[str]:
    """The answer as Powertools takes it; one that is too large becomes a sentence how to page."""
    if len(told.body) > MOST_BYTES:
        told = refused(request, 413, _HOW_TO_PAGE)
    # As text, since bytes that are called JSON would be made JSON once more.
    text = b64encode(told.body).decode()
    # The URL tells lengths itself; one that a function tells comes out under another name.
    headers = {name: value for name, value in told.headers.items() if name != "Content-Length"}
    response = Response(told.status, told.content_type, text, headers)
    response.base64_encoded = True
    return response


def _request(app: LambdaFunctionUrlResolver) -> Request:
    event = app.current_event
    query = event.raw_event.get("rawQueryString", "")
    return Request.of(event.http_method, event.raw_path, query, headers_of(event.raw_event))
