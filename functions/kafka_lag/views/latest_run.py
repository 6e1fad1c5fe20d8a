# SPDX-License-Identifier: Apache-2.0
"""The newest run of each cluster and those before it.

Runs are listed by the hour, read when needed, and cached.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import TypeVar

from kafka_lag import contract
from kafka_lag.errors import StoreError, UnusableError
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.keys import (
    AHEAD_MS,
    CLUSTER_NAME,
    day_prefix,
    hour_prefix,
    object_key,
    taken_at_of,
)
from kafka_lag.snapshots.parquet import as_stored, from_parquet, servers_of
from kafka_lag.snapshots.store import BrowsableStore

HOUR_MS = 3_600_000
# The interval is estimated from the pauses between runs of these hours.
RECENT_HOURS = 6
# Runs of more hours are listed by the day: a week by the hour is 168 requests, which cost the most.
_HOURS_LISTED_APART = 12
_DAY_MS = 24 * HOUR_MS
_CLUSTER_FOLDER = "cluster="
# Rows cached, of 0.3 KB each: ten large runs of 60,000 while the next is read, and `groups` for
# sparklines. With more, a scrape of all partitions would not fit into 512 MB.
_CACHED_ROWS = 700_000
# A frame of few rows is mostly its columns, 20 KB. With a limit on rows alone, thousands of small
# frames would pile up in a process that lives for days. A curve of a day has less than a hundred.
_CACHED_FRAMES = 150
_CACHED_LISTINGS = 2_000
# An hour that ended so long ago gets no more runs, except from a collector that came back.
_CLOSED_MS = 10 * 60_000
_CLOSED_TTL_SECONDS = 600.0
# Threads may share boto3's client, which holds ten connections.
_PARALLEL_READS = 8
_DEFAULT_INTERVAL_SECONDS = 60.0
_OLD_AFTER_INTERVALS = 3
# Number of pauses between runs from which the interval is estimated.
_INTERVAL_SAMPLES = 20
# Runs tried if the newest is unreadable.
_RUNS_TRIED = 4
_T = TypeVar("_T")
# An object's key and the columns read from it; None: all.
_FrameKey = tuple[str, tuple[str, ...] | None]


class Snapshots:
    """The snapshots of all clusters in one store; `clock` in seconds since the epoch.

    Listings are cached for `ttl_seconds`; objects never change. Runs dated more than ten minutes
    ahead are left out. All methods raise StoreError if the store does not answer. Only one thread
    may use it at a time; the threads that it starts only read the store.
    """

    def __init__(
        self, store: BrowsableStore, clock: Callable[[], float], ttl_seconds: float = 10.0
    ) -> None:
        self._store = store
        self._clock = clock
        self._ttl = ttl_seconds
        self._folders_listed: dict[str, tuple[float, list[str]]] = {}
        self._runs_listed: dict[str, tuple[float, list[int]]] = {}
        self._frames: OrderedDict[_FrameKey, Frame] = OrderedDict()
        self._held = _HeldRun()

    def hold(self, cluster: str, snapshot: Snapshot) -> None:
        """Takes a run that was made in this process, in any thread, and drops the one held before.

        A held run is not read from the store. It is shown even if the store does not take it or
        cannot be listed.
        """
        at = snapshot.taken_at
        frames = {
            object_key(dataset, cluster, at): as_stored(snapshot.dataset(dataset), dataset)
            for dataset in contract.DATASETS
        }
        self._held = _HeldRun(cluster, at, frames)

    def clusters(self) -> list[str]:
        """Returns the names of clusters that have snapshots, in order."""
        held = [self._held.cluster] if self._held.cluster else []
        return sorted(_join(held, self._stored_clusters))

    def _stored_clusters(self) -> list[str]:
        place = f"{contract.SNAPSHOT_PREFIX}/{contract.GROUPS}/"
        folders = self._folders(place)
        if not folders:
            # An empty list is not cached, so that the very first run is seen as soon as it is
            # stored.
            del self._folders_listed[place]
        names = (
            folder.removeprefix(_CLUSTER_FOLDER)
            for folder in folders
            if folder.startswith(_CLUSTER_FOLDER)
        )
        return [name for name in names if CLUSTER_NAME.fullmatch(name)]

    def newest(self, cluster: str, until: int | None = None) -> int | None:
        """Returns the scheduled time, ms UTC, of the newest complete run; None if there is none.

        With `until`, returns the newest run that is not later.
        """
        if not CLUSTER_NAME.fullmatch(cluster):
            return None
        last = self._until() if until is None else until
        held = self._held.times(cluster, 0, last)
        return max(_join(held, lambda: self._newest_stored(cluster, last)), default=None)

    def _newest_stored(self, cluster: str, until: int) -> list[int]:
        """Returns the newest stored run only; empty if there is none."""
        prefix = f"{contract.SNAPSHOT_PREFIX}/{contract.GROUPS}/{_CLUSTER_FOLDER}{cluster}/"
        last = hour_prefix(contract.GROUPS, cluster, until)
        for day in self._prefixes_below(prefix, last):
            for hour in self._prefixes_below(day, last):
                if times := [time for time in self._runs_of_hour(hour) if time <= until]:
                    return times[:1]
        return []

    def runs(self, cluster: str, since: int, until: int | None = None) -> list[int]:
        """Returns the scheduled times, ms UTC, of complete runs, the newest first.

        `since` and `until` are included; without `until` the newest run is the last.
        """
        if not CLUSTER_NAME.fullmatch(cluster):
            return []
        last = self._until() if until is None else until
        held = self._held.times(cluster, since, last)
        found = _join(held, lambda: self._stored_runs(cluster, since, last))
        return sorted(found, reverse=True)

    def _stored_runs(self, cluster: str, since: int, last: int) -> list[int]:
        length, prefix_of = HOUR_MS, hour_prefix
        if last - since > _HOURS_LISTED_APART * HOUR_MS:
            length, prefix_of = _DAY_MS, day_prefix
        numbers = range(last // length, since // length - 1, -1)
        ends = {
            prefix_of(contract.GROUPS, cluster, number * length): (number + 1) * length
            for number in numbers
        }
        listed = {p: self._runs_listed[p][1] for p, end in ends.items() if self._is_listed(p, end)}
        missing = [prefix for prefix in ends if prefix not in listed]
        with ThreadPoolExecutor(_PARALLEL_READS) as threads:
            for prefix, keys in zip(missing, threads.map(self._store.keys, missing), strict=True):
                listed[prefix] = _times_of(keys)
                self._put(self._runs_listed, prefix, listed[prefix])
        times = [time for prefix in ends for time in listed[prefix]]
        return [time for time in times if since <= time <= last]

    def frame(self, cluster: str, dataset: str, taken_at: int) -> Frame:
        """Returns all columns of one dataset of a run.

        Raises UnusableError if it cannot be read.
        """
        key = object_key(dataset, cluster, taken_at)
        cached = self._cached(key)
        return self._parse(key, dataset, self._store.read(key)) if cached is None else cached

    def servers(self, cluster: str, taken_at: int) -> list[str]:
        """Returns the bootstrap servers that a run was configured with; empty if not known.

        Raises UnusableError if the run cannot be read.
        """
        key = object_key(contract.GROUPS, cluster, taken_at)
        try:
            return servers_of(self._store.read(key))
        except StoreError:
            if key in self._held.frames:
                return []
            raise

    def frames(
        self, cluster: str, dataset: str, times: Sequence[int], columns: Sequence[str] | None = None
    ) -> dict[int, Frame]:
        """Returns the frames of several runs, read in parallel, without runs that cannot be read.

        With `columns` only these columns are decoded and cached, which is far less.
        """
        keys = [object_key(dataset, cluster, at) for at in times]
        part = None if columns is None else tuple(columns)
        found = {key: self._cached(key, part) for key in keys}
        missing = [key for key, frame in found.items() if frame is None]
        with ThreadPoolExecutor(_PARALLEL_READS) as threads:
            for key, data in zip(missing, threads.map(self._read_bytes, missing), strict=True):
                with suppress(UnusableError):
                    found[key] = None if data is None else self._parse(key, dataset, data, part)
        pairs = ((at, found[key]) for at, key in zip(times, keys, strict=True))
        return {at: frame for at, frame in pairs if frame is not None}

    def _cached(self, key: str, columns: tuple[str, ...] | None = None) -> Frame | None:
        """Returns the cached frame, whole or with these columns; None if neither is cached."""
        for cached in {(key, None): None, (key, columns): None}:
            if cached in self._frames:
                self._frames.move_to_end(cached)
                return self._frames[cached]
        held = self._held.frames.get(key)
        return None if held is None else self._cache(key, held)

    def _parse(
        self, key: str, dataset: str, data: bytes, columns: tuple[str, ...] | None = None
    ) -> Frame:
        try:
            frame = from_parquet(data, dataset, columns)
        except UnusableError as error:
            raise UnusableError(f"{key}: {error}") from error
        return self._cache(key, frame, columns)

    def _cache(self, key: str, frame: Frame, columns: tuple[str, ...] | None = None) -> Frame:
        """Caches the frame and returns it; the frame that was used longest ago is dropped first."""
        self._frames[key, columns] = frame
        while len(self._frames) > 1 and (
            len(self._frames) > _CACHED_FRAMES
            or sum(map(len, self._frames.values())) > _CACHED_ROWS
        ):
            self._frames.popitem(last=False)
        return frame

    def _read_bytes(self, key: str) -> bytes | None:
        """Returns an object's bytes; None if it does not exist."""
        try:
            return self._store.read(key)
        except UnusableError:
            return None

    def _until(self) -> int:
        return int(self._clock() * 1000) + AHEAD_MS

    def _prefixes_below(self, prefix: str, last: str) -> list[str]:
        """Returns the prefixes directly below this one up to `last`, the newest first."""
        below = (f"{prefix}{name}/" for name in reversed(self._folders(prefix)))
        return [each for each in below if each <= last]

    def _folders(self, prefix: str) -> list[str]:
        if not self._is_fresh(self._folders_listed, prefix, self._ttl):
            self._put(self._folders_listed, prefix, self._store.folders(prefix))
        return self._folders_listed[prefix][1]

    def _runs_of_hour(self, prefix: str) -> list[int]:
        """Returns the runs of an hour, the newest first."""
        if not self._is_fresh(self._runs_listed, prefix, self._ttl):
            self._put(self._runs_listed, prefix, _times_of(self._store.keys(prefix)))
        return self._runs_listed[prefix][1]

    def _is_listed(self, prefix: str, end: int) -> bool:
        """Returns True if the runs of an hour or day that ends at `end`, ms, are still listed."""
        is_closed = end + _CLOSED_MS < self._clock() * 1000
        ttl = max(self._ttl, _CLOSED_TTL_SECONDS) if is_closed else self._ttl
        return self._is_fresh(self._runs_listed, prefix, ttl)

    def _is_fresh(self, listed: dict[str, tuple[float, list[_T]]], what: str, ttl: float) -> bool:
        at, _ = listed.get(what, (float("-inf"), []))
        return 0 <= self._clock() - at < ttl

    def _put(self, listed: dict[str, tuple[float, list[_T]]], what: str, found: list[_T]) -> None:
        # Requests may name clusters that do not exist again and again.
        if len(listed) >= _CACHED_LISTINGS:
            listed.clear()
        listed[what] = (self._clock(), found)


