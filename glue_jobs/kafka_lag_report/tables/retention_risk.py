# SPDX-License-Identifier: Apache-2.0
"""Which partitions lost unread records, or came near it, when, and what had helped."""

from datetime import UTC, date, datetime

from pyspark.sql import DataFrame

from kafka_lag.contract import AT_RISK, LOST, SAFE
from kafka_lag_report.aggregates import PARTITION, net_rise
from kafka_lag_report.skew import grouped, with_columns

# Aggregates that are the same in one step or in two.
_WORST = {
    **{name: f"max({name})" for name in ("records_lost", "time_lag_max", "dated_max", "last_at")},
    **{name: f"bool_or({name})" for name in ("lost", "at_risk", "safe")},
    "first_at": "min(first_at)",
    # of structs the first field counts first: the least, at the first moment at which it was seen
    "least": "min(least)",
    "soonest": "min(soonest)",
}
_LEAST = {
    "least": "IF(margin IS NULL, NULL, struct(margin, margin_at, lag_at_margin))",
    "soonest": "IF(loss_seconds IS NULL, NULL, struct(loss_seconds, loss_at))",
}
_WORD = (
    f"CASE WHEN records_lost > 0 OR lost THEN '{LOST}'"
    f" WHEN at_risk THEN '{AT_RISK}' WHEN safe THEN '{SAFE}' END"
)
# The age of the oldest record that was unread: the log had to be kept as long. What was lost was
# older than all that is there: by as long as it took to produce. Of a least age nobody knows.
_NEEDED = (
    "IF(time_lag_max <= dated_max, time_lag_max + IF(records_lost > 0,"
    " try_divide(records_lost, try_divide(rise, last_at - first_at)), 0D), NULL)"
)


def retention_risk(segments: DataFrame, topic_segments: DataFrame, day: date) -> DataFrame:
    """One row per group, topic and partition, each value its worst of the day or null.

    `retention_risk` is LOST if any run saw lost records, else the snapshots' worst word, else null:
    a margin in records alone does not say how long it lasts. `least_margin` is in records and
    harmless where `lag_at_least_margin` is 0, as nothing unread was there to lose.
    """
    retention = grouped(
        topic_segments,
        ("topic", "partition_id"),
        {
            "retention_seconds": "max_by(retention_seconds, retention_known_at)",
            "retention_unlimited": "max_by(retention_unlimited, unlimited_known_at)",
        },
    )
    days = _days(segments).join(retention, ["topic", "partition_id"], "left")
    midnight = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
    return days.selectExpr(
        *PARTITION,
        f"{_WORD} AS retention_risk",
        "records_lost",
        "least.margin AS least_margin",
        f"timestamp_seconds(least.margin_at + {midnight}) AS least_margin_at",
        "least.lag_at_margin AS lag_at_least_margin",
        "soonest.loss_seconds AS least_seconds_until_loss",
        f"timestamp_seconds(soonest.loss_at + {midnight}) AS least_seconds_until_loss_at",
        "retention_seconds",
        f"{_NEEDED} AS retention_needed_seconds",
        "retention_unlimited",
    )


def _days(segments: DataFrame) -> DataFrame:
    """The worst of a partition's segments; `rise` is by how much its end rose in the day."""
    rows = with_columns(segments, _LEAST)
    by_id = grouped(rows, (*PARTITION, "topic_id"), {**_WORST, "rise": net_rise("end", "ends")})
    return grouped(by_id, PARTITION, {**_WORST, "rise": "sum(rise)"})
