# SPDX-License-Identifier: Apache-2.0
"""The snapshot store: a bucket or a folder with the same keys, and the objects of runs in it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from pathlib import Path
from threading import Thread
from typing import Protocol, TypeVar

from kafka_lag import contract
from kafka_lag.errors import StoreError, UnusableError, describe_unforeseen
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.keys import day_prefix, first_key, object_key, taken_at_of
from kafka_lag.snapshots.parquet import from_parquet, to_parquet

T = TypeVar("T")

_DAY_MS = 24 * 3_600_000


class SnapshotStore(Protocol):
    """Objects by key, written once and never changed. All methods raise StoreError."""

    def keys(self, prefix: str, after: str = "") -> list[str]:
        """Returns the keys that start with the prefix and come after `after`, in order."""

    def read(self, key: str) -> bytes:
        """Returns the object's bytes. Raises UnusableError if it does not exist."""

    def write_once(self, key: str, data: bytes) -> bool:
        """Writes the object unless it exists; returns True if it was written."""


class BrowsableStore(SnapshotStore, Protocol):
    """A store whose clusters can be listed."""

    def folders(self, prefix: str) -> list[str]:
        """Returns the names directly below a prefix that ends with a slash, in order."""


class FolderStore:
    """A folder on this machine; keys are paths below it.

    Paths of objects are strings: pathlib interns every part of every path it sees.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = os.fspath(folder)

    def keys(self, prefix: str, after: str = "") -> list[str]:
        """Returns the keys with the prefix after `after`; none if the folder is missing."""
        found = _files(self._folder, prefix.rpartition("/")[0])
        try:
            return sorted(
                key
                for key in found
                if key.startswith(prefix) and key > after and key.endswith(".parquet")
            )
        except OSError as error:
            raise self._not_listed(prefix, error) from error

    def folders(self, prefix: str) -> list[str]:
        """Returns the names of folders below the prefix; none if the folder is missing."""
        try:
            with os.scandir(os.path.join(self._folder, prefix)) as entries:
                return sorted(entry.name for entry in entries if entry.is_dir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise self._not_listed(prefix, error) from error

    def read(self, key: str) -> bytes:
        path = os.path.join(self._folder, key)
        try:
            with open(path, "rb") as file:
                return file.read()
        except FileNotFoundError as error:
            raise UnusableError(f"There is no {path}.") from error
        except OSError as error:
            raise StoreError(f"Cannot read {path} ({error.strerror}).") from error

    def write_once(self, key: str, data: bytes) -> bool:
        """Writes the whole file or nothing; returns True if it was written."""
        path = os.path.join(self._folder, key)
        folder = os.path.dirname(path)
        try:
            os.makedirs(folder, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder, suffix=".part") as part:
                part.write(data)
                part.flush()
                try:
                    os.link(part.name, path)
                except FileExistsError:
                    return False
        except OSError as error:
            raise StoreError(
                f"Cannot write {path} ({error.strerror}). Check the folder's rights and space."
            ) from error
        return True

    def _not_listed(self, prefix: str, error: OSError) -> StoreError:
        path = error.filename or os.path.join(self._folder, prefix)
        return StoreError(f"Cannot list {path} ({error.strerror}). Check the folder's rights.")


def _files(folder: str, below: str) -> Iterator[str]:
    """Yields the paths of files below a folder, one by one, because it may hold thousands."""
    try:
        entries = os.scandir(os.path.join(folder, below))
    except (FileNotFoundError, NotADirectoryError):
        return
    with entries:
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            if entry.is_dir():
                yield from _files(folder, path)
            else:
                yield path


def list_runs(
    store: SnapshotStore, dataset: str, cluster: str, since: int, before: int
) -> list[int]:
    """Returns the scheduled times, ms UTC, of runs with this dataset, ascending.

    `since` is included, `before` is not. Raises StoreError.
    """
    first = first_key(dataset, cluster, since)
    days = range(since // _DAY_MS, (before - 1) // _DAY_MS + 1)
    prefixes = [day_prefix(dataset, cluster, day * _DAY_MS) for day in days]
    times = [taken_at_of(key) for prefix in prefixes for key in store.keys(prefix, first)]
    return sorted(time for time in times if time is not None and since <= time < before)


def read_dataset(
    store: SnapshotStore,
    dataset: str,
    cluster: str,
    taken_at: int,
    columns: Iterable[str] | None = None,
) -> Frame:
    """Returns all columns of a run's dataset, or those named.

    Raises UnusableError if it does not exist or cannot be read, else StoreError.
    """
    return from_parquet(store.read(object_key(dataset, cluster, taken_at)), dataset, columns)


def write_snapshot(
    store: SnapshotStore, cluster: str, snapshot: Snapshot, servers: Sequence[str] = ()
) -> int:
    """Writes the missing objects of the set, `groups` last; returns how many were written.

    `servers` are the bootstrap servers that were read.
    """
    return sum(
        store.write_once(
            object_key(dataset, cluster, snapshot.taken_at),
            to_parquet(snapshot.dataset(dataset), dataset, servers),
        )
        for dataset in contract.DATASETS
    )


def call_within(seconds: float, call: Callable[[], T]) -> T:
    """Returns the result of a call of the store.

    Raises StoreError if the call raises anything or takes longer than these seconds.
    """
    return start_call(call)(seconds)


def start_call(call: Callable[[], T]) -> Callable[[float], T]:
    """Begins a call of the store and returns a function that waits some seconds for its result.

    The function raises StoreError if the call takes longer, or raises anything: memory may be used
    up, or a file may be one that no reader expects.

    No timeout of a client limits the look-up of a name, an answer that arrives slowly, or all
    attempts at all objects together. The call therefore has its own thread, which is abandoned if
    it is late. A late thread does no harm, because objects are written once and never changed.
    """
    result: Future[T] = Future()

    def work() -> None:
        try:
            result.set_result(call())
        except StoreError as error:
            result.set_exception(error)
        except BaseException as error:  # noqa: BLE001 - raised by `result` below
            result.set_exception(_unforeseen(error))

    def wait_for(seconds: float) -> T:
        if not wait([result], seconds).done:
            raise StoreError(
                f"The snapshot store did not respond within {seconds:.3g} s. Check the VPC's S3 "
                "endpoint and the resolution of names."
            )
        return result.result()

    try:
        Thread(target=work, daemon=True).start()
    except RuntimeError as error:
        # The process may be out of threads.
        result.set_exception(_unforeseen(error))
    return wait_for


def _unforeseen(error: BaseException) -> StoreError:
    failure = StoreError(f"The snapshot store failed unexpectedly ({describe_unforeseen(error)}).")
    failure.__cause__ = error
    return failure