@dataclass(frozen=True, slots=True)
class _HeldRun:
    """A run that was made in this process; empty if there is none.

    `taken_at` is its time, ms UTC; `frames` are by key.
    """

    cluster: str = ""
    taken_at: int = 0
    frames: Mapping[str, Frame] = field(default_factory=dict)

    def times(self, cluster: str, since: int, until: int) -> list[int]:
        """Returns its time, if it is a run of this cluster between these times."""
        return (
            [self.taken_at] if self.cluster == cluster and since <= self.taken_at <= until else []
        )


def _join(held: list[_T], list_stored: Callable[[], list[_T]]) -> set[_T]:
    """Returns the union of held values and values that the store lists.

    If the store fails, returns the held values; if there are none, raises its StoreError.
    """
    try:
        return {*held, *list_stored()}
    except StoreError:
        if not held:
            raise
        return {*held}


def _times_of(keys: list[str]) -> list[int]:
    """Returns the times of complete sets, the newest first; `groups` is written last in a set."""
    return sorted((time for key in keys if (time := taken_at_of(key)) is not None), reverse=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestRun:
    """The newest readable run of a cluster.

    `groups` are the groups of the run scheduled at `taken_at` (ms UTC), which is `age_seconds` old.
    `recent` are the newest run and the runs of the hours before it, the newest first. `unreadable`
    is how many runs newer than `taken_at` cannot be read.
    """

    cluster: str
    taken_at: int
    age_seconds: float
    interval_seconds: float
    groups: Frame
    recent: tuple[int, ...]
    unreadable: int

    @property
    def is_old(self) -> bool:
        """Returns True if more than three runs are missing, or all of the last hours.

        The values shown may then be long outdated.
        """
        late = _OLD_AFTER_INTERVALS * self.interval_seconds
        return self.age_seconds > min(late, RECENT_HOURS * HOUR_MS / 1000)

    @property
    def first_judged_at(self) -> int:
        """Returns the time of the second run ever, ms, which is the first that can evaluate.

        A condition that was seen by then may have begun earlier. Returns 0 if there are older runs
        than the listed ones.
        """
        *_, oldest = self.recent
        late_ms = _OLD_AFTER_INTERVALS * self.interval_seconds * 1000
        if oldest <= self.recent[0] - RECENT_HOURS * HOUR_MS + late_ms:
            return 0
        return self.recent[-2:][0]


@dataclass(frozen=True, slots=True)
class UnreadableCluster:
    """A cluster without a readable run; `taken_at` is its newest run, ms UTC."""

    cluster: str
    taken_at: int


def find_latest_run(
    snapshots: Snapshots, cluster: str, now_ms: int, until: int | None = None
) -> LatestRun | UnreadableCluster | None:
    """Returns the newest readable run, or the newest not after `until`, ms.

    Returns None for a cluster without such a complete run. Raises StoreError.
    """
    newest = snapshots.newest(cluster, until)
    if newest is None:
        return None
    recent = snapshots.runs(cluster, newest - RECENT_HOURS * HOUR_MS, newest)
    for tried, at in enumerate(_candidates(newest, recent)):
        try:
            groups = snapshots.frame(cluster, contract.GROUPS, at)
        except UnusableError as error:
            logging.getLogger(__name__).warning("%s", error)
            continue
        return LatestRun(
            cluster=cluster,
            taken_at=at,
            age_seconds=max(now_ms - at, 0) / 1000,
            interval_seconds=_estimate_interval(recent),
            groups=groups,
            recent=tuple(recent),
            unreadable=tried,
        )
    return UnreadableCluster(cluster, newest)


def _candidates(newest: int, recent: list[int]) -> Iterator[int]:
    yield newest
    yield from [at for at in recent if at < newest][: _RUNS_TRIED - 1]


def _estimate_interval(recent: list[int]) -> float:
    """Returns the seconds between runs: the median pause; the default if there is only one run."""
    runs = recent[: _INTERVAL_SAMPLES + 1]
    pauses = [later - earlier for later, earlier in pairwise(runs)]
    return median(pauses) / 1000 if pauses else _DEFAULT_INTERVAL_SECONDS
