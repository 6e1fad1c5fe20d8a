# SPDX-License-Identifier: Apache-2.0
"""A commit's collector over the runs of a cluster, then its messages, answers and reports."""

from __future__ import annotations

import gzip
import io
import json
import os
from base64 import b64decode
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dev.compare.orders import (
    EMF,
    ERROR,
    HISTORY,
    HTTP,
    MESSAGES,
    PARQUET,
    REPORTS,
    Input,
    Orders,
    Step,
)
from dev.compare.probe import aws
from dev.compare.probe.layout import find, fresh
from dev.compare.readings import DATASETS, GROUPS, Names, Numbers, Run, Table
from dev.compare.requests import Request, requests


def key_of(dataset: str, cluster: str, taken_at: int) -> str:
    """Where a run's object lies: public interface."""
    time = datetime.fromtimestamp(taken_at / 1000, UTC)
    day = f"snapshots/{dataset}/cluster={cluster}/dt={time:%Y-%m-%d}/hour={time:%H}"
    return f"{day}/{time:%Y%m%dT%H%M%SZ}-0of1.parquet"


class Replay:
    """A source that says what was recorded, whatever it is asked for by name."""

    def __init__(self) -> None:
        self._reading: Any = None
        self._index: Any = None
        self._error = ""

    def load(self, run: Run) -> None:
        """What the next read is."""
        self._error = run.reading if isinstance(run.reading, str) else ""
        self._reading = None if self._error else _reading(run.reading)
        self._index = run.time_index

    def read(self, _request: Any, _deadline: float) -> Any:
        """The reading, or the error that the brokers ended in."""
        if self._reading is None:
            raise find("SourceError")(self._error)
        return self._reading

    def look_up(self, requests: Any, _deadline: float) -> Any:
        """What the time index of that run has for whatever times are asked."""
        partitions = requests.partitions
        topics = partitions.columns["topic"].to_list()
        numbers = partitions.columns["partition_id"].values
        answers = self._index.answer(topics, numbers, np.asarray(requests.times))
        return find("LookupResults")(answers.found, answers.none, answers.offsets, answers.times)

    def not_responding(self) -> tuple[Any, ...]:
        """Nobody: which brokers were lost is in the reading."""
        return ()


class Quiet:
    """Warnings of a run, which are no part of the public interface."""

    def info(self, message: str, /) -> None:
        """Nothing."""

    def warning(self, message: str, /) -> None:
        """Nothing."""


class Collecting:
    """A cluster's runs by this commit; of `most` last runs the objects stay (0: of all)."""

    def __init__(self, document: Mapping[str, Any], folder: Path, most: int) -> None:
        self.cluster = str(document["cluster"])
        self._settings = find("settings_of")(find("normalised")(document))
        self._folder = folder
        self._stream = io.StringIO()
        self._source = Replay()
        self._kept: deque[int] = deque()
        self._most = most
        self._collector = self._cold()

    def run(self, run: Run) -> dict[str, bytes]:
        """The parts that a run leaves behind."""
        if run.cold:
            self._collector = self._cold()
        self._source.load(run)
        parts: dict[str, bytes] = {}
        try:
            self._collector.run(run.taken_at)
        except find("ReporterError") as error:
            parts[f"{EMF}/{ERROR}"] = f"{type(error).__name__}: {error}".encode()
        parts[EMF] = self._stream.getvalue().encode()
        self._stream.seek(0)
        self._stream.truncate()
        for dataset in DATASETS:
            path = self._folder / key_of(dataset, self.cluster, run.taken_at)
            if path.exists():
                parts[f"{PARQUET}/{dataset}"] = path.read_bytes()
        self._forget(run.taken_at)
        return parts

    def _cold(self) -> Any:
        store = find("FolderStore")(self._folder)
        sink = find("ConfiguredSink")(find("EmfSink")(self._stream), self._settings.levels)
        # The time a run takes is no difference.
        return find("Collector")(self._settings, self._source, store, [sink], Quiet(), lambda: 0.0)

    def _forget(self, taken_at: int) -> None:
        self._kept.append(taken_at)
        if 0 < self._most < len(self._kept):
            old = self._kept.popleft()
            for dataset in DATASETS:
                (self._folder / key_of(dataset, self.cluster, old)).unlink(missing_ok=True)


