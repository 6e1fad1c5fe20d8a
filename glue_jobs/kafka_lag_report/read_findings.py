# SPDX-License-Identifier: Apache-2.0
"""A day's findings out of its report frames: a bounded collect a report, for all clusters."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime
from typing import TypeVar

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as sf

from kafka_lag.contract import AT_RISK, LOST
from kafka_lag_report.findings import (
    NO_LOSS,
    STOPPED,
    Broker,
    Consumer,
    Coverage,
    Findings,
    GroupDay,
    GroupTopic,
    Limits,
    Listed,
    TopicRisk,
    TopicSkew,
    UnusualHour,
    since_first_run,
    worst_first,
    worst_topics,
)

Reports = Mapping[str, DataFrame]
T = TypeVar("T")

_TOPIC = ("cluster", "consumer_group", "topic")
_GROUP_COLUMNS = tuple(each.name for each in fields(GroupDay) if each.name != "group")


@dataclass(frozen=True, slots=True)
class _Worst:
    """A cluster's worst rows of `total`, and topics looked up that are no finding any more."""

    rows: Sequence[Row] = ()
    total: int = 0
    settled: frozenset[GroupTopic] = field(default_factory=frozenset)

    def listed(self, made: Callable[[Row], T]) -> Listed[T]:
        return Listed(tuple(made(row) for row in self.rows), self.total)


_NONE = _Worst()


def read_findings(
    reports: Reports,
    day: date,
    *,
    first_days: Collection[str] = (),
    previous: Mapping[str, Findings] | None = None,
    limits: Limits | None = None,
) -> dict[str, Findings]:
    """The findings by cluster, of each that `coverage` knows.

    `reports` by name with a `cluster` column. `first_days` are clusters without an earlier report.
    What was a finding in `previous` is looked up as well, to tell what is over from what is
    unknown.
    """
    limits, eve = limits or Limits(), (previous or {}).items()
    at_risk = [(cluster, *each.key) for cluster, found in eve for each in found.risks.rows]
    skewed = [(cluster, *each.key) for cluster, found in eve for each in found.skews.rows]
    coverage = _read_coverage(reports["coverage"])
    risks = _worst_risks(reports["retention_risk"], at_risk, limits.topics)
    skews = _worst_skews(
        reports["partition_skew"], reports["consumer_hotspots"], skewed, limits.topics
    )
    groups = _worst_groups(reports["lag_summary"], limits.groups)
    brokers = _worst_brokers(reports["broker_hotspots"], limits.rows)
    consumers = _worst_consumers(reports["consumer_hotspots"], limits.rows)
    hours = _worst_hours(reports["anomalies"], limits.rows)

    def of(cluster: str) -> Findings:
        lost, days = risks.get(cluster, _NONE), groups.get(cluster, _NONE).listed(_group)
        uneven, topics = skews.get(cluster, _NONE), lost.listed(_risk)
        return Findings(
            cluster=cluster,
            day=day,
            groups=Listed(worst_first(days.rows, worst_topics(topics.rows)), days.total),
            risks=topics,
            skews=uneven.listed(_skew),
            brokers=brokers.get(cluster, _NONE).listed(_broker),
            consumers=consumers.get(cluster, _NONE).listed(_consumer),
            unusual=hours.get(cluster, _NONE).listed(_hour),
            coverage=tuple(
                since_first_run(dataset, day) if cluster in first_days else dataset
                for dataset in coverage[cluster]
            ),
            safe=lost.settled,
            even=uneven.settled,
        )

    return {cluster: of(cluster) for cluster in coverage}


def unix_seconds(column: str) -> Column:
    """A timestamp as seconds of the epoch: Python would read it in the machine's own zone."""
    return sf.unix_seconds(column)


