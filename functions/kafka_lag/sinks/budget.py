# SPDX-License-Identifier: Apache-2.0
"""The budget: which groups, topics and partitions get metrics if there are too many.

Any client may invent group names, so the bill must not follow them. A metric that comes and goes
costs as much as one that stays, so the sets published in the previous run come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.lag.model import LagReport, Snapshot
from kafka_lag.sinks.config import Levels

_GROUP_TOPIC = ("consumer_group", "topic")

# The order in which sets may claim the budget.
_NAMED, _PUBLISHED, _NEW = 0, 1, 2

# Metrics of a group that is scaled, and of a topic or partition before options.
_SCALING_COST, _LAG_COST = len(contract.SCALING_METRICS), len(contract.LAG_METRICS)

# The values of `published`; each level includes those before it.
_PUBLISHED_LEVELS = (
    contract.PUBLISHED_NONE,
    contract.PUBLISHED_GROUP,
    contract.PUBLISHED_TOPIC,
    contract.PUBLISHED_PARTITION,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """Masks over the report's groups, group_topics and group_partitions.

    `metrics` is how many fit, the reporter's own included; `omitted` is how many do not.
    `published` is the snapshot's column: the finest published level of each group-partition.
    """

    groups: Mask
    topics: Mask
    partitions: Mask
    metrics: int
    omitted: int
    published: Strings


def plan(report: LagReport, previous: Snapshot, levels: Levels) -> Plan:
    """Returns the metric sets that fit: groups first, then their topics, then partitions."""
    rows, pairs = report.snapshot.group_partitions, report.group_topics
    groups, old = report.snapshot.groups, previous.group_partitions
    group_ranks = _ranks(groups, old, contract.GROUP_KEY, levels)
    pair_ranks = _ranks(pairs, old, _GROUP_TOPIC, levels)
    row_ranks = _ranks(rows, old, contract.ROW_KEY, levels)
    costs = _count_costs(report, levels)
    own = len(contract.HEALTH_UNITS)
    claims = _Claims(levels.max_metrics - own)
    in_groups, in_pairs, in_rows = (np.zeros(len(sets), bool) for sets in (groups, pairs, rows))
    for rank in (_NAMED, _PUBLISHED, _NEW):
        in_groups |= claims.take(group_ranks == rank, costs.groups)
        wanted = (pair_ranks == rank) & _is_in_chosen(pairs, groups, in_groups, contract.GROUP_KEY)
        in_pairs |= claims.take(wanted, costs.pairs)
    of_group = _is_in_chosen(rows, groups, in_groups, contract.GROUP_KEY)
    for rank in (_NAMED, _PUBLISHED, _NEW):
        in_rows |= claims.take((row_ranks == rank) & of_group, costs.rows)
    of_pair = _is_in_chosen(rows, pairs, in_pairs, _GROUP_TOPIC)
    finest = np.where(in_rows, 3, np.where(of_pair, 2, np.where(of_group, 1, 0)))
    published = Strings(Column.of(finest.astype(np.int32)), _PUBLISHED_LEVELS)
    return Plan(
        in_groups,
        in_pairs,
        in_rows,
        metrics=own + claims.taken,
        omitted=costs.total() - claims.taken,
        published=published,
    )


def mark_published(snapshot: Snapshot, chosen: Plan) -> Snapshot:
    """Returns the snapshot with the published sets of this plan; the next plan begins with them."""
    rows = snapshot.group_partitions.with_columns(published=chosen.published)
    return replace(snapshot, group_partitions=rows)


def plan_each(
    report: LagReport, previous: Snapshot, levels: Iterable[Levels]
) -> dict[Levels, Plan]:
    """Returns a plan for each of the levels.

    A plan for a sink's own levels also begins with the sets that were published for the cluster's
    levels, so that a cold function chooses the same as a warm one.
    """
    return {each: plan(report, previous, each) for each in dict.fromkeys(levels)}


def omission_warnings(
    places: Iterable[tuple[Levels, str]], plans: Mapping[Levels, Plan]
) -> Iterator[str]:
    """Yields a line for the log for each place whose budget leaves something out.

    A place is a pair of levels and their key in the configuration.
    """
    for levels, key in dict.fromkeys(places):
        if plans[levels].omitted:
            yield (
                f"{plans[levels].omitted} metrics over the budget of {levels.max_metrics} were "
                f"left out: raise {key}.max_metrics or narrow groups and topics"
            )


def match_names(names: Strings, wanted: NameFilter | None) -> Mask:
    """Returns a mask of rows whose name a filter accepts; None accepts none."""
    return names.is_in(
        name for name in names.categories if wanted is not None and wanted.accepts(name)
    )


@dataclass(frozen=True, slots=True)
class _Costs:
    """The number of metrics in each set of the three levels; 0 if none is wanted."""

    groups: Rows
    pairs: Rows
    rows: Rows

    def total(self) -> int:
        return sum(int(costs.sum()) for costs in (self.groups, self.pairs, self.rows))


def _count_costs(report: LagReport, levels: Levels) -> _Costs:
    """Returns how many metrics each set has if all of its values are known."""
    rows, pairs = report.snapshot.group_partitions, report.group_topics
    groups = report.snapshot.groups
    scaled = match_names(groups.strings("consumer_group"), levels.scaling)
    with_sla = groups.numbers("sla_seconds").known
    released = groups.strings("consumer_group").is_in(levels.releases)
    of_group = len(levels.group_metrics) + with_sla + released + _SCALING_COST * scaled
    of_group = of_group * _is_watched(groups, levels)
    of_pair = (_LAG_COST + levels.max_offset_lag) * levels.topics * _is_watched(pairs, levels)
    wanted = _is_watched(rows, levels) & match_names(
        rows.strings("consumer_group"), levels.partition_groups
    )
    wanted &= match_names(rows.strings("topic"), levels.partition_topics)
    return _Costs(
        np.where(locate(groups, rows, contract.GROUP_KEY) >= 0, of_group, 0).astype(np.int64),
        of_pair.astype(np.int64),
        wanted * np.int64(_LAG_COST),
    )


def _is_watched(sets: Frame, levels: Levels) -> Mask:
    """Returns a mask of sets whose group the levels do not leave out by `named_only`."""
    if not levels.named_only:
        return np.ones(len(sets), bool)
    names = sets.strings("consumer_group")
    mask: Mask = names.is_in(levels.named | levels.releases) | match_names(names, levels.scaling)
    return mask


class _Claims:
    """A budget that sets take from in turn, each wholly or not at all."""

    def __init__(self, budget: int) -> None:
        self._left = max(budget, 0)
        self.taken = 0

    def take(self, wanted: Mask, costs: Rows) -> Mask:
        """Returns a mask of the wanted sets that fit.

        After the first set that does not fit, no set is taken.
        """
        cost_each = np.where(wanted, costs, 0)
        fits: Mask = (cost_each > 0) & (np.cumsum(cost_each) <= self._left)
        cost = int(cost_each[fits].sum())
        self._left -= cost
        self.taken += cost
        return fits


def _ranks(sets: Frame, old: Frame, key: tuple[str, ...], levels: Levels) -> Rows:
    """Returns the rank of each set, lowest first; the level is the number of names in `key`."""
    level = old.strings("published").codes_in(_PUBLISHED_LEVELS)
    published = old.lazy_where(level.known & (level.values >= len(key)))
    ranks = np.where(locate(sets, published, key) >= 0, _PUBLISHED, _NEW)
    ranks[sets.strings("consumer_group").is_in(levels.named)] = _NAMED
    return ranks.astype(np.int64)


def _is_in_chosen(rows: Frame, sets: Frame, chosen: Mask, key: tuple[str, ...]) -> Mask:
    at = locate(rows, sets, key)
    mask: Mask = Column.of(chosen).take(at).values & (at >= 0)
    return mask
