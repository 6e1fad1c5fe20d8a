# SPDX-License-Identifier: Apache-2.0
"""The input and output of a run: cluster reading, previous runs, lag report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_lag import contract
from kafka_lag.lag.frame import Frame, unknown


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read.

    `scope` is broker, group, topic or partition. `broker` is the id of the broker that caused the
    problem, None if none is known; `address` is its host and port, None if not known.
    """

    scope: str
    name: str
    reason: contract.UnreadReason
    detail: str
    broker: str | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Throttled:
    """A client quota delayed a run by `seconds`, on the slowest broker.

    `user` is the login's user name, None if it has none or a rotation left two.
    """

    seconds: float
    user: str | None = None


@dataclass(frozen=True, slots=True)
class ClusterReading:
    """The answers of the brokers in one run; commits are read before end offsets.

    The frames hold the columns of their datasets that brokers report. A row with an `unread_reason`
    was requested and not answered. `hidden_topics`: known from earlier runs and not listed in this
    one, with the reason. `unlisted_groups`: likewise; the reason is in their rows. `gone_topics`
    and `gone_groups` are confirmed deleted. `notes`: sentences about readings that are odd. Unless
    some broker `lists_groups`, only groups of earlier runs are included.
    """

    topic_partitions: Frame
    group_partitions: Frame
    groups: Frame
    problems: tuple[Problem, ...] = ()
    hidden_topics: Mapping[str, str] = field(default_factory=dict)
    unlisted_groups: frozenset[str] = frozenset()
    gone_topics: frozenset[str] = frozenset()
    gone_groups: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    lists_groups: bool = True


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The three datasets of one run; `taken_at` is the scheduled time, ms UTC."""

    taken_at: int
    topic_partitions: Frame
    group_partitions: Frame
    groups: Frame

    @classmethod
    def empty(cls) -> Snapshot:
        """Returns the snapshot before the first run, without rows."""
        return cls(0, *(Frame.empty(dataset) for dataset in contract.DATASETS))

    def dataset(self, name: str) -> Frame:
        """Returns the frame of one of `contract.DATASETS`."""
        frames = {
            contract.TOPIC_PARTITIONS: self.topic_partitions,
            contract.GROUP_PARTITIONS: self.group_partitions,
            contract.GROUPS: self.groups,
        }
        return frames[name]


def no_figures() -> Frame:
    """Returns the columns of the usual figures without rows: nothing is learnt yet."""
    columns = {name: unknown(kind, 0) for name, kind in contract.USUAL_COLUMNS.items()}
    return Frame(columns, 0)


@dataclass(frozen=True, slots=True)
class PreviousRuns:
    """The data of earlier runs: the newest snapshot, and log ends over time.

    `ends` holds a frame per run, the oldest first, with a row for each partition: topic, topic_id,
    partition_id, asked_at, read_at, unread_reason, end_offset. A partition that a run could not
    read has the values of its last reading. `newest` is one of these runs, if there is any.
    `scheduled`: the scheduled time of each of these runs, ms UTC; empty if not known.
    `usual`: the daily report's usual figures for this run's weekday and hour, a row per group, with
    the columns of `contract.USUAL_COLUMNS`. `usual_beside`: the same for the hours before and after
    to which a clock change of the last weeks may have moved the day.
    """

    newest: Snapshot
    ends: tuple[Frame, ...] = ()
    scheduled: tuple[int, ...] = ()
    usual: Frame = field(default_factory=no_figures)
    usual_beside: tuple[Frame, ...] = ()

    @classmethod
    def empty(cls) -> PreviousRuns:
        """Returns the data before the first run: nothing is known."""
        return cls(Snapshot.empty())


@dataclass(frozen=True, slots=True)
class LagReport:
    """The result of one run: the snapshot, and data that only metrics need.

    `group_topics` has a row per group and topic: consumer_group, topic, committed_offset, lag,
    max_lag, time_lag_seconds. `scaling` has a row per group: consumer_group, scaling_lag. In
    `group_topics` an unread partition counts with its last reading for one window. `lags_clamped`:
    how many rows have a commit beyond the end, whose lag is 0. `look_ups`: how many were sent.
    `warnings`: data of previous runs that was not used, and groups and topics no longer watched or
    read. `notes`: those of the reading. `throttled` is None if no client quota delayed the run.
    """

    snapshot: Snapshot
    group_topics: Frame
    scaling: Frame
    lags_clamped: int
    look_ups: int
    problems: tuple[Problem, ...]
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    throttled: Throttled | None = None
