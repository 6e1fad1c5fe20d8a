# SPDX-License-Identifier: Apache-2.0
"""One row a group and one a group and topic, rolled up from group-partitions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from functions import contract
from functions.lag.columns import Column, Mask, Words
from functions.lag.frame import Frame, locate
from functions.lag.model import ClusterReading, Snapshot
from functions.lag.owners import changed
from functions.lag.rollup import Sets, distinct

_GROUP = ("consumer_group",)


@dataclass(frozen=True, slots=True)
class Counted:
    """Per group-partition what sums count, and what keeps a sum from being known.

    `lag` holds also what a silent broker said within the window; `missing` rows make the sums
    of their sets unknown; `uncommitted` ones are counted apart; `unknown` were not read now.
    """

    lag: Column
    missing: Mask
    uncommitted: Mask
    lost: Column
    unknown: Mask


def rolled_up(groups: Frame, rows: Frame, counted: Counted, before: Snapshot) -> Frame:
    """The `groups` dataset: counts as the metrics have them, and the worst partition's name.

    The worst partition is the one with most lag, the first of equals; none when nothing lags.
    """
    sets = Sets(locate(rows, groups, _GROUP), len(groups))
    codes = rows.words("consumer_group").codes.values, rows.words("topic").codes.values
    topics = rows.take(distinct(*codes)[1])
    worst_lag = sets.maximum(counted.lag, counted.missing)
    at = sets.first_at_maximum(counted.lag.only(counted.lag.values > 0))
    worst = rows.take(np.where(worst_lag.known, at, -1))
    heard = ~groups.words("unread_reason").known & groups.numbers("members").known
    return groups.with_columns(
        topics=Sets(locate(topics, groups, _GROUP), len(groups)).rows(np.ones(len(topics), bool)),
        partitions=sets.rows(np.ones(len(rows), bool)),
        partitions_unknown=sets.rows(counted.unknown),
        partitions_uncommitted=sets.rows(counted.uncommitted),
        owners_changed=sets.rows(changed(rows, before)).only(heard),
        lag=sets.total(counted.lag, counted.missing),
        max_lag=worst_lag,
        records_lost=sets.total(counted.lost, np.zeros(len(rows), bool)),
        worst_topic=worst.words("topic"),
        worst_partition=worst.numbers("partition_id"),
        worst_member=worst.words("member_id"),
        worst_leader=worst.numbers("leader"),
    )


def group_topics(rows: Frame, counted: Counted) -> Frame:
    """A row per group and topic: consumer_group, topic, lag, max_lag."""
    codes = rows.words("consumer_group").codes.values, rows.words("topic").codes.values
    sets, first = distinct(*codes)
    named = rows.take(first)
    return Frame.of(
        {
            "consumer_group": named.words("consumer_group"),
            "topic": named.words("topic"),
            "lag": sets.total(counted.lag, counted.missing),
            "max_lag": sets.maximum(counted.lag, counted.missing),
        }
    )


def farewells(groups: Frame, reading: ClusterReading, before: Snapshot) -> Frame:
    """The rows, and one last row for each group that is proven gone since the snapshot before."""
    old = before.groups
    told = old.words("status_reason").is_in([contract.GONE])
    gone = old.where(old.words("consumer_group").is_in(reading.gone_groups) & ~told)
    if not len(gone):
        return groups
    last = Frame.empty(contract.GROUPS).take(np.full(len(gone), -1, np.int64))
    kept = {n: gone.columns[n] for n in ("read_at", "consumer_group", "owner", "last_status")}
    reason = Words.constant(contract.GONE, len(gone))
    return groups.concat(last.with_columns(**kept, status_reason=reason))
