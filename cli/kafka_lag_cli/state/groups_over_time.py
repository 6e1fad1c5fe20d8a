# SPDX-License-Identifier: Apache-2.0
"""Columns of groups over days: a run a slot, from the history where there is one, else snapshots.

A slot is as many minutes as it takes to read no more than some thousand objects.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from kafka_lag import contract
from kafka_lag.errors import UnusableError
from kafka_lag.lag.columns import Column, Mask, Rows
from kafka_lag.lag.frame import DTYPES, Frame
from kafka_lag.sinks.metric_sets import number_status
from kafka_lag.snapshots.parquet import from_arrow
from kafka_lag.snapshots.store import BrowsableStore, list_runs, read_dataset

MINUTE_MS, DAY_MS = 60_000, 86_400_000
# Objects that are read at the same time.
AT_ONCE = 16
# Runs that are read at most: 14 days, every five minutes.
_MOST_SLOTS = 4_032
_SLOT_MINUTES = (1, 2, 5, 10, 15, 30, 60)
_KEYS = ("taken_at", "consumer_group")

# Called with how many objects are to be read; its result each time some have been.
Progress = Callable[[int], Callable[[int], None]]


@dataclass(frozen=True, slots=True)
class Period:
    """Runs from `since` to `until`, both ms, in slots of `slot_ms` that begin with the epoch."""

    since: int
    until: int
    slot_ms: int

    @classmethod
    def of(cls, until: int, days: int, interval_seconds: float) -> Period:
        """So many days up to a run, in the shortest slots of which there are not too many, none
        shorter than the interval.
        """
        least = max(days * DAY_MS / MINUTE_MS / _MOST_SLOTS, interval_seconds / 60)
        minutes = next((each for each in _SLOT_MINUTES if each >= least), int(-(-least // 1)))
        return cls(until - days * DAY_MS, until, minutes * MINUTE_MS)

    @property
    def days(self) -> int:
        """Returns the number of days, rounded up."""
        return -(-(self.until - self.since) // DAY_MS)

    @property
    def slots(self) -> range:
        """Returns the numbers of the slots."""
        return range(self.since // self.slot_ms, self.until // self.slot_ms + 1)


@dataclass(frozen=True, slots=True)
class GroupsOverTime:
    """Numbers of `groups` in the slots of a period; `unreadable` runs are left out.

    `times`: when the run of each slot was scheduled, ms; of a slot without one its beginning.
    """

    period: Period
    groups: tuple[str, ...]
    times: Rows
    has_run: Mask
    unreadable: int
    _values: dict[str, npt.NDArray[np.float64]]

    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        """Returns one column: a row for each slot, a column for each group; NaN is unknown."""
        return self._values[name]

    def from_first_run(self) -> GroupsOverTime:
        """Returns the slots from the first one with a run on; all of them if none has a run."""
        first = int(self.has_run.argmax())
        begin = self.period.slots[first] * self.period.slot_ms
        return replace(
            self,
            period=replace(self.period, since=max(self.period.since, begin)),
            times=self.times[first:],
            has_run=self.has_run[first:],
            _values={name: values[first:] for name, values in self._values.items()},
        )

    def of_group(self, group: str) -> Frame:
        """Returns a group's columns and `taken_at`: a row for each slot, unknown without a run."""
        at = self.groups.index(group)
        columns = {name: _column(name, values[:, at]) for name, values in self._values.items()}
        return Frame.of({"taken_at": Column.of(self.times), **columns})


def _column(name: str, values: npt.NDArray[np.float64]) -> Column:
    known = ~np.isnan(values)
    kind = DTYPES[contract.COLUMNS[contract.GROUPS][name]]
    return Column(np.where(known, values, 0).astype(kind), known)


