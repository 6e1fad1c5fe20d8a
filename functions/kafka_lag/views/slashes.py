# SPDX-License-Identifier: Apache-2.0
"""Addresses with a slash too much at their end; one that was sent encoded belongs to a name."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote, unquote

from kafka_lag.views.http import Answer, Request

# What a path and a query may hold as they are; what was sent encoded stays so.
_OF_PATH, _OF_QUERY = "/%", "/%&=+?:@!$'()*,;"


def without_slash(request: Request, known: Callable[[str], bool]) -> Answer | None:
    """The way to the address without it, the query kept; None without one, or where the decoded
    path is not `known` then.

    `known` must be of paths that begin with a word: another host's address begins with //.
    """
    path = request.sent_path.rstrip("/")
    if path == request.sent_path or not known(unquote(path)):
        return None
    query = quote(request.sent_query, safe=_OF_QUERY, errors="replace")
    target = quote(path, safe=_OF_PATH, errors="replace") + (f"?{query}" if query else "")
    return Answer(301, "text/plain", b"", {"Location": target})
