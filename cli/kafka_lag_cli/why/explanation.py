# SPDX-License-Identifier: Apache-2.0
"""All that is known of why a group is behind: its cause, what it is not, its last hours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kafka_lag import contract
from kafka_lag.errors import UnusableError
from kafka_lag.lag.cause_case import Cause
from kafka_lag.lag.causes import weigh_causes
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.store import BrowsableStore, read_dataset
from kafka_lag.wording.causes import CauseText, describe_cause
from kafka_lag.wording.evidence import read_evidence
from kafka_lag.wording.ruled_out import describe_ruled_out
from kafka_lag_cli.state.groups_over_time import Progress
from kafka_lag_cli.terminal.group_rows import Row
from kafka_lag_cli.why.timeline import Timeline, read_timeline

HOUR_MS = 3_600_000
_BAD = (contract.WARN, contract.ERR)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A rule's finding on the group: whether its cause fits, and the numbers that say so."""

    cause: str
    fits: bool
    evidence: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one group in the run at `row["taken_at"]`.

    `weighed` is what the rules find in the run at `weighed_at`, ms: the last whose figures decided
    the cause, where it can be read, else this one. `others` are groups in WARN or ERR that read the
    same topics.
    """

    cluster: str
    row: Row
    text: CauseText | None
    weighed_at: int
    weighed: tuple[Weighed, ...]
    others: tuple[Row, ...]
    timeline: Timeline

    @property
    def evidence(self) -> Mapping[str, Any]:
        """The numbers that decided the cause."""
        return read_evidence(self.row)

    def describe(self, weighed: Weighed) -> str:
        """Why a cause that is not the named one fits, or why not."""
        if not weighed.fits:
            return describe_ruled_out(weighed.cause, weighed.evidence)
        if any(each.fits and each.cause == self.row["cause"] for each in self.weighed):
            return "this fits as well; what comes first is named"
        return "this fits as well; the cause that is named is not over"


def explain(
    store: BrowsableStore,
    cluster: str,
    group: str,
    newest: Snapshot,
    hours: float,
    rules: Rules,
    progress: Progress,
) -> Explanation:
    """Explain a group in the snapshot; only the interval and window of `rules` count. Raises
    StoreError."""
    rows = {row["consumer_group"]: row for row in newest.groups.to_dicts()}
    row = rows[group]
    since = newest.taken_at - int(hours * HOUR_MS)
    timeline = read_timeline(store, cluster, group, newest, since, rules.interval_ms, progress)
    weighed_in = newest
    if (as_of := read_evidence(row).get("as_of")) is not None:
        weighed_in = _read_snapshot(store, cluster, as_of, newest) or newest
    return Explanation(
        cluster=cluster,
        row=row,
        text=describe_cause(row),
        weighed_at=weighed_in.taken_at,
        weighed=tuple(_weigh(row, weighed_in, group, rules)),
        others=tuple(_find_others(newest, group, rows)),
        timeline=timeline,
    )


def read_snapshot(store: BrowsableStore, cluster: str, taken_at: int) -> Snapshot:
    """All of a run. Raises StoreError; UnusableError where it cannot be read."""
    return Snapshot(
        taken_at, *(read_dataset(store, name, cluster, taken_at) for name in contract.DATASETS)
    )


def _read_snapshot(
    store: BrowsableStore, cluster: str, taken_at: int, newest: Snapshot
) -> Snapshot | None:
    if taken_at == newest.taken_at:
        return newest
    try:
        return read_snapshot(store, cluster, taken_at)
    except UnusableError:
        return None


def _weigh(row: Row, snapshot: Snapshot, group: str, rules: Rules) -> Iterator[Weighed]:
    """Nothing of a group that has no cause: of one that is well there is nothing to rule out."""
    if row["cause"] is None:
        return
    for finding in weigh_causes(snapshot, group, rules):
        if isinstance(finding, Cause):
            yield Weighed(finding.name, True, finding.evidence)
        else:
            yield Weighed(finding.name, False, finding.compute())


def _find_others(snapshot: Snapshot, group: str, rows: Mapping[str, Row]) -> Iterator[Row]:
    """Groups in trouble that read a topic of the group, by name."""
    partitions = snapshot.group_partitions
    names, topics = (partitions.strings(name) for name in ("consumer_group", "topic"))
    own = topics.only(names.is_in([group])).pruned().categories
    for name in sorted(set(names.only(topics.is_in(own)).pruned().categories) - {group}):
        if name in rows and rows[name]["status"] in _BAD:
            yield rows[name]
