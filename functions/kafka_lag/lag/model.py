# SPDX-License-Identifier: Apache-2.0
"""What a run reads, what it knew before, and what it says: three frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_lag import contract
from kafka_lag.lag.frame import Frame


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read, named so that a person can act on it.

    `scope` is broker, group, topic or partition; `reason` one of the contract's unread reasons.
    """

    scope: str
    name: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class ClusterReading:
    """One look at the cluster: commits read before end offsets, unknown where not answered.

    The frames hold the columns of their datasets that a broker can tell. A row with an
    `unread_reason` was asked for and not answered. `hidden_topics` were known before and are
    not listed now, with the reason, `unlisted_groups` likewise with theirs in their rows;
    `gone_topics` and `gone_groups` are proven deleted.
    """

    topic_partitions: Frame
    group_partitions: Frame
    groups: Frame
    problems: tuple[Problem, ...] = ()
    hidden_topics: Mapping[str, str] = field(default_factory=dict)
    unlisted_groups: frozenset[str] = frozenset()
    gone_topics: frozenset[str] = frozenset()
    gone_groups: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The three datasets of one run; `taken_at` is the scheduled time, ms UTC."""

    taken_at: int
    topic_partitions: Frame
    group_partitions: Frame
    groups: Frame

    @classmethod
    def empty(cls) -> Snapshot:
        """What is known before the first run: nothing."""
        return cls(0, *(Frame.empty(dataset) for dataset in contract.DATASETS))

    def dataset(self, name: str) -> Frame:
        """The frame of one of `contract.DATASETS`."""
        frames = {
            contract.TOPIC_PARTITIONS: self.topic_partitions,
            contract.GROUP_PARTITIONS: self.group_partitions,
            contract.GROUPS: self.groups,
        }
        return frames[name]


@dataclass(frozen=True, slots=True)
class PreviousRuns:
    """What earlier runs left behind: the newest snapshot, and log ends over time.

    `ends` holds a frame an earlier run, the oldest first: topic, topic_id, partition_id, asked_at,
    read_at, unread_reason, end_offset of every partition it knew, those of its last reading where
    the run could not read it. `newest` is one of these runs, if any.
    `scheduled`: for which time, ms UTC, each of these runs was; empty where that is not known.
    """

    newest: Snapshot
    ends: tuple[Frame, ...] = ()
    scheduled: tuple[int, ...] = ()

    @classmethod
    def empty(cls) -> PreviousRuns:
        """Before the first run."""
        return cls(Snapshot.empty())


@dataclass(frozen=True, slots=True)
class LagReport:
    """What one run says: the snapshot, and beside it what only metrics need.

    `group_topics` has a row per group and topic: consumer_group, topic, committed_offset, lag,
    max_lag, time_lag_seconds; `scaling` a row per group: scaling_lag. A partition that was not
    read counts as it last was for as long as the rules' window. `look_ups` were asked of the time
    index.
    `warnings` say what of the previous runs was not used, and why.
    """

    snapshot: Snapshot
    group_topics: Frame
    scaling: Frame
    lags_clamped: int
    look_ups: int
    problems: tuple[Problem, ...]
    warnings: tuple[str, ...] = ()
