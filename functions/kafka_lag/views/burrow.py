# SPDX-License-Identifier: Apache-2.0
"""Burrow's HTTP API over snapshots: its paths, fields, types, statuses and status codes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any, TypeVar
from urllib.parse import unquote

import numpy as np

from kafka_lag import contract
from kafka_lag.errors import UnusableError
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.previous_rows import last_known_lag
from kafka_lag.views.http import Answer, Request, WrongQueryError, redirect_trailing_slash
from kafka_lag.views.latest_run import HOUR_MS, Snapshots
from kafka_lag.views.member_probe import probe_member

# The status of groups and partitions about which nothing is known.
NOT_FOUND = "NOTFOUND"
# Burrow's words for the consumer status of a partition.
_CONSUMERS = {
    contract.STOPPED: contract.STOP,
    contract.STALLED: contract.STALL,
    contract.REWOUND: contract.REWIND,
}
# Readings in a window, as many as Burrow keeps by default.
WINDOW = 10
_JSON, _TEXT = "application/json", "text/plain; charset=utf-8"
_MAX_DIGITS = 9
_DAY_MS = 24 * HOUR_MS
# Runs are usually a minute apart, and at most an hour.
_LOOK_BACK_HOURS = (1, 3, 12)
_NO_CLUSTER = "cluster not found"
# Burrow's fields for its connection to the brokers, which a snapshot does not hold.
_NO_PROFILE = {"name": "", "client-id": "", "kafka-version": "", "tls": None, "sasl": None}
_PARTITION_COLUMNS = (
    "topic",
    "topic_id",
    "partition_id",
    "client_host",
    "client_id",
    "unread_reason",
    "read_at",
    "committed_offset",
    "commit_changed_at",
    "lag",
    "last_lag",
    "status",
    "last_status",
    "consumer_status",
)
_T = TypeVar("_T")
# A row of a group's partitions; None is unknown.
_Record = dict[str, Any]


def answer(request: Request, snapshots: Snapshots, now_ms: int) -> Answer:
    """Returns Burrow's answer to a GET. Raises StoreError if the snapshots cannot be read."""
    if redirect := redirect_trailing_slash(request, lambda path: _find_route(path) is not None):
        return redirect
    if found := _find_route(request.sent_path):
        handler, names = found
        try:
            return handler(BurrowRequest(request, snapshots, now_ms), **names)
        except WrongQueryError as error:
            return error_answer(request, 400, str(error))
    if _SETTINGS.fullmatch(request.path):
        return error_answer(request, 404, "the collector's configuration is not served here")
    # Burrow's answer to an unknown path, byte for byte.
    body = b'{"error":true,"message":"invalid request type","result":{}}\n'
    return Answer(404, _TEXT, body)


def error_answer(request: Request, code: int, message: str) -> Answer:
    """Returns Burrow's error body."""
    return Answer(code, _JSON, _encode(request, message, {}, error=True))