def utc_time(seconds: int | None) -> datetime | None:
    """Those seconds as an aware time."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _worst(frame: DataFrame, order: Sequence[Column | str], limit: int) -> dict[str, _Worst]:
    """Of each cluster at most `limit` rows in this order, and how many there are.

    Of a frame with `found` only those count, and the others are settled, however many.
    """
    frame = frame if "found" in frame.columns else frame.withColumn("found", sf.lit(True))
    cluster = Window.partitionBy("cluster")
    ranked = frame.withColumns(
        {
            "place": sf.row_number().over(cluster.orderBy(sf.desc("found"), *order)),
            "total": sf.count_if("found").over(cluster),
        }
    )
    rows: dict[str, list[Row]] = defaultdict(list)
    settled: dict[str, set[GroupTopic]] = defaultdict(set)
    for row in ranked.where((sf.col("place") <= limit) | ~sf.col("found")).collect():
        if row["found"]:
            rows[row["cluster"]].append(row)
        else:
            settled[row["cluster"]].add((row["consumer_group"], row["topic"]))
    return {
        name: _Worst(
            rows=sorted(rows[name], key=lambda row: int(row["place"])),
            total=rows[name][0]["total"] if rows[name] else 0,
            settled=frozenset(settled[name]),
        )
        for name in rows.keys() | settled.keys()
    }


def _found_or(known: DataFrame, watched: Sequence[tuple[str, str, str]]) -> DataFrame:
    """Rows that are `found`, and of those that are not the `watched` topics."""
    if not watched:
        return known.where("found")
    topics = known.sparkSession.createDataFrame(list(watched), list(_TOPIC))
    marked = topics.distinct().withColumn("watched", sf.lit(True))
    return known.join(sf.broadcast(marked), list(_TOPIC), "left").where("found OR watched")


def _read_coverage(coverage: DataFrame) -> dict[str, list[Coverage]]:
    """By cluster, the datasets by name."""
    times = {name: unix_seconds(name) for name in ("first_run", "last_run")}
    datasets: dict[str, list[Coverage]] = defaultdict(list)
    for row in coverage.withColumns(times).orderBy("cluster", "dataset").collect():
        datasets[row["cluster"]].append(
            Coverage(
                dataset=row["dataset"],
                runs=row["runs"],
                expected_runs=row["expected_runs"],
                objects=row["objects"],
                objects_skipped=row["objects_skipped"],
                skipped=row["skipped"],
                first_run=utc_time(row["first_run"]),
                last_run=utc_time(row["last_run"]),
                interval=row["interval_seconds"],
                longest_gap=row["longest_gap_seconds"],
                in_progress=row["in_progress"],
                source=row["source"],
            )
        )
    return datasets


def _worst_groups(lag_summary: DataFrame, limit: int) -> dict[str, _Worst]:
    """The groups' own rows; of more than `limit` those that lost, erred or missed most."""
    own = lag_summary.where(sf.col("topic").isNull())
    missed = sf.col("sla_minutes") - sf.col("sla_met_minutes")
    order = (
        sf.col("records_lost").desc_nulls_last(),
        sf.col("err_minutes").desc_nulls_last(),
        missed.desc_nulls_last(),
        sf.col("warn_minutes").desc_nulls_last(),
        sf.col("time_lag_max").desc_nulls_last(),
        "consumer_group",
    )
    return _worst(own.select("cluster", "consumer_group", *_GROUP_COLUMNS), order, limit)


def _group(row: Row) -> GroupDay:
    return GroupDay(row["consumer_group"], *(row[name] for name in _GROUP_COLUMNS))


def _worst_risks(
    retention_risk: DataFrame, watched: Sequence[tuple[str, str, str]], limit: int
) -> dict[str, _Worst]:
    """Lost records first, then the least time left; partitions that are safe add nothing."""
    risk = sf.col("retention_risk")
    lost, near = risk == LOST, risk == AT_RISK
    # Of a partition that already lost records the time left says nothing more.
    soon = near & (sf.col("least_seconds_until_loss") < NO_LOSS)
    left = sf.when(soon, sf.col("least_seconds_until_loss"))
    at = unix_seconds("least_seconds_until_loss_at")
    found = lost | near
    topics = retention_risk.groupBy(*_TOPIC).agg(
        sf.count_if(lost).alias("lost"),
        sf.count_if(near).alias("at_risk"),
        sf.sum("records_lost").alias("records_lost"),
        sf.min(left).alias("left"),
        sf.min_by(sf.struct("partition_id", at.alias("at")), left).alias("soonest"),
        sf.min_by("partition_id", sf.when(near, sf.col("least_margin"))).alias("nearest"),
        sf.min(sf.when(found, sf.col("least_margin"))).alias("margin"),
        sf.min(sf.when(found, sf.col("retention_seconds"))).alias("retention"),
        sf.max(sf.when(found, sf.col("retention_needed_seconds"))).alias("needed"),
        sf.bool_or(sf.when(found, sf.col("retention_unlimited"))).alias("unlimited"),
        sf.count("retention_risk").alias("known"),
    )
    order = (
        (sf.col("lost") > 0).desc(),
        sf.col("records_lost").desc_nulls_last(),
        sf.col("left").asc_nulls_last(),
        sf.col("margin").asc_nulls_last(),
        *("consumer_group", "topic"),
    )
    known = topics.where("known > 0").withColumn("found", sf.expr("lost + at_risk > 0"))
    return _worst(_found_or(known, watched), order, limit)


def _risk(row: Row) -> TopicRisk:
    soonest = row["soonest"]
    return TopicRisk(
        group=row["consumer_group"],
        topic=row["topic"],
        partitions_lost=row["lost"],
        partitions_at_risk=row["at_risk"],
        records_lost=row["records_lost"],
        worst_partition=soonest["partition_id"] if soonest else row["nearest"],
        seconds_left=row["left"],
        seconds_left_at=utc_time(soonest["at"]) if soonest else None,
        least_margin=row["margin"],
        retention=row["retention"],
        retention_needed=row["needed"],
        unlimited=row["unlimited"],
    )


