# SPDX-License-Identifier: Apache-2.0
"""What a group's roll-up needs of each group-partition beside its snapshot row."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lag.lag.columns import Column, Mask
from kafka_lag.lag.rollup import Counts
from kafka_lag.lag.time_lag.ages import Ages


@dataclass(frozen=True, slots=True)
class Counted:
    """A row per group-partition.

    `ages` proves bounds, of rows that were read now only. `surplus` is the lag beyond what is
    allowed, known as the lag is. `produce_rate` (records/s) is the partition's. `until_loss` (s)
    is known of rows at risk, 0 where records were lost; `risk_known` also marks those at none.
    """

    counts: Counts
    ages: Ages
    surplus: Column
    produce_rate: Column
    until_loss: Column
    risk_known: Mask

    def lagging(self) -> Mask:
        """Rows that lag by more than is allowed; a lag that is not known is none."""
        mask: Mask = self.surplus.known & (self.surplus.values > 0)
        return mask
