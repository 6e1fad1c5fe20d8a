# SPDX-License-Identifier: Apache-2.0
"""What brokers said in each run, as plain columns that no commit's classes appear in, and as files.

Datasets and columns have the names of the contract, which is public interface. A probe makes a
commit's own reading of them. Of a recording the logs are kept, (offset, timestamp) of each record,
as a commit may look up other times than the one that was recorded did.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

Array: TypeAlias = npt.NDArray[Any]
TOPICS, COMMITS, GROUPS = DATASETS = ("topic_partitions", "group_partitions", "groups")
# Asks the time index for the newest timestamp [KIP-734].
NEWEST = -3


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers, unknown where `known` is false."""

    values: Array
    known: Array


@dataclass(frozen=True, slots=True)
class Names:
    """Strings or tuples as codes into `names`, each of which is there once; -1 is unknown."""

    codes: Array
    names: tuple[Any, ...]


Table: TypeAlias = Mapping[str, Numbers | Names]


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at a cluster; `problems` as (scope, name, reason, detail)."""

    tables: Mapping[str, Table]
    problems: tuple[tuple[str, str, str, str], ...] = ()
    hidden_topics: Mapping[str, str] = field(default_factory=dict)
    unlisted_groups: frozenset[str] = frozenset()
    gone_topics: frozenset[str] = frozenset()
    gone_groups: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Answers:
    """One a look-up: `found` with its offset and timestamp, or `none`; neither: nobody answered."""

    found: Array
    none: Array
    offsets: Array
    times: Array

    @classmethod
    def nothing(cls, length: int) -> Answers:
        """Nobody answered."""
        no, zeros = np.zeros(length, bool), np.zeros(length, np.int64)
        return cls(no, no.copy(), zeros, zeros.copy())


class TimeIndex(Protocol):
    """The brokers' time index as it was in one run, for whatever times a commit asks."""

    def answer(self, topics: Sequence[str], partitions: Array, times: Array) -> Answers:
        """What the leaders answer to ListOffsets by these timestamps, ms."""


class NoTimeIndex:
    """Brokers that answer no look-up."""

    def answer(self, topics: Sequence[str], partitions: Array, times: Array) -> Answers:  # noqa: ARG002
        """Nothing."""
        return Answers.nothing(len(topics))


@dataclass(frozen=True, slots=True)
class Run:
    """One scheduled run, ms UTC: what was read, or why nothing could be.

    `cold` where the process of the run before is gone, so that all must be loaded.
    """

    taken_at: int
    reading: Reading | str
    time_index: TimeIndex = field(default_factory=NoTimeIndex)
    cold: bool = False


class Runs(Protocol):
    """The input of one cluster."""

    @property
    def document(self) -> Mapping[str, Any]:
        """The collector's configuration document."""

    def __len__(self) -> int:
        """How many runs there are."""

    def runs(self) -> Iterable[Run]:
        """Each run in order; the same ones each time."""


def names_of(values: Iterable[Any]) -> Names:
    """A column of strings from Python values, None being unknown."""
    index: dict[Any, int] = {}
    codes = [-1 if value is None else index.setdefault(value, len(index)) for value in values]
    return Names(np.array(codes, np.int32), tuple(index))


def numbers_of(values: Sequence[Any], dtype: Any = np.int64) -> Numbers:
    """A column of numbers from Python values, None being unknown."""
    known = np.array([value is not None for value in values], bool)
    return Numbers(np.array([0 if value is None else value for value in values], dtype), known)


def to_list(column: Numbers | Names) -> list[Any]:
    """Python values, None for unknown."""
    if isinstance(column, Names):
        return [None if code < 0 else column.names[code] for code in column.codes.tolist()]
    pairs = zip(column.values.tolist(), column.known.tolist(), strict=True)
    return [value if known else None for value, known in pairs]


_RUN, _RUNS, _LOGS = "run", "runs.json", "logs.parquet"
_SETS = ("unlisted_groups", "gone_topics", "gone_groups")

