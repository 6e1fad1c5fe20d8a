# SPDX-License-Identifier: Apache-2.0
"""What the cause rules judge: the data of one group in trouble, and which partitions are behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Rows, Seconds
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.previous_rows import PreviousRows
from kafka_lag.lag.rollup import Counts
from kafka_lag.lag.run import Run
from kafka_lag.lag.sets import Sets, distinct, unique

BAD = (contract.WARN, contract.ERR)
UNOWNED = (contract.STOPPED, contract.NO_MEMBER)
# A member is down if it is behind with this share of what it owns, and a group if this share of its
# members is.
NEARLY_ALL = 0.8
# A partition is behind if its age is this share of its group's oldest, and of a window.
_BEHIND_SHARE, _BEHIND_WINDOWS = 0.25, 0.2
# A broker is to blame for at least this many groups, on at least this many partitions, and for this
# share of the groups that read from it, and of each group's partitions there.
_LEAST_GROUPS, _LEAST_PARTITIONS, _OF_GROUPS, _OF_PARTITIONS = 2, 3, 0.5, 0.8

Evidence: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Cause:
    """A group's cause: a name of contract.CAUSES, since when, ms, and the numbers that decided."""

    name: str
    since: int | None
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker to blame for the lag of groups, with counts of these groups and their partitions."""

    id: int
    groups: int
    partitions: int


@dataclass(frozen=True, slots=True)
class Case:
    """One group in trouble, and its partitions that count.

    `group` has the columns GROUP_COLUMNS. `age`: the proven part, s. Rates are in records/s, 0 if
    unknown: `produced` and `consumed` are averages, `written` is of the last half window, and
    `before` was written while the group kept up. `behind` marks the partitions that caused the
    group's status, `lagging` those with a lag, `active` those with records to read, `still` those
    with a lag whose commit has not moved for half a window. `members` are codes, -1 for no member.
    `window` and `interval` are in seconds; the run is at `taken_at`, ms. `broker`: the broker to
    blame, None if none is.
    `recreated`, `made_anew` and `unsigned` (the commit lost its leader epoch) are of this run.
    `over_for`: seconds since an earlier cause was over, which averages of rates still cover.
    """

    group: Mapping[str, Any]
    rows: Frame
    topics: Frame
    age: Seconds
    produced: Seconds
    written: Seconds
    consumed: Seconds
    before: Seconds
    lagging: Mask
    active: Mask
    behind: Mask
    still: Mask
    leaderless: Mask
    members: Rows
    window: float
    interval: float
    taken_at: int
    broker: Broker | None
    recreated: Mask
    made_anew: Mask
    unsigned: Mask
    over_for: float | None = None

    def row(self, at: int) -> Mapping[str, Any]:
        """Returns topic and number of the partition, and the member that owns it."""
        names = ("topic", "partition_id", "member_id")
        topic, partition, member = (self.value(at, name) for name in names)
        member = None if self.is_shared else member
        return {"topic": topic, "partition": partition, "member": member}

    def value(self, at: int, name: str) -> Any:
        """Returns a column of the partition, None for unknown."""
        return self.rows.columns[name].to_list()[at]

    def without(self, rows: Mask) -> Case:
        """Returns the case as if these partitions had nothing to read."""
        names = ("lagging", "active", "still")
        left = {name: getattr(self, name) & ~rows for name in names}
        oldest = float(self.age[left["lagging"]].max(initial=0.0))
        limit = max(oldest * _BEHIND_SHARE, self.window * _BEHIND_WINDOWS)
        return replace(self, **left, behind=left["lagging"] & (self.age >= limit))

    @property
    def is_shared(self) -> bool:
        """Returns true for a share group: its members cannot be told apart, nor can they be too
        many for its partitions."""
        return bool(self.group["group_type"] == contract.SHARE)

    @property
    def worst(self) -> int:
        """Returns the partition, of those behind, with the oldest record."""
        return int(np.argmax(np.where(self.behind, self.age, -1.0)))

    @property
    def fine(self) -> Mask:
        """Marks partitions with records to read that are not behind."""
        return self.active & ~self.behind

    @property
    def owned(self) -> Mask:
        """Marks partitions with records to read that a member owns."""
        return self.active & (self.members >= 0)

    @property
    def drains(self) -> bool:
        """Returns true if the lag shrinks."""
        return bool(self.group["trend"] == contract.SHRINKING)

    @property
    def shrank_by(self) -> float | None:
        """Returns records/s by which the lag shrank in about the last half window."""
        lags = self.group["lags_lately"] or ()
        if not lags or self.group["trend"] is None:
            return None
        return float(lags[0] - lags[-1]) / (len(lags) - 1) / self.interval

    @property
    def read_lately(self) -> float:
        """Returns records/s read in about the last half window; 0 if unknown."""
        shrank_by = self.shrank_by
        if shrank_by is None:
            return 0.0
        return max(float(self.written[self.active].sum()) + shrank_by, 0.0)

    @property
    def since(self) -> int | None:
        """Returns the last run, ms, in which the group kept up, or the beginning of its status."""
        group = self.group
        found: int | None = group["kept_up_at"] or group["worst_status_since"]
        return found

    def list_down(self) -> Rows:
        """Returns the members that are behind with nearly all that they own."""
        members = np.append(self.members[self.owned], 0)
        owned = np.bincount(members)
        owned[0] -= 1
        behind = np.bincount(self.members[self.owned & self.behind], minlength=len(owned))
        return np.flatnonzero((behind > 0) & (behind >= NEARLY_ALL * owned))

    def count_members(self) -> dict[str, int]:
        """Returns the counts of members with records to read, and of those behind."""
        behind, read = (unique(self.members[self.owned & of]) for of in (self.behind, self.active))
        return {"members_behind": len(behind), "members_read": len(read)}

    def read_rate(self) -> float | None:
        """Returns records/s read; 0 if all partitions behind are still: averages fall slowly."""
        behind = self.still[self.behind]
        rate: float | None = self.group["consume_rate"]
        return 0.0 if len(behind) and behind.all() else rate

    def list_rates(self) -> dict[str, Any]:
        group = self.group
        return {
            "produce_rate": group["produce_rate"],
            "produce_rate_before": group["kept_up_produce_rate"],
            "consume_rate": self.read_rate(),
            "members": group["members"],
            "members_before": group["kept_up_members"],
            "kept_up_at": group["kept_up_at"],
        }


# The columns of its group that a case holds.
GROUP_COLUMNS = (
    *(
        "group_type",
        "lags_lately",
        "status",
        "worst_status",
        "worst_status_since",
        "members",
        "trend",
        "lag",
    ),
    *("rebalancing_share", "rebalances", "group_epoch", "settings_changed", "brokers_restarted"),
    "release_since",
    *("produce_rate", "consume_rate", "capacity", "loss_since", "unusual_since"),
    *("usual_produce_rate", "kept_up_at", "kept_up_members", "kept_up_produce_rate"),
    *("status_reason", "held_up_records", "open_transaction_since"),
    *("open_transaction_topic", "open_transaction_partition"),
)


@dataclass(frozen=True, slots=True)
class Partitions:
    """All group-partitions of a run, a row each.

    `topics` holds their partitions, `at_group` their groups. `leaderless` rows had no leader in two
    runs. `written`: records/s written in the last half window. `previous`: their previous rows,
    None if the previous run is not available.
    """

    rows: Frame
    topics: Frame
    at_group: Rows
    counts: Counts
    leaderless: Mask
    run: Run
    written: Column
    previous: PreviousRows | None = None


def list_cases(
    chosen: Rows, groups: Frame, every: Partitions, over_for: Mapping[int, float]
) -> Iterator[Case]:
    """Yields the case of each chosen group. `over_for`: see Case, by group."""
    sets = every.counts.sets(Sets(every.at_group, len(groups)))
    rates, lagging = every.topics.numbers("produce_rate"), every.counts.lagging()
    least = _BEHIND_WINDOWS * every.run.window_seconds
    error = every.rows.numbers("time_lag_error_seconds").fill(0.0)
    # If the error is large, only the proven part of an age counts.
    proven = (every.counts.age - error).clip(0.0)
    sure = every.counts.age.where(error <= least, proven)
    behind = _find_behind(sets, sure, lagging, least)
    active = lagging | (rates > 0)
    brokers = _blame_brokers(sets, every.rows, sure, active, behind, least)
    unchanged = every.run.seconds_since(every.rows.numbers("commit_changed_at"))
    none, previous = np.zeros(len(every.rows), bool), every.previous
    lost_epoch = none
    if previous is not None:
        lost_epoch = ~every.rows.numbers("commit_epoch").known
        lost_epoch &= previous.rows.numbers("commit_epoch").known
    columns: dict[str, Any] = {
        "age": sure.fill(0.0),
        "produced": rates.fill(0.0),
        "written": every.written.or_else(rates).fill(0.0),
        "consumed": every.rows.numbers("consume_rate").fill(0.0),
        "before": every.rows.numbers("kept_up_rate").fill(0.0),
        "lagging": lagging & (sets.of_row < sets.count),
        "active": active,
        "behind": behind,
        "still": lagging & (unchanged >= every.run.window_seconds / 2),
        "leaderless": every.leaderless,
        "members": every.rows.strings("member_id").codes.fill(-1),
        "recreated": none if previous is None else previous.recreated,
        "made_anew": none if previous is None else previous.made_anew,
        "unsigned": lost_epoch,
    }
    place = np.full(len(groups) + 1, -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    of_row = place[sets.of_row]
    order = np.argsort(of_row, kind="stable")
    bounds = np.searchsorted(of_row[order], np.arange(len(chosen) + 1))
    table = groups.lazy_take(chosen)
    of_group = {name: table.columns[name].to_list() for name in GROUP_COLUMNS}
    for number, group in enumerate(chosen.tolist()):
        at = order[bounds[number] : bounds[number + 1]]
        yield Case(
            group={name: values[number] for name, values in of_group.items()},
            rows=every.rows.lazy_take(at),
            topics=every.topics.lazy_take(at),
            window=every.run.window_seconds,
            interval=every.run.interval_seconds,
            taken_at=every.run.taken_at,
            broker=brokers.get(group),
            over_for=over_for.get(group),
            **{name: values[at] for name, values in columns.items()},
        )


def _find_behind(sets: Sets, age: Column, lagging: Mask, least: float) -> Mask:
    """Marks rows that are behind by a share of their group's oldest age and by `least` seconds."""
    oldest = sets.maximum(age.only(lagging)).fill(0.0)
    limit = np.maximum(np.append(oldest, 0.0) * _BEHIND_SHARE, least)[sets.of_row]
    behind: Mask = lagging & (age >= limit)
    return behind


