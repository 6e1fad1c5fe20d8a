# SPDX-License-Identifier: Apache-2.0
"""The snapshots that views are made of: listed by the hour, read when asked for, kept a while."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from kafka_lag import contract
from kafka_lag.errors import UnusableError
from kafka_lag.lag.frame import Frame
from kafka_lag.snapshots.keys import AHEAD_MS, CLUSTER_NAME, hour_prefix, object_key, taken_at_of
from kafka_lag.snapshots.parquet import from_parquet
from kafka_lag.snapshots.store import BrowsableStore

_HOUR_MS = 3_600_000
_CLUSTER = "cluster="
# Rows kept, of 0.3 KB each: ten large runs of 60,000 while the next is read, and `groups` for
# curves. Beside more, a scrape of all partitions would not fit into 512 MB.
_KEPT_ROWS = 700_000
_LISTED = 2_000
# An hour that ended so long ago gets no more runs but of a collector that came back.
_SETTLED_MS = 10 * 60_000
_SETTLED_FRESH_SECONDS = 600.0
# Boto3's client, which threads may share, holds ten connections.
_AT_ONCE = 8


class Snapshots:
    """Of all clusters in one store; `clock` in seconds since the epoch.

    What was listed is believed for `fresh_seconds`, what was read never changes. Runs dated more
    than ten minutes ahead are left out. All methods raise StoreError when the store does not
    answer. For one thread at a time: those that it starts itself only read the store.
    """

    def __init__(
        self, store: BrowsableStore, clock: Callable[[], float], fresh_seconds: float = 10.0
    ) -> None:
        self._store = store
        self._clock = clock
        self._fresh = fresh_seconds
        self._listed: dict[str, tuple[float, list[str]]] = {}
        self._frames: OrderedDict[str, Frame] = OrderedDict()

    def clusters(self) -> list[str]:
        """The names of clusters that have snapshots, in order."""
        prefix = f"{contract.SNAPSHOT_PREFIX}/{contract.GROUPS}/"
        found = self._folders(prefix)
        names = (name.removeprefix(_CLUSTER) for name in found if name.startswith(_CLUSTER))
        return sorted(name for name in names if CLUSTER_NAME.fullmatch(name))

    def newest(self, cluster: str) -> int | None:
        """The scheduled time, ms UTC, of the newest complete run; None: there is none."""
        if not CLUSTER_NAME.fullmatch(cluster):
            return None
        prefix = f"{contract.SNAPSHOT_PREFIX}/{contract.GROUPS}/{_CLUSTER}{cluster}/"
        until = self._until()
        last = hour_prefix(contract.GROUPS, cluster, until)
        for day in self._down(prefix, last):
            for hour in self._down(day, last):
                if times := [time for time in self._hour(hour) if time <= until]:
                    return times[0]
        return None

    def runs(self, cluster: str, since: int, until: int | None = None) -> list[int]:
        """The scheduled times, ms UTC, of complete runs from `since` to `until`, both included, or
        to the newest; the newest first."""
        if not CLUSTER_NAME.fullmatch(cluster):
            return []
        last = self._until() if until is None else until
        times: list[int] = []
        for hour in range(last // _HOUR_MS, since // _HOUR_MS - 1, -1):
            prefix = hour_prefix(contract.GROUPS, cluster, hour * _HOUR_MS)
            times += self._hour(prefix, (hour + 1) * _HOUR_MS)
        return [time for time in times if since <= time <= last]

    def frame(self, cluster: str, dataset: str, taken_at: int) -> Frame:
        """All columns of one dataset of a run. Raises UnusableError where it cannot be read."""
        key = object_key(dataset, cluster, taken_at)
        known = self._known(key)
        return self._kept(key, dataset, self._store.read(key)) if known is None else known

    def frames(self, cluster: str, dataset: str, times: Sequence[int]) -> dict[int, Frame]:
        """Those of several runs, asked for at once, without those that cannot be read."""
        keys = [object_key(dataset, cluster, at) for at in times]
        found = {key: self._known(key) for key in keys}
        missing = [key for key, frame in found.items() if frame is None]
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            for key, data in zip(missing, threads.map(self._bytes, missing), strict=True):
                with suppress(UnusableError):
                    found[key] = None if data is None else self._kept(key, dataset, data)
        pairs = ((at, found[key]) for at, key in zip(times, keys, strict=True))
        return {at: frame for at, frame in pairs if frame is not None}

    def _known(self, key: str) -> Frame | None:
        if key in self._frames:
            self._frames.move_to_end(key)
        return self._frames.get(key)

    def _kept(self, key: str, dataset: str, data: bytes) -> Frame:
        try:
            frame = self._frames[key] = from_parquet(data, dataset)
        except UnusableError as error:
            raise UnusableError(f"{key}: {error}") from error
        while len(self._frames) > 1 and sum(map(len, self._frames.values())) > _KEPT_ROWS:
            self._frames.popitem(last=False)
        return frame

    def _bytes(self, key: str) -> bytes | None:
        """None where there is no such object."""
        try:
            return self._store.read(key)
        except UnusableError:
            return None

    def _until(self) -> int:
        return int(self._clock() * 1000) + AHEAD_MS

    def _down(self, prefix: str, last: str) -> list[str]:
        """The prefixes right below one, the newest first, none that is after `last`."""
        below = (f"{prefix}{name}/" for name in reversed(self._folders(prefix)))
        return [each for each in below if each <= last]

    def _folders(self, prefix: str) -> list[str]:
        return self._recent(prefix, lambda: self._store.folders(prefix), self._fresh)

    def _hour(self, prefix: str, end: int | None = None) -> list[int]:
        """`groups` is written last, so its keys are those of complete sets; the newest first.

        `end` is the hour's, ms, where it may be long over.
        """
        settled = end is not None and end + _SETTLED_MS < self._clock() * 1000
        fresh = max(self._fresh, _SETTLED_FRESH_SECONDS) if settled else self._fresh
        keys = self._recent(f"{prefix}*", lambda: self._store.keys(prefix), fresh)
        return sorted(
            (time for key in keys if (time := taken_at_of(key)) is not None), reverse=True
        )

    def _recent(self, what: str, ask: Callable[[], list[str]], fresh: float) -> list[str]:
        now = self._clock()
        at, found = self._listed.get(what, (float("-inf"), []))
        if not 0 <= now - at < fresh:
            found = ask()
            # of clusters that nobody has, one may be asked for again and again
            if len(self._listed) >= _LISTED:
                self._listed.clear()
            self._listed[what] = (now, found)
        return found
