# SPDX-License-Identifier: Apache-2.0
"""One run as it is judged: what it published, what runs before it left, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from kafka_lag import contract

Line: TypeAlias = Mapping[str, Any]
Row: TypeAlias = dict[str, Any]
# Group, topic and partition, as far as a line of metrics is about them.
Key: TypeAlias = tuple[str, ...]

_NAMES = (contract.DIMENSION_GROUP, contract.DIMENSION_TOPIC, contract.DIMENSION_PARTITION)
_NO_VALUES = frozenset(("_aws", contract.DIMENSION_CLUSTER, *_NAMES))
# The error of a run whose process was ended in the middle.
KILLED = "killed"
# The collector notices a clock that is wrong by more than this, ms.
_SLIGHT_MS = 1_000
# A run that began at most so long before a record, ms, may have read the log's end that bounds it.
_NEAR_MS = 10_000


def by_key(lines: Iterable[Line]) -> dict[Key, dict[str, Any]]:
    """Returns the metrics of all lines; those of the cluster stand under the empty key."""
    found: dict[Key, dict[str, Any]] = {}
    for line in lines:
        key = tuple(str(line[name]) for name in _NAMES if name in line)
        values = {name: value for name, value in line.items() if name not in _NO_VALUES}
        found.setdefault(key, {}).update(values)
    return found


@dataclass(frozen=True, slots=True)
class Run:
    """One run: when it was, and what it published. Times are ms of the truth's clock.

    `clock_ahead` is how far the collector's clock was ahead of that. `clocks_before` holds the same
    of the runs before that still count. `frames` is empty if the run stored no snapshot. `log`
    holds its warnings. `calm`: the last fault was over two runs before. `leaked`: a password stands
    in something that it published.
    """

    number: int
    taken_at: int
    began: int
    ended: int
    seconds: float
    limit: float
    window_ms: int
    metrics: Sequence[Line] = ()
    frames: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    log: Sequence[str] = ()
    error: str | None = None
    clock_ahead: int = 0
    clocks_before: tuple[int, ...] = ()
    calm: bool = False
    leaked: bool = False

    def rows_of(self, dataset: str) -> Sequence[Row]:
        """Returns the rows of a dataset; none if there is no snapshot."""
        return self.frames.get(dataset, ())


@dataclass(frozen=True, slots=True)
class Earlier:
    """A run before the one that is judged, and the leader of each partition that it saw."""

    taken_at: int
    began: int
    ended: int
    clock_ahead: int = 0
    leaders: Mapping[tuple[str, int], int] = field(default_factory=dict)


class History:
    """The runs before, in the order in which they ended; the oldest are forgotten."""

    def __init__(self, most: int = 900) -> None:
        self._most = most
        self.runs: list[Earlier] = []

    def slight_jumps(self, since: int) -> tuple[int, ...]:
        """Returns how far ahead clocks were, ms, in runs after about `since`, if by so little that
        the collector cannot notice it.
        """
        return tuple(
            each.clock_ahead
            for each in self.runs
            if 0 < abs(each.clock_ahead) <= _SLIGHT_MS and each.ended > since - _NEAR_MS
        )

    def add(self, run: Run) -> None:
        """Adds a run."""
        topics = run.rows_of(contract.TOPIC_PARTITIONS)
        leaders = {(row["topic"], row["partition_id"]): row["leader"] for row in topics}
        self.runs.append(Earlier(run.taken_at, run.began, run.ended, run.clock_ahead, leaders))
        del self.runs[: -self._most]


@dataclass(frozen=True, slots=True)
class Finding:
    """One value that is wrong, with what it takes to see why."""

    run: int
    rule: str
    where: str
    published: str
    truth: str


@dataclass(slots=True)
class Verdict:
    """The outcome of one run.

    `checked` counts the values held to the truth, by rule. `missing` counts what was not published,
    by the named reason.
    """

    checked: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    wrong: list[Finding] = field(default_factory=list)
    late: bool = False


def count_by_rule(findings: Iterable[Finding]) -> Iterator[tuple[int, Finding]]:
    """Yields how often each rule was broken and its first case, the most frequent first."""
    counts = Counter(each.rule for each in findings)
    first = {each.rule: each for each in reversed(list(findings))}
    return ((count, first[rule]) for rule, count in counts.most_common())
