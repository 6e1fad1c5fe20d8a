# SPDX-License-Identifier: Apache-2.0
"""What is asked of the brokers' time index, and what they may answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kafka_lag.lag.columns import Mask, Rows
from kafka_lag.lag.frame import Frame

# Asks for the newest timestamp and its offset instead of the first at or after a time [KIP-734].
NEWEST = -3


@dataclass(frozen=True, slots=True)
class TimeQuestions:
    """One look-up a row: of `partitions` (topic, partition_id, leader), at `times` (ms).

    A partition may come several times, its rows in any order; a time may be NEWEST.
    """

    partitions: Frame
    times: Rows

    def __len__(self) -> int:
        return len(self.times)


@dataclass(frozen=True, slots=True)
class TimeAnswers:
    """One answer a question, in their order.

    `found`: a record was named, by `offsets` and its own timestamp in `times`, ms. `none`: the
    broker says that there is no such record. Neither: nobody answered.
    """

    found: Mask
    none: Mask
    offsets: Rows
    times: Rows

    @classmethod
    def nothing(cls, length: int) -> TimeAnswers:
        """Nobody answered."""
        no, zeros = np.zeros(length, bool), np.zeros(length, np.int64)
        return cls(no, no.copy(), zeros, zeros.copy())


LookUp: TypeAlias = Callable[[TimeQuestions], TimeAnswers]


def nobody(questions: TimeQuestions) -> TimeAnswers:
    """A look-up that reaches no broker: history alone must do."""
    return TimeAnswers.nothing(len(questions))
