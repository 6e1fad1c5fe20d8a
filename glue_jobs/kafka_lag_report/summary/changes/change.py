# SPDX-License-Identifier: Apache-2.0
"""One thing to tell, and what kinds there are."""

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What changed, worst first; the value is said after a number: `2 at risk`."""

    LOST = "with records lost"
    AT_RISK = "at risk"
    UNSEEN = "without snapshots"
    SLA_MISSED = "SLA missed"
    ERR = "in ERR"
    COVERAGE = "with gaps"
    HOT = "hot"
    SKEWED = "skewed"
    UNUSUAL = "unusual"
    GONE = "gone"
    NEW = "new"
    SAFE = "no longer at risk"
    SLA_MET = "SLA met again"
    EVEN = "no longer skewed"
    COOL = "no longer hot"

    @property
    def rank(self) -> int:
        """Its place among all, 0 for the worst."""
        return list(Kind).index(self)


@dataclass(frozen=True, slots=True)
class Change:
    """`text` is a sentence without its cluster; `weight` sorts within a kind, greatest first.

    `count` is how many groups, topics or brokers it stands for.
    """

    kind: Kind
    cluster: str
    text: str
    weight: float = 0.0
    count: int = 1
