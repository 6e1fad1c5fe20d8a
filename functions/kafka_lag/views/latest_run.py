# SPDX-License-Identifier: Apache-2.0
"""The newest run of each cluster and those before it: listed by the hour, read when needed, and
cached."""

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
# The pauses between these runs give the interval.
RECENT_HOURS = 6
# Runs of a longer time are listed by the day: a week by the hour is 168 requests, which cost most.
_HOURS_LISTED_APART = 12
_DAY_MS = 24 * HOUR_MS
_CLUSTER_FOLDER = "cluster="
# Rows cached, of 0.3 KB each: ten large runs of 60,000 while the next is read, and `groups` for
# sparklines. Beside more, a scrape of all partitions would not fit into 512 MB.
_CACHED_ROWS = 700_000
# A frame of few rows is mostly its columns, 20 KB: in a process that lives for days, rows alone
# would let thousands of small ones pile up. A curve of a day has less than a hundred.
_CACHED_FRAMES = 150
_CACHED_LISTINGS = 2_000
# An hour that ended so long ago gets no more runs but of a collector that came back.
_SETTLED_MS = 10 * 60_000
_SETTLED_TTL_SECONDS = 600.0
# Boto3's client, which threads may share, holds ten connections.
_PARALLEL_READS = 8
_DEFAULT_INTERVAL_SECONDS = 60.0
_OLD_AFTER_INTERVALS = 3
# Pauses between runs that the interval is estimated from.
_INTERVAL_SAMPLES = 20
# Runs tried where the newest is unreadable.
_RUNS_TRIED = 4
_T = TypeVar("_T")
# An object's key, and which columns of it; None: all.
_FrameKey = tuple[str, tuple[str, ...] | None]


class Snapshots:
    """The snapshots of all clusters in one store; `clock` in seconds since the epoch.

    Listings are cached for `ttl_seconds`; what was read never changes. Runs dated more than ten
    minutes ahead are left out. All methods raise StoreError when the store does not answer. For one
    thread at a time: those that it starts itself only read the store.
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
        """Takes a run from whoever made it in this process, in any thread, instead of the run that
        was held before.

        It is not read from the store, and is shown even if the store does not take it, or cannot be
        listed.
        """
        at = snapshot.taken_at
        frames = {
            object_key(dataset, cluster, at): as_stored(snapshot.dataset(dataset), dataset)
            for dataset in contract.DATASETS
        }
        self._held = _HeldRun(cluster, at, frames)

    def clusters(self) -> list[str]:
        """The names of clusters that have snapshots, in order."""
        held = [self._held.cluster] if self._held.cluster else []
        return sorted(_join(held, self._stored_clusters))

    def _stored_clusters(self) -> list[str]:
        place = f"{contract.SNAPSHOT_PREFIX}/{contract.GROUPS}/"
        folders = self._folders(place)
        if not folders:
            # The first run of all is seen as soon as it is there.
            del self._folders_listed[place]
        names = (
            folder.removeprefix(_CLUSTER_FOLDER)
            for folder in folders
            if folder.startswith(_CLUSTER_FOLDER)
        )
        return [name for name in names if CLUSTER_NAME.fullmatch(name)]

    def newest(self, cluster: str, until: int | None = None) -> int | None:
        """The scheduled time, ms UTC, of the newest complete run, or of the newest that was not
        after `until`; None: there is none.
        """
        if not CLUSTER_NAME.fullmatch(cluster):
            return None
        last = self._until() if until is None else until
        held = self._held.times(cluster, 0, last)
        return max(_join(held, lambda: self._newest_stored(cluster, last)), default=None)

    def _newest_stored(self, cluster: str, until: int) -> list[int]:
        """The newest alone; none where there is none."""
        prefix = f"{contract.SNAPSHOT_PREFIX}/{contract.GROUPS}/{_CLUSTER_FOLDER}{cluster}/"
        last = hour_prefix(contract.GROUPS, cluster, until)
        for day in self._prefixes_below(prefix, last):
            for hour in self._prefixes_below(day, last):
                if times := [time for time in self._runs_of_hour(hour) if time <= until]:
                    return times[:1]
        return []

    def runs(self, cluster: str, since: int, until: int | None = None) -> list[int]:
        """The scheduled times, ms UTC, of complete runs from `since` to `until`, both included, or
        to the newest; the newest first."""
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
        """All columns of one dataset of a run. Raises UnusableError where it cannot be read."""
        key = object_key(dataset, cluster, taken_at)
        cached = self._cached(key)
        return self._parse(key, dataset, self._store.read(key)) if cached is None else cached

    def servers(self, cluster: str, taken_at: int) -> list[str]:
        """The bootstrap servers that a run was configured with; none where that is not known.

        Raises UnusableError where the run cannot be read.
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
        """Return the frames of several runs, read in parallel, without those that cannot be read.

        With `columns` these alone, which is far less to decode and to cache.
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
        """The whole frame does for some of its columns."""
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
        """The frame; of those cached the one used longest ago goes first."""
        self._frames[key, columns] = frame
        while len(self._frames) > 1 and (
            len(self._frames) > _CACHED_FRAMES
            or sum(map(len, self._frames.values())) > _CACHED_ROWS
        ):
            self._frames.popitem(last=False)
        return frame

    def _read_bytes(self, key: str) -> bytes | None:
        """Return an object's bytes; null if there is no such object."""
        try:
            return self._store.read(key)
        except UnusableError:
            return None

    def _until(self) -> int:
        return int(self._clock() * 1000) + AHEAD_MS

    def _prefixes_below(self, prefix: str, last: str) -> list[str]:
        """The prefixes right below one, the newest first, none that is after `last`."""
        below = (f"{prefix}{name}/" for name in reversed(self._folders(prefix)))
        return [each for each in below if each <= last]

    def _folders(self, prefix: str) -> list[str]:
        if not self._is_fresh(self._folders_listed, prefix, self._ttl):
            self._put(self._folders_listed, prefix, self._store.folders(prefix))
        return self._folders_listed[prefix][1]

    def _runs_of_hour(self, prefix: str) -> list[int]:
        """The newest first."""
        if not self._is_fresh(self._runs_listed, prefix, self._ttl):
            self._put(self._runs_listed, prefix, _times_of(self._store.keys(prefix)))
        return self._runs_listed[prefix][1]

    def _is_listed(self, prefix: str, end: int) -> bool:
        """Return true if the runs of an hour or day that ends at `end`, ms, need no new listing."""
        settled = end + _SETTLED_MS < self._clock() * 1000
        ttl = max(self._ttl, _SETTLED_TTL_SECONDS) if settled else self._ttl
        return self._is_fresh(self._runs_listed, prefix, ttl)

    def _is_fresh(self, listed: dict[str, tuple[float, list[_T]]], what: str, ttl: float) -> bool:
        at, _ = listed.get(what, (float("-inf"), []))
        return 0 <= self._clock() - at < ttl

    def _put(self, listed: dict[str, tuple[float, list[_T]]], what: str, found: list[_T]) -> None:
        # of clusters that nobody has, one may be requested again and again
        if len(listed) >= _CACHED_LISTINGS:
            listed.clear()
        listed[what] = (self._clock(), found)


