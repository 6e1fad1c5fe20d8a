# SPDX-License-Identifier: Apache-2.0
"""A run while it is evaluated: its tables, their joins, and one step of the evaluation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from kafka_lag.lag.columns import Column, Mask, Rows, Seconds
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import ClusterReading, PreviousRuns, Snapshot
from kafka_lag.lag.previous_rows import PreviousRows, match_previous_groups
from kafka_lag.lag.run import Run
from kafka_lag.lag.time_index import LookUp

if TYPE_CHECKING:
    # These modules import Evaluation.
    from kafka_lag.lag.offset_lag import OffsetLag
    from kafka_lag.lag.rollup import Counts
    from kafka_lag.lag.time_lag import Ages
    from kafka_lag.lag.unwatched import Unwatched


class Table(StrEnum):
    """The tables of a run; `rows` are group-partitions."""

    TOPICS = "topics"
    GROUPS = "groups"
    ROWS = "rows"


@dataclass(slots=True)
class Evaluation:
    """The tables of a run, and what its steps know beside them.

    `old_groups`: each group's previous row. By row: `at_topic`, its row of `topics`, -1 if there is
    none; `at_group`, its row of `groups`; `previous`, its previous row.

    `transactional`: topics in which a run saw a transaction open. By row: `position`, the offset of
    the next record, past known markers; `allowed`, records that count as no lag; `is_marker`, only
    markers lag; `unreadable`, a lag of at most this many records holds nothing to read;
    `undue`, records that wait for their delay;
    `estimated`, time lags from the estimates alone; `ages`, the same with bounds widened for log
    cleaning and rests. `kept_up_weight`: the weight of this run in the averages of each group.
    """

    run: Run
    reading: ClusterReading
    previous_runs: PreviousRuns
    look_up: LookUp
    topics: Frame
    groups: Frame
    rows: Frame

    old_groups: Frame = field(init=False)
    at_topic: Rows = field(init=False)
    at_group: Rows = field(init=False)
    previous: PreviousRows = field(init=False)

    transactional: frozenset[str] = field(init=False)
    lags: OffsetLag = field(init=False)
    position: Column = field(init=False)
    allowed: Column = field(init=False)
    is_marker: Mask = field(init=False)
    unreadable: Column = field(init=False)
    undue: Column = field(init=False)
    estimated: Ages = field(init=False)
    ages: Ages = field(init=False)
    counts: Counts = field(init=False)
    kept_up_weight: Seconds = field(init=False)
    unwatched: Unwatched = field(init=False)
    left: Frame = field(init=False)
    look_ups: int = 0
    contradicted: int = 0
    joined: dict[str, tuple[Frame, Frame]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.old_groups = match_previous_groups(self.groups, self.newest)

    @property
    def newest(self) -> Snapshot:
        """Returns the snapshot of the previous run."""
        return self.previous_runs.newest

    # Joined frames take a column when it is first used. They forget it after a step that `frees`,
    # because joined columns take as much memory as a result.

    @property
    def of_topic(self) -> Frame:
        """Returns each row's partition."""
        return self._join("of_topic", self.topics, self.at_topic)

    @property
    def of_group(self) -> Frame:
        """Returns each row's group."""
        return self._join("of_group", self.groups, self.at_group)

    @property
    def of_old_group(self) -> Frame:
        """Returns the previous row of each row's group."""
        return self._join("of_old_group", self.old_groups, self.at_group)

    def _join(self, name: str, frame: Frame, at: Rows) -> Frame:
        of, joined = self.joined.get(name, (None, frame))
        if of is not frame:
            joined = frame.lazy_take(at)
            self.joined[name] = frame, joined
        return joined

    def forget_joined(self) -> None:
        """Drops the joined columns that were used so far."""
        self.joined.clear()
        self.previous = self.previous.untaken()


@dataclass(frozen=True, slots=True)
class Step:
    """One step: `make` returns the table `of` with the columns that it adds.

    After a step that `frees`, joined columns are dropped.
    """

    name: str
    of: Table
    make: Callable[[Evaluation], Frame]
    frees: bool = False

    def take(self, evaluation: Evaluation) -> None:
        """Adds the step's columns."""
        setattr(evaluation, self.of, self.make(evaluation))
        if self.frees:
            evaluation.forget_joined()
