# SPDX-License-Identifier: Apache-2.0
"""The page of all groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_lag.views.http import Answer
from kafka_lag.views.page.asked import asked
from kafka_lag.views.page.latest import Latest, Nothing, latest
from kafka_lag.views.page.render import rendered
from kafka_lag.views.page.tables.curves import RUNS, Curve, past
from kafka_lag.views.page.tables.groups import SORTS, Groups, groups
from kafka_lag.views.page.tables.severity import WORDS
from kafka_lag.views.snapshots import Snapshots

# Below this many seconds a curve is flat: the noise of a healthy group is no mountain.
CALM_SECONDS = 10.0
# What state is sought back for: a collector that comes after that starts anew.
LEFT_SECONDS = 7 * 86_400.0


def overview(query: Mapping[str, str], snapshots: Snapshots, now_ms: int) -> Answer:
    """All clusters' groups, or one cluster's; 404 for a cluster that there is not.

    Raises StoreError.
    """
    wanted = asked(query, SORTS, WORDS)
    names = snapshots.clusters()
    chosen = [name for name in names if wanted.cluster in ("", name)]
    known = [one for one in (latest(snapshots, name, now_ms) for name in chosen) if one]
    seen, left = _alive([one for one in known if isinstance(one, Latest)])
    table = groups(seen, wanted) if seen else None
    return rendered(
        "overview.html.j2",
        404 if names and not chosen else 200,
        now=now_ms,
        asked=wanted,
        sorts=SORTS,
        clusters=names,
        seen=seen,
        left=left,
        broken=[one for one in known if isinstance(one, Nothing)],
        table=table,
        curves=_curves(table, snapshots, seen, now_ms) if table else [],
        every=every(seen),
    )


def _alive(seen: list[Latest]) -> tuple[list[Latest], list[Latest]]:
    """Those to show, and those left out beside them: clusters that nobody reads any more.

    Their snapshots stay, and their last numbers would stand among the living for ever.
    """
    alive = [one for one in seen if one.age_seconds <= LEFT_SECONDS]
    left = [one for one in seen if one.age_seconds > LEFT_SECONDS]
    return (alive, left) if alive else (seen, [])


def every(seen: Sequence[Latest]) -> int:
    """Seconds after which a page is worth making again."""
    interval = min((one.interval_seconds for one in seen), default=60.0)
    return round(min(max(interval, 15), 300))


def _curves(
    table: Groups, snapshots: Snapshots, seen: Sequence[Latest], now_ms: int
) -> list[Curve]:
    """The time lag of each row shown; several clusters share the runs that are read."""
    rows = table.sheet.rows
    by_cluster: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        by_cluster.setdefault(row["cluster"], []).append(place)
    drawn: dict[int, Curve] = {}
    for one in seen:
        places = by_cluster.get(one.cluster, [])
        if places:
            history = past(snapshots, one, now_ms, max(RUNS // len(by_cluster), 1))
            names = [rows[place]["consumer_group"] for place in places]
            curves = history.curves(names, "time_lag_seconds", CALM_SECONDS)
            drawn |= dict(zip(places, curves, strict=True))
    return [drawn[place] for place in range(len(rows))]
