# SPDX-License-Identifier: Apache-2.0
"""Reads a cluster's findings from the report tables of its day.

Filters on Arrow columns select the rows that matter before they become Python objects. The largest
table has a row for each partition of a group; only topics with a finding are read from it row by
row.
"""

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from kafka_lag.contract import AT_RISK, LOST
from kafka_lag_report.findings import (
    STOPPED,
    Coverage,
    Findings,
    GroupDay,
    GroupTopic,
    Limits,
    Listed,
    TopicRisk,
    TopicSkew,
    cut_before_first_run,
    find_worst_topics,
    sort_worst_first,
)
from kafka_lag_report.incident import TABLE, from_table
from kafka_lag_report.schemas import Row, read_value
from kafka_lag_report.thresholds import NO_LOSS

# A sort key; the smallest comes first.
Order = tuple[float | str, ...]
T = TypeVar("T")

_TOPIC = ("consumer_group", "topic")
_RISK_COLUMNS = (
    *_TOPIC,
    "partition_id",
    "retention_risk",
    "records_lost",
    "least_seconds_until_loss",
    "least_seconds_until_loss_at",
    "least_margin",
    "least_margin_at",
    "lag_at_least_margin",
    "retention_seconds",
    "retention_needed_seconds",
    "retention_unlimited",
)


def read_findings(
    cluster: str,
    day: date,
    reports: Mapping[str, pa.Table],
    *,
    first_day: bool = False,
    limits: Limits | None = None,
) -> Findings | None:
    """Returns the cluster's findings.

    Null if `coverage` has no rows, so that the day has no report. `reports` are tables by name.
    `first_day` means that no earlier day has a report. The table `incidents` may be missing: an
    older release reported the day, or the incidents are not found yet.
    """
    coverage = sorted(
        map(_read_coverage, _list_rows(reports["coverage"])), key=lambda each: each.dataset
    )
    if not coverage:
        return None
    limits = limits or Limits()
    risks = _find_risks(reports["retention_risk"])
    skews = _find_skews(reports["partition_skew"])
    stopped = _find_stopped_groups(reports["consumer_hotspots"])
    own = reports["lag_summary"].filter(pc.field("topic").is_null())
    hot = reports["consumer_hotspots"].filter(pc.field("hot"))
    first_risks = tuple(heapq.nsmallest(limits.topics, risks, key=_order_risk))
    groups = _select_worst(_list_rows(own), _order_group, limits.groups).map(
        partial(read_value, GroupDay)
    )
    return Findings(
        cluster=cluster,
        day=day,
        groups=Listed(sort_worst_first(groups.rows, find_worst_topics(first_risks)), groups.total),
        risks=Listed(first_risks, len(risks)),
        skews=_select_worst(skews, _order_skew, limits.topics).map(partial(_make_skew, stopped)),
        brokers=_select_worst(_list_rows(reports["broker_hotspots"]), _order_broker, limits.rows),
        consumers=_select_worst(_list_rows(hot), _order_consumer, limits.rows),
        tasks=_read_tasks(reports["tasks_needed"], limits.rows),
        objectives=_select_worst(_list_rows(reports["slo"]), _order_objective, limits.rows),
        unusual=_select_worst(_list_rows(reports["anomalies"]), _order_hour, limits.hours),
        coverage=tuple(cut_before_first_run(each, day) if first_day else each for each in coverage),
        incidents=from_table(reports[TABLE]) if TABLE in reports else (),
    )


def _list_rows(table: pa.Table) -> list[Row]:
    rows: list[Row] = table.to_pylist()
    return rows


def _select_worst(rows: Sequence[Row], order: Callable[[Row], Order], limit: int) -> Listed[Row]:
    """Returns the first `limit` rows in this order, and the number of all rows."""
    return Listed(tuple(heapq.nsmallest(limit, rows, key=order)), len(rows))


def _order_falling(value: float | None) -> tuple[bool, float]:
    """Returns a sort key that puts the largest value first and an unknown one last."""
    return value is None, -(value or 0)


