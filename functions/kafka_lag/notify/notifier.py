# SPDX-License-Identifier: Apache-2.0
"""Moves each channel from the last run it reported to the newest: changes in order, sent once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Protocol

from kafka_lag import contract
from kafka_lag.contract.mute_windows import MuteWindow
from kafka_lag.errors import ReporterError, UnusableError, describe_unforeseen
from kafka_lag.lag.frame import Frame
from kafka_lag.notify.changes import GroupChange
from kafka_lag.notify.conditional_objects import ConditionalObjects
from kafka_lag.notify.cursors import Cursor, Cursors
from kafka_lag.notify.delivery import Channel, HasTime, NotificationError, OutOfTimeError
from kafka_lag.notify.messages import StatusMessage, build_messages
from kafka_lag.notify.msk_state import ClusterStates, add_states
from kafka_lag.notify.mutes import Mutes, read_windows
from kafka_lag.snapshots.keys import AHEAD_MS, hour_prefix, object_key, taken_at_of
from kafka_lag.snapshots.parquet import from_parquet
from kafka_lag.snapshots.previous import LOOKBACK_MS
from kafka_lag.snapshots.store import SnapshotStore

_HOUR_MS = 3_600_000
# The collector itself loads no older runs.
_CACHED_RUNS = 8


class NotifierLogger(Protocol):
    """A log for the people who run the notifier; powertools' Logger is one."""

    def info(self, message: str, /) -> None:
        """Logs what was done."""

    def warning(self, message: str, /) -> None:
        """Logs a problem that did not stop the run."""


class CompleteRuns(Protocol):
    """The complete runs of clusters.

    Times are scheduled ones, ms UTC. All methods raise StoreError.
    """

    def between(self, cluster: str, after: int, until: int) -> Iterator[int]:
        """Yields complete runs after `after` up to and including `until`, the oldest first."""

    def up_to(self, cluster: str, taken_at: int) -> Iterator[int]:
        """Yields complete runs up to and including `taken_at`, the newest first."""

    def groups(self, cluster: str, taken_at: int) -> Frame:
        """Returns the `groups` dataset of a run. Raises UnusableError if it cannot be read."""


