# SPDX-License-Identifier: Apache-2.0
"""All clusters and groups: who is ill, how far behind, and whether that can be believed."""

from __future__ import annotations

from kafka_lag import contract
from kafka_lag_cdk.grafana import panels
from kafka_lag_cdk.grafana.measures import Measure, Source
from kafka_lag_cdk.grafana.model import Json, Page, Panel, Row
from kafka_lag_cdk.grafana.pages.uids import GROUP, OVERVIEW, uid_of
from kafka_lag_cdk.grafana.variables import CLUSTER

# A collector runs each minute, unless told otherwise; a snapshot this old has missed some.
_LATE, _SILENT = 180.0, 600.0
_DAY = 86_400.0


def overview(source: Source) -> Page:
    """Panels for which the source has no query are left out."""
    return Page(
        uid=uid_of(OVERVIEW, source.kind),
        title=f"Kafka lag: clusters ({source.title})",
        description="Consumer groups of all clusters, worst first, and the reporter's own health.",
        source=source.kind,
        variables=source.variables(many=True),
        rows=[
            Row("Clusters", _clusters(source)),
            Row("Groups", _groups(source)),
            Row("The reporter", _reporter(source)),
        ],
    )


def _clusters(source: Source) -> list[Panel]:
    found = []
    if targets := _of(source, Measure.GROUPS_IN_ERR):
        red = [(1.0, panels.RED)]
        found.append(panels.number("Groups in ERR", targets, width=panels.THIRD, marks=red))
    if targets := _of(source, Measure.GROUPS_IN_WARN):
        yellow = [(1.0, panels.YELLOW)]
        found.append(panels.number("Groups in WARN", targets, width=panels.THIRD, marks=yellow))
    if targets := _of(source, Measure.GROUPS_COUNTED):
        found.append(_counted(targets))
    if targets := _of(source, Measure.SNAPSHOT_AGE):
        told = "How old the newest snapshot is: what all else here is read from."
        found.append(
            panels.number(
                "Age of the snapshot",
                targets,
                unit=panels.SECONDS,
                width=panels.THIRD,
                description=told,
                marks=[(_LATE, panels.YELLOW), (_SILENT, panels.RED)],
            )
        )
    if targets := _of(source, Measure.SUCCESS):
        told = "1 for each run that succeeded. Nothing for a while: nothing here can be believed."
        found.append(
            panels.lines("Successful runs", targets, description=told, most=1, width=panels.HALF)
        )
    if targets := _of(source, Measure.GROUPS_READ):
        found.append(panels.lines("Groups read", targets, width=panels.HALF))
    return found


def _counted(targets: list[Json]) -> Panel:
    return panels.numbers(
        f"Groups in ERR and in WARN: ${CLUSTER}",
        targets,
        marks={contract.ERR: [(1.0, panels.RED)], contract.WARN: [(1.0, panels.YELLOW)]},
        description="By the status of the last run, of 500 groups at most.",
        repeat=CLUSTER,
    )


def _groups(source: Source) -> list[Panel]:
    link = source.group_link(uid_of(GROUP, source.kind))
    status = panels.states("Status by group", _of(source, Measure.STATUS), link=link)
    graphs = (
        ("Lag by group", Measure.LAG, panels.RECORDS, "Records behind."),
        (
            "Time lag by group",
            Measure.TIME_LAG,
            panels.SECONDS,
            "Age of the oldest unread record.",
        ),
        (
            "Time to drain by group",
            Measure.DRAIN_TIME,
            panels.SECONDS,
            "At the present rates; none where the lag is not being worked off.",
        ),
        ("Members by group", Measure.MEMBERS, panels.RECORDS, "Live members."),
        (
            "Rebalancing by group",
            Measure.REBALANCING,
            panels.RECORDS,
            "1 while partitions are being assigned.",
        ),
    )
    found = [
        panels.lines(
            title,
            targets,
            unit=unit,
            description=f"{told} {source.needs(measure)}".strip(),
            link=link,
        )
        for title, measure, unit, told in graphs
        if (targets := _of(source, measure))
    ]
    return [status, *found[:2], _loss(source, link), *found[2:]]


def _loss(source: Source, link: Json | None) -> Panel:
    return panels.lines(
        "Time until unread records are deleted, by group",
        _of(source, Measure.TIME_TO_DATA_LOSS),
        unit=panels.SECONDS,
        width=panels.WHOLE,
        description="By retention. 30 days stand for no risk and are beyond this scale.",
        most=2 * _DAY,
        safe=True,
        link=link,
    )


def _reporter(source: Source) -> list[Panel]:
    graphs = (
        ("Duration of a run", panels.SECONDS, {Measure.DURATION: "took"}),
        (
            "Not read, or not counted",
            panels.RECORDS,
            {
                Measure.READ_ERRORS: "errors",
                Measure.PARTITIONS_UNKNOWN: "partitions unknown",
                Measure.PARTITIONS_UNCOMMITTED: "partitions uncommitted",
            },
        ),
        ("Metrics over the budget", panels.RECORDS, {Measure.METRICS_OMITTED: "left out"}),
    )
    return [
        panels.lines(title, targets, unit=unit, width=panels.THIRD)
        for title, unit, measures in graphs
        if (targets := _of(source, *measures, legends=measures))
    ]


def _of(
    source: Source, *measures: Measure, legends: dict[Measure, str] | None = None
) -> list[Json]:
    told = legends or {}
    return [
        target
        for measure in measures
        for target in source.queries(measure, many=True, legend=told.get(measure))
    ]
