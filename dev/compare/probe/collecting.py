# SPDX-License-Identifier: Apache-2.0
"""A commit's collector over replayed readings: EMF on a stream, Parquet in a folder."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from dev.compare.probe.layout import find
from dev.compare.readings import DATASETS, Names, Numbers, Run, Table
from dev.compare.steps import EMF, ERROR, PARQUET


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
