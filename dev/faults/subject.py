# SPDX-License-Identifier: Apache-2.0
"""The collector under test: the real one, with a store, a secret and a clock that can fail."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from botocore.exceptions import ClientError

from dev.faults.traffic import PREFIX
from dev.sim.live.waves import RULES
from dev.sim.run import Warnings
from kafka_lag import contract
from kafka_lag.brokers.access import Access
from kafka_lag.brokers.aws_login import SecretCredentials
from kafka_lag.brokers.source import KafkaSource
from kafka_lag.collector import Collector
from kafka_lag.errors import ReporterError, StoreError
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.settings import Settings
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import ConfiguredSink
from kafka_lag.snapshots.store import FolderStore

CLUSTER = "faulty"
SECRET = "AmazonMSK_faulty"  # noqa: S105 - its name, not its value
INTERVAL_MS = 1_000
WINDOW, DEADLINE = 10.0, 5.0


class Row(NamedTuple):
    """The judged values of a group's partition, as in a snapshot; times are ms since 1970."""

    consumer_group: str
    topic: str
    partition_id: int
    read_at: int | None
    unread_reason: str | None
    committed_offset: int | None
    start_offset: int | None
    end_offset: int | None
    lag: int | None
    last_lag: int | None
    records_lost: int | None
    time_lag_seconds: float | None
    time_lag_error_seconds: float | None
    status: str | None


class Killed(BaseException):
    """The process ends here: nothing may catch it."""


class Store(FolderStore):
    """A folder that fails.

    While it is `failing`, each call fails after `hangs` seconds. With `dies_after` the process is
    killed after this many objects were written. `failures` counts calls that failed or hung.
    """

    failing = False
    hangs = 0.0
    failures = 0
    dies_after: int | None = None

    def keys(self, prefix: str, after: str = "") -> list[str]:
        """Returns the keys as the folder does, unless it fails."""
        self._answer()
        return super().keys(prefix, after)

    def read(self, key: str) -> bytes:
        """Returns the bytes as the folder does, unless it fails."""
        self._answer()
        return super().read(key)

    def write_once(self, key: str, data: bytes) -> bool:
        """Writes as the folder does, unless it fails or the process ends here."""
        self._answer()
        if self.dies_after is not None:
            if self.dies_after == 0:
                self.dies_after = None
                raise Killed
            self.dies_after -= 1
        return super().write_once(key, data)

    def _answer(self) -> None:
        self.failures += bool(self.hangs or self.failing)
        time.sleep(self.hangs)
        if self.failing:
            raise StoreError("The store does not answer.")


class Secret:
    """Secrets Manager's client for one secret with two stages."""

    def __init__(self, username: str, password: str) -> None:
        self._username = username
        self._stages = {"AWSCURRENT": password}

    def is_in(self, text: str) -> bool:
        """Returns true if the text holds one of the passwords."""
        return any(password in text for password in self._stages.values())

    def rotate(self, password: str) -> None:
        """Makes the new password current, and the current one the previous."""
        self._stages = {"AWSCURRENT": password, "AWSPREVIOUS": self._stages["AWSCURRENT"]}

    def get_secret_value(self, *, SecretId: str, VersionStage: str) -> Mapping[str, Any]:  # noqa: N803
        """Returns the secret as boto3 does."""
        if VersionStage not in self._stages:
            response: Any = {"Error": {"Code": "ResourceNotFoundException", "Message": SecretId}}
            raise ClientError(response, "GetSecretValue")
        fields = {"username": self._username, "password": self._stages[VersionStage]}
        return {"SecretString": json.dumps(fields)}


@dataclass(frozen=True, slots=True)
class Run:
    """One run, with its rows and its log. Times are seconds since 1970.

    `ahead` is how far the collector's clock was ahead of this machine's. `rows` are None if nothing
    was read. `log` holds its warnings. `calm` is True if the last fault was over two runs before.
    `leaked` is True if its output holds a password. `during` names the faults of its time.
    """

    number: int
    taken_at: float
    began: float
    ended: float
    rows: Sequence[Row] | None = None
    log: Sequence[str] = ()
    error: str | None = None
    ahead: float = 0.0
    leaked: bool = False
    calm: bool = False
    during: str = ""


class Subject:
    """One process that collects: warm from run to run until `cold` replaces it.

    `ahead_ms` is how far its clock is ahead of this machine's.
    """

    def __init__(self, access: Access, secret: Secret, store: Store) -> None:
        self._access, self._secret, self._store = access, secret, store
        self.ahead_ms = 0
        self._make()

    def _make(self) -> None:
        mine = NameFilter(allow=re.compile(f"^{PREFIX}"))
        window = round(WINDOW * 1_000)
        rules = replace(RULES, groups=mine, topics=mine, interval_ms=INTERVAL_MS, window_ms=window)
        switches: dict[str, Any] = dict.fromkeys(contract.CHOSEN_METRICS, True)
        levels = Levels(
            max_metrics=1_000_000, max_offset_lag=True, partition_groups=NameFilter(), **switches
        )
        settings = Settings(
            CLUSTER, self._access, rules, levels, interval_ms=INTERVAL_MS, deadline=DEADLINE
        )
        self._stream, self._logger = io.StringIO(), Warnings()
        login = SecretCredentials(self._secret, SECRET)
        self._source = KafkaSource(self._access, login, lambda: time.time() + self.ahead_ms / 1_000)
        sinks = [ConfiguredSink(EmfSink(self._stream), levels)]
        self._collector = Collector(settings, self._source, self._store, sinks, self._logger)

    def cold(self) -> None:
        """Replaces the process; the store stays."""
        self._source.close()
        self._make()

    def close(self) -> None:
        """Closes the connections."""
        self._source.close()

    def run(self, number: int, taken_at: int) -> Run:
        """Makes one run. Raises only errors that are not a ReporterError."""
        self._logger.lines.clear()
        self._stream.seek(self._stream.truncate(0))
        began, ahead = time.time(), self.ahead_ms / 1_000
        rows, error = None, None
        try:
            outcome = self._collector.collect(taken_at)
            rows = read_rows(outcome.report.snapshot.group_partitions)
            error = str(outcome.failure) if outcome.failure else None
        except ReporterError as raised:
            error = str(raised)
        except Killed:
            error = "killed"
            self.cold()
        published = "\n".join((self._stream.getvalue(), *self._logger.lines, error or ""))
        return Run(
            number,
            taken_at / 1_000,
            began,
            time.time(),
            rows,
            [*self._logger.lines],
            error,
            ahead,
            leaked=self._secret.is_in(published),
        )


def read_rows(frame: Frame) -> list[Row]:
    """Returns the judged columns of a frame; None for unknown."""
    return [
        Row(*each)
        for each in zip(*(frame.columns[name].to_list() for name in Row._fields), strict=True)
    ]
