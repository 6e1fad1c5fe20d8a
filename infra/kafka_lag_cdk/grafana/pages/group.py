# SPDX-License-Identifier: Apache-2.0
"""One group: how it is now, how it came to that, and which topic and partition is to blame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_lag_cdk.grafana import panels
from kafka_lag_cdk.grafana.measures import Measure, Source
from kafka_lag_cdk.grafana.model import Json, Page, Panel, Row
from kafka_lag_cdk.grafana.pages.uids import GROUP, uid_of

_DAY = 86_400.0

_NOW = (
    ("Lag", Measure.LAG, panels.RECORDS, ()),
    ("Time lag", Measure.TIME_LAG, panels.SECONDS, ()),
    ("Until data loss", Measure.TIME_TO_DATA_LOSS, panels.SECONDS, ()),
    ("Members", Measure.MEMBERS, panels.RECORDS, ()),
    ("Records lost", Measure.RECORDS_LOST, panels.RECORDS, ((1.0, panels.RED),)),
)
# Title, unit, what is drawn by the word for it, and what to know of it.
_PAST = (
    (
        "Lag",
        panels.RECORDS,
        {Measure.LAG: "lag", Measure.SCALING_LAG: "what more tasks could do"},
        "",
    ),
    (
        "Time lag",
        panels.SECONDS,
        {
            Measure.TIME_LAG: "age of the oldest unread record",
            Measure.TIME_LAG_ERROR: "error",
            Measure.PROMISED: "promised",
        },
        "",
    ),
    (
        "Produced and consumed",
        panels.PER_SECOND,
        {Measure.PRODUCED: "produced", Measure.CONSUMED: "consumed"},
        "Records a second, smoothed over five minutes.",
    ),
    (
        "Time to drain",
        panels.SECONDS,
        {Measure.DRAIN_TIME: "at the present rates"},
        "None where the lag is not being worked off.",
    ),
    (
        "Members",
        panels.RECORDS,
        {Measure.MEMBERS: "members"},
        "",
    ),
    (
        "Rebalancing",
        panels.RECORDS,
        {Measure.REBALANCING: "rebalancing"},
        "1 while partitions are being assigned.",
    ),
)
# What to know of a line where it is drawn.
_OF_LINES = {Measure.TIME_LAG_ERROR: "Without an error the true age is at least the one told."}
_FINER = {
    "Topics": (Measure.TOPIC_LAG, Measure.TOPIC_TIME_LAG),
    "Partitions": (Measure.PARTITION_LAG, Measure.PARTITION_TIME_LAG),
}


def group_detail(source: Source) -> Page:
    """Panels for which the source has no query are left out."""
    return Page(
        uid=uid_of(GROUP, source.kind),
        title=f"Kafka lag: one group ({source.title})",
        description="One consumer group, its topics and its partitions.",
        source=source.kind,
        variables=source.variables(many=False),
        rows=[
            Row("Now", list(_now(source))),
            Row("So far", list(_past(source))),
            *(Row(title, list(_finer(source, *rest))) for title, rest in _FINER.items()),
        ],
    )


def _now(source: Source) -> Iterator[Panel]:
    yield panels.number("Status", _one(source, Measure.STATUS), status=True)
    for title, measure, unit, marks in _NOW:
        if targets := _one(source, measure):
            safe = measure is Measure.TIME_TO_DATA_LOSS
            yield panels.number(title, targets, unit=unit, marks=marks, safe=safe)


def _past(source: Source) -> Iterator[Panel]:
    yield panels.states("Status", _one(source, Measure.STATUS, "status"))
    for title, unit, measures, told in _PAST:
        targets = [target for each in measures.items() for target in _one(source, *each)]
        if targets:
            known = " ".join(filter(None, (told, *_known(source, measures))))
            yield panels.lines(title, targets, unit=unit, description=known)
    yield panels.lines(
        "Time until unread records are deleted",
        _one(source, Measure.TIME_TO_DATA_LOSS, "until data loss"),
        unit=panels.SECONDS,
        description="By retention. 30 days stand for no risk and are beyond this scale.",
        most=2 * _DAY,
        safe=True,
    )


def _known(source: Source, measures: Iterable[Measure]) -> Iterator[str]:
    """What to know of these lines, as far as the source has them."""
    for measure in measures:
        if _one(source, measure):
            yield _OF_LINES.get(measure, "")
            yield source.needs(measure)


def _finer(source: Source, lag: Measure, age: Measure) -> Iterator[Panel]:
    yield panels.lines("Lag", _one(source, lag), description=source.needs(lag))
    yield panels.lines(
        "Time lag", _one(source, age), unit=panels.SECONDS, description=source.needs(age)
    )


def _one(source: Source, measure: Measure, legend: str | None = None) -> list[Json]:
    return source.queries(measure, many=False, legend=legend)
