# SPDX-License-Identifier: Apache-2.0
"""Members that are enough where all share what is full, as a database: more read no more in all.

Each member then reads the less the more there are. The capacity that is learnt falls, and the
backlog stays, so both would ask for more and more. What a group reads with a backlog is compared
before and after it got more members: where too little of what these should read in addition came,
the number is held at the fewest that read as much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_lag.lag.columns import Column, Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.recent import Recent

# Of the records that more members should read in addition: less is none to speak of.
LEAST_GAIN = 0.25
# Minutes with a backlog of the fewer members, and of more, as new ones may begin slowly.
_SAMPLES_OF_FEWER, _SAMPLES_OF_MORE = 2, 3
# With fewer more, noise is as large as what they should gain.
_LEAST_MORE = 1.25
# What the fewest read once they are as few again, of what was read: below it they were needed.
# Above it there is room again, which so many times as many may find.
_STILL_READ, _ROOM_AGAIN, _TRIED = 0.8, 1.15, 2
# By so much of a member the fewest may be too few.
_NEARLY = 0.1
# Then it is tried anew: those that are held may never show that there is room again.
_HELD_FOR_MS = 24 * 3_600_000

Values = npt.NDArray[np.float64]


def add_shared_limit(
    groups: Frame, old: Frame, sample: Column, runs: Rows, samples: Recent, taken_at: int
) -> Frame:
    """The groups with the members behind each capacity sample, and where more do not help.

    `old`: each group's row of the run before. `sample` is this run's, which counts for so many
    `runs`; `samples` are all of them, this one's among them.

    `capacity_members`: the members of each of the newest samples, those since the group last kept
    up: of another day they say nothing. `shared_limit_members`: the fewest that read as much as
    more did, `shared_limit_rate`: records/s that all read, `shared_limit_since`: the run, ms, that
    found it; unknown where none did, 24 hours later, and once it is seen to be otherwise.
    """
    members = groups.numbers("members")
    behind = ~(old.numbers("kept_up_at") == old.numbers("taken_at"))
    lately = old.strings("capacity_members").only(behind)
    counts = Recent.of(lately, samples.most)
    counts = counts.appended(members.only(sample.known), runs)
    each = _Samples(samples.values, np.where(counts.present, counts.values, 0.0))
    enough, rate = each.find_enough()
    since = old.numbers("shared_limit_since")
    stays = taken_at - since < _HELD_FOR_MS
    held, held_rate = each.hold(
        old.numbers("shared_limit_members").only(stays), old.numbers("shared_limit_rate")
    )
    now = Column.of(np.full(len(groups), taken_at, np.int64))
    is_new = enough.known & ~(held == enough)
    return groups.with_columns(
        capacity_members=counts.to_lists(),
        shared_limit_members=enough.or_else(held),
        shared_limit_rate=rate.or_else(held_rate),
        shared_limit_since=now.only(is_new).or_else(since.only(held.known)),
    )


@dataclass(frozen=True, slots=True)
class _Samples:
    """Records/s that one member read, and of how many; 0 members: it is not compared."""

    capacity: Values
    members: Values

    def find_enough(self) -> tuple[Column, Column]:
        """The fewest members that read as much as those of the newest samples, and how much that
        is; unknown where more read more, or nothing can be compared.
        """
        many = self.members[:, -1]
        number = (self.members[:, :, None] == self.members[:, None, :]).sum(axis=2)
        fewer = (self.members > 0) & (self.members * _LEAST_MORE <= many[:, None])
        few = np.where(fewer & (number >= _SAMPLES_OF_FEWER), self.members, np.inf).min(axis=1)
        known = np.isfinite(few) & (number[:, -1] >= _SAMPLES_OF_MORE)
        few = np.where(known, few, 1.0)
        one, of_many = self._median_of(few, upper=False), self._median_of(many)
        rate, more = one * few, of_many * many
        full = known & (more - rate <= one * (many - few) * LEAST_GAIN)
        rate = np.maximum(rate, more)
        enough = np.ceil(rate / np.where(full, one, 1.0) - _NEARLY)
        enough = np.minimum(np.maximum(enough, few), many).astype(np.int32)
        return Column.of(enough, full), Column.of(rate, full)

    def hold(self, held: Column, rate: Column) -> tuple[Column, Column]:
        """The members that are held and what was read, or what is known better: unknown where so
        many are seen to read less, more of them where they read more.
        """
        newest = self.members[:, -1]
        often = (self.members == newest[:, None]).sum(axis=1) >= _SAMPLES_OF_MORE
        read = Column.of(self._median_of(newest) * newest, (newest > 0) & often)
        less = (read < rate * _STILL_READ) & (held >= newest)
        room = (read > rate * _ROOM_AGAIN) & (held <= newest)
        more = Column.of((newest * _TRIED).astype(np.int32))
        kept = held.known & ~less
        return more.where(room, held).only(kept), read.where(room, rate).only(kept)

    def _median_of(self, members: Values, *, upper: bool = True) -> Values:
        """The median of the samples with so many members, of two the upper or lower; 0 of none."""
        chosen = self.members == members[:, None]
        rising = np.sort(np.where(chosen, self.capacity, np.inf), axis=1)
        middle = (chosen.sum(axis=1)[:, None] - (not upper)).clip(0) // 2
        found = np.take_along_axis(rising, np.minimum(middle, rising.shape[1] - 1), 1)[:, 0]
        return np.where(np.isfinite(found), found, 0.0)
