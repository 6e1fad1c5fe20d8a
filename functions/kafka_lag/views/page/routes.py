# SPDX-License-Identifier: Apache-2.0
"""From an address to a page: the overview, one group, one topic, or a page that says why not."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from kafka_lag.errors import StoreError
from kafka_lag.views.http import Answer, Request
from kafka_lag.views.page import links
from kafka_lag.views.page.asked import readable
from kafka_lag.views.page.details import group, topic
from kafka_lag.views.page.latest import Nothing, latest
from kafka_lag.views.page.overview import overview
from kafka_lag.views.page.render import rendered
from kafka_lag.views.slashes import without_slash
from kafka_lag.views.snapshots import Snapshots

_METHODS = ("GET", "HEAD")


def answer(request: Request, snapshots: Snapshots, now_ms: int) -> Answer:
    """A page for every path, 404 for what there is not; it never raises for the store's sake."""
    if request.method not in _METHODS:
        return sorry(405, "This page can only be looked at.")
    try:
        return _found(request, snapshots, now_ms)
    except StoreError as error:
        logging.getLogger(__name__).warning("%s", error)
        return sorry(503, "The snapshots cannot be read now. What this page would say is unknown.")


def sorry(status: int, why: str) -> Answer:
    """A page that says in one sentence why there is no other."""
    return rendered("sorry.html.j2", status, why=why)


def _found(request: Request, snapshots: Snapshots, now_ms: int) -> Answer:
    path = readable(request.path)
    query = {readable(name): readable(value) for name, value in request.query.items()}
    if path in ("", "/"):
        return overview(request.query, snapshots, now_ms)
    if led := _led(request, path, query):
        return led
    wanted = links.found(path, query.get("name", ""))
    if wanted is None:
        return sorry(404, "There is no such page.")
    cluster, kind, name = wanted
    seen = latest(snapshots, cluster, now_ms)
    if seen is None:
        return sorry(404, "There are no snapshots of a cluster of that name.")
    if isinstance(seen, Nothing):
        return sorry(503, "The newest snapshots of this cluster cannot be read.")
    made = group if kind == links.GROUP else topic
    return made(name, request.query, snapshots, seen, now_ms)


def _led(request: Request, path: str, query: Mapping[str, str]) -> Answer | None:
    """To the address that was meant by one that is cut, or has a slash too much."""
    if cluster := links.cluster_in(path):
        return Answer(302, "text/plain", b"", {"Location": links.of_cluster(cluster, query)})
    return without_slash(request, _is_named)


def _is_named(path: str) -> bool:
    """Whether a path holds a group's or topic's name; an empty one has only the slash before it."""
    return links.found(path, "") is not None
