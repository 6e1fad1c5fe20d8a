# SPDX-License-Identifier: Apache-2.0
"""Which of Burrow's paths is which answer."""

from __future__ import annotations

import re
from collections.abc import Callable

from kafka_lag.views.burrow.cluster import cluster, clusters, topic, topics
from kafka_lag.views.burrow.consumers import consumers, consumers_of_topic
from kafka_lag.views.burrow.envelope import Asked, WrongQueryError, failed, unknown_path
from kafka_lag.views.burrow.health import alive, ready
from kafka_lag.views.burrow.status import lag, status
from kafka_lag.views.burrow.window import consumer
from kafka_lag.views.http import Answer, Request
from kafka_lag.views.slashes import without_slash
from kafka_lag.views.snapshots import Snapshots

_CLUSTER = r"/v3/kafka/([^/]+)"
# A group may have slashes in its name, a topic not; so the longer paths come first.
_ROUTES: tuple[tuple[str, Callable[..., Answer]], ...] = (
    (r"/burrow/admin", alive),
    (r"/burrow/admin/ready", ready),
    (r"/v3/kafka", clusters),
    (_CLUSTER, cluster),
    (rf"{_CLUSTER}/topic", topics),
    (rf"{_CLUSTER}/topic/([^/]+)", topic),
    (rf"{_CLUSTER}/topic/([^/]+)/consumers", consumers_of_topic),
    (rf"{_CLUSTER}/consumer", consumers),
    (rf"{_CLUSTER}/consumer/(.*)/status", status),
    (rf"{_CLUSTER}/consumer/(.*)/lag", lag),
    (rf"{_CLUSTER}/consumer/(.+)", consumer),
)
_COMPILED = tuple((re.compile(pattern, re.DOTALL), to) for pattern, to in _ROUTES)
# Burrow's own settings: here a configuration document of the collector, which nothing serves.
_SETTINGS = re.compile(r"/v3/(config|admin)(/.*)?", re.DOTALL)


def answer(request: Request, snapshots: Snapshots, now_ms: int) -> Answer:
    """Burrow's answer to a GET. Raises StoreError when the snapshots cannot be read."""
    asked = Asked(request, snapshots, now_ms)
    if led := without_slash(request, lambda path: _found(path) is not None):
        return led
    if found := _found(request.path):
        to, names = found
        try:
            return to(asked, *names)
        except WrongQueryError as error:
            return failed(request, 400, str(error))
    if _SETTINGS.fullmatch(request.path):
        return failed(request, 404, "the collector's configuration is not served here")
    return unknown_path()


def _found(path: str) -> tuple[Callable[..., Answer], tuple[str, ...]] | None:
    for pattern, to in _COMPILED:
        if match := pattern.fullmatch(path):
            return to, match.groups()
    return None