class StoredRuns:
    """The runs in a store of snapshots; a run is listed and read when it is requested.

    The newest runs are cached, because each channel reads them.
    """

    def __init__(self, store: SnapshotStore) -> None:
        self._store = store
        self._cached = lru_cache(maxsize=_CACHED_RUNS)(self._read)

    def between(self, cluster: str, after: int, until: int) -> Iterator[int]:
        """Yields complete runs, at most as far back as the collector loads them."""
        first = max(after + 1, until - LOOKBACK_MS)
        for hour in range(first // _HOUR_MS, until // _HOUR_MS + 1):
            yield from (time for time in self._list(cluster, hour) if first <= time <= until)

    def up_to(self, cluster: str, taken_at: int) -> Iterator[int]:
        """Yields complete runs, at most as far back as the collector loads them."""
        last = taken_at // _HOUR_MS
        for hour in range(last, last - LOOKBACK_MS // _HOUR_MS, -1):
            yield from (time for time in self._list(cluster, hour)[::-1] if time <= taken_at)

    def _list(self, cluster: str, hour: int) -> list[int]:
        """Returns the times of the runs in an hour since the epoch, the oldest first."""
        keys = self._store.keys(hour_prefix(contract.GROUPS, cluster, hour * _HOUR_MS))
        return [time for time in map(taken_at_of, keys) if time]

    def groups(self, cluster: str, taken_at: int) -> Frame:
        """Returns all columns of the run's groups."""
        return self._cached(cluster, taken_at)

    def _read(self, cluster: str, taken_at: int) -> Frame:
        key = object_key(contract.GROUPS, cluster, taken_at)
        return from_parquet(self._store.read(key), contract.GROUPS)


@dataclass(frozen=True, slots=True)
class NotifyResult:
    """The number of runs and of messages that were reported now, summed over channels."""

    runs: int = 0
    messages: int = 0

    def __add__(self, other: NotifyResult) -> NotifyResult:
        return NotifyResult(self.runs + other.runs, self.messages + other.messages)


class Notifier:
    """Sends the messages of all clusters of one store through all channels.

    Each channel has its own cursors: while one is down, the others go on. `clock` is in seconds
    since the epoch; `owner` is a word that no other process has.
    """

    def __init__(
        self,
        channels: Sequence[Channel],
        runs: CompleteRuns,
        objects: ConditionalObjects,
        logger: NotifierLogger,
        *,
        clock: Callable[[], float],
        owner: str,
        states: ClusterStates | None = None,
    ) -> None:
        self._channels = [
            _ChannelNotifier(
                channel, runs, Cursors(objects, channel.name, clock, owner), objects, logger, states
            )
            for channel in channels
        ]
        self._logger = logger
        self._clock = clock

    def notify(self, newest: Mapping[str, int], seconds_left: float | None = None) -> NotifyResult:
        """Sends the messages up to each cluster's newest run, ms UTC, while there is time.

        Each channel of each cluster gets a share of the time left, so that a slow one takes none
        from the next. Raises NotificationError with every cause, after all channels had their turn.
        """
        until = None if seconds_left is None else self._clock() + seconds_left
        turns = list(product(self._skip_future_runs(newest), self._channels))
        result = NotifyResult()
        causes: dict[str, None] = {}
        unforeseen: Exception | None = None
        for done, ((cluster, taken_at), channel) in enumerate(turns):
            has_time = self._share_time(until, len(turns) - done)
            try:
                result += channel.notify(cluster, taken_at, has_time)
            except ReporterError as error:
                causes[f"{cluster}: {error}"] = None
            except Exception as error:  # noqa: BLE001  # a fault here is no fault of the next
                causes[f"{cluster}: {describe_unforeseen(error)}"] = None
                unforeseen = error
        if causes:
            raise NotificationError(" ".join(causes)) from unforeseen
        return result

    def _share_time(self, until: float | None, turns: int) -> HasTime:
        """Returns a function that is True while the next of the remaining `turns` has time left."""
        if until is None:
            return lambda: True
        now = self._clock()
        end = now + (until - now) / turns
        return lambda: self._clock() < end

    def _skip_future_runs(self, newest: Mapping[str, int]) -> Iterator[tuple[str, int]]:
        """Yields clusters and runs, without runs dated too far ahead of the clock."""
        for cluster, taken_at in newest.items():
            if taken_at <= self._clock() * 1000 + AHEAD_MS:
                yield cluster, taken_at
                continue
            self._logger.warning(f"the run of {taken_at} ms on {cluster} is not of our time yet")


class _ChannelNotifier:
    """Sends the messages of all clusters through one channel."""

    def __init__(
        self,
        channel: Channel,
        runs: CompleteRuns,
        cursors: Cursors,
        objects: ConditionalObjects,
        logger: NotifierLogger,
        states: ClusterStates | None,
    ) -> None:
        self._states = states
        self._channel = channel
        self._runs = runs
        self._cursors = cursors
        self._objects = objects
        self._logger = logger

    def notify(self, cluster: str, taken_at: int, has_time: HasTime) -> NotifyResult:
        """Sends the messages of all complete runs after the cursor, up to the run of `taken_at`.

        Each run is compared with the readable one before it. Runs that do not fit into the time
        wait for the next event. Raises NotificationError and StoreError: then the cursor has not
        moved.
        """
        cursor = self._cursors.read(cluster, taken_at)
        result, before = NotifyResult(), None
        mutes = Mutes(self._read_windows(cluster), lambda at: self._find_reported(cluster, at - 1))
        for at in self._runs.between(cluster, cursor.taken_at, taken_at):
            if not has_time():
                break
            try:
                groups = self._runs.groups(cluster, at)
            except UnusableError as error:
                self._logger.warning(f"a run is left out: {error}")
                continue
            if before is None and not cursor.is_new:
                before = self._find_reported(cluster, cursor.taken_at)
            changes = mutes.find_changes(cluster, at, groups, before)
            if self._states is not None:
                changes = add_states(changes, self._states)
            messages = build_messages(changes, len(groups) + _count_absent(changes))
            if messages:
                cursor = self._send(cursor, messages, has_time)
                self._logger.info(f"{cluster}: {len(messages)} sent by {self._channel.name}")
            cursor, before = self._cursors.move(cursor, at), groups
            result += NotifyResult(1, len(messages))
        return result

    def _read_windows(self, cluster: str) -> tuple[MuteWindow, ...]:
        """Returns the windows of `kafka-lag mute`; none, with a warning, if they are malformed."""
        try:
            return read_windows(self._objects, cluster)
        except UnusableError as error:
            self._logger.warning(str(error))
            return ()

    def _find_reported(self, cluster: str, taken_at: int) -> Frame | None:
        """Returns the groups of the newest readable run up to `taken_at`; None if there is none."""
        for at in self._runs.up_to(cluster, taken_at):
            try:
                return self._runs.groups(cluster, at)
            except UnusableError:
                continue
        return None

    def _send(self, cursor: Cursor, messages: Sequence[StatusMessage], has_time: HasTime) -> Cursor:
        cursor = self._cursors.lease(cursor)
        outcome = self._channel.send(messages, cursor.sent, has_time)
        if outcome.is_all:
            return cursor
        self._cursors.note(cursor, outcome.sent)
        if outcome.reason is None:
            raise OutOfTimeError
        raise NotificationError(
            f"Not all messages are out: {outcome.reason}. Nothing is lost: they are tried again."
        )


def _count_absent(changes: Sequence[GroupChange]) -> int:
    """Returns how many changed groups are only in the earlier run."""
    gone = (change for change in changes if change.kind == contract.GONE)
    return sum(not change.row["status_reason"] for change in gone)