@dataclass(frozen=True, slots=True)
class _HeldRun:
    """A run that was made in this process: its time, ms UTC, and its frames by key; empty if there
    is none.
    """

    cluster: str = ""
    taken_at: int = 0
    frames: Mapping[str, Frame] = field(default_factory=dict)

    def times(self, cluster: str, since: int, until: int) -> list[int]:
        """Its time, if it is a run of this cluster between these times."""
        return (
            [self.taken_at] if self.cluster == cluster and since <= self.taken_at <= until else []
        )


def _join(held: list[_T], list_stored: Callable[[], list[_T]]) -> set[_T]:
    """Return the union of held values and those that the store lists. If the store fails, the held
    values are returned; if there are none, its StoreError is raised.
    """
    try:
        return {*held, *list_stored()}
    except StoreError:
        if not held:
            raise
        return {*held}


def _times_of(keys: list[str]) -> list[int]:
    """`groups` is written last, so its keys are those of complete sets; the newest first."""
    return sorted((time for key in keys if (time := taken_at_of(key)) is not None), reverse=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestRun:
    """The newest readable run of a cluster, and whether it is too old to be believed.

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
        """True if more than three runs are missing, or all of the last hours: the values shown may
        be long outdated."""
        late = _OLD_AFTER_INTERVALS * self.interval_seconds
        return self.age_seconds > min(late, RECENT_HOURS * HOUR_MS / 1000)

    @property
    def first_judged_at(self) -> int:
        """The second run ever, ms, which is the first that can judge: what began by then may have
        begun before. 0 where runs are older than those that were listed.
        """
        *_, oldest = self.recent
        late_ms = _OLD_AFTER_INTERVALS * self.interval_seconds * 1000
        if oldest <= self.recent[0] - RECENT_HOURS * HOUR_MS + late_ms:
            return 0
        return self.recent[-2:][0]


@dataclass(frozen=True, slots=True)
class UnreadableCluster:
    """A cluster of whose runs, the newest at `taken_at`, none can be read."""

    cluster: str
    taken_at: int


def find_latest_run(
    snapshots: Snapshots, cluster: str, now_ms: int, until: int | None = None
) -> LatestRun | UnreadableCluster | None:
    """The newest, or the newest that was not after `until`, ms. None for a cluster that has no such
    complete run. Raises StoreError.
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
    """Seconds between runs: the median pause; the default where there is but one run."""
    runs = recent[: _INTERVAL_SAMPLES + 1]
    pauses = [later - earlier for later, earlier in pairwise(runs)]
    return median(pauses) / 1000 if pauses else _DEFAULT_INTERVAL_SECONDS
