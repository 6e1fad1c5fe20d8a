# SPDX-License-Identifier: Apache-2.0
"""Rows of the reports as findings, by their keys."""

from collections import defaultdict
from collections.abc import Iterable

from pyspark.sql import Row

from kafka_lag_report.summary.cause import Cause
from kafka_lag_report.summary.findings import (
    Broker,
    Coverage,
    Group,
    GroupDay,
    Heat,
    Hour,
    Risk,
    Skew,
    Topic,
    Unusual,
)


def risks(rows: Iterable[Row]) -> dict[Topic, Risk]:
    """Of rows added up by topic."""
    return {
        _topic(row): Risk(
            lost=row["lost"],
            at_risk=row["at_risk"],
            records_lost=row["records_lost"] or 0,
            least_seconds_until_loss=row["least_seconds_until_loss"],
        )
        for row in rows
    }


def skews(rows: Iterable[Row]) -> dict[Topic, Skew]:
    """Of `partition_skew`, where it is known whether lag is skewed."""
    return {
        _topic(row): Skew(
            skewed=row["lag_skewed"], max_to_mean=row["lag_max_to_mean"], cause=cause(row)
        )
        for row in rows
    }


def cause(row: Row) -> Cause | None:
    """The cause that a row of `partition_skew` names, if any."""
    if row["cause"] is None:
        return None
    return Cause(
        kind=row["cause"],
        partitions=tuple(row["cause_partitions"] or ()),
        leader=row["cause_leader"],
        client_id=row["cause_client_id"],
        client_host=row["cause_client_host"],
    )


def groups(rows: Iterable[Row]) -> dict[Group, GroupDay]:
    """Of the groups' own rows of `lag_summary`."""
    return {
        Group(row["cluster"], row["consumer_group"]): GroupDay(
            sla_compliance=row["sla_compliance"],
            err_minutes=row["err_minutes"],
            gone=bool(row["gone"]),
        )
        for row in rows
    }


def brokers(rows: Iterable[Row]) -> dict[Broker, Heat]:
    """Of `broker_hotspots`."""
    return {
        Broker(row["cluster"], row["leader"], row["leader_rack"]): Heat(
            hot=row["hot"], lag_share=row["lag_share"], partitions_share=row["partitions_share"]
        )
        for row in rows
    }


def unusual(rows: Iterable[Row]) -> dict[Hour, Unusual]:
    """Of `anomalies`."""
    return {
        Hour(row["cluster"], row["consumer_group"], row["measure"], row["hour"]): Unusual(
            value=row["value"], usual=row["usual"], deviation=row["deviation"]
        )
        for row in rows
    }


def coverage(rows: Iterable[Row]) -> dict[str, dict[str, Coverage]]:
    """Of `coverage`."""
    found: dict[str, dict[str, Coverage]] = defaultdict(dict)
    for row in rows:
        found[row["cluster"]][row["dataset"]] = Coverage(
            runs=row["runs"] or 0,
            skipped=row["objects_skipped"] or 0,
            interval_seconds=row["interval_seconds"],
            longest_gap_seconds=row["longest_gap_seconds"],
            in_progress=bool(row["in_progress"]),
        )
    return dict(found)


def _topic(row: Row) -> Topic:
    return Topic(row["cluster"], row["consumer_group"], row["topic"])
