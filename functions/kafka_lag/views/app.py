# SPDX-License-Identifier: Apache-2.0
"""The views' routes and errors, for any listener: a function URL or a local server."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import unquote

from kafka_lag.errors import StoreError
from kafka_lag.views import burrow, page, prometheus
from kafka_lag.views.http import MAX_QUERY_BYTES, Answer, Request, redirect_trailing_slash
from kafka_lag.views.latest_run import Snapshots

_METRICS = "/metrics"
# All paths, as in docs/openapi.json.
PATHS = (*burrow.PATHS, _METRICS, *page.PATHS)
_READ_METHODS = ("GET", "HEAD")
_READ_ONLY = (
    "Only GET is answered: what is shown are snapshots, and nothing can be changed or deleted here."
)
_QUERY_TOO_LONG = f"The query is longer than {MAX_QUERY_BYTES:,} bytes; shorten it."
_UNREADABLE = "The snapshots cannot be read now; ask again in a minute."
_NO_SUCH_PATH = "There is no such path."
# An answer is out of date a moment later, and names in it are untrusted input, never a script.
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
# Below this size the header costs more than packing saves.
_MIN_BYTES_TO_PACK = 1024
_GZIP_LEVEL = 5


def answer(
    request: Request, snapshots: Snapshots, now_ms: int, max_metrics_bytes: int | None = None
) -> Answer:
    """Returns the whole answer, packed if the client accepts that; `now_ms` is UTC.

    `max_metrics_bytes` is the largest /metrics that the listener can pass on; None: any size. The
    answer to HEAD has no body, but its length.

    A request that cannot be answered gets one sentence in the shape of the view: a method that
    would change something (405), a query that is too long (414), a path with dot segments or a NUL
    (404), snapshots that cannot be read (503).
    """
    found = _answer_get(request, snapshots, now_ms, max_metrics_bytes)
    return _without_body(request, _pack(request, found))


def error_answer(
    request: Request, status: int, sentence: str, headers: Mapping[str, str] | None = None
) -> Answer:
    """Returns one sentence in the shape of the path's view; without a body to HEAD."""
    return _without_body(request, _view_error(request, status, sentence, headers))


@dataclass(frozen=True, slots=True)
class _View:
    answer: Callable[[Request, Snapshots, int, int | None], Answer]
    error_answer: Callable[[Request, int, str], Answer]


def _is_metrics(sent_path: str) -> bool:
    return unquote(sent_path) == _METRICS


def _answer_metrics(
    request: Request, snapshots: Snapshots, now_ms: int, max_bytes: int | None
) -> Answer:
    redirect = redirect_trailing_slash(request, _is_metrics)
    return redirect or prometheus.answer(request, snapshots, now_ms, max_bytes)


_BURROW = _View(lambda *parts: burrow.answer(*parts[:3]), burrow.error_answer)
_PROMETHEUS = _View(_answer_metrics, lambda _, *error: prometheus.error_answer(*error))
_PAGE = _View(lambda *parts: page.answer(*parts[:3]), lambda _, *error: page.error_page(*error))


def _view_of(request: Request) -> _View:
    first = request.path.split("/")[1] if request.path.startswith("/") else ""
    if first in ("v3", "burrow"):
        return _BURROW
    if request.path == _METRICS or redirect_trailing_slash(request, _is_metrics):
        return _PROMETHEUS
    return _PAGE


def _answer_get(
    request: Request, snapshots: Snapshots, now_ms: int, max_metrics_bytes: int | None
) -> Answer:
    if request.method not in _READ_METHODS:
        return _view_error(request, 405, _READ_ONLY, {"Allow": ", ".join(_READ_METHODS)})
    if request.query_bytes > MAX_QUERY_BYTES:
        return _view_error(request, 414, _QUERY_TOO_LONG)
    if request.path_traversal or "\0" in request.path:
        return _view_error(request, 404, _NO_SUCH_PATH)
    try:
        answer = _view_of(request).answer(request, snapshots, now_ms, max_metrics_bytes)
    except StoreError as error:
        # The text names buckets and folders, which are for the log.
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