def _reading(reading: Any) -> Any:
    problem = find("Problem")
    return find("ClusterReading")(
        **{name: _frame(reading.tables[name]) for name in DATASETS},
        problems=tuple(problem(*each) for each in reading.problems),
        hidden_topics=reading.hidden_topics,
        unlisted_groups=reading.unlisted_groups,
        gone_topics=reading.gone_topics,
        gone_groups=reading.gone_groups,
    )


def _frame(table: Table) -> Any:
    return find("Frame").of({name: _column(column) for name, column in table.items()})


def _column(column: Numbers | Names) -> Any:
    make = find("Column")
    if isinstance(column, Numbers):
        return make(column.values, column.known)
    known = column.codes >= 0
    return find("Strings")(make(column.codes, known), column.names)


def reports(orders: Orders, folder: Path, sent: aws.Sent, topic: str) -> Iterator[Step]:
    """The command's code, the summary that was sent, and a step a day with all that is of it."""
    first, last = orders.reported
    place = str(folder)
    words = ["--input", place, "--output", place, "--date", first, "--until", last]
    code = find("report")([*words, "--topic-arn", topic, "--summary", "always", "--show", "0"])
    yield Step("report: exit code", {REPORTS: str(code).encode()})
    # Each commit has a folder of its own, which is no difference.
    summary = sent.taken().replace(place.encode(), b"(state)")
    yield Step("report: summary", {f"{REPORTS}/{MESSAGES}": summary})
    yield from written(folder, orders.reported)


def written(folder: Path, days: Sequence[str]) -> Iterator[Step]:
    """What a report left below `folder`: a step a day, and one for what is of no such day.

    Parts are tables, pages and the history, by name and cluster: which there are is the commit's.
    """
    parts: dict[str, dict[str, bytes]] = {day: {} for day in (*days, "")}
    for root, prefix in ((folder / "reports", ""), (folder / "history", HISTORY)):
        for path in sorted({path.parent for path in root.rglob("*") if path.is_file()}):
            name = f"{REPORTS}/{prefix}{path.relative_to(root)}"
            day = next((day for day in days if f"dt={day}" in path.parts), "")
            parts[day] |= _parts(name, path, str(folder))
    for day, found in parts.items():
        yield Step(f"report: {day or 'no day of it'}", found)


