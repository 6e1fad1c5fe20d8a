# SPDX-License-Identifier: Apache-2.0
"""How old the next unread record is, as it is told: an estimate between proven bounds."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_lag.lag.columns import Column, Words


@dataclass(frozen=True, slots=True)
class Ages:
    """Time lags of group-partitions in seconds (float64), by the clock of the reading.

    `seconds` is the estimate. The truth lies in [`least`, `most`]: an unknown `least` proves
    nothing (0), an unknown `most` is unbounded. `method` is one of the contract's words.
    """

    seconds: Column
    least: Column
    most: Column
    method: Words
