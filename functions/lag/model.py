# SPDX-License-Identifier: Apache-2.0
"""What a run reads, what it knew before, and what it says: three frozen values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from functions import contract
from functions.lag.frame import Frame


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
class LagReport:
    """What one run says: the snapshot, and beside it what only metrics need.

    `group_topics` has a row per group and topic: consumer_group, topic, lag, max_lag; both count
    what a dead broker last answered, for as long as the rules' window.
    """

    snapshot: Snapshot
    group_topics: Frame
    lags_clamped: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class NameFilter:
    """Allow and deny by regular expressions that match anywhere in a name; deny wins."""

    allow: re.Pattern[str] | None = None
    deny: re.Pattern[str] | None = None

    def accepts(self, name: str) -> bool:
        """Whether a name passes; without an allow expression all do."""
        if self.deny is not None and self.deny.search(name):
            return False
        return self.allow is None or self.allow.search(name) is not None


@dataclass(frozen=True, slots=True)
class Rules:
    """What a user decides about the meaning of numbers.

    `window_ms` is W, the time for which what a silent broker last said still counts.
    Groups matching `uncommitted_earliest` lag from the log start where they never committed.
    """

    groups: NameFilter = field(default_factory=NameFilter)
    topics: NameFilter = field(default_factory=NameFilter)
    window_ms: int = 600_000
    uncommitted_earliest: re.Pattern[str] | None = None
