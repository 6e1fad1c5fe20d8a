# SPDX-License-Identifier: Apache-2.0
"""The collector under test: the real one, with a store, a secret and a clock that can fail."""

from __future__ import annotations

import io
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError

from dev.faults.run import KILLED, Row, Run
from dev.faults.traffic import PREFIX
from dev.faults.truth import now_ms
from kafka_lag import contract
from kafka_lag.brokers.access import Access
from kafka_lag.brokers.aws_login import SecretCredentials
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.collector import Collector
from kafka_lag.errors import ReporterError, StoreError, UnusableError
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import NameFilter, Rules, Tolerance
from kafka_lag.settings import Settings
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import ConfiguredSink
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import from_parquet

CLUSTER = "faulty"
SECRET = "AmazonMSK_faulty"  # noqa: S105 - its name, not its value
_WINDOW = 10
_DEADLINE = 5.0
_MINE = NameFilter(allow=re.compile(f"^{PREFIX}"))


class Killed(BaseException):
    """The process ends here: nothing may catch it."""


class Store:
    """Objects in memory. While `failing` nothing works, after `hangs` seconds; with `dies_after`
    the process is killed after so many objects were written. `failures` counts what failed or hung.
    """

    def __init__(self) -> None:
        self.failing = False
        self.hangs = 0.0
        self.failures = 0
        self.dies_after: int | None = None
        self._objects: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def keys(self, prefix: str, after: str = "") -> list[str]:
        """The keys that start with the prefix and come after another one, in order."""
        self._answer()
        with self._lock:
            found = [key for key in self._objects if key.startswith(prefix) and key > after]
        return sorted(found)

    def read(self, key: str) -> bytes:
        """The object's bytes."""
        self._answer()
        with self._lock:
            if key not in self._objects:
                raise UnusableError(f"There is no {key}.")
            return self._objects[key]

    def write_once(self, key: str, data: bytes) -> bool:
        """Writes the object unless it exists; whether it was written."""
        self._answer()
        if self.dies_after is not None:
            if self.dies_after == 0:
                self.dies_after = None
                raise Killed
            self.dies_after -= 1
        with self._lock:
            new = key not in self._objects
            self._objects.setdefault(key, data)
            return new

    def _answer(self) -> None:
        self.failures += bool(self.hangs or self.failing)
        if self.hangs:
            time.sleep(self.hangs)
        if self.failing:
            raise StoreError("The store does not answer.")


class Noted:
    """A store that notes what one collector writes, whether or not it was there already."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.written: dict[str, bytes] = {}

    def keys(self, prefix: str, after: str = "") -> list[str]:
        """The keys that start with the prefix and come after another one, in order."""
        return self._store.keys(prefix, after)

    def read(self, key: str) -> bytes:
        """The object's bytes."""
        return self._store.read(key)

    def write_once(self, key: str, data: bytes) -> bool:
        """Writes the object unless it exists; whether it was written."""
        new = self._store.write_once(key, data)
        self.written[key] = data
        return new

    def frames(self, taken_at: int) -> dict[str, list[Row]]:
        """What was written by now for this time; a run before it may still be writing, late."""
        keys = {dataset: object_key(dataset, CLUSTER, taken_at) for dataset in contract.DATASETS}
        found = {dataset: self.written.get(key) for dataset, key in keys.items()}
        return {n: rows(from_parquet(data, n)) for n, data in found.items() if data is not None}


class Secret:
    """Secrets Manager's client for one secret with two stages."""

    def __init__(self, username: str, password: str) -> None:
        self._username = username
        self._stages = {"AWSCURRENT": password}

    def is_in(self, text: str) -> bool:
        """Returns true if the text holds one of the passwords."""
        return any(password in text for password in self._stages.values())

    def rotate(self, password: str) -> None:
        """The new password is current, and what was current is the previous one."""
        self._stages = {"AWSCURRENT": password, "AWSPREVIOUS": self._stages["AWSCURRENT"]}

    def get_secret_value(self, *, SecretId: str, VersionStage: str) -> Mapping[str, Any]:  # noqa: N803
        """As boto3 answers."""
        if VersionStage not in self._stages:
            response: Any = {"Error": {"Code": "ResourceNotFoundException", "Message": SecretId}}
            raise ClientError(response, "GetSecretValue")
        fields = {"username": self._username, "password": self._stages[VersionStage]}
        return {"SecretString": json.dumps(fields)}


