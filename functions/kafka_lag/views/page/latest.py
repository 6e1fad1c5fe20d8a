# SPDX-License-Identifier: Apache-2.0
"""The newest snapshot of a cluster that can be read, and whether it is too old to be believed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from kafka_lag import contract
from kafka_lag.errors import UnusableError
from kafka_lag.lag.frame import Frame
from kafka_lag.views.snapshots import Snapshots

HOUR_MS = 3_600_000
# What the curves show; the pauses between these runs tell the interval.
HOURS = 6
_USUAL_INTERVAL = 60.0
_LATE_INTERVALS = 3
_PAUSES = 20
# Runs tried where the newest is broken.
_TRIES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Latest:
    """What is known of a cluster now.

    `groups` are those of the run scheduled at `taken_at` (ms UTC), which is `age_seconds` old;
    `recent` are the newest run and those of the hours before it, the newest first; `unreadable`
    how many newer than `taken_at` cannot be read.
    """

    cluster: str
    taken_at: int
    age_seconds: float
    interval_seconds: float
    groups: Frame
    recent: tuple[int, ...]
    unreadable: int

    @property
    def old(self) -> bool:
        """Whether more than three runs are missing, or all of the last hours: what is shown may be
        over long ago."""
        late = _LATE_INTERVALS * self.interval_seconds
        return self.age_seconds > min(late, HOURS * HOUR_MS / 1000)


@dataclass(frozen=True, slots=True)
class Nothing:
    """A cluster of whose runs, the newest at `taken_at`, none can be read."""

    cluster: str
    taken_at: int


def latest(snapshots: Snapshots, cluster: str, now_ms: int) -> Latest | Nothing | None:
    """None for a cluster that has no complete run. Raises StoreError."""
    newest = snapshots.newest(cluster)
    if newest is None:
        return None
    recent = snapshots.runs(cluster, newest - HOURS * HOUR_MS, newest)
    for tried, at in enumerate(_candidates(newest, recent)):
        try:
            groups = snapshots.frame(cluster, contract.GROUPS, at)
        except UnusableError as error:
            logging.getLogger(__name__).warning("%s", error)
            continue
        return Latest(
            cluster=cluster,
            taken_at=at,
            age_seconds=max(now_ms - at, 0) / 1000,
            interval_seconds=_interval(recent),
            groups=groups,
            recent=tuple(recent),
            unreadable=tried,
        )
    return Nothing(cluster, newest)


def _candidates(newest: int, recent: list[int]) -> Iterator[int]:
    yield newest
    yield from [at for at in recent if at < newest][: _TRIES - 1]


def _interval(recent: list[int]) -> float:
    """Seconds between runs, as a rule; the usual ones where too few runs tell."""
    runs = recent[: _PAUSES + 1]
    pauses = [later - earlier for later, earlier in pairwise(runs)]
    return median(pauses) / 1000 if pauses else _USUAL_INTERVAL
