# SPDX-License-Identifier: Apache-2.0
"""Two days for the daily report as recordings of what was read, made of `dev.days`' scenarios.

Each commit's own collector makes the snapshots of them, so that a report reads what its commit
writes, whatever version of the files that is.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from dev.compare import readings
from dev.compare.readings import DATASETS, Names, Numbers, Reading, Run, Table
from dev.days import Day
from dev.days.cluster import Commits, Consumers, Logs
from dev.days.describe import Events, Missing
from dev.days.large import large
from dev.days.reading import Reader
from dev.days.scenarios import truth
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import ClusterReading


def plain(reading: ClusterReading) -> Reading:
    """A reading without this checkout's classes."""
    return Reading(
        {name: _table(getattr(reading, name)) for name in DATASETS},
        tuple((p.scope, p.name, p.reason, p.detail) for p in reading.problems),
        dict(reading.hidden_topics),
        reading.unlisted_groups,
        reading.gone_topics,
        reading.gone_groups,
    )


def _table(frame: Frame) -> Table:
    found: dict[str, Numbers | Names] = {}
    for name, column in frame.columns.items():
        if isinstance(column, Column):
            found[name] = Numbers(column.values, column.known)
        else:
            codes = np.where(column.known, column.codes.values, -1).astype(np.int32)
            found[name] = Names(codes, column.categories)
    return found


DATES = "2026-01-05", "2026-01-06"
_EVERY = timedelta(minutes=5)
_PARTITIONS = 300


def make(folder: Path) -> tuple[str, ...]:
    """Writes the recordings below `folder` unless they are there; their folders."""
    days = {
        "truth": (DATES[0], truth()),
        "large": (DATES[1], replace(large(_PARTITIONS, "large"), warm_up_hours=0.0)),
    }
    found = []
    for name, (date, day) in days.items():
        place = folder / name
        if not place.exists():
            draft = folder / f".{name}"
            shutil.rmtree(draft, ignore_errors=True)
            midnight = datetime.fromisoformat(date).replace(tzinfo=UTC)
            readings.store(draft, _document(day), list(_runs(day, midnight)))
            draft.rename(place)
        found.append(str(place))
    return tuple(found)


def _document(day: Day) -> dict[str, Any]:
    rules = day.rules
    return {
        "cluster": day.cluster,
        "bootstrap_servers": ["simulated:9096"],
        "secret_id": "AmazonMSK_simulated",
        "interval_seconds": _EVERY.total_seconds(),
        "owner": {pattern.pattern: owner for pattern, owner in rules.owners.choices},
        "sla_seconds": {pattern.pattern: each for pattern, each in rules.sla_seconds.choices},
        "allowed_lag": {pattern.pattern: each for pattern, each in rules.allowed_lag.choices},
    }


def _runs(day: Day, midnight: datetime) -> Iterator[Run]:
    events = Events(day.events)
    consumers = Consumers(day, Logs(day), events)
    commits = Commits(consumers, events)
    begin = round(midnight.timestamp() * 1_000)
    reader = Reader(consumers, events, begin)
    for number in range(timedelta(days=1) // _EVERY):
        second = number * _EVERY.total_seconds()
        moved = commits.move_on(second)
        if not events.on(Missing, second):
            yield Run(begin + round(second * 1_000), plain(reader.read(second, moved)))
