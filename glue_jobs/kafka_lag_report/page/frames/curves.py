# SPDX-License-Identifier: Apache-2.0
"""A day of the few worst groups, slot by slot, from the `groups` snapshots: one job for all."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import pairwise

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as sf

from kafka_lag_report.page.frames.worst import seconds
from kafka_lag_report.page.model import Curve, Peak, Stretch

DAY_MINUTES = 1440
LEAST_SLOT = 5
WORDS = ("OK", "WARN", "ERR")


def curves(
    groups: DataFrame, names: Sequence[str], day: date, interval: float, until: int
) -> dict[str, Curve]:
    """The curves of these groups; `interval` seconds between runs, nothing known after `until`.

    A row that was not read is a gap in the curve and an unknown minute, never a zero.
    """
    if not names:
        return {}
    slot = slot_minutes(interval)
    found: dict[str, dict[int, Row]] = {}
    for row in _slots(groups, names, day, slot).collect():
        found.setdefault(row["consumer_group"], {})[row["slot"]] = row
    hold = math.ceil(2 * interval / 60)
    return {name: _curve(slots, slot, hold, until) for name, slots in found.items()}


def slot_minutes(interval: float) -> int:
    """Minutes a point of the curve stands for: five, or as many as lie between two runs."""
    return max(LEAST_SLOT, math.ceil(interval / 60))


def stretches(
    statuses: Mapping[int, str | None], hold: int, until: int = DAY_MINUTES
) -> tuple[Stretch, ...]:
    """Statuses by minute as runs; one stands until the next, for `hold` minutes at most."""
    minutes: list[str | None] = [None] * until
    starts = sorted(start for start in statuses if start < until)
    for start, after in pairwise([*starts, until]):
        end = min(after, start + hold)
        minutes[start:end] = [statuses[start]] * (end - start)
    merged: list[Stretch] = []
    for minute, status in enumerate(minutes):
        if merged and merged[-1].status == status:
            merged[-1] = Stretch(merged[-1].start, merged[-1].minutes + 1, status)
        else:
            merged.append(Stretch(minute, 1, status))
    return tuple(merged)


def _slots(groups: DataFrame, names: Sequence[str], day: date, slot: int) -> DataFrame:
    """A row a group and slot: greatest time lag, who was worst then, and (minute, status) pairs."""
    midnight = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
    minute = sf.floor((seconds("taken_at") - midnight) / 60).cast("int")
    read = sf.col("unread_reason").isNull()
    lag = sf.when(read, sf.col("time_lag_seconds"))
    status = sf.when(read & sf.col("status").isin(*WORDS), sf.col("status"))
    culprit = sf.struct("minute", "worst_topic", "worst_partition", "worst_leader", "worst_member")
    return (
        groups.where(sf.col("consumer_group").isin(*names))
        .withColumns({"minute": minute, "lag": lag, "word": status})
        .where(sf.col("minute").between(0, DAY_MINUTES - 1))
        .groupBy("consumer_group", sf.floor(sf.col("minute") / slot).cast("int").alias("slot"))
        .agg(
            sf.max("lag").alias("lag"),
            sf.max_by(culprit, "lag").alias("culprit"),
            sf.collect_list(sf.struct("minute", "word")).alias("words"),
        )
    )


def _curve(slots: Mapping[int, Row], slot: int, hold: int, until: int) -> Curve:
    lags = {number: row["lag"] for number, row in slots.items()}
    words = {
        pair["minute"]: pair["word"]
        for row in slots.values()
        for pair in sorted(row["words"], key=lambda pair: WORDS.index(pair["word"] or "OK"))
    }
    return Curve(
        slot_minutes=slot,
        seconds=tuple(lags.get(number) for number in range(-(-DAY_MINUTES // slot))),
        statuses=stretches(words, hold, until),
        peak=_peak(list(slots.values())),
    )


def _peak(slots: Sequence[Row]) -> Peak | None:
    known = [row for row in slots if row["lag"]]
    if not known:
        return None
    top = max(known, key=lambda row: (row["lag"], -row["slot"]))
    who = top["culprit"]
    return Peak(
        minute=who["minute"],
        seconds=top["lag"],
        topic=who["worst_topic"],
        partition=who["worst_partition"],
        leader=who["worst_leader"],
        member=who["worst_member"],
    )