def _order_rising(value: float | None) -> tuple[bool, float]:
    """Returns a sort key that puts the smallest value first and an unknown one last."""
    return value is None, value or 0


def _read_key(row: Row) -> GroupTopic:
    return row["consumer_group"], row["topic"]


def _read_coverage(row: Row) -> Coverage:
    first, last = (_cut_to_second(row[name]) for name in ("first_run", "last_run"))
    return read_value(Coverage, row, first_run=first, last_run=last)


def _cut_to_second(time: datetime | None) -> datetime | None:
    """Returns the time in UTC, cut to whole seconds."""
    return None if time is None else time.astimezone(UTC).replace(microsecond=0)


def _order_group(row: Row) -> Order:
    """Returns the sort key of a group: lost, in error, out of SLA or warned most, then time lag."""
    return (
        *_order_falling(row["records_lost"]),
        *_order_falling(row["err_minutes"]),
        *_order_falling(_subtract(row["sla_minutes"], row["sla_met_minutes"])),
        *_order_falling(row["warn_minutes"]),
        *_order_falling(row["time_lag_max"]),
        row["consumer_group"],
    )


def _find_risks(report: pa.Table) -> list[TopicRisk]:
    """Returns the topics that lost records or came near to it."""
    in_danger = pc.is_in(report["retention_risk"], pa.array([LOST, AT_RISK]))
    found = set(map(_read_key, _list_rows(report.filter(in_danger).select(_TOPIC))))
    by_topic: dict[GroupTopic, list[Row]] = defaultdict(list)
    for row in _list_rows(_select_topics(report.select(_RISK_COLUMNS), found)):
        by_topic[_read_key(row)].append(row)
    return [_make_risk(*key, by_topic[key]) for key in found]


def _select_topics(report: pa.Table, topics: Collection[GroupTopic]) -> pa.Table:
    """Returns the rows of these topics."""
    rows = [dict(zip(_TOPIC, key, strict=True)) for key in topics]
    wanted = pa.Table.from_pylist(rows, pa.schema([(name, pa.string()) for name in _TOPIC]))
    return report.join(wanted, [*_TOPIC], join_type="left semi")


def _order_risk(risk: TopicRisk) -> Order:
    """Returns the sort key of a risk: lost records first, then the shortest time left."""
    return (
        not risk.partitions_lost,
        *_order_falling(risk.records_lost),
        *_order_rising(risk.seconds_left),
        *_order_rising(risk.least_margin),
        *risk.key,
    )


def _make_risk(group: str, topic: str, rows: Sequence[Row]) -> TopicRisk:
    """Returns the risk of a topic from the rows of all its partitions."""
    lost = [row for row in rows if row["retention_risk"] == LOST]
    near = [row for row in rows if row["retention_risk"] == AT_RISK]
    found = lost + near
    # the time left means nothing for a partition that already lost records
    timed = [row for row in near if _read_known(row, "least_seconds_until_loss") < NO_LOSS]
    soonest = _find_least(timed, "least_seconds_until_loss")
    nearest = _find_least(near, "least_margin")
    worst = soonest or nearest
    return TopicRisk(
        group=group,
        topic=topic,
        partitions_lost=len(lost),
        partitions_at_risk=len(near),
        records_lost=_apply_to_known(sum, rows, "records_lost"),
        worst_partition=worst["partition_id"] if worst else None,
        seconds_left=soonest["least_seconds_until_loss"] if soonest else None,
        seconds_left_at=_cut_to_second(soonest["least_seconds_until_loss_at"]) if soonest else None,
        least_margin=_apply_to_known(min, found, "least_margin"),
        retention=_apply_to_known(min, found, "retention_seconds"),
        retention_needed=_apply_to_known(max, found, "retention_needed_seconds"),
        unlimited=_apply_to_known(any, found, "retention_unlimited"),
    )


