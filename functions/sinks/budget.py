# SPDX-License-Identifier: Apache-2.0
"""Which groups, topics and partitions get metrics when there are more than the bill allows.

Any client may invent group names, so the bill must not follow them. And a metric that comes and
goes costs as much as one that stays, so what was published in the last snapshot stays first.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from functions import contract
from functions.lag.columns import Column, Mask, Rows, Words
from functions.lag.frame import Frame, locate
from functions.lag.model import LagReport, NameFilter, Snapshot

_GROUP = ("consumer_group",)
_GROUP_TOPIC = ("consumer_group", "topic")
_PARTITION = ("consumer_group", "topic", "partition_id")

# The order in which sets may claim the budget.
_NAMED, _PUBLISHED, _NEW = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Levels:
    """What is published: topics by default, partitions only of pairs that both filters take.

    `named` groups are those that an alarm or a scaling policy watches; they come first.
    """

    max_metrics: int = 1000
    topics: bool = True
    max_offset_lag: bool = False
    partition_groups: NameFilter | None = None
    partition_topics: NameFilter = field(default_factory=NameFilter)
    named: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Plan:
    """Masks over the report's groups, group_topics and group_partitions; metrics left out.

    `published` is the snapshot's column: the finest level that each group-partition has.
    """

    groups: Mask
    topics: Mask
    partitions: Mask
    omitted: int
    published: Words


def plan(report: LagReport, before: Snapshot, levels: Levels) -> Plan:
    """What fits: whole groups first, then whole topics of them, then partitions."""
    rows, groups = report.snapshot.group_partitions, report.snapshot.groups
    pairs, old = report.group_topics, before.group_partitions
    old_rows = old.words("published").is_in([contract.PUBLISHED_PARTITION])
    old_topics = old_rows | old.words("published").is_in([contract.PUBLISHED_TOPIC])
    old_groups = old_topics | old.words("published").is_in([contract.PUBLISHED_GROUP])
    with_rows = locate(groups, rows, _GROUP) >= 0
    claims = _Claims(levels.max_metrics - len(HEALTH_METRICS))
    group_rank = _rank(groups, old.where(old_groups), _GROUP, levels)
    pair_rank = _rank(pairs, old.where(old_topics), _GROUP_TOPIC, levels)
    row_rank = _rank(rows, old.where(old_rows), _PARTITION, levels)
    partition_level = _partition_level(rows, levels)
    chosen_groups = np.zeros(len(groups), bool)
    chosen_pairs = np.zeros(len(pairs), bool)
    for rank in (_NAMED, _PUBLISHED, _NEW):
        chosen_groups |= claims.take(with_rows & (group_rank == rank), 1)
        wanted = (pair_rank == rank) & _of(pairs, groups, chosen_groups, _GROUP) & levels.topics
        chosen_pairs |= claims.take(wanted, 2 if levels.max_offset_lag else 1)
    in_group = _of(rows, groups, chosen_groups, _GROUP)
    chosen_rows = np.zeros(len(rows), bool)
    for rank in (_NAMED, _PUBLISHED, _NEW):
        chosen_rows |= claims.take(partition_level & in_group & (row_rank == rank), 1)
    every_pair = len(pairs) * (2 if levels.max_offset_lag else 1) if levels.topics else 0
    wanted_now = int(with_rows.sum()) + every_pair + int(partition_level.sum())
    in_pair = _of(rows, pairs, chosen_pairs, _GROUP_TOPIC)
    return Plan(
        chosen_groups,
        chosen_pairs,
        chosen_rows,
        wanted_now - claims.taken,
        _published(in_group, in_pair, chosen_rows),
    )


class _Claims:
    """A budget that sets take from in turn, each wholly or not at all."""

    def __init__(self, budget: int) -> None:
        self._left = max(budget, 0)
        self.taken = 0

    def take(self, wanted: Mask, each: int) -> Mask:
        fits: Mask = wanted & (np.cumsum(wanted) * each <= self._left)
        cost = int(fits.sum()) * each
        self._left -= cost
        self.taken += cost
        return fits


HEALTH_METRICS = (
    contract.COLLECTOR_SUCCESS,
    contract.COLLECTOR_DURATION,
    contract.GROUPS_READ,
    contract.PARTITIONS_UNKNOWN,
    contract.PARTITIONS_UNCOMMITTED,
    contract.READ_ERRORS,
    contract.LAGS_CLAMPED,
    contract.METRICS_OMITTED,
)


def _rank(sets: Frame, published: Frame, key: tuple[str, ...], levels: Levels) -> Rows:
    rank = np.where(locate(sets, published, key) >= 0, _PUBLISHED, _NEW)
    rank[sets.words("consumer_group").is_in(levels.named)] = _NAMED
    return rank.astype(np.int64)


def _of(rows: Frame, sets: Frame, chosen: Mask, key: tuple[str, ...]) -> Mask:
    at = locate(rows, sets, key)
    mask: Mask = Column.of(chosen).take(at).values & (at >= 0)
    return mask


def _partition_level(rows: Frame, levels: Levels) -> Mask:
    if levels.partition_groups is None:
        return np.zeros(len(rows), bool)
    groups, topics = rows.words("consumer_group"), rows.words("topic")
    group_filter, topic_filter = levels.partition_groups, levels.partition_topics
    mask: Mask = groups.is_in(w for w in groups.words if group_filter.accepts(w)) & topics.is_in(
        w for w in topics.words if topic_filter.accepts(w)
    )
    return mask


def _published(in_group: Mask, in_pair: Mask, chosen: Mask) -> Words:
    words = (
        contract.PUBLISHED_NONE,
        contract.PUBLISHED_GROUP,
        contract.PUBLISHED_TOPIC,
        contract.PUBLISHED_PARTITION,
    )
    level = np.where(chosen, 3, np.where(in_pair, 2, np.where(in_group, 1, 0)))
    return Words(Column.of(level.astype(np.int32)), words)