Log = tuple[Array, Array]
Logs = Mapping[tuple[str, str | None, int], Log]


@dataclass(frozen=True, slots=True)
class Recording:
    """Runs of one cluster in a folder."""

    folder: Path

    @property
    def document(self) -> Mapping[str, Any]:
        """The collector's configuration document."""
        found: Mapping[str, Any] = self._described()["document"]
        return found

    def __len__(self) -> int:
        return len(self._described()["runs"])

    def runs(self) -> Iterator[Run]:
        """Each recorded run, with a time index made of the logs."""
        tables = {name: _split(self.folder / f"{name}.parquet") for name in DATASETS}
        logs = _read_logs(self.folder / _LOGS)
        for number, run in enumerate(self._described()["runs"]):
            if "error" in run:
                yield Run(run["taken_at"], run["error"], NoTimeIndex(), run["cold"])
                continue
            reading = Reading(
                {name: tables[name][number] for name in DATASETS},
                tuple((p[0], p[1], p[2], p[3]) for p in run["problems"]),
                run["hidden_topics"],
                *(frozenset(run[name]) for name in _SETS),
            )
            index: TimeIndex = LoggedIndex(reading.tables[TOPICS], logs) if logs else NoTimeIndex()
            yield Run(run["taken_at"], reading, index, run["cold"])

    def _described(self) -> Any:
        return json.loads((self.folder / _RUNS).read_text())


def store(
    folder: Path, document: Mapping[str, Any], runs: Sequence[Run], logs: Logs | None = None
) -> None:
    """Writes a recording; `runs` need no time index, which `logs` are for."""
    folder.mkdir(parents=True, exist_ok=True)
    described = [_described(run) for run in runs]
    text = json.dumps({"document": document, "runs": described}, indent=1, ensure_ascii=True)
    (folder / _RUNS).write_text(text + "\n")
    for name in DATASETS:
        parts = [
            _to_arrow(run.reading.tables[name]).append_column(
                _RUN, pa.array([number] * _length(run.reading.tables[name]), pa.int32())
            )
            for number, run in enumerate(runs)
            if isinstance(run.reading, Reading)
        ]
        table = pa.concat_tables(parts, promote_options="permissive")
        pq.write_table(table, folder / f"{name}.parquet", compression="zstd", compression_level=19)
    _write_logs(folder / _LOGS, logs or {})


def _described(run: Run) -> dict[str, Any]:
    known: dict[str, Any] = {"taken_at": run.taken_at, "cold": run.cold}
    if isinstance(run.reading, str):
        return {**known, "error": run.reading}
    return {
        **known,
        "problems": [list(problem) for problem in run.reading.problems],
        "hidden_topics": dict(run.reading.hidden_topics),
        **{name: sorted(getattr(run.reading, name)) for name in _SETS},
    }


def _length(table: Table) -> int:
    column = next(iter(table.values()))
    return len(column.codes if isinstance(column, Names) else column.values)


def _to_arrow(table: Table) -> Any:
    arrays = {}
    for name, column in table.items():
        if isinstance(column, Numbers):
            arrays[name] = pa.array(column.values, mask=~column.known)
        else:
            lists = any(isinstance(each, tuple) for each in column.names)
            kind = pa.list_(pa.int32()) if lists else pa.string()
            values = to_list(column)
            arrays[name] = pa.array(values, kind if lists or _known(values) else pa.null())
    return pa.table(arrays)


def _known(values: list[Any]) -> bool:
    return any(value is not None for value in values)


def _split(path: Path) -> dict[int, Table]:
    """The table of each run, by its number."""
    whole = pq.read_table(path)
    run = whole[_RUN].to_numpy()
    edges = np.searchsorted(run, np.arange(int(run.max(initial=-1)) + 2))
    columns = {name: _column(whole[name]) for name in whole.column_names if name != _RUN}
    found: dict[int, Table] = {}
    for number, (first, last) in enumerate(pairwise(edges)):
        found[number] = {name: _part(c, int(first), int(last)) for name, c in columns.items()}
    return found


