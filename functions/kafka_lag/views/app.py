# SPDX-License-Identifier: Apache-2.0
"""The views' routes and errors, and their front as a Lambda function URL (payload 2.0)."""

from __future__ import annotations

import gzip
import logging
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from urllib.parse import unquote

from aws_lambda_powertools.event_handler import LambdaFunctionUrlResolver, Response

from kafka_lag.errors import ConfigError, StoreError
from kafka_lag.views import burrow, page, prometheus
from kafka_lag.views.http import MAX_QUERY_BYTES, Answer, Request, redirect_trailing_slash
from kafka_lag.views.latest_run import Snapshots

_METRICS = "/metrics"
# All there are, as docs/openapi.json has them.
PATHS = (*burrow.PATHS, _METRICS, *page.PATHS)
# Lambda takes 6 MB, base64 and headers included.
MAX_BYTES = 6 * 1024 * 1024 // 4 * 3 - 64 * 1024
_READ_METHODS = ("GET", "HEAD")
# All that a function URL passes on: those that would change something are answered why not.
_URL_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_READ_ONLY = (
    "Only GET is answered: what is shown are snapshots, and nothing can be changed or deleted here."
)
_QUERY_TOO_LONG = f"The query is longer than {MAX_QUERY_BYTES:,} bytes; shorten it."
_UNREADABLE = "The snapshots cannot be read now; ask again in a minute."
_NO_SUCH_PATH = "There is no such path."
_UNAUTHORIZED = (
    "Sign the request, or send the token as Authorization: Bearer, as it is set up here."
)
_TOO_LARGE = (
    "The answer is larger than the 6 MB that a function URL passes on. Ask for it packed "
    "(Accept-Encoding: gzip), or for less of it: ?offset=0&limit=1000 of Burrow's lists, "
    "twice as many shards of /metrics (?shard=0of4, ?shard=0of8), ?page=1 of the page."
)
# Each answer is of the moment; and names in it are strangers' input, never a script.
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
# Below this a header costs more than packing saves.
_MIN_BYTES_TO_PACK = 1024
_GZIP_LEVEL = 5

# Whether an event may be answered. Raises ConfigError where that cannot be known.
Guard: TypeAlias = Callable[[Mapping[str, Any]], bool]


def answer(request: Request, snapshots: Snapshots, now_ms: int) -> Answer:
    """The whole answer, packed where the client accepts that; `now_ms` is UTC.

    To HEAD it has no body, and says how long it would be.

    What cannot be answered is one sentence in the shape of the view: a method that would change
    something (405), a query that is too long (414), a path with dot segments or a NUL (404),
    snapshots that cannot be read (503).
    """
    return _without_body(request, _pack(request, _answer_get(request, snapshots, now_ms)))


def error_answer(
    request: Request, status: int, sentence: str, headers: Mapping[str, str] | None = None
) -> Answer:
    """One sentence in the shape of the view of the path; to HEAD as `answer`."""
    return _without_body(request, _view_error(request, status, sentence, headers))


def resolver(
    snapshots: Snapshots, is_allowed: Guard, now_ms: Callable[[], int]
) -> LambdaFunctionUrlResolver:
    """Every path of a function URL, for events that are allowed; `now_ms` gives the time in ms UTC.

    Which view a path means is decided by `answer`, as the local server needs it too.
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
        return to_response(request, answer(request, snapshots, now_ms()))

    app.route(".*", method=_URL_METHODS)(view)
    # other methods, and a path with a line break, which .* does not match
    app.not_found(lambda _: view())
    return app


def check_event(event: Any) -> dict[str, Any]:
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


def to_response(request: Request, answer: Answer) -> Response[str]:
    """The answer as Powertools takes it; one that is too large becomes a sentence how to page."""
    if len(answer.body) > MAX_BYTES:
        answer = error_answer(request, 413, _TOO_LARGE)
    # As text, since bytes that are called JSON would be made JSON once more.
    text = b64encode(answer.body).decode()
    # The URL adds lengths itself; one that a function adds comes out under another name.
    headers = {name: value for name, value in answer.headers.items() if name != "Content-Length"}
    response = Response(answer.status, answer.content_type, text, headers)
    response.base64_encoded = True
    return response


def _request_of(app: LambdaFunctionUrlResolver) -> Request:
    event = app.current_event
    query = event.raw_event.get("rawQueryString", "")
    return Request.of(event.http_method, event.raw_path, query, headers_of(event.raw_event))


@dataclass(frozen=True, slots=True)
class _View:
    answer: Callable[[Request, Snapshots, int], Answer]
    error_answer: Callable[[Request, int, str], Answer]


def _is_metrics(sent_path: str) -> bool:
    return unquote(sent_path) == _METRICS


def _answer_metrics(request: Request, snapshots: Snapshots, now_ms: int) -> Answer:
    redirect = redirect_trailing_slash(request, _is_metrics)
    return redirect or prometheus.answer(request, snapshots, now_ms)


_BURROW = _View(burrow.answer, burrow.error_answer)
_PROMETHEUS = _View(_answer_metrics, lambda _, *error: prometheus.error_answer(*error))
_PAGE = _View(page.answer, lambda _, *error: page.error_page(*error))


def _view_of(request: Request) -> _View:
    first = request.path.split("/")[1] if request.path.startswith("/") else ""
    if first in ("v3", "burrow"):
        return _BURROW
    if request.path == _METRICS or redirect_trailing_slash(request, _is_metrics):
        return _PROMETHEUS
    return _PAGE


def _answer_get(request: Request, snapshots: Snapshots, now_ms: int) -> Answer:
    if request.method not in _READ_METHODS:
        return _view_error(request, 405, _READ_ONLY, {"Allow": ", ".join(_READ_METHODS)})
    if request.query_bytes > MAX_QUERY_BYTES:
        return _view_error(request, 414, _QUERY_TOO_LONG)
    if request.path_traversal or "\0" in request.path:
        return _view_error(request, 404, _NO_SUCH_PATH)
    try:
        answer = _view_of(request).answer(request, snapshots, now_ms)
    except StoreError as error:
        # The cause names buckets and folders, which are for the log.
        logging.getLogger(__name__).warning("%s", error)
        return _view_error(request, 503, _UNREADABLE)
    return replace(answer, headers={**_HEADERS, **answer.headers})


def _view_error(
    request: Request, status: int, sentence: str, headers: Mapping[str, str] | None = None
) -> Answer:
    answer = _view_of(request).error_answer(request, status, sentence)
    return replace(answer, headers={**_HEADERS, **answer.headers, **(headers or {})})


def _without_body(request: Request, answer: Answer) -> Answer:
    if request.method != "HEAD":
        return answer
    length = {"Content-Length": str(len(answer.body))}
    return replace(answer, body=b"", headers={**answer.headers, **length})


def _pack(request: Request, answer: Answer) -> Answer:
    headers = {**answer.headers, "Vary": "Accept-Encoding"}
    if not request.accepts_gzip or len(answer.body) < _MIN_BYTES_TO_PACK:
        return replace(answer, headers=headers)
    body = gzip.compress(answer.body, _GZIP_LEVEL)
    return replace(answer, body=body, headers={**headers, "Content-Encoding": "gzip"})
