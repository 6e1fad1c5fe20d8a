# SPDX-License-Identifier: Apache-2.0
"""Holds the findings of a cluster's day, which page and message render without judging them again.

None means unknown. Times are aware and in UTC, durations are seconds unless the name says minutes,
and shares are between 0 and 1.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from enum import IntEnum
from typing import Generic, TypeVar

from kafka_lag_report.incident import Incident
from kafka_lag_report.schemas import Row
from kafka_lag_report.thresholds import (
    GAP_INTERVALS,
    LONGEST_INTERVAL,
    SEEN_SHARE,
    SLA_MET,
)

T = TypeVar("T")
S = TypeVar("S")
# Group and topic.
GroupTopic = tuple[str, str]

# Values of `cause`; reports of a later version may have others.
PRODUCTION, BROKER, CONSUMER = "production", "broker", "consumer"
STOPPED, STALLED, UNEXPLAINED = "stopped", "stalled", "unexplained"


@dataclass(frozen=True, slots=True)
class Limits:
    """The numbers of rows that are read for a cluster, so that driver and browser stay fast."""

    groups: int = 20_000
    topics: int = 500
    rows: int = 200
    hours: int = 20_000


@dataclass(frozen=True, slots=True)
class Listed(Generic[T]):
    """The worst rows, worst first; `total` also counts the rows that are not listed."""

    rows: tuple[T, ...] = ()
    total: int = 0

    @property
    def more(self) -> int:
        """Returns the number of rows that are not listed."""
        return max(0, self.total - len(self.rows))

    def map(self, make: Callable[[T], S]) -> "Listed[S]":
        """Returns a list with the results of `make` for each row, and the same total."""
        return Listed(tuple(map(make, self.rows)), self.total)


@dataclass(frozen=True, slots=True)
class TopicRisk:
    """A group's topic that lost records, or came near to losing some.

    `retention` is the shortest of its partitions, in seconds. `unlimited` means that nothing is
    deleted for its age. `records_lost` is a lower bound: no run sees what is deleted between the
    last run that sees a loss and the commit that ends it.
    """

    group: str
    topic: str
    partitions_lost: int = 0
    partitions_at_risk: int = 0
    records_lost: int | None = None
    worst_partition: int | None = None
    seconds_left: float | None = None
    seconds_left_at: datetime | None = None
    least_margin: int | None = None
    retention: float | None = None
    retention_needed: float | None = None
    unlimited: bool | None = None

    @property
    def key(self) -> GroupTopic:
        """Returns group and topic."""
        return self.group, self.topic

    @property
    def retention_enough(self) -> float | None:
        """Returns the retention in seconds that would have prevented the loss.

        Null if it would not help. A longer retention does not help if nothing is deleted for its
        age, or if all deleted records were younger than the retention: they were deleted for the
        log's size, or by a request.
        """
        if self.unlimited or self.retention_needed is None:
            return None
        had_it = self.retention is not None and self.retention_needed <= self.retention
        return None if had_it else self.retention_needed

    @property
    def lost_at(self) -> datetime | None:
        """Returns when the first unread record would be deleted; None if it is unknown.

        This is computed from the shortest time left that a run of the day saw.
        """
        if self.seconds_left is None or self.seconds_left_at is None:
            return None
        return self.seconds_left_at + timedelta(seconds=self.seconds_left)


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings of one cluster's day; every list is worst first.

    A list of `Row` holds rows of its report table. `groups` are the groups' own rows of
    `lag_summary`. `skews` are topics that are skewed in lag or in production; `group_stopped` means
    that no partition of the group had an owner all day. `tasks` has a row per group for the whole
    day; its `hours` map each known hour to the upper quartile of the tasks needed. `coverage` has a
    row per dataset.
    """

    cluster: str
    day: date
    groups: Listed[Row] = field(default_factory=Listed)
    risks: Listed[TopicRisk] = field(default_factory=Listed)
    skews: Listed[Row] = field(default_factory=Listed)
    brokers: Listed[Row] = field(default_factory=Listed)
    consumers: Listed[Row] = field(default_factory=Listed)
    tasks: Listed[Row] = field(default_factory=Listed)
    objectives: Listed[Row] = field(default_factory=Listed)
    unusual: Listed[Row] = field(default_factory=Listed)
    coverage: tuple[Row, ...] = ()
    incidents: tuple[Incident, ...] = ()

    @property
    def in_progress(self) -> bool:
        """Returns whether the day is not over, so that every number may still change."""
        return any(one["in_progress"] for one in self.coverage)

    @property
    def first_run(self) -> datetime | None:
        """Returns the first run that any dataset saw; None without runs."""
        return min((one["first_run"] for one in self.coverage if one["first_run"]), default=None)

    @property
    def last_run(self) -> datetime | None:
        """Returns the last run that any dataset saw; None without runs."""
        return max((one["last_run"] for one in self.coverage if one["last_run"]), default=None)

    @property
    def seen_until(self) -> datetime | None:
        """Returns the last run, if it is not at the end of the day; else None."""
        last = self.last_run
        if last is None:
            return None
        midnight = datetime.combine(self.day, time(), UTC) + _DAY
        known = [one["interval_seconds"] for one in self.coverage if one["interval_seconds"]]
        interval = max(known, default=60.0)
        early = (midnight - last).total_seconds() > GAP_INTERVALS * interval
        return last if self.in_progress or early else None

    @property
    def actionable_skews(self) -> tuple[Row, ...]:
        """Returns the skewed topics that are worth a sentence."""
        return tuple(skew for skew in self.skews.rows if is_actionable(skew))

    @property
    def other_skews(self) -> tuple[Row, ...]:
        """Returns the skewed topics that are only worth a row of a table."""
        return tuple(skew for skew in self.skews.rows if not is_actionable(skew))

    @property
    def worst_gap(self) -> Row | None:
        """Returns the dataset with a gap that saw the smallest share of its runs.

        None without gaps. If two saw the same share, the one with the longer gap counts.
        """
        gaps = [one for one in self.coverage if has_gap(one)]
        return min(gaps, key=_order_gap, default=None)


