# SPDX-License-Identifier: Apache-2.0
"""Which view answers a request, and what no view is asked."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from kafka_lag.errors import StoreError
from kafka_lag.views import burrow, page, prometheus
from kafka_lag.views.http import MOST_QUERY_BYTES, Answer, Request
from kafka_lag.views.page.routes import sorry
from kafka_lag.views.slashes import without_slash
from kafka_lag.views.snapshots import Snapshots

_READING = ("GET", "HEAD")
_ONLY_READING = (
    "Only GET is answered: what is shown are snapshots, and nothing can be changed or deleted here."
)
_TOO_LONG = f"The query is longer than {MOST_QUERY_BYTES:,} bytes; shorten it."
_UNREADABLE = "The snapshots cannot be read now; ask again in a minute."
_NO_SUCH_PATH = "There is no such path."
# Each answer is of the moment; and names in it are strangers' input, never a script.
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
# Below this a header costs more than packing saves.
_WORTH_PACKING = 1024
_PACKING = 5


def _is_metrics(path: str) -> bool:
    return path == "/metrics"


def _metrics(request: Request, snapshots: Snapshots, now_ms: int) -> Answer:
    led = without_slash(request, _is_metrics)
    return led or prometheus.answer(request, snapshots, now_ms)


@dataclass(frozen=True, slots=True)
class _View:
    answer: Callable[[Request, Snapshots, int], Answer]
    refused: Callable[[Request, int, str], Answer]


_BURROW = _View(burrow.answer, burrow.failed)
_PROMETHEUS = _View(_metrics, lambda _, status, sentence: prometheus.refused(status, sentence))
_PAGE = _View(page.answer, lambda _, status, sentence: sorry(status, sentence))


def answer(request: Request, snapshots: Snapshots, now_ms: int) -> Answer:
    """The whole answer, packed where that was asked for; `now_ms` is UTC.

    To HEAD it has no body, and says how long it would be.

    What cannot be answered is told in one sentence in the shape of the view: a method that would
    change something (405), a query that is too long (414), a path that climbs or is cut by a NUL
    (404), snapshots that cannot be read (503).
    """
    return _headed(request, _packed(request, _told(request, snapshots, now_ms)))


def refused(
    request: Request, status: int, sentence: str, headers: Mapping[str, str] | None = None
) -> Answer:
    """One sentence in the shape of the view that was asked; to HEAD as `answer`."""
    return _headed(request, _refused(request, status, sentence, headers))


def _refused(
    request: Request, status: int, sentence: str, headers: Mapping[str, str] | None = None
) -> Answer:
    told = _view(request).refused(request, status, sentence)
    return replace(told, headers={**_HEADERS, **told.headers, **(headers or {})})


def _told(request: Request, snapshots: Snapshots, now_ms: int) -> Answer:
    if request.method not in _READING:
        return _refused(request, 405, _ONLY_READING, {"Allow": ", ".join(_READING)})
    if request.query_bytes > MOST_QUERY_BYTES:
        return _refused(request, 414, _TOO_LONG)
    if request.climbs or "\0" in request.path:
        return _refused(request, 404, _NO_SUCH_PATH)
    try:
        told = _view(request).answer(request, snapshots, now_ms)
    except StoreError as error:
        # The cause names buckets and folders, which are for the log.
        logging.getLogger(__name__).warning("%s", error)
        return _refused(request, 503, _UNREADABLE)
    return replace(told, headers={**_HEADERS, **told.headers})


def _view(request: Request) -> _View:
    first = request.path.split("/")[1] if request.path.startswith("/") else ""
    if first in ("v3", "burrow"):
        return _BURROW
    if _is_metrics(request.path) or without_slash(request, _is_metrics):
        return _PROMETHEUS
    return _PAGE


def _headed(request: Request, told: Answer) -> Answer:
    if request.method != "HEAD":
        return told
    length = {"Content-Length": str(len(told.body))}
    return replace(told, body=b"", headers={**told.headers, **length})


def _packed(request: Request, told: Answer) -> Answer:
    headers = {**told.headers, "Vary": "Accept-Encoding"}
    if not request.accepts_gzip or len(told.body) < _WORTH_PACKING:
        return replace(told, headers=headers)
    body = gzip.compress(told.body, _PACKING)
    return replace(told, body=body, headers={**headers, "Content-Encoding": "gzip"})
