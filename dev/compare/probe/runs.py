# SPDX-License-Identifier: Apache-2.0
"""One cluster by one commit: its runs, the messages of each, and then the requests about it."""

from __future__ import annotations

import gzip
import json
import os
from base64 import b64decode
from collections import deque
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import boto3

from dev.compare.orders import Input
from dev.compare.probe import aws
from dev.compare.probe.collecting import Collecting, key_of
from dev.compare.probe.layout import find, fresh
from dev.compare.readings import DATASETS, GROUPS, Run
from dev.compare.requests import Request, requests
from dev.compare.steps import EMF, ERROR, HTTP, MESSAGES, PARQUET, Step

# What lies in the bucket, of runs: more makes the stand-in's listings slow.
_SERVED, _NOTIFIED = 180, 200
# Seconds after its scheduled time at which a run is complete and S3 tells of it.
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