def _blame_brokers(
    sets: Sets, rows: Frame, age: Column, active: Mask, behind: Mask, least: float
) -> dict[int, Broker]:
    """Returns the broker to blame for a group's lag, by group.

    A broker is to blame if it leads all partitions that are behind, if these are most of those that
    the group reads there, and if that is so for most groups that read there. A group that is behind
    elsewhere as well counts if it was behind at this broker first, by `least` seconds.
    """
    leader = rows.numbers("leader")
    leaders = leader.fill(-1)
    counts = active & leader.known & (sets.of_row < sets.count)
    bad = behind & counts
    if not bad.any():
        return {}
    found: dict[int, Broker] = {}
    for broker in unique(leaders[bad]).tolist():
        here = counts & (leaders == broker)
        there, ill = sets.rows(here), sets.rows(here & bad)
        elsewhere = sets.rows(bad) > ill
        others = sets.rows(counts & ~here)
        blamed = (ill > 0) & ~elsewhere & (others > 0) & (ill >= there * _OF_PARTITIONS)
        ages = (sets.minimum(age.only(here)), sets.maximum(age.only(counts & ~here)))
        blamed |= elsewhere & (ill == there) & (ages[0] >= ages[1] + least)
        groups = np.flatnonzero(blamed)
        if len(groups) < max(_LEAST_GROUPS, _OF_GROUPS * (there > 0).sum()):
            continue
        among = np.flatnonzero(here & bad & np.append(blamed, False)[sets.of_row])
        topics, numbers = rows.strings("topic").codes, rows.numbers("partition_id")
        partitions, _ = distinct(topics.take(among), numbers.take(among))
        if partitions.count < _LEAST_PARTITIONS:
            continue
        for group in groups.tolist():
            found[group] = Broker(broker, len(groups), partitions.count)
    return found