def _parts(name: str, folder: Path, state: str) -> dict[str, bytes]:
    """The table that lies in a folder, and whatever else does, each file by its name."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    # Spark's marks and checksums say nothing of the rows.
    files = [path for path in files if not path.name.startswith((".", "_"))]
    found = {
        f"{name}/{path.name}": path.read_bytes().replace(state.encode(), b"(state)")
        for path in files
        if path.suffix != ".parquet"
    }
    # One file at a time: the folder's names are no columns.
    tables = [pq.ParquetFile(path).read() for path in files if path.suffix == ".parquet"]
    if tables:
        sink = io.BytesIO()
        pq.write_table(pa.concat_tables(tables, promote_options="permissive"), sink)
        found[name] = sink.getvalue()
    return found


# What lies in the bucket, of runs: more makes the stand-in's listings slow.
_SERVED, _NOTIFIED = 180, 200
# Seconds after its scheduled time at which a run is complete and S3 sends its event.
_COMPLETE_AFTER = 20.0


class Context:
    """What handlers ask of a Lambda context."""

    function_name = "compared"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:eu-west-1:111122223333:function:compared"
    aws_request_id = "compared"

    def get_remaining_time_in_millis(self) -> int:
        """A minute, always."""
        return 60_000


def steps(
    source: Input, folder: Path, kinds: frozenset[str], clock: aws.Clock, sent: aws.Sent, topic: str
) -> Iterator[Step]:
    """Each run with its EMF lines, files and messages; then each request with its answer."""
    collecting = Collecting(source.runs.document, folder, source.retained)
    bucket = _Bucket(folder, collecting.cluster)
    times: deque[int] = deque(maxlen=_SERVED)
    for number, run in enumerate(source.runs.runs()):
        clock.now = run.taken_at / 1000 + _COMPLETE_AFTER
        parts = collecting.run(run)
        times.append(run.taken_at)
        if MESSAGES in kinds and number % source.notify == 0:
            parts |= _messages(bucket, run, sent, topic)
        chosen = {n: data for n, data in parts.items() if n.partition("/")[0] in kinds}
        if kinds & {EMF, PARQUET, MESSAGES}:
            yield Step(f"{collecting.cluster} run {number} at {run.taken_at}", chosen)
    if HTTP in kinds and source.about is not None:
        bucket.clear()
        for at in times:
            bucket.put(at, *DATASETS)
        for request in requests(collecting.cluster, *source.about):
            name = f"{collecting.cluster}: {request.name}"
            yield Step(name, {HTTP: answer(request)})
        bucket.clear()


class _Bucket:
    """A cluster's objects where the handlers read them."""

    def __init__(self, folder: Path, cluster: str) -> None:
        self._folder, self._cluster = folder, cluster
        self._client: Any = boto3.client("s3")
        self._keys: deque[str] = deque()

    def put(self, taken_at: int, *datasets: str) -> str | None:
        """Uploads a run's objects; the key of the last, None where there is none."""
        key = None
        for dataset in datasets:
            key = key_of(dataset, self._cluster, taken_at)
            path = self._folder / key
            if not path.exists():
                return None
            self._client.put_object(Bucket=aws.BUCKET, Key=key, Body=path.read_bytes())
            self._keys.append(key)
        return key

    def keep(self, most: int) -> None:
        """Removes the oldest beyond so many."""
        while len(self._keys) > most:
            self._client.delete_object(Bucket=aws.BUCKET, Key=self._keys.popleft())

    def clear(self) -> None:
        """Removes all."""
        self.keep(0)


def _messages(bucket: _Bucket, run: Run, sent: aws.Sent, topic: str) -> dict[str, bytes]:
    key = bucket.put(run.taken_at, GROUPS)
    if key is None:
        return {}
    bucket.keep(_NOTIFIED)
    os.environ |= {
        "KAFKA_LAG_BUCKET": aws.BUCKET,
        "KAFKA_LAG_STATUS_TOPIC": topic,
        "KAFKA_LAG_EVENT_BUS": "status",
    }
    detail = {"bucket": {"name": aws.BUCKET}, "object": {"key": key}}
    event = {"detail-type": "Object Created", "source": "aws.s3", "detail": detail}
    parts: dict[str, bytes] = {}
    try:
        find("notify")(event, Context())
    except find("ReporterError") as error:
        parts[f"{MESSAGES}/{ERROR}"] = f"{type(error).__name__}: {error}".encode()
    if data := sent.taken():
        parts[MESSAGES] = data
    return parts


# Views that are set up in one way stay warm, whatever others answer in between.
_views = cache(lambda _auth: fresh("serve"))


def answer(request: Request) -> bytes:
    """The answer as JSON, its body unpacked."""
    os.environ |= {
        "KAFKA_LAG_BUCKET": aws.BUCKET,
        "KAFKA_LAG_AUTH": request.auth,
        "KAFKA_LAG_TOKEN_SECRET": aws.TOKEN_SECRET,
    }
    try:
        found = dict(_views(request.auth)(request.event(), Context()))
    except Exception as error:  # noqa: BLE001 - whatever ends the function is its answer
        return json.dumps({"raised": f"{type(error).__name__}: {error}"}).encode()
    body = found.pop("body", "") or ""
    raw = b64decode(body) if found.get("isBase64Encoded") else body.encode()
    headers = {str(name).lower(): value for name, value in found.get("headers", {}).items()}
    if headers.get("content-encoding") == "gzip":
        raw = gzip.decompress(raw)
    found["headers"] = headers
    found["body"] = raw.decode(errors="backslashreplace")
    return json.dumps(found, sort_keys=True).encode()