@dataclass(frozen=True, slots=True)
class BurrowRequest:
    """One request and the snapshots that answer it; `now_ms` is UTC."""

    http: Request
    snapshots: Snapshots
    now_ms: int

    def newest(self, cluster: str, dataset: str) -> tuple[int, Frame] | None:
        """Returns the newest run's scheduled time and rows; None if the cluster is unknown."""
        taken_at = self.snapshots.newest(cluster)
        if taken_at is None:
            return None
        return taken_at, self.snapshots.frame(cluster, dataset, taken_at)

    def runs(self, cluster: str, newest: int, count: int) -> list[int]:
        """Returns the newest run and those before it, ms UTC, the newest first, `count` at most.

        Returns only the newest if it is days old: finding others would list every hour since.
        """
        if self.now_ms - newest > _DAY_MS:
            return [newest]
        found: list[int] = []
        for hours in _LOOK_BACK_HOURS:
            found = self.snapshots.runs(cluster, newest - hours * HOUR_MS, newest)
            if len(found) >= count:
                break
        return [newest, *(run for run in found if run < newest)][:count]

    def partitions_of(self, cluster: str, group: str, run: int) -> Frame | None:
        """Returns the group's rows of an earlier run; None if it cannot be read."""
        try:
            rows = self.snapshots.frame(cluster, contract.GROUP_PARTITIONS, run)
        except UnusableError:
            return None
        return _select_group(rows, group)

    def page(self, items: Sequence[_T]) -> Sequence[_T]:
        """Returns the items that `offset` and `limit` of the query select; all without them.

        Raises WrongQueryError if one is not a whole number.
        """
        begin, limit = self._number("offset", 0), self._number("limit", len(items))
        return items[begin : begin + limit]

    def answer(
        self, message: str, result: Mapping[str, Any], taken_at: int | None = None, code: int = 200
    ) -> Answer:
        """Returns an answer; `taken_at`, ms UTC, is the time of its snapshot.

        Last-Modified holds this time, because Burrow's bodies have no field for the age of their
        values.
        """
        headers = {}
        if taken_at is not None:
            headers["Last-Modified"] = formatdate(taken_at / 1000, usegmt=True)
        return Answer(code, _JSON, _encode(self.http, message, result, error=False), headers)

    def not_found(self, message: str) -> Answer:
        return error_answer(self.http, 404, message)

    def _number(self, name: str, default: int) -> int:
        text = self.http.query.get(name)
        if text is None:
            return default
        if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
            raise WrongQueryError(f"{name} must be a whole number, 0 or more")
        return int(text)


def _encode(request: Request, message: str, result: Mapping[str, Any], *, error: bool) -> bytes:
    about = {"url": request.path, "host": request.host}
    body = {"error": error, "message": message, **result, "request": about}
    return json.dumps(body, separators=(",", ":"), allow_nan=False).encode()


def answer_alive(_: BurrowRequest) -> Answer:
    return Answer(200, _TEXT, b"GOOD")


def answer_ready(request: BurrowRequest) -> Answer:
    """Returns READY if any cluster has a snapshot, else STARTING. Raises StoreError."""
    if any(request.snapshots.newest(cluster) for cluster in request.snapshots.clusters()):
        return Answer(200, _TEXT, b"READY")
    return Answer(503, _TEXT, b"STARTING")


def list_clusters(request: BurrowRequest) -> Answer:
    names = request.page(request.snapshots.clusters())
    return request.answer("cluster list returned", {"clusters": names})


def describe_cluster(request: BurrowRequest, cluster: str) -> Answer:
    """Returns Burrow's configuration of the cluster: which brokers are read, and how often."""
    newest = request.snapshots.newest(cluster)
    if newest is None:
        return request.not_found("cluster module not found")
    before = request.runs(cluster, newest, 2)[1:]
    seconds = (newest - before[0]) // 1000 if before else 0
    module = {
        "class-name": "kafka",
        "servers": request.snapshots.servers(cluster, newest),
        "client-profile": _NO_PROFILE,
        "topic-refresh": seconds,
        "offset-refresh": seconds,
    }
    return request.answer("cluster module detail returned", {"module": module}, newest)


def list_topics(request: BurrowRequest, cluster: str) -> Answer:
    found = request.newest(cluster, contract.TOPIC_PARTITIONS)
    if found is None:
        return request.not_found(_NO_CLUSTER)
    taken_at, rows = found
    names = request.page(sorted(rows.strings("topic").pruned().categories))
    return request.answer("topic list returned", {"topics": names}, taken_at)


