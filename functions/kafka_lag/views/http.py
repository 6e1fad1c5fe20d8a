# SPDX-License-Identifier: Apache-2.0
"""HTTP requests and answers, independent of the listener: a function URL or a local server."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote

# Names in a query are short; a longer query is not parsed.
MAX_QUERY_BYTES = 8 * 1024
_DOT_SEGMENTS = (".", "..")
_NO_WEIGHT = re.compile(r"\s*q=0(\.0*)?\s*")
# Characters that stay as they are in a path and in a query; encoded ones stay encoded.
_SAFE_IN_PATH, _SAFE_IN_QUERY = "/%", "/%&=+?:@!$'()*,;"


class WrongQueryError(ValueError):
    """A query parameter makes no sense; the message is one sentence for the client."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request; all of it is untrusted input.

    `path` is decoded once, as sent after the host, without the query. `query` holds the last value
    of each parameter; it is empty if `query_bytes`, its length as sent, is over the limit. `host`
    is that of the Host header. `path_traversal` is True if a segment of the path as sent is . or
    .., however encoded; a segment within a name whose slashes are encoded does not count.
    `sent_path` and `sent_query` are still encoded, without the ? between them.
    """

    path: str
    query: Mapping[str, str]
    host: str
    method: str = "GET"
    query_bytes: int = 0
    accepts_gzip: bool = False
    path_traversal: bool = False
    sent_path: str = ""
    sent_query: str = ""

    @classmethod
    def of(cls, method: str, path: str, query: str, headers: Mapping[str, str]) -> Request:
        """Returns a request from path and query as sent, still encoded; header names in lower case.

        Halves of surrogate pairs, which an event made by hand may hold, become question marks,
        because no encoding has bytes for them.
        """
        path, query = (text.encode(errors="replace").decode() for text in (path, query))
        segments = [unquote(segment) for segment in path.split("/")]
        length = len(query.encode())
        pairs = parse_qsl(query, keep_blank_values=True) if length <= MAX_QUERY_BYTES else []
        return cls(
            path="/".join(segments),
            query=dict(pairs),
            host=headers.get("host", ""),
            method=method.upper(),
            query_bytes=length,
            accepts_gzip=_accepts_gzip(headers.get("accept-encoding", "")),
            path_traversal=any(segment in _DOT_SEGMENTS for segment in segments),
            sent_path=path,
            sent_query=query,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; `headers` are those other than type and length."""

    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def redirect_trailing_slash(request: Request, is_path: Callable[[str], bool]) -> Answer | None:
    """Returns a 301 to the path without slashes at its end; None if that is not a path.

    The query is kept. A slash that was sent encoded belongs to a name. `is_path` must only accept
    paths that begin with a word, because // begins another host's address.
    """
    path = request.sent_path.rstrip("/")
    if path == request.sent_path or not is_path(path):
        return None
    query = quote(request.sent_query, safe=_SAFE_IN_QUERY)
    target = quote(path, safe=_SAFE_IN_PATH) + (f"?{query}" if query else "")
    return Answer(301, "text/plain", b"", {"Location": target})


def _accepts_gzip(accepted: str) -> bool:
    """Returns True if gzip is accepted; * stands for all unnamed codings (RFC 9110, 12.5.3)."""
    codings: dict[str, bool] = {}
    for each in accepted.lower().split(","):
        coding, _, weight = each.partition(";")
        codings[coding.strip()] = _NO_WEIGHT.fullmatch(weight) is None
    return codings.get("gzip", codings.get("*", False))
