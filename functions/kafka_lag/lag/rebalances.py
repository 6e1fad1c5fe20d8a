# SPDX-License-Identifier: Apache-2.0
"""Rebalances of groups from one run to the next, by the epochs that their coordinators count.

Only groups of the consumer protocol (KIP-848) have an epoch. It rises whenever the members shall be
assigned anew: one joins, leaves or subscribes to something else, or a topic they read is created or
gets partitions.
"""

from __future__ import annotations

from kafka_lag.lag.carry_over import is_read
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.model import Snapshot


def add_rebalances(groups: Frame, before: Snapshot) -> Frame:
    """`group_epoch` as last read, in an earlier run if not in this one, and `rebalances` since.

    `rebalances` is unknown without two epochs of one group: when its first is read, in runs that
    read none, and where the epoch went down or the type changed, as then it is another group of
    that name.
    """
    old = before.groups.lazy_take(locate(groups, before.groups, ("consumer_group",)))
    same = ~(groups.strings("group_type") != old.strings("group_type"))
    read = is_read(groups)
    # Rows that were not read have all their columns from the run before, this one too.
    epoch = groups.numbers("group_epoch").only(read | same)
    last = old.numbers("group_epoch").only(read & same)
    return groups.with_columns(
        group_epoch=epoch.or_else(last), rebalances=(epoch - last).only(epoch >= last)
    )
