# SPDX-License-Identifier: Apache-2.0
"""Rebalances of groups from one run to the next, and whether they hardly ever stop.

Groups of the consumer protocol (KIP-848) have an epoch, which their coordinators count. It rises
whenever the members shall be assigned anew: one joins, leaves or subscribes to something else, or a
topic they read is created or gets partitions. Of a classic group a rebalance is known by its
state, or by members or owners that are others than in the reading before: one at least.
"""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.previous_rows import is_read, seconds_between

_CONSUMER = "consumer"
# What one rebalance says of the time since the last reading, at most.
_LONGEST_INTERVALS = 2.0


def add_rebalances(groups: Frame, old: Frame, rules: Rules) -> Frame:
    """`group_epoch` and `members_hash` as last read, in an earlier run if not in this one,
    `rebalances` since, and `rebalancing_share`. `old`: each group's row of the run before.

    `rebalances` is unknown without two readings of one group: when it is first described, in runs
    that do not, and where the epoch went down or the type changed, as then it is another group of
    that name. `rebalancing_share` is that of the last runs that saw one, EWMA with a half-life of
    half the window; runs that know nothing of it leave it as it is. After a longer time without a
    reading one that is seen counts for _LONGEST_INTERVALS of it: it may have been the only one.
    """
    same = ~(groups.strings("group_type") != old.strings("group_type"))
    read = is_read(groups)
    # Rows that were not read have all their columns from the run before, this one too.
    epoch = groups.numbers("group_epoch").only(read | same)
    last = old.numbers("group_epoch").only(read & same)
    is_new = groups.strings("group_type").is_in([_CONSUMER])
    waiting = groups.strings("group_state").is_in(contract.REBALANCING_STATES)
    # While members wait for an assignment, what they own is neither the old nor the new.
    members = groups.numbers("members_hash").only(((read & ~waiting) | (~read & same)) & ~is_new)
    known = old.numbers("members_hash").only(read & same & ~is_new)
    waited = old.strings("group_state").is_in(contract.REBALANCING_STATES)
    # The one that was seen under way is not counted again when it is over.
    begun = ~waited & (waiting | (members != known))
    described = read & groups.numbers("members").known & (waiting | members.known)
    counted = Column.of(begun.astype(np.int64)).only(known.known & described)
    rebalances = (epoch - last).only(epoch >= last).or_else(counted)
    return groups.with_columns(
        group_epoch=epoch.or_else(last),
        members_hash=members.or_else(known),
        rebalances=rebalances,
        rebalancing_share=_share(groups, old, rebalances, rules),
    )


def _share(groups: Frame, old: Frame, rebalances: Column, rules: Rules) -> Column:
    waiting = groups.strings("group_state").is_in(contract.REBALANCING_STATES) & is_read(groups)
    seen = (waiting | (rebalances > 0)).astype(np.float64)
    seconds = seconds_between(groups, old).only(waiting | rebalances.known)
    half_life = rules.window_ms / 2_000
    passed = seconds.fill(0.0)
    each = _LONGEST_INTERVALS * rules.interval_ms / 1_000
    counted = np.minimum(passed, each * np.maximum(rebalances.fill(1), 1))
    last = old.numbers("rebalancing_share")
    share = last.fill(0.0) * np.exp2(-passed / half_life)
    share += seen * (1.0 - np.exp2(-counted / half_life))
    return Column(share, last.known | seconds.known)