def _worst_skews(
    partition_skew: DataFrame,
    consumer_hotspots: DataFrame,
    watched: Sequence[tuple[str, str, str]],
    limit: int,
) -> dict[str, _Worst]:
    """Lag skew before production skew, the most records over an even share first."""
    stopped = (
        consumer_hotspots.groupBy("cluster", "consumer_group")
        .agg(sf.count("member_id").alias("owned"), sf.sum("consumed").alias("consumed"))
        .where("owned = 0 AND consumed = 0")
        .select("cluster", "consumer_group", sf.lit(True).alias("stopped"))
    )
    of_stopped = sf.when(sf.col("stopped") & sf.col("lag_skewed"), STOPPED)
    lag, made = (sf.coalesce(name, sf.lit(False)) for name in ("lag_skewed", "production_skewed"))
    known = (
        partition_skew.join(sf.broadcast(stopped), ["cluster", "consumer_group"], "left")
        .withColumn("cause", sf.coalesce(of_stopped, "cause"))
        .withColumn("found", lag | made)
        .where(sf.col("found") | sf.col("lag_skewed").isNotNull())
    )
    order = (
        lag.desc(),
        (sf.col("lag_max") - sf.col("lag_mean")).desc_nulls_last(),
        (sf.col("production_max") - sf.col("production_mean")).desc_nulls_last(),
        *("consumer_group", "topic"),
    )
    return _worst(_found_or(known, watched), order, limit)


def _skew(row: Row) -> TopicSkew:
    return TopicSkew(
        group=row["consumer_group"],
        topic=row["topic"],
        lag_skewed=bool(row["lag_skewed"]),
        production_skewed=bool(row["production_skewed"]),
        partitions=row["lag_partitions"],
        mean=row["lag_mean"],
        max_to_mean=row["lag_max_to_mean"],
        top_partition=row["lag_top_partition"],
        top_share=row["lag_top_share"],
        even_share=row["lag_even_share"],
        skewed_minutes=row["lag_skewed_minutes"],
        made_top_partition=row["production_top_partition"],
        made_top_share=row["production_top_share"],
        made_even_share=row["production_even_share"],
        cause=row["cause"],
        cause_partitions=tuple(row["cause_partitions"] or ()),
        cause_leader=row["cause_leader"],
        cause_member=row["cause_member"],
        cause_client=row["cause_client_id"],
        cause_host=row["cause_client_host"],
    )


def _worst_brokers(broker_hotspots: DataFrame, limit: int) -> dict[str, _Worst]:
    """All brokers, hot ones and then those with most lag first."""
    order = (
        sf.coalesce("hot", sf.lit(False)).desc(),
        sf.col("lag_share").desc_nulls_last(),
        sf.col("leader").asc_nulls_last(),
        "leader_rack",
    )
    return _worst(broker_hotspots, order, limit)


def _broker(row: Row) -> Broker:
    return Broker(
        leader=row["leader"],
        rack=row["leader_rack"],
        partitions_led=row["partitions_led"],
        partitions_share=row["partitions_share"],
        produce_share=row["produce_share"],
        lag_mean=row["lag_mean"],
        lag_share=row["lag_share"],
        lag_to_partitions=row["lag_to_partitions"],
        hot=row["hot"],
    )


def _worst_consumers(consumer_hotspots: DataFrame, limit: int) -> dict[str, _Worst]:
    """Hot consumers only, the one with most records behind first."""
    order = (
        sf.col("lag_mean").desc_nulls_last(),
        *("consumer_group", "client_host", "client_id", "member_id"),
    )
    return _worst(consumer_hotspots.where("hot"), order, limit)


def _consumer(row: Row) -> Consumer:
    return Consumer(
        group=row["consumer_group"],
        host=row["client_host"],
        client=row["client_id"],
        member=row["member_id"],
        partitions_owned=row["partitions_owned"],
        partitions_share=row["partitions_share"],
        lag_mean=row["lag_mean"],
        lag_share=row["lag_share"],
        lag_to_partitions=row["lag_to_partitions"],
    )


def _worst_hours(anomalies: DataFrame, limit: int) -> dict[str, _Worst]:
    """The furthest from its usual first."""
    order = (sf.abs("deviation").desc_nulls_last(), "consumer_group", "measure", "hour")
    return _worst(anomalies, order, limit)


def _hour(row: Row) -> UnusualHour:
    return UnusualHour(
        group=row["consumer_group"],
        hour=row["hour"],
        measure=row["measure"],
        value=row["value"],
        usual=row["usual"],
        deviation=row["deviation"],
        direction=row["direction"],
        days=row["days"],
    )