def is_actionable(skew: Row) -> bool:
    """Returns whether somebody can act on the skew itself.

    Nobody can if nothing explains it, or if no partition of the group had an owner all day: its lag
    is then just what was written to each partition.
    """
    unexplained = skew["group_stopped"] or skew["cause"] in (None, UNEXPLAINED)
    return not (skew["lag_skewed"] and unexplained)


def compute_share_of_runs(coverage: Row) -> float | None:
    """Returns the share of the expected runs that were seen.

    None if either number is unknown.
    """
    if coverage["runs"] is None or not coverage["expected_runs"]:
        return None
    share: float = coverage["runs"] / coverage["expected_runs"]
    return share


def has_gap(coverage: Row) -> bool:
    """Returns whether more runs are missing than a deploy usually costs."""
    share = compute_share_of_runs(coverage)
    few = share is not None and share < SEEN_SHARE
    longest = GAP_INTERVALS * (coverage["interval_seconds"] or LONGEST_INTERVAL)
    return few or coverage["runs"] == 0 or (coverage["longest_gap_seconds"] or 0.0) > longest


def has_missed_sla(day: Row) -> bool | None:
    """Returns whether a group missed its SLA in any known minute; None: no SLA, or not known."""
    return None if day["sla_compliance"] is None else day["sla_compliance"] < SLA_MET


class Rank(IntEnum):
    """The worst that happened to a group on a day; 0 is the worst of all."""

    LOST, AT_RISK, ERROR, SLA, WARNED, GONE, UNKNOWN, CALM = range(8)


@dataclass(frozen=True, slots=True)
class GroupRank:
    """A group's rank, and an amount to sort by within the rank.

    `amount` depends on the rank: lost records, seconds left, or minutes; None if it is unknown.
    """

    rank: Rank
    amount: float | None = None

    @property
    def within(self) -> float:
        """Returns the sort key within the rank: most lost, least time left, or longest first."""
        if self.rank == Rank.AT_RISK:
            return float("inf") if self.amount is None else self.amount
        return -(self.amount or 0.0)


def rank_group(day: Row, risk: TopicRisk | None) -> GroupRank:
    """Returns the worst that happened to a group.

    `risk` is its worst topic at risk, if it has one.
    """
    if day["records_lost"] or (risk and risk.partitions_lost):
        lost = day["records_lost"] or (risk.records_lost if risk else None)
        # LOST with 0 records means that their number is unknown
        return GroupRank(Rank.LOST, lost or None)
    if risk and risk.partitions_at_risk:
        return GroupRank(Rank.AT_RISK, risk.seconds_left)
    if day["err_minutes"]:
        return GroupRank(Rank.ERROR, day["err_minutes"])
    if has_missed_sla(day):
        missed = (day["sla_minutes"] or 0.0) - (day["sla_met_minutes"] or 0.0)
        return GroupRank(Rank.SLA, max(0.0, missed))
    if day["warn_minutes"]:
        return GroupRank(Rank.WARNED, day["warn_minutes"])
    if day["gone"]:
        return GroupRank(Rank.GONE)
    return GroupRank(Rank.CALM if day["known_minutes"] else Rank.UNKNOWN)


def sort_worst_first(groups: Iterable[Row], risks: Mapping[str, TopicRisk]) -> tuple[Row, ...]:
    """Returns the groups by rank, then by their largest time lag, then by name."""

    def key(day: Row) -> tuple[int, float, float, str]:
        stands = rank_group(day, risks.get(day["consumer_group"]))
        return stands.rank, stands.within, -(day["time_lag_max"] or 0.0), day["consumer_group"]

    return tuple(sorted(groups, key=key))


def find_worst_topics(risks: Iterable[TopicRisk]) -> dict[str, TopicRisk]:
    """Returns the first topic of each group, by group; `risks` must be worst first."""
    return {risk.group: risk for risk in reversed(tuple(risks))}


def cut_before_first_run(coverage: Row, day: date) -> Row:
    """Returns the coverage of the collector's first day, without the time before its first run.

    The longest gap becomes None if it was the time before the first run, unless all missing runs
    are after the last run: the report holds only one gap.
    """
    first, last, interval = (coverage[n] for n in ("first_run", "last_run", "interval_seconds"))
    if first is None or last is None or not interval:
        return coverage
    midnight = datetime.combine(day, time(), UTC)
    end = last + timedelta(seconds=interval) if coverage["in_progress"] else midnight + _DAY
    expected = round((end - first).total_seconds() / interval)
    longest = coverage["longest_gap_seconds"]
    if longest is not None and longest <= (first - midnight).total_seconds():
        after = (end - last).total_seconds()
        missing = expected - (coverage["runs"] or 0)
        longest = max(after, interval) if missing <= round(after / interval) - 1 else None
    return {**coverage, "expected_runs": expected, "longest_gap_seconds": longest}


_DAY = timedelta(days=1)


def _order_gap(coverage: Row) -> tuple[float, float]:
    share = compute_share_of_runs(coverage)
    return 1.0 if share is None else share, -(coverage["longest_gap_seconds"] or 0.0)
