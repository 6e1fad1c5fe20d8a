# SPDX-License-Identifier: Apache-2.0
"""Reads a cluster's findings from the report tables of its day.

Filters on Arrow columns select the rows that matter before they become Python objects. The largest
table has a row for each partition of a group; only topics with a finding are read from it row by
row.
"""

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
    Findings,
    GroupTopic,
    Limits,
    Listed,
    TopicRisk,
    cut_before_first_run,
    find_worst_topics,
    sort_worst_first,
)
from kafka_lag_report.incident import TABLE, from_table
from kafka_lag_report.schemas import Row
from kafka_lag_report.thresholds import NO_LOSS

# A sort key; the smallest comes first.
Order = tuple[float | str, ...]
T = TypeVar("T")

_TOPIC = ("consumer_group", "topic")
_MEMBER = ("client_host", "client_id", "member_id")
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
        map(_read_coverage, reports["coverage"].to_pylist()), key=lambda each: each["dataset"]
    )
    if not coverage:
        return None
    limits = limits or Limits()
    risks = sorted(_find_risks(reports["retention_risk"]), key=_order_risk)
    first_risks = tuple(risks[: limits.topics])
    stopped = _find_stopped_groups(reports["consumer_hotspots"])
    own = reports["lag_summary"].filter(pc.field("topic").is_null())
    missed = _subtract(own, "sla_minutes", "sla_met_minutes")
    worst = ("-records_lost", "-err_minutes", missed, "-warn_minutes", "-time_lag_max")
    groups = _select_worst(own, limits.groups, *worst, "consumer_group")
    hot = reports["consumer_hotspots"].filter(pc.field("hot"))
    unusual = reports["anomalies"]
    far = pc.abs(unusual["deviation"])
    return Findings(
        cluster=cluster,
        day=day,
        groups=Listed(sort_worst_first(groups.rows, find_worst_topics(first_risks)), groups.total),
        risks=Listed(first_risks, len(risks)),
        skews=_find_skews(reports["partition_skew"], limits.topics).map(
            partial(_make_skew, stopped)
        ),
        brokers=_select_worst(
            reports["broker_hotspots"], limits.rows, "-hot", "-lag_share", "leader", "leader_rack"
        ),
        consumers=_select_worst(hot, limits.rows, "-lag_mean", "consumer_group", *_MEMBER),
        tasks=_read_tasks(reports["tasks_needed"], limits.rows),
        objectives=_list_objectives(reports["slo"], limits.rows),
        unusual=_select_worst(unusual, limits.hours, far, "consumer_group", "measure", "hour"),
        coverage=tuple(cut_before_first_run(each, day) if first_day else each for each in coverage),
        incidents=from_table(reports[TABLE]) if TABLE in reports else (),
    )


def _select_worst(table: pa.Table, limit: int, *order: str | pa.ChunkedArray) -> Listed[Row]:
    """Returns the first `limit` rows in this order, and the number of all rows.

    A column's smallest value comes first; after a minus, and of an array, the largest. Unknown
    values come last.
    """
    columns = {
        str(place): table[key.removeprefix("-")] if isinstance(key, str) else key
        for place, key in enumerate(order)
    }
    keys = [
        (str(place), "descending" if not isinstance(key, str) or key[0] == "-" else "ascending")
        for place, key in enumerate(order)
    ]
    places = pc.sort_indices(pa.table(columns), sort_keys=keys)
    return Listed(tuple(table.take(places[:limit]).to_pylist()), table.num_rows)


def _subtract(table: pa.Table, one: str, other: str) -> pa.ChunkedArray:
    return pc.subtract(table[one], table[other])


def _order_falling(value: float | None) -> tuple[bool, float]:
    """Returns a sort key that puts the largest value first and an unknown one last."""
    return value is None, -(value or 0)


def _order_rising(value: float | None) -> tuple[bool, float]:
    """Returns a sort key that puts the smallest value first and an unknown one last."""
    return value is None, value or 0


def _read_key(row: Row) -> GroupTopic:
    return row["consumer_group"], row["topic"]


def _read_coverage(row: Row) -> Row:
    return {**row, **{name: _cut_to_second(row[name]) for name in ("first_run", "last_run")}}


def _cut_to_second(time: datetime | None) -> datetime | None:
    """Returns the time in UTC, cut to whole seconds."""
    return None if time is None else time.astimezone(UTC).replace(microsecond=0)


def _find_risks(report: pa.Table) -> list[TopicRisk]:
    """Returns the topics that lost records or came near to it."""
    in_danger = pc.is_in(report["retention_risk"], pa.array([LOST, AT_RISK]))
    found = set(map(_read_key, report.filter(in_danger).select(_TOPIC).to_pylist()))
    by_topic: dict[GroupTopic, list[Row]] = defaultdict(list)
    for row in _select_topics(report.select(_RISK_COLUMNS), found).to_pylist():
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


def _find_skews(report: pa.Table, limit: int) -> Listed[Row]:
    """Returns the rows of skewed topics; an unknown production does not count as skewed.

    Skewed lag comes before production, then what has the most records above the mean.
    """
    lag, production = (pc.field(name) for name in ("lag_skewed", "production_skewed"))
    skewed = report.filter(lag | production)
    above = [_subtract(skewed, f"{of}_max", f"{of}_mean") for of in ("lag", "production")]
    return _select_worst(skewed, limit, "-lag_skewed", *above, *_TOPIC)


def _find_stopped_groups(consumers: pa.Table) -> frozenset[str]:
    """Returns the groups whose partitions had no owner all day, and that consumed nothing."""
    groups = consumers.group_by("consumer_group").aggregate(
        [("member_id", "count"), ("consumed", "sum")]
    )
    nobody = (pc.field("member_id_count") == 0) & (pc.field("consumed_sum") == 0)
    return frozenset(groups.filter(nobody)["consumer_group"].to_pylist())


def _make_skew(stopped: Collection[str], row: Row) -> Row:
    group_stopped = row["consumer_group"] in stopped
    cause = STOPPED if group_stopped and row["lag_skewed"] else row["cause"]
    partitions = row["cause_partitions"] or []
    return {**row, "cause": cause, "cause_partitions": partitions, "group_stopped": group_stopped}


def _read_tasks(report: pa.Table, limit: int) -> Listed[Row]:
    """Returns each group's tasks of the whole day, with those of its hours.

    The group that lacked most members comes first.
    """
    hours: dict[str, dict[int, int]] = defaultdict(dict)
    for row in report.filter(pc.field("hour").is_valid()).to_pylist():
        hours[row["consumer_group"]][row["hour"]] = row["upper_quartile"]
    days = report.filter(pc.field("hour").is_null())
    missing = _subtract(days, "median", "members")
    listed = _select_worst(days, limit, missing, "-most", "consumer_group")
    return listed.map(lambda row: {**row, "hours": hours[row["consumer_group"]]})


def _list_objectives(report: pa.Table, limit: int) -> Listed[Row]:
    """Returns the SLOs, the one with the smallest share of its budget left first.

    Used up is negative.
    """
    budget = report["budget_minutes"]
    known = pc.if_else(pc.not_equal(budget, 0.0), budget, None)
    used = pc.negate(pc.divide(report["budget_left_minutes"], known))
    return _select_worst(report, limit, used, "consumer_group")