def list_end_offsets(request: BurrowRequest, cluster: str, topic: str) -> Answer:
    """Returns the end offsets by partition, without partitions that were never read."""
    found = request.newest(cluster, contract.TOPIC_PARTITIONS)
    mask = None if found is None else found[1].strings("topic").is_in([topic])
    if found is None or mask is None or not mask.any():
        return request.not_found("cluster or topic not found")
    rows = found[1].where(mask)
    ends = rows.take(np.argsort(rows.numbers("partition_id").values)).numbers("end_offset")
    offsets = request.page(ends.values[ends.known].tolist())
    return request.answer("topic offsets returned", {"offsets": offsets}, found[0])


def list_consumers_of_topic(request: BurrowRequest, cluster: str, topic: str) -> Answer:
    """Returns the names of the groups with a commit or an assignment in the topic.

    Burrow does not treat an unknown topic as an error, so the list is then empty.
    """
    found = request.newest(cluster, contract.GROUP_PARTITIONS)
    if found is None:
        return request.not_found(_NO_CLUSTER)
    taken_at, rows = found
    mask = rows.strings("topic").is_in([topic])
    names = request.page(sorted(rows.strings("consumer_group").only(mask).pruned().categories))
    return request.answer("consumers of topic returned", {"consumers": names}, taken_at)


def list_consumers(request: BurrowRequest, cluster: str) -> Answer:
    found = request.newest(cluster, contract.GROUPS)
    if found is None:
        return request.not_found(_NO_CLUSTER)
    taken_at, groups = found
    living = _without_deleted(groups).strings("consumer_group")
    names = request.page(sorted(living.pruned().categories))
    return request.answer("consumer list returned", {"consumers": names}, taken_at)


def describe_consumer(request: BurrowRequest, cluster: str, group: str) -> Answer:
    """Returns the window of offsets of each of the group's partitions, by topic.

    The other answers read fewer runs than a window has.
    """
    found = request.newest(cluster, contract.GROUPS)
    if found is None or not len(_group_row(found[1], group)):
        return request.not_found("cluster or consumer not found")
    newest, *before = request.runs(cluster, found[0], WINDOW)
    rows = request.snapshots.frame(cluster, contract.GROUP_PARTITIONS, newest)
    earlier = [request.partitions_of(cluster, group, run) for run in reversed(before)]
    topics = _windows([each for each in earlier if each is not None], _select_group(rows, group))
    shown = {name: topics[name] for name in request.page(sorted(topics))}
    return request.answer("consumer detail returned", {"topics": shown}, found[0])


def answer_lag(request: BurrowRequest, cluster: str, group: str) -> Answer:
    """Returns the group's status with every partition."""
    return _answer_status(request, cluster, group, is_shown=lambda _: True)


def answer_status(request: BurrowRequest, cluster: str, group: str) -> Answer:
    """Returns the group's status with the partitions that are not OK."""
    return _answer_status(
        request, cluster, group, is_shown=lambda status: status not in (contract.OK, NOT_FOUND)
    )


def answer_member(request: BurrowRequest, cluster: str, group: str, client_id: str) -> Answer:
    """Returns whether a member moves its partitions: 503 only if it is proven that it does not.

    Burrow has no such path.
    """
    verdict = probe_member(request.snapshots, cluster, group, client_id, request.now_ms)
    if not verdict.is_known:
        return request.not_found(verdict.reason)
    member = {
        "cluster": cluster,
        "group": group,
        "client_id": client_id,
        "alive": verdict.is_alive,
        "reason": verdict.reason,
    }
    code = 503 if verdict.is_alive is False else 200
    return request.answer("member returned", {"member": member}, verdict.taken_at, code)