def read_period(
    store: BrowsableStore,
    cluster: str,
    period: Period,
    groups: Sequence[str] | None,
    columns: Sequence[str],
    progress: Progress,
) -> GroupsOverTime:
    """Columns of numbers, and `status` as one, of these groups; None: of all that there were.

    Raises StoreError.
    """
    slots = _Slots(period, groups, columns)
    history = list(_history_keys(store, cluster, period))
    runs = list_runs(store, contract.GROUPS, cluster, period.since, period.until + 1)
    advance = progress(len(history) + len({at // period.slot_ms for at in runs}))
    for key in history:
        slots.take(_from_history(store.read(key), key, (*_KEYS, *columns)))
        advance(1)
    firsts = {at // period.slot_ms: at for at in reversed(runs)}
    wanted = [at for slot, at in sorted(firsts.items()) if not slots.has(slot)]
    advance(len(firsts) - len(wanted))
    unreadable = 0

    def read(at: int) -> Frame | None:
        try:
            return read_dataset(store, contract.GROUPS, cluster, at, (*_KEYS, *columns))
        except UnusableError:
            return None

    with ThreadPoolExecutor(AT_ONCE) as threads:
        try:
            for frame in threads.map(read, wanted):
                if frame is None:
                    unreadable += 1
                else:
                    slots.take(frame)
                advance(1)
        finally:
            threads.shutdown(cancel_futures=True)
    return slots.gathered(unreadable)


def _history_keys(store: BrowsableStore, cluster: str, period: Period) -> Iterator[str]:
    folder = f"{contract.HISTORY_PREFIX}/{contract.GROUPS}/cluster={cluster}/"
    first, last = (
        f"dt={datetime.fromtimestamp(at / 1000, UTC).date().isoformat()}"
        for at in (period.since, period.until)
    )
    for day in store.folders(folder):
        if first <= day <= last:
            for key in store.keys(f"{folder}{day}/"):
                # Those that are being written begin so for every reader of such folders.
                if not key.rpartition("/")[2].startswith(("_", ".")):
                    yield key


def _from_history(data: bytes, key: str, columns: Sequence[str]) -> Frame:
    """Reads columns of a part of the history. Raises UnusableError."""
    types = contract.COLUMNS[contract.GROUPS]
    try:
        file = pq.ParquetFile(io.BytesIO(data))
        names = [name for name in columns if name in file.schema_arrow.names]
        table = file.read(columns=names)
        found = {name: from_arrow(table[name], types[name]) for name in names}
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UnusableError(f"{key} is not readable as a part of the history: {error}") from error
    missing = {
        name: Column.unknown(table.num_rows, DTYPES[types[name]])
        for name in columns
        if name not in found
    }
    return Frame({**found, **missing}, table.num_rows)


def _numbers(frame: Frame, name: str) -> Column:
    """Returns a column of numbers, or the status as GroupStatus publishes it."""
    return number_status(frame.strings(name)) if name == "status" else frame.numbers(name)


class _Slots:
    """Numbers by slot and group, NaN where nothing is known: of thousands of runs at a time."""

    def __init__(
        self, period: Period, groups: Sequence[str] | None, columns: Sequence[str]
    ) -> None:
        self._period, self._groups = period, tuple(groups or ())
        self._takes_all = groups is None
        count = len(period.slots)
        self._times = np.array(period.slots, np.int64) * period.slot_ms
        self._has_run = np.zeros(count, bool)
        self._values = {name: np.full((count, len(self._groups)), np.nan) for name in columns}

    def has(self, slot: int) -> bool:
        """Returns true if the slot has a run."""
        return bool(self._has_run[slot - self._period.slots.start])

    def take(self, frame: Frame) -> None:
        """Takes the rows of one or more runs, of which another frame may have more rows.

        The first run of a slot counts, in whatever order the frames come.
        """
        taken = frame.numbers("taken_at")
        at = taken.values
        slot = at // self._period.slot_ms - self._period.slots.start
        inside = taken.known & (at >= self._period.since) & (at <= self._period.until)
        first = np.where(self._has_run, self._times, np.iinfo(np.int64).max)
        np.minimum.at(first, slot[inside], at[inside])
        inside[inside] &= at[inside] == first[slot[inside]]
        later = self._has_run & (first < self._times)
        for values in self._values.values():
            values[later] = np.nan
        self._has_run[slot[inside]] = True
        self._times[slot[inside]] = at[inside]
        names = frame.strings("consumer_group")
        if self._takes_all:
            self._add_groups(names.categories)
        group = names.codes_in(self._groups)
        rows = np.flatnonzero(inside & group.known)
        for name, values in self._values.items():
            column = _numbers(frame, name)
            known = np.where(column.known[rows], column.values[rows].astype(np.float64), np.nan)
            values[slot[rows], group.values[rows]] = known

    def _add_groups(self, names: Iterable[str]) -> None:
        known = set(self._groups)
        new = [name for name in names if name not in known]
        self._groups += tuple(new)
        held = next(iter(self._values.values())).shape[1] if self._values else 0
        if len(self._groups) > held:
            # With room to spare, so that groups that come one by one copy little.
            width = max(len(self._groups), held + held // 4)
            room = np.full((len(self._times), width - held), np.nan)
            for name, values in self._values.items():
                self._values[name] = np.concatenate([values, room], axis=1)

    def gathered(self, unreadable: int) -> GroupsOverTime:
        """Returns everything that was taken."""
        values = {name: each[:, : len(self._groups)] for name, each in self._values.items()}
        return GroupsOverTime(
            self._period, self._groups, self._times, self._has_run, unreadable, values
        )
