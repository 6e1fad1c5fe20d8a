# SPDX-License-Identifier: Apache-2.0
"""What brokers said in each run, as files without any class of the project: a folder a cluster.

`runs.json` has the collector's document and a line a run, `DATASET.parquet` the rows of all runs,
and `logs.parquet` each record's offset and time, as a commit may look up other times than another
did. `recorded` is seven minutes of three real brokers under faults; the others are made of
`dev.days` and of the patterns that `make bench-pauses` uses.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from dev.benchmarks.pauses.whole_runs import FIRST, Cluster, patterns
from dev.days import Day
from dev.days.cluster import Commits, Consumers, Logs
from dev.days.describe import Events, Missing
from dev.days.large import large
from dev.days.reading import Reader
from dev.days.scenarios import truth
from kafka_lag import contract
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import ClusterReading

RECORDED = Path(__file__).parent / "recorded"
# The days that the daily report is about.
DATES = ("2026-01-05", "2026-01-06")
_EVERY = timedelta(minutes=5)
_MINUTE_MS, _DAY_RUNS = 60_000, 1_440
# Patterns with trouble need some days before it.
_LEAST_DAYS = 4
# A run in which everything is loaded anew, once in so many.
_COLD_EVERY = 100

Runs: TypeAlias = Iterator[tuple[int, ClusterReading]]


def write_inputs(folder: Path, days: float, *, reported: bool) -> list[Path]:
    """A folder for each cluster, in the order of their time: no clock goes back.

    `days` of a run a minute (0: none); without `reported` nothing that only the report is about.
    """
    shutil.rmtree(folder, ignore_errors=True)
    first, second = (replace(truth(), cluster="truth"), _large())
    made = [_write_day(folder / "truth", first, DATES[0])]
    if reported:
        made.append(_write_day(folder / "large", second, DATES[1]))
    if days:
        found = patterns(max(_LEAST_DAYS, round(days)), 1)
        names = Cluster([pattern.track for pattern in found.values()])
        runs = (
            (FIRST + run * _MINUTE_MS, names.reading(run)) for run in range(round(days * _DAY_RUNS))
        )
        made.append(_write(folder / "patterns", {**_DOCUMENT, "cluster": "patterns"}, runs))
    return [*made, RECORDED]


_DOCUMENT = {"bootstrap_servers": ["nowhere:9096"], "secret_id": "AmazonMSK_compared"}


def _large() -> Day:
    return replace(large(300, "large"), warm_up_hours=0.0)


def _write_day(folder: Path, day: Day, date: str) -> Path:
    rules = day.rules
    document = {
        **_DOCUMENT,
        "cluster": day.cluster,
        "interval_seconds": _EVERY.total_seconds(),
        "owner": {pattern.pattern: owner for pattern, owner in rules.owners.choices},
        "sla_seconds": {pattern.pattern: each for pattern, each in rules.sla_seconds.choices},
        "allowed_lag": {pattern.pattern: each for pattern, each in rules.allowed_lag.choices},
        "levels": {"drain_time": True, "members": True, "rebalancing": True},
    }
    midnight = round(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp() * 1_000)
    return _write(folder, document, _runs_of(day, midnight))


def _runs_of(day: Day, midnight: int) -> Runs:
    events = Events(day.events)
    consumers = Consumers(day, Logs(day), events)
    commits, reader = Commits(consumers, events), Reader(consumers, events, midnight)
    for number in range(timedelta(days=1) // _EVERY):
        second = number * _EVERY.total_seconds()
        moved = commits.move_on(second)
        if not events.on(Missing, second):
            yield midnight + round(second * 1_000), reader.read(second, moved)


def _write(folder: Path, document: dict[str, Any], runs: Runs) -> Path:
    folder.mkdir(parents=True)
    lines: list[dict[str, Any]] = []
    tables: dict[str, list[Any]] = {name: [] for name in contract.DATASETS}
    for number, (taken_at, reading) in enumerate(runs):
        for name, parts in tables.items():
            frame = getattr(reading, name)
            column = pa.array([number] * len(frame), pa.int32())
            parts.append(_to_arrow(frame).append_column("run", column))
        others = [each.name for each in fields(reading) if each.name not in tables]
        rest = {name: _plain(getattr(reading, name)) for name in others}
        lines.append({"taken_at": taken_at, "cold": number % _COLD_EVERY == 0, **rest})
    text = json.dumps({"document": document, "runs": lines})
    (folder / "runs.json").write_text(text + "\n")
    for name, parts in tables.items():
        pq.write_table(
            pa.concat_tables(parts, promote_options="permissive"), folder / f"{name}.parquet"
        )
    return folder


def _to_arrow(frame: Frame) -> Any:
    arrays = {}
    for name, column in frame.columns.items():
        if isinstance(column, Column):
            arrays[name] = pa.array(column.values, mask=~column.known)
        else:
            arrays[name] = pa.array([_plain(value) for value in column.to_list()])
    return pa.table(arrays)


def _plain(value: Any) -> Any:
    """As JSON and Arrow have it: of a set a sorted list, of a dataclass its values."""
    if hasattr(value, "__dataclass_fields__"):
        return [getattr(value, each.name) for each in fields(value)]
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return dict(value) if isinstance(value, dict) else value