_ROUTES: dict[str, Callable[..., Answer]] = {
    "/burrow/admin": answer_alive,
    "/burrow/admin/ready": answer_ready,
    "/v3/kafka": list_clusters,
    "/v3/kafka/{cluster}": describe_cluster,
    "/v3/kafka/{cluster}/topic": list_topics,
    "/v3/kafka/{cluster}/topic/{topic}": list_end_offsets,
    "/v3/kafka/{cluster}/topic/{topic}/consumers": list_consumers_of_topic,
    "/v3/kafka/{cluster}/consumer": list_consumers,
    # A group's slashes need not be encoded, so longer paths come first.
    "/v3/kafka/{cluster}/consumer/{group}/status": answer_status,
    "/v3/kafka/{cluster}/consumer/{group}/lag": answer_lag,
    "/v3/kafka/{cluster}/consumer/{group}/member/{client_id}": answer_member,
    "/v3/kafka/{cluster}/consumer/{group}": describe_consumer,
}
PATHS = tuple(_ROUTES)
# Burrow's own settings; here they would be the collector's configuration, which is not served.
_SETTINGS = re.compile(r"/v3/(config|admin)(/.*)?", re.DOTALL)


def _compile(path: str) -> re.Pattern[str]:
    pattern = path.replace("{group}", "(?P<group>.*)")
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern), re.DOTALL)


_PATTERNS = tuple((_compile(path), handler) for path, handler in _ROUTES.items())


def _find_route(sent_path: str) -> tuple[Callable[..., Answer], dict[str, str]] | None:
    """Returns the handler and its decoded names.

    A slash that was sent encoded is part of a name.
    """
    # No name contains a NUL, so it can replace such a slash.
    path = "/".join(unquote(part).replace("/", "\0") for part in sent_path.split("/"))
    for pattern, handler in _PATTERNS:
        if match := pattern.fullmatch(path):
            return handler, {k: name.replace("\0", "/") for k, name in match.groupdict().items()}
    return None


def _answer_status(
    request: BurrowRequest, cluster: str, group: str, *, is_shown: Callable[[str], bool]
) -> Answer:
    message = "consumer status returned"
    found = request.newest(cluster, contract.GROUPS)
    row = None if found is None else _group_row(found[1], group)
    if found is None or not row:
        body = _group_status(cluster, group, NOT_FOUND, 1, [], [])
        return request.answer(message, {"status": body}, code=404)
    partitions = _partition_statuses(request, cluster, group, found[0])
    shown = request.page([each for each in partitions if is_shown(each["status"])])
    (status,), (complete,) = row.strings("status").to_list(), row.numbers("complete").to_list()
    body = _group_status(cluster, group, status or NOT_FOUND, complete or 0, partitions, shown)
    return request.answer(message, {"status": body}, found[0], 200 if status else 404)