def _column(chunks: Any) -> Numbers | Names:
    array = chunks.combine_chunks()
    kind = array.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        known = np.asarray(array.is_valid())
        return Numbers(array.fill_null(0).to_numpy(zero_copy_only=False), known)
    rows = array.to_pylist()
    return names_of(tuple(row) if isinstance(row, list) else row for row in rows)


def _part(column: Numbers | Names, first: int, last: int) -> Numbers | Names:
    if isinstance(column, Numbers):
        return Numbers(column.values[first:last], column.known[first:last])
    # A dictionary of its own, as a reading has.
    return names_of(to_list(Names(column.codes[first:last], column.names)))


def _write_logs(path: Path, logs: Logs) -> None:
    keys = sorted(logs, key=str)
    offsets = [logs[key][0] for key in keys] or [np.zeros(0, np.int64)]
    times = [logs[key][1] for key in keys] or [np.zeros(0, np.int64)]
    count = [len(logs[key][0]) for key in keys]
    table = pa.table(
        {
            "topic": pa.array(_repeated([key[0] for key in keys], count), pa.string()),
            "topic_id": pa.array(_repeated([key[1] for key in keys], count), pa.string()),
            "partition_id": pa.array(_repeated([key[2] for key in keys], count), pa.int32()),
            "offset": pa.array(np.concatenate(offsets)),
            "timestamp": pa.array(np.concatenate(times)),
        }
    )
    names = ["topic", "topic_id", "partition_id"]
    packed = {"offset": "DELTA_BINARY_PACKED", "timestamp": "DELTA_BINARY_PACKED"}
    pq.write_table(
        table,
        path,
        use_dictionary=names,
        compression="zstd",
        compression_level=19,
        column_encoding=packed,
    )


def _repeated(values: list[Any], count: list[int]) -> list[Any]:
    return [value for value, times in zip(values, count, strict=True) for _ in range(times)]


def _read_logs(path: Path) -> dict[tuple[str, str | None, int], Log]:
    table = pq.read_table(path)
    keys = list(
        zip(*(table[n].to_pylist() for n in ("topic", "topic_id", "partition_id")), strict=True)
    )
    offsets, times = table["offset"].to_numpy(), table["timestamp"].to_numpy()
    found: dict[tuple[str, str | None, int], Log] = {}
    first = 0
    for place in range(1, len(keys) + 1):
        if place == len(keys) or keys[place] != keys[first]:
            found[keys[first]] = offsets[first:place], times[first:place]
            first = place
    return found


class LoggedIndex:
    """Answers from logs, of which a run sees the records between start and end offset.

    A partition that was not read in the run does not answer.
    """

    def __init__(self, topics: Table, logs: Logs) -> None:
        names = ("topic", "topic_id", "partition_id", "start_offset", "end_offset", "unread_reason")
        rows = zip(*(to_list(topics[name]) for name in names), strict=True)
        self._seen: dict[tuple[str, int], tuple[Any, ...]] = {
            (row[0], row[2]): row for row in rows if row[5] is None and None not in row[3:5]
        }
        self._logs = logs

    def answer(self, topics: Sequence[str], partitions: Array, times: Array) -> Answers:
        """One partition after another, by a look at its timestamps."""
        answers = Answers.nothing(len(topics))
        for at, (topic, partition, time) in enumerate(zip(topics, partitions, times, strict=True)):
            row = self._seen.get((topic, int(partition)))
            if row is None:
                continue
            offsets, stamps = self._logs.get((topic, row[1], int(partition)), (_NONE, _NONE))
            first, last = np.searchsorted(offsets, [row[3], row[4]])
            stamps = stamps[first:last]
            later = stamps >= (stamps.max(initial=0) if time == NEWEST else time)
            if not later.any():
                answers.none[at] = True
                continue
            answers.found[at] = True
            found = int(np.argmax(later))
            answers.offsets[at], answers.times[at] = offsets[first + found], stamps[found]
        return answers


_NONE = np.zeros(0, np.int64)
