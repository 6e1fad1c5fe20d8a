# SPDX-License-Identifier: Apache-2.0
"""One row a group, rolled up from group-partitions."""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Words
from kafka_lag.lag.frame import AnyColumn, Frame, locate
from kafka_lag.lag.groups import statuses, times
from kafka_lag.lag.groups.counted import Counted
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.partitions.owners import changed
from kafka_lag.lag.rollup import totals
from kafka_lag.lag.rules import Rules
from kafka_lag.lag.sets import Sets, distinct

_GROUP = ("consumer_group",)


def rolled_up(
    groups: Frame, rows: Frame, counted: Counted, before: Snapshot, rules: Rules
) -> Frame:
    """The `groups` dataset as far as one run can tell it; what lasts is added by `held`.

    Counts are as the metrics have them. Each row's group must be among the groups.
    """
    every = Sets(locate(rows, groups, _GROUP), len(groups))
    sets = counted.counts.sets(every)
    sums = totals(sets, counted.counts)
    rolled = groups.with_columns(
        **_decided(groups, rules),
        **_sizes(groups, rows, every, before),
        **_partitions(sets, rows, counted),
        **sums,
        **times.errors(sets, counted, sums["time_lag_seconds"]),
        **times.speeds(sets, rows, counted),
        seconds_until_loss=times.until_loss(sets, counted),
        **statuses.statuses(sets, rows, counted),
    )
    left = (every.rows().values > 0) & (sets.rows().values == 0)
    inactive = Words.constant(contract.INACTIVE, len(groups)).only(left)
    return rolled.with_columns(status_reason=rolled.words("status_reason").or_else(inactive))


def scaling(groups: Frame, rows: Frame, counted: Counted) -> Frame:
    """A row per group: consumer_group, scaling_lag; known only of a group that was read whole.

    A last known value is good enough to be shown, but a service must not be scaled by it.
    """
    counts = counted.counts
    sets = counts.sets(Sets(locate(rows, groups, _GROUP), len(groups)))
    stalled = statuses.status_of(rows).is_in([contract.STALL])
    # A record that stalls one consumer would stall them all.
    lag = Column(np.where(stalled, 0, counted.surplus.values), counted.surplus.known)
    unknown = counts.missing | rows.words("unread_reason").known
    return Frame.of(
        {
            "consumer_group": groups.words("consumer_group"),
            "scaling_lag": sets.total(lag, unknown),
        }
    )


def _decided(groups: Frame, rules: Rules) -> dict[str, AnyColumn]:
    """What the user says of a group, by its name."""
    names = groups.words("consumer_group")
    owners = Words.of(rules.owners.get(name) for name in names.words)
    limits = Column.optional([rules.sla_seconds.get(n) for n in names.words], np.float64)
    at = np.where(names.known, names.codes.values, -1).astype(np.int64)
    return {"owner": owners.take(at), "sla_seconds": limits.take(at)}


def _sizes(groups: Frame, rows: Frame, every: Sets, before: Snapshot) -> dict[str, AnyColumn]:
    """How many topics and partitions there are, and how many members took or left one."""
    codes = rows.words("consumer_group").codes.values, rows.words("topic").codes.values
    heard = ~groups.words("unread_reason").known & groups.numbers("members").known
    return {
        "topics": Sets(every.of_row[distinct(*codes)[1]], every.count).rows(),
        "partitions": every.rows(),
        "owners_changed": every.rows(changed(rows, before)).only(heard),
    }


def _partitions(sets: Sets, rows: Frame, counted: Counted) -> dict[str, AnyColumn]:
    """How many partitions no lag counts, and how many records were lost."""
    counts, unread = counted.counts, rows.words("unread_reason").known
    return {
        "partitions_unknown": sets.rows(unread | counts.missing),
        "partitions_uncommitted": sets.rows(counts.uncommitted),
        "records_lost": sets.total(rows.numbers("records_lost")),
    }
