# SPDX-License-Identifier: Apache-2.0
"""What brokers said in one run, as plain columns that no commit's classes appear in.

Datasets and columns have the names of the contract, which is public interface. A probe makes a
commit's own reading of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

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
