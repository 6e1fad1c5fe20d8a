# SPDX-License-Identifier: Apache-2.0
"""The views as a Lambda function URL (payload 2.0)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from aws_lambda_powertools.event_handler import LambdaFunctionUrlResolver, Response

from kafka_lag.errors import ConfigError
from kafka_lag.views.app import answer, error_answer
from kafka_lag.views.http import Answer, Request
from kafka_lag.views.latest_run import Snapshots

# Lambda passes on 6 MB, base64 and headers included.
MAX_BYTES = 6 * 1024 * 1024 // 4 * 3 - 64 * 1024
# Limit for /metrics, because not every scraper accepts a packed answer. An answer that is still too
# large when packed gets the URL's error. More would take more memory and time than a small function
# has.
MAX_METRICS_BYTES = 4_600_000
# All methods that a function URL passes on. A method that would change something gets an
# explanation.
_URL_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_UNAUTHORIZED = (
    "Sign the request, or send the token as Authorization: Bearer, as it is set up here."
)
_TOO_LARGE = (
    "The answer is larger than the 6 MB that a function URL passes on. Ask for it packed "
    "(Accept-Encoding: gzip), or for less of it: ?offset=0&limit=1000 of Burrow's lists, "
    "twice as many shards of /metrics (?shard=0of4, ?shard=0of8), ?page=1 of the page."
)

# Returns True if an event may be answered. Raises ConfigError if that cannot be decided.
Guard: TypeAlias = Callable[[Mapping[str, Any]], bool]


def make_resolver(
    snapshots: Snapshots, is_allowed: Guard, now_ms: Callable[[], int]
) -> LambdaFunctionUrlResolver:
    """Returns a resolver for every path of a function URL; `now_ms` gives the time in ms UTC.

    It answers events that `is_allowed` accepts. `answer` decides which view a path means, because
    the local server needs that, too.
    """
    app = LambdaFunctionUrlResolver(debug=False)

    def guard(app: LambdaFunctionUrlResolver, view: Callable[..., Response[str]]) -> Response[str]:
        if is_allowed(app.current_event.raw_event):
            return view(app)
        request = _request_of(app)
        headers = {"WWW-Authenticate": "Bearer"}
        return to_response(request, error_answer(request, 401, _UNAUTHORIZED, headers))

    app.use([guard])

    def view() -> Response[str]:
        request = _request_of(app)
        return to_response(request, answer(request, snapshots, now_ms(), MAX_METRICS_BYTES))

    app.route(".*", method=_URL_METHODS)(view)
    # For other methods, and a path with a line break, which .* does not match.
    app.not_found(lambda _: view())
    return app


def check_event(event: Any) -> dict[str, Any]:
    """Returns the event. Raises ConfigError if it is not an event of a function URL."""
    try:
        if event["requestContext"]["http"]["method"] and isinstance(event["rawPath"], str):
            return dict(event)
    except (TypeError, KeyError, AttributeError):
        pass
    raise ConfigError(
        "The event is not a request of a function URL (payload 2.0): call the function by its URL."
    )


def headers_of(event: Mapping[str, Any]) -> dict[str, str]:
    """Returns the request's headers, with names in lower case."""
    return {name.lower(): value for name, value in (event.get("headers") or {}).items()}


def to_response(request: Request, answer: Answer) -> Response[str]:
    """Returns the answer for Powertools; one that is too large becomes advice on how to page."""
    if len(answer.body) > MAX_BYTES:
        answer = error_answer(request, 413, _TOO_LARGE)
    # The body is text, because Powertools would encode bytes declared as JSON once more.
    text = b64encode(answer.body).decode()
    # The URL adds the length itself; a length of ours would appear under another name.
    headers = {name: value for name, value in answer.headers.items() if name != "Content-Length"}
    response = Response(answer.status, answer.content_type, text, headers)
    response.base64_encoded = True
    return response


def _request_of(app: LambdaFunctionUrlResolver) -> Request:
    event = app.current_event
    query = event.raw_event.get("rawQueryString", "")
    return Request.of(event.http_method, event.raw_path, query, headers_of(event.raw_event))
