# SPDX-License-Identifier: Apache-2.0
"""Rebalances of groups from one run to the next, and the share of runs that saw one.

Groups of the consumer protocol (KIP-848) have an epoch that their coordinator counts. It rises with
each new assignment: a member joins, leaves or changes its subscription, or a topic they read is
created or gets partitions. A rebalance of a classic group shows in its state, or in members or
owners that changed since the previous reading, which count as one rebalance.
"""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.previous_rows import is_read, seconds_between
from kafka_lag.lag.run import Run

_CONSUMER = "consumer"
# One rebalance counts for at most this many intervals.
_LONGEST_INTERVALS = 2.0


def add_rebalances(e: Evaluation) -> Frame:
    """Returns the groups with the columns of their rebalances.

    `group_epoch` and `members_hash` are as last read. `rebalances` counts those since the previous
    reading. It is unknown without two readings of one group: when it is first described, in runs
    that cannot describe it, and if the epoch fell or the type changed, because that is another
    group of the same name. `rebalancing_share` is the share of the last runs that saw a rebalance,
    an EWMA with a half-life of half the window; runs that do not know leave it unchanged. After a
    longer time without a reading, a rebalance counts for _LONGEST_INTERVALS of it, because it may
    have been the only one.
    """
    groups, old = e.groups, e.old_groups
    same = ~(groups.strings("group_type") != old.strings("group_type"))
    read = is_read(groups)
    # Unread rows have all their columns, including this one, from the previous run.
    epoch = groups.numbers("group_epoch").only(read | same)
    last = old.numbers("group_epoch").only(read & same)
    is_new = groups.strings("group_type").is_in([_CONSUMER])
    waiting = groups.strings("group_state").is_in(contract.REBALANCING_STATES)
    # While members wait for an assignment, their partitions are neither the old nor the new ones.
    members = groups.numbers("members_hash").only(((read & ~waiting) | (~read & same)) & ~is_new)
    known = old.numbers("members_hash").only(read & same & ~is_new)
    waited = old.strings("group_state").is_in(contract.REBALANCING_STATES)
    # A rebalance that was seen under way is not counted again when it is over.
    begun = ~waited & (waiting | (members != known))
    described = read & groups.numbers("members").known & (waiting | members.known)
    counted = Column.of(begun.astype(np.int64)).only(known.known & described)
    rebalances = (epoch - last).only(epoch >= last).or_else(counted)
    return groups.with_columns(
        group_epoch=epoch.or_else(last),
        members_hash=members.or_else(known),
        rebalances=rebalances,
        rebalancing_share=_share(groups, old, rebalances, e.run),
    )


def _share(groups: Frame, old: Frame, rebalances: Column, run: Run) -> Column:
    waiting = groups.strings("group_state").is_in(contract.REBALANCING_STATES) & is_read(groups)
    seen = (waiting | (rebalances > 0)).astype(np.float64)
    seconds = seconds_between(groups, old).only(waiting | rebalances.known)
    half_life = run.rules.window_ms / 2_000
    passed = seconds.fill(0.0)
    each = _LONGEST_INTERVALS * run.interval_seconds
    counted = np.minimum(passed, each * np.maximum(rebalances.fill(1), 1))
    last = old.numbers("rebalancing_share")
    share = last.fill(0.0) * np.exp2(-passed / half_life)
    share += seen * (1.0 - np.exp2(-counted / half_life))
    return Column(share, last.known | seconds.known)
