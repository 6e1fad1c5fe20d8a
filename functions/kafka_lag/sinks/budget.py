# SPDX-License-Identifier: Apache-2.0
"""Which groups, topics and partitions get metrics when there are more than the bill allows.

Any client may invent group names, so the bill must not follow them. And a metric that comes and
goes costs as much as one that stays, so what was published in the last snapshot stays first.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.model import LagReport, Snapshot
from kafka_lag.lag.rules import NameFilter

_GROUP = ("consumer_group",)
_GROUP_TOPIC = ("consumer_group", "topic")
_PARTITION = ("consumer_group", "topic", "partition_id")

# The order in which sets may claim the budget.
_NAMED, _PUBLISHED, _NEW = 0, 1, 2

# Metrics in a set of each level before options.
_GROUP_COST, _SCALING_COST = len(contract.GROUP_METRICS), len(contract.SCALING_METRICS)
_LAG_COST = len(contract.LAG_METRICS)

# The words of `published`; each holds those before it.
_FINENESS = (
    contract.PUBLISHED_NONE,
    contract.PUBLISHED_GROUP,
    contract.PUBLISHED_TOPIC,
    contract.PUBLISHED_PARTITION,
)


@dataclass(frozen=True, slots=True)
class Levels:
    """What is published: topics by default, partitions only of pairs that both filters take.

    `named` groups are those that an alarm or a scaling policy watches; they come first.
    `scaling` takes the groups that a policy scales by their lag; None takes none.
    """

    max_metrics: int = 1000
    topics: bool = True
    max_offset_lag: bool = False
    partition_groups: NameFilter | None = None
    partition_topics: NameFilter = field(default_factory=NameFilter)
    named: frozenset[str] = frozenset()
    scaling: NameFilter | None = None
    drain_time: bool = False
    members: bool = False
    rebalancing: bool = False

    def scales(self, groups: Strings) -> Mask:
        """Rows of groups that get the metrics for scaling."""
        return _accepted(groups, self.scaling)


@dataclass(frozen=True, slots=True)
class Plan:
    """Masks over the report's groups, group_topics and group_partitions; metrics left out.

    `published` is the snapshot's column: the finest level that each group-partition has.
    """

    groups: Mask
    topics: Mask
    partitions: Mask
    omitted: int
    published: Strings


def plan(report: LagReport, before: Snapshot, levels: Levels) -> Plan:
    """What fits: whole groups first, then whole topics of them, then partitions."""
    rows, pairs = report.snapshot.group_partitions, report.group_topics
    groups, old = report.snapshot.groups, before.group_partitions
    group_ranks = _ranks(groups, old, _GROUP, levels)
    pair_ranks = _ranks(pairs, old, _GROUP_TOPIC, levels)
    row_ranks = _ranks(rows, old, _PARTITION, levels)
    costs = _costs(report, levels)
    claims = _Claims(levels.max_metrics - len(contract.HEALTH_UNITS))
    in_groups, in_pairs, in_rows = (np.zeros(len(sets), bool) for sets in (groups, pairs, rows))
    for rank in (_NAMED, _PUBLISHED, _NEW):
        in_groups |= claims.take(group_ranks == rank, costs.groups)
        wanted = (pair_ranks == rank) & _of(pairs, groups, in_groups, _GROUP)
        in_pairs |= claims.take(wanted, costs.pairs)
    of_group = _of(rows, groups, in_groups, _GROUP)
    for rank in (_NAMED, _PUBLISHED, _NEW):
        in_rows |= claims.take((row_ranks == rank) & of_group, costs.rows)
    of_pair = _of(rows, pairs, in_pairs, _GROUP_TOPIC)
    finest = np.where(in_rows, 3, np.where(of_pair, 2, np.where(of_group, 1, 0)))
    published = Strings(Column.of(finest.astype(np.int32)), _FINENESS)
    return Plan(in_groups, in_pairs, in_rows, costs.total() - claims.taken, published)


def noted(snapshot: Snapshot, chosen: Plan) -> Snapshot:
    """The planned snapshot with what was chosen of it, which the next plan begins with."""
    rows = snapshot.group_partitions.with_columns(published=chosen.published)
    return replace(snapshot, group_partitions=rows)


@dataclass(frozen=True, slots=True)
class _Costs:
    """Metrics in each set of the three levels; 0 where none is wanted."""

    groups: Rows
    pairs: Rows
    rows: Rows

    def total(self) -> int:
        return sum(int(costs.sum()) for costs in (self.groups, self.pairs, self.rows))


def _costs(report: LagReport, levels: Levels) -> _Costs:
    """What each set holds when all of it is known: a set is planned for, not its values of now."""
    rows, pairs = report.snapshot.group_partitions, report.group_topics
    groups = report.snapshot.groups
    more = levels.drain_time + levels.members + levels.rebalancing
    of_group = _GROUP_COST + more + _SCALING_COST * levels.scales(groups.strings("consumer_group"))
    of_pair = (_LAG_COST + levels.max_offset_lag) * levels.topics
    wanted = _accepted(rows.strings("consumer_group"), levels.partition_groups)
    wanted &= _accepted(rows.strings("topic"), levels.partition_topics)
    return _Costs(
        np.where(locate(groups, rows, _GROUP) >= 0, of_group, 0).astype(np.int64),
        np.full(len(pairs), of_pair, np.int64),
        wanted * np.int64(_LAG_COST),
    )


class _Claims:
    """A budget that sets take from in turn, each wholly or not at all."""

    def __init__(self, budget: int) -> None:
        self._left = max(budget, 0)
        self.taken = 0

    def take(self, wanted: Mask, costs: Rows) -> Mask:
        """Those of the wanted that fit; behind the first that does not, none does."""
        asked = np.where(wanted, costs, 0)
        fits: Mask = (asked > 0) & (np.cumsum(asked) <= self._left)
        cost = int(asked[fits].sum())
        self._left -= cost
        self.taken += cost
        return fits


def _ranks(sets: Frame, old: Frame, key: tuple[str, ...], levels: Levels) -> Rows:
    """Who may claim first; a key of one, two or three names is a level as fine."""
    fineness = old.strings("published").codes_in(_FINENESS)
    published = old.where(fineness.known & (fineness.values >= len(key)))
    ranks = np.where(locate(sets, published, key) >= 0, _PUBLISHED, _NEW)
    ranks[sets.strings("consumer_group").is_in(levels.named)] = _NAMED
    return ranks.astype(np.int64)


def _of(rows: Frame, sets: Frame, chosen: Mask, key: tuple[str, ...]) -> Mask:
    at = locate(rows, sets, key)
    mask: Mask = Column.of(chosen).take(at).values & (at >= 0)
    return mask


def _accepted(names: Strings, wanted: NameFilter | None) -> Mask:
    return names.is_in(
        word for word in names.categories if wanted is not None and wanted.accepts(word)
    )
