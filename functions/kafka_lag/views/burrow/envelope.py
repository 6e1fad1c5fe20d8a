# SPDX-License-Identifier: Apache-2.0
"""What each of Burrow's answers has in common: error, message, request; and pages of long lists."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any, TypeVar

from kafka_lag.errors import UnusableError
from kafka_lag.lag.frame import Frame
from kafka_lag.views.http import Answer, Request
from kafka_lag.views.snapshots import Snapshots

_JSON = "application/json"
_MOST_DIGITS = 9
_HOUR_MS, _DAY_MS = 3_600_000, 86_400_000
# Runs are mostly a minute apart, and an hour at most.
_LOOK_BACK_HOURS = (1, 3, 12)
_T = TypeVar("_T")


class WrongQueryError(ValueError):
    """A parameter makes no sense; its text is one sentence for whoever sent it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request and what it is answered from; `now_ms` is UTC."""

    request: Request
    snapshots: Snapshots
    now_ms: int

    def newest(self, cluster: str, dataset: str) -> tuple[int, Frame] | None:
        """The scheduled time and the rows of the newest run; None: there is no such cluster."""
        taken_at = self.snapshots.newest(cluster)
        if taken_at is None:
            return None
        return taken_at, self.snapshots.frame(cluster, dataset, taken_at)

    def runs(self, cluster: str, newest: int, count: int) -> list[int]:
        """The newest run and those before it, the newest first, `count` at most, ms UTC.

        Of a snapshot that is days old only itself: to look around it is to list every hour since.
        """
        if self.now_ms - newest > _DAY_MS:
            return [newest]
        found: list[int] = []
        for hours in _LOOK_BACK_HOURS:
            found = self.snapshots.runs(cluster, newest - hours * _HOUR_MS, newest)
            if len(found) >= count:
                break
        return [newest, *(run for run in found if run < newest)][:count]

    def earlier(self, cluster: str, dataset: str, run: int) -> Frame | None:
        """The rows of a run before the newest; None where it is unreadable, which is no matter."""
        try:
            return self.snapshots.frame(cluster, dataset, run)
        except UnusableError:
            return None

    def page(self, items: Sequence[_T]) -> Sequence[_T]:
        """The items that `offset` and `limit` of the query ask for; all without them.

        Raises WrongQueryError where one is no whole number.
        """
        begin, limit = self._number("offset", 0), self._number("limit", len(items))
        return items[begin : begin + limit]

    def _number(self, name: str, otherwise: int) -> int:
        text = self.request.query.get(name)
        if text is None:
            return otherwise
        if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
            raise WrongQueryError(f"{name} must be a whole number, 0 or more")
        return int(text)


def told(
    request: Request,
    message: str,
    more: Mapping[str, Any],
    taken_at: int | None = None,
    code: int = 200,
) -> Answer:
    """A lawful answer; `taken_at`, ms UTC, is the time of the snapshot that it was made of.

    Last-Modified tells it, as Burrow's bodies have no place for the age of what they say.
    """
    at = {} if taken_at is None else {"Last-Modified": formatdate(taken_at / 1000, usegmt=True)}
    return Answer(code, _JSON, _body(request, message, more, error=False), at)


def failed(request: Request, code: int, message: str) -> Answer:
    """Burrow's error for whoever asked."""
    return Answer(code, _JSON, _body(request, message, {}, error=True))


def unknown_path() -> Answer:
    """What Burrow says to a path that it does not have, to the byte."""
    body = b'{"error":true,"message":"invalid request type","result":{}}\n'
    return Answer(404, "text/plain; charset=utf-8", body)


def _body(request: Request, message: str, more: Mapping[str, Any], *, error: bool) -> bytes:
    about = {"url": request.path, "host": request.host}
    told = {"error": error, "message": message, **more, "request": about}
    return json.dumps(told, separators=(",", ":"), allow_nan=False).encode()