@dataclass(slots=True)
class Clock:
    """The collector's clock, so many ms ahead of the truth's."""

    ahead_ms: int = 0

    def __call__(self) -> float:
        """Seconds since 1970."""
        return time.time() + self.ahead_ms / 1_000


@dataclass(slots=True)
class _RecordingLogger:
    lines: list[str] = field(default_factory=list)

    def warning(self, message: str, /) -> None:
        """One line."""
        self.lines.append(message)


class Subject:
    """One process that collects: warm from run to run until it is made anew."""

    def __init__(
        self, access: Access, secret: Secret, store: Store, clock: Clock, interval_ms: int
    ) -> None:
        self._access, self._secret = access, secret
        self._store, self._clock, self._interval_ms = store, clock, interval_ms
        self.limit = _DEADLINE
        self._make()

    def _make(self) -> None:
        window_ms = _WINDOW * self._interval_ms
        rules = Rules(
            groups=_MINE,
            topics=_MINE,
            interval_ms=self._interval_ms,
            window_ms=window_ms,
            tolerance=Tolerance(100, 0.001),
        )
        switches: dict[str, Any] = dict.fromkeys(contract.CHOSEN_METRICS, True)
        levels = Levels(
            max_metrics=1_000_000,
            max_offset_lag=True,
            partition_groups=NameFilter(),
            **switches,
        )
        settings = Settings(
            CLUSTER,
            self._access,
            rules,
            levels,
            interval_ms=self._interval_ms,
            deadline=self.limit,
        )
        self._window_ms = window_ms
        self._stream, self._logger = io.StringIO(), _RecordingLogger()
        self._source = KafkaSource(
            self._access, SecretCredentials(self._secret, SECRET), self._clock
        )
        self._noted = Noted(self._store)
        sinks = [ConfiguredSink(EmfSink(self._stream), levels)]
        self._collector = Collector(settings, self._source, self._noted, sinks, self._logger)

    def cold(self) -> None:
        """The process is replaced; the store stays."""
        self._source.close()
        self._make()

    def close(self) -> None:
        """Close the connections."""
        self._source.close()

    def run(self, number: int, taken_at: int) -> Run:
        """One run and all that it published. Raises what is no ReporterError."""
        self._noted.written.clear()
        self._logger.lines.clear()
        self._stream.seek(0)
        self._stream.truncate()
        began, clock = now_ms(), time.monotonic()
        error = self._tried(lambda: self._collector.run(taken_at))
        seconds, ended = time.monotonic() - clock, now_ms() + 1
        frames = self._noted.frames(taken_at)
        published = "\n".join((self._stream.getvalue(), *self._logger.lines, error or ""))
        run = Run(
            number=number,
            taken_at=taken_at,
            began=began,
            ended=ended,
            seconds=seconds,
            limit=self.limit,
            window_ms=self._window_ms,
            metrics=[json.loads(line) for line in self._stream.getvalue().splitlines()],
            # A set without its last object is not a snapshot to anybody.
            frames=frames if contract.GROUPS in frames else {},
            log=[*self._logger.lines],
            error=error,
            clock_ahead=self._clock.ahead_ms,
            leaked=self._secret.is_in(published),
        )
        if error == KILLED:
            self.cold()
        return run

    def _tried(self, run: Callable[[], Any]) -> str | None:
        try:
            run()
        except ReporterError as error:
            return str(error)
        except Killed:
            return KILLED
        return None


def rows(frame: Frame) -> list[Row]:
    """A frame as dictionaries, None for unknown."""
    columns = [column.to_list() for column in frame.columns.values()]
    return [dict(zip(frame.columns, each, strict=True)) for each in zip(*columns, strict=True)]
