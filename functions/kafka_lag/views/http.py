# SPDX-License-Identifier: Apache-2.0
"""What is asked and what is answered, apart from who listens: a function URL or a local server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

# Names in a query are short; what is longer is not parsed.
MOST_QUERY_BYTES = 8 * 1024
_STEPS = (".", "..")
_NO_WEIGHT = re.compile(r"\s*q=0(\.0*)?\s*")


@dataclass(frozen=True, slots=True)
class Request:
    """One request; all of it is a stranger's input.

    `path` is decoded once, as sent after the host, without the query. `query` holds the last value
    of each parameter; it is empty where `query_bytes`, its length as sent, is over the limit.
    `host` is that of the Host header. `climbs` where a part of the path as sent is a step, . or ..,
    however encoded; one within a name whose slashes are encoded is none. `sent_path` and
    `sent_query` are still encoded, without the ? between them.
    """

    path: str
    query: Mapping[str, str]
    host: str
    method: str = "GET"
    query_bytes: int = 0
    accepts_gzip: bool = False
    climbs: bool = False
    sent_path: str = ""
    sent_query: str = ""

    @classmethod
    def of(cls, method: str, path: str, query: str, headers: Mapping[str, str]) -> Request:
        """From path and query as sent, still encoded; header names in lower case."""
        parts = [unquote(part) for part in path.split("/")]
        length = len(query.encode(errors="replace"))
        pairs = parse_qsl(query, keep_blank_values=True) if length <= MOST_QUERY_BYTES else []
        return cls(
            path="/".join(parts),
            query=dict(pairs),
            host=headers.get("host", ""),
            method=method.upper(),
            query_bytes=length,
            accepts_gzip=_accepts_gzip(headers.get("accept-encoding", "")),
            climbs=any(part in _STEPS for part in parts),
            sent_path=path,
            sent_query=query,
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; `headers` beside its type and length."""

    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def _accepts_gzip(accepted: str) -> bool:
    """As RFC 9110 (12.5.3) has it: * is for codings that are not named."""
    welcome: dict[str, bool] = {}
    for each in accepted.lower().split(","):
        coding, _, weight = each.partition(";")
        welcome[coding.strip()] = _NO_WEIGHT.fullmatch(weight) is None
    return welcome.get("gzip", welcome.get("*", False))
