# SPDX-License-Identifier: Apache-2.0
"""What a case is: how records are dated, how they are written, and where commits lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from dev.time_lag_bench.logs import Ints

Random: TypeAlias = np.random.Generator
Codec: TypeAlias = Literal["none", "lz4", "zstd"]

HOUR = 3_600_000
DAY = 24 * HOUR


@dataclass(frozen=True, slots=True)
class Records:
    """A partition's records in the order written: their own times, and when each came, ms."""

    times: Ints
    appended: Ints

    @classmethod
    def of(cls, times: Ints) -> Records:
        """Records of right clocks: none came before its own time, and one may be late."""
        return cls(times, np.maximum.accumulate(times))


@dataclass(frozen=True, slots=True)
class Case:
    """One way in which logs come about.

    `partitions` makes a topic's records, told the moment they should end at (with `pace` `told`)
    or begin at (`live` and `transactions`, which are written as that time passes). Codecs take
    turns over partitions; a `batch` holds so many records at most. `kept` is the
    share of a compacted topic's records that have a key of their own; `deleted` the share of
    each log that is deleted at the end. `unread_since` as in `positions.chosen`.
    """

    name: str
    summary: str
    partitions: Callable[[Random, int], list[Records]]
    topics: int = 1
    groups: int = 16
    config: Mapping[str, str] = field(default_factory=dict)
    codecs: tuple[Codec, ...] = ("none",)
    batch: int = 250
    pace: Literal["told", "live", "transactions"] = "told"
    kept: float | None = None
    deleted: float = 0.0
    below_start: bool = False
    unread_since: tuple[int, int] | None = None
    allowed_lag: int = 0

    @property
    def names(self) -> list[str]:
        """The topics."""
        return [f"{self.name}-{number:02}" for number in range(self.topics)]

    def groups_of(self, topic: str) -> list[str]:
        """The groups that read a topic; each also reads a neighbour, where there are several."""
        first = self.names.index(topic)
        return [f"{self.name}-group-{first + number:02}" for number in range(self.groups)]
