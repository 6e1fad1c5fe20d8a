# SPDX-License-Identifier: Apache-2.0
"""The shared limit: if members share a full resource, such as a database, more members do not help.

With more members each reads less. The learnt capacity falls and the backlog stays, so both would
ask for ever more members. So the rate of a group with a backlog is compared before and after it got
more members: if they added too little, the number is limited to the fewest that read as much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_lag.lag.columns import Column, Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.recent import Recent
from kafka_lag.lag.run import Run

# More members help if they read at least this share of the records that they should add.
LEAST_GAIN = 0.25
# Minutes with a backlog needed with fewer members, and with more, which may begin slowly.
_SAMPLES_OF_FEWER, _SAMPLES_OF_MORE = 2, 3
# With fewer than this many times the members, noise is as large as what they should gain.
_LEAST_MORE = 1.25
# Back at the limit, members that read less than the first share of its rate show that more were
# needed. Above the second share there is room for more: the limit becomes this many times as many.
_STILL_READ, _ROOM_AGAIN, _TRIED = 0.8, 1.15, 2
# The limit may be too low by this part of a member.
_NEARLY = 0.1
# A limit ends after this time, because members at it may never show that there is room again.
_HELD_FOR_MS = 24 * 3_600_000

Values = npt.NDArray[np.float64]


def add_shared_limit(
    groups: Frame, old: Frame, sample: Column, runs: Rows, samples: Recent, run: Run
) -> Frame:
    """Returns the groups with the members of each capacity sample, and with the shared limit.

    `old`: each group's previous row. `sample` is this run's and counts for `runs` runs; `samples`
    are all samples, including this one.

    `capacity_members`: the members of each of the newest samples, since the group last kept up,
    because samples of another day cannot be compared. `shared_limit_members`: the fewest that read
    as much as more did, `shared_limit_rate`: records/s that all read, `shared_limit_since`: the
    run, ms, that found it. These three are unknown if no limit was found, 24 hours later, and once
    the limit proves wrong.
    """
    members = groups.numbers("members")
    behind = ~(old.numbers("kept_up_at") == old.numbers("taken_at"))
    lately = old.strings("capacity_members").only(behind)
    counts = Recent.of(lately, samples.most)
    counts = counts.appended(members.only(sample.known), runs)
    each = _Samples(samples.values, np.where(counts.present, counts.values, 0.0))
    enough, rate = each.find_enough()
    since = old.numbers("shared_limit_since")
    stays = run.taken_at - since < _HELD_FOR_MS
    held, held_rate = each.hold(
        old.numbers("shared_limit_members").only(stays), old.numbers("shared_limit_rate")
    )
    now = run.now(len(groups))
    is_new = enough.known & ~(held == enough)
    return groups.with_columns(
        capacity_members=counts.to_lists(),
        shared_limit_members=enough.or_else(held),
        shared_limit_rate=rate.or_else(held_rate),
        shared_limit_since=now.only(is_new).or_else(since.only(held.known)),
    )


@dataclass(frozen=True, slots=True)
class _Samples:
    """Records/s that one member read, and the number of members; 0: the sample is not compared."""

    capacity: Values
    members: Values

    def find_enough(self) -> tuple[Column, Column]:
        """Returns the fewest members that read as much as those of the newest samples, and the
        rate.

        The rate is in records/s. Both are unknown if more members read more, or nothing can be
        compared.
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
        """Returns the held limit and its rate, corrected by the newest samples.

        It is unknown if members at the limit now read less, and a higher limit if they read more.
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
        """Returns the median of samples with this many members, the upper or lower of two; or 0."""
        chosen = self.members == members[:, None]
        rising = np.sort(np.where(chosen, self.capacity, np.inf), axis=1)
        middle = (chosen.sum(axis=1)[:, None] - (not upper)).clip(0) // 2
        found = np.take_along_axis(rising, np.minimum(middle, rising.shape[1] - 1), 1)[:, 0]
        return np.where(np.isfinite(found), found, 0.0)