def _group_status(
    cluster: str,
    group: str,
    status: str,
    complete: float,
    partitions: list[dict[str, Any]],
    shown: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    return {
        "cluster": cluster,
        "group": group,
        "status": status,
        # Go writes whole numbers without a fraction, whatever their type.
        "complete": int(complete) if complete in (0, 1) else complete,
        "partitions": shown,
        "partition_count": len(partitions),
        "maxlag": max(partitions, key=lambda each: each["current_lag"], default=None),
        "totallag": sum(each["current_lag"] for each in partitions),
    }


def _partition_statuses(
    request: BurrowRequest, cluster: str, group: str, newest: int
) -> list[dict[str, Any]]:
    """Returns the group's partitions; `start` is the window's oldest reading, `end` the newest."""
    rows = _select_group(request.snapshots.frame(cluster, contract.GROUP_PARTITIONS, newest), group)
    oldest = request.partitions_of(cluster, group, request.runs(cluster, newest, WINDOW)[-1])
    readings = (rows if oldest is None else oldest).to_dicts()
    starts = {_log_of(each): _offset(each) for each in readings}
    return [
        _partition_status(each, starts.get(_log_of(each)), current_lag)
        for each, current_lag in zip(rows.to_dicts(), _current_lags(rows), strict=True)
    ]


def _partition_status(
    record: _Record, start: dict[str, Any] | None, current_lag: int
) -> dict[str, Any]:
    end = _offset(record)
    unread = record["unread_reason"] is not None
    is_complete = not unread and end is not None and record["lag"] is not None
    return {
        "topic": record["topic"],
        "partition": record["partition_id"],
        "owner": record["client_host"] or "",
        "client_id": record["client_id"] or "",
        "status": _find_word(record, unread=unread),
        "start": start or end,
        "end": end,
        "current_lag": current_lag,
        "complete": 1 if is_complete else 0,
    }


def _find_word(record: _Record, *, unread: bool) -> str:
    """Returns a partition's status; its last known status if it was not read, as for its group.

    Burrow has words for what the consumer does, but not for a loss.
    """
    status: str | None = record["status"] or (record["last_status"] if unread else None)
    if status == contract.ERR:
        return _CONSUMERS.get(record["consumer_status"], status)
    return status or NOT_FOUND


def _windows(earlier: Sequence[Frame], newest: Frame) -> dict[str, list[dict[str, Any]]]:
    """Returns the newest reading's partitions by topic; the position in a list is the partition."""
    seen: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for rows in (*earlier, newest):
        for record in rows.to_dicts():
            offset = _offset(record)
            if offset is not None and record["unread_reason"] is None:
                seen.setdefault(_log_of(record), []).append(offset)
    topics: dict[str, list[dict[str, Any]]] = {}
    for record, lag in zip(newest.to_dicts(), _current_lags(newest), strict=True):
        partitions = topics.setdefault(record["topic"], [])
        partitions += [_window({}, [], 0)] * (record["partition_id"] - len(partitions))
        partitions.append(_window(record, seen.get(_log_of(record), []), lag))
    return topics


def _window(record: _Record, offsets: list[dict[str, Any]], lag: int) -> dict[str, Any]:
    """Returns a window as Burrow fills it: nulls first if it is not full, empty if nothing is."""
    missing: list[None] = [None] * (WINDOW - len(offsets)) if offsets else []
    return {
        "offsets": [*missing, *offsets],
        "owner": record.get("client_host") or "",
        "client_id": record.get("client_id") or "",
        "current-lag": lag,
    }


def _without_deleted(groups: Frame) -> Frame:
    """Returns the groups, except those whose row only says that they were deleted."""
    return groups.where(~groups.strings("status_reason").is_in(contract.LAST_ROW_REASONS))


def _group_row(groups: Frame, group: str) -> Frame:
    living = _without_deleted(groups)
    return living.where(living.strings("consumer_group").is_in([group]))


def _select_group(rows: Frame, group: str) -> Frame:
    """Returns the group's rows by topic and partition, with the columns for Burrow's answers."""
    mask = rows.strings("consumer_group").is_in([group])
    mine = Frame({name: rows.columns[name] for name in _PARTITION_COLUMNS}, len(rows)).where(mask)
    topics = mine.strings("topic").to_list()
    numbers = mine.numbers("partition_id").values.tolist()
    order = sorted(range(len(mine)), key=lambda row: (topics[row], numbers[row]))
    return mine.take(np.array(order, np.int64))


def _log_of(record: _Record) -> tuple[Any, ...]:
    """Returns the key of a record's log; a recreated topic has another log."""
    return record["topic"], record["topic_id"], record["partition_id"]


def _current_lags(rows: Frame) -> list[int]:
    """Returns each row's lag, else its last known one, else 0: Burrow has no value for unknown."""
    return [lag or 0 for lag in last_known_lag(rows).to_list()]


def _offset(record: _Record) -> dict[str, Any] | None:
    """Returns one reading as an offset that Burrow keeps; None if nothing was ever committed.

    `timestamp` is when the commit was first seen, `observedAt` when it was last read, ms UTC.
    """
    if record["committed_offset"] is None:
        return None
    first_seen = record["commit_changed_at"]
    return {
        "offset": record["committed_offset"],
        "timestamp": record["read_at"] or 0 if first_seen is None else first_seen,
        "observedAt": record["read_at"] or 0,
        "lag": record["lag"],
    }
