# SPDX-License-Identifier: Apache-2.0
"""What roll-ups count of each group-partition, apart from what its own row says."""

from __future__ import annotations

from dataclasses import dataclass

from functions import contract
from functions.lag.columns import Column, Mask, Words
from functions.lag.time_lag.ages import Ages


@dataclass(frozen=True, slots=True)
class Counted:
    """A row per group-partition: what counts, and what keeps a count from being known.

    `lag` holds also what a silent broker said within the window; `missing` rows make the counts
    of their sets unknown; `uncommitted` ones are counted apart; `unknown` were not read now.
    Of silent rows `ages` and `until_loss` (s) have gone on to now, and `status` is their last.
    `scaling` is the lag that more consumers could work off, known as `lag` is. `produce_rate`
    (records/s) is the partition's. `ignored` rows count as partitions and as nothing else.
    """

    lag: Column
    missing: Mask
    uncommitted: Mask
    lost: Column
    unknown: Mask
    ages: Ages
    produce_rate: Column
    until_loss: Column
    at_risk: Mask
    status: Words
    scaling: Column
    ignored: Mask

    def lagging(self) -> Mask:
        """Rows that lag by more than is allowed; a lag that is not known is none."""
        allowed = self.ages.method.is_in([contract.METHOD_ALLOWED])
        mask: Mask = self.lag.known & (self.lag.values > 0) & ~allowed
        return mask
