# SPDX-License-Identifier: Apache-2.0
"""Why a group is behind: its row with the cause, other groups in trouble, its last hours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.views.latest_run import HOUR_MS, LatestRun, Snapshots
from kafka_lag_cli.terminal.group_rows import Row
from kafka_lag_cli.why.timeline import Timeline, read_timeline

_BAD = (contract.WARN, contract.ERR)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one group in the run at `row["taken_at"]`.

    `others` are groups in WARN or ERR that read the same topics.
    """

    cluster: str
    row: Row
    others: tuple[Row, ...]
    timeline: Timeline


def explain(snapshots: Snapshots, run: LatestRun, group: str, hours: float) -> Explanation:
    """Returns the explanation of a group that the run has. Raises StoreError."""
    rows = {row["consumer_group"]: row for row in run.groups.to_dicts()}
    partitions = snapshots.frame(run.cluster, contract.GROUP_PARTITIONS, run.taken_at)
    return Explanation(
        cluster=run.cluster,
        row=rows[group],
        others=tuple(_find_others(partitions, group, rows)),
        timeline=read_timeline(snapshots, run, group, run.taken_at - int(hours * HOUR_MS)),
    )


def _find_others(partitions: Frame, group: str, rows: Mapping[str, Row]) -> Iterator[Row]:
    """Yields groups in trouble that read a topic of the group, by name."""
    names, topics = (partitions.strings(name) for name in ("consumer_group", "topic"))
    own = topics.only(names.is_in([group])).pruned().categories
    for name in sorted(set(names.only(topics.is_in(own)).pruned().categories) - {group}):
        if name in rows and rows[name]["status"] in _BAD:
            yield rows[name]