def _apply_to_known(work: Callable[[list[Any]], T], rows: Sequence[Row], name: str) -> T | None:
    """Returns the result of `work` on the column's known values; null if there are none."""
    known = [row[name] for row in rows if row[name] is not None]
    return work(known) if known else None


def _find_least(rows: Sequence[Row], name: str) -> Row | None:
    """Returns the row with the smallest known value; the lowest partition if several are equal."""
    return min(
        rows, key=lambda row: (_read_known(row, name), row["partition_id"] or 0), default=None
    )


def _read_known(row: Row, name: str) -> float:
    """Returns the value, or infinity if it is null."""
    value: float | None = row[name]
    return math.inf if value is None else value


def _find_skews(report: pa.Table) -> list[Row]:
    """Returns the rows of skewed topics; an unknown production does not count as skewed."""
    lag, production = (pc.field(name) for name in ("lag_skewed", "production_skewed"))
    return _list_rows(report.filter(lag | production))


def _order_skew(row: Row) -> Order:
    """Returns the sort key of a skew: lag before production, then the records above the mean."""
    return (
        not row["lag_skewed"],
        *_order_falling(_subtract(row["lag_max"], row["lag_mean"])),
        *_order_falling(_subtract(row["production_max"], row["production_mean"])),
        *_read_key(row),
    )


def _subtract(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _find_stopped_groups(consumers: pa.Table) -> frozenset[str]:
    """Returns the groups whose partitions had no owner all day, and that consumed nothing."""
    groups = consumers.group_by("consumer_group").aggregate(
        [("member_id", "count"), ("consumed", "sum")]
    )
    nobody = (pc.field("member_id_count") == 0) & (pc.field("consumed_sum") == 0)
    return frozenset(groups.filter(nobody)["consumer_group"].to_pylist())


def _make_skew(stopped: Collection[str], row: Row) -> TopicSkew:
    group_stopped = row["consumer_group"] in stopped
    return read_value(
        TopicSkew,
        row,
        cause=STOPPED if group_stopped and row["lag_skewed"] else row["cause"],
        cause_partitions=tuple(row["cause_partitions"] or ()),
        group_stopped=group_stopped,
    )


def _order_broker(row: Row) -> Order:
    """Returns the sort key of a broker: hot ones first, then the largest share of lag."""
    return (
        not row["hot"],
        *_order_falling(row["lag_share"]),
        *_order_rising(row["leader"]),
        row["leader_rack"] or "",
    )


def _order_consumer(row: Row) -> Order:
    """Returns the sort key of a consumer: the largest mean lag first."""
    names = ("consumer_group", "client_host", "client_id", "member_id")
    return *_order_falling(row["lag_mean"]), *(row[name] or "" for name in names)


def _read_tasks(report: pa.Table, limit: int) -> Listed[Row]:
    """Returns each group's tasks of the whole day, with those of its hours.

    The group that lacked most members comes first.
    """
    hours: dict[str, dict[int, int]] = defaultdict(dict)
    for row in _list_rows(report.filter(pc.field("hour").is_valid())):
        hours[row["consumer_group"]][row["hour"]] = row["upper_quartile"]
    days = _select_worst(_list_rows(report.filter(pc.field("hour").is_null())), _order_tasks, limit)
    return days.map(lambda row: {**row, "hours": hours[row["consumer_group"]]})


def _order_tasks(row: Row) -> Order:
    missing = _subtract(row["median"], row["members"])
    return *_order_falling(missing), *_order_falling(row["most"]), row["consumer_group"]


def _order_objective(row: Row) -> Order:
    """Returns the sort key of an SLO: the smallest share of its budget left first.

    Used up is negative.
    """
    left, budget = row["budget_left_minutes"], row["budget_minutes"]
    return *_order_rising(left / budget if budget else None), row["consumer_group"]


def _order_hour(row: Row) -> Order:
    """Returns the sort key of an unusual hour: the one farthest from its usual value first."""
    deviation = row["deviation"]
    far = None if deviation is None else abs(deviation)
    return *_order_falling(far), row["consumer_group"], row["measure"], row["hour"]
