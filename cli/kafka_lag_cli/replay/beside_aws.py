# SPDX-License-Identifier: Apache-2.0
"""The model held against what CloudWatch did: how many pages agree, by each set of assumptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_lag_cli.replay.changes import Change, Kind, find_changes
from kafka_lag_cli.replay.pages import ASSUMED, READINGS, Page, find_pages
from kafka_lag_cli.replay.recorded import Recorded
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.simulation.evaluation import Assumptions

# CloudWatch evaluates at any second of a minute, and values come when they come.
_SAME_SECONDS = 120


@dataclass(frozen=True, slots=True)
class AwsHistory:
    """The history of one cluster's alarms.

    `since`: of each alarm, by rule and group, when it was last made or changed, ms UTC; what it did
    before, another configuration decided. `unknown` alarms have no history: they were never
    deployed, or nothing happened to them.
    """

    pages: tuple[Page, ...]
    since: Mapping[tuple[str, str | None], int]
    unknown: int
    alarms: int

    def covers(self, page: Page) -> bool:
        """Return true if a page's alarm was already as it is now when the page began."""
        own = self.since.get((page.rule, page.group), 0)
        return page.begin >= max(own, self.since.get((page.rule, None), 0))


@dataclass(frozen=True, slots=True)
class Agreement:
    """The fit of one set of assumptions: pages of both at the same time or at another, of
    CloudWatch alone, and of the model alone.
    """

    assumed: Assumptions
    same: int
    moved: int
    aws_alone: int
    model_alone: int

    @property
    def different(self) -> int:
        """Pages that are not of both at the same time."""
        return self.moved + self.aws_alone + self.model_alone


@dataclass(frozen=True, slots=True)
class BesideAws:
    """One cluster's comparison: the best set of assumptions first, and what is left of ASSUMED.

    Changes are from the model's page to CloudWatch's.
    """

    cluster: str
    history: AwsHistory
    agreements: tuple[Agreement, ...]
    differences: tuple[Change, ...]


def compare_recorded(recorded: Recorded, cluster: Cluster, history: AwsHistory) -> BesideAws:
    """Every reading of what AWS leaves open beside what it did."""
    readings = (ASSUMED, *(reading for reading in READINGS if reading != ASSUMED))
    changes = {reading: _changes(recorded, cluster, history, reading) for reading in readings}
    agreements = [_agree(reading, found) for reading, found in changes.items()]
    agreements.sort(key=lambda each: each.different)
    left = tuple(each for each in changes[ASSUMED] if _kind(each) is not Kind.SAME)
    return BesideAws(cluster.name, history, tuple(agreements), left)


def describe_assumptions(assumed: Assumptions) -> str:
    """Their names and what is taken."""
    return (
        f"extra_points {assumed.extra_points}, undecided {assumed.undecided}, "
        f"series_end {assumed.series_end}"
    )


def _changes(
    recorded: Recorded, cluster: Cluster, history: AwsHistory, assumed: Assumptions
) -> Sequence[Change]:
    pages = find_pages(recorded, cluster, assumed)
    both = ([page for page in each if history.covers(page)] for each in (pages, history.pages))
    return find_changes(*both)


def _agree(assumed: Assumptions, changes: Sequence[Change]) -> Agreement:
    kinds = Counter(map(_kind, changes))
    return Agreement(
        assumed,
        same=kinds[Kind.SAME],
        moved=kinds[Kind.MOVED],
        aws_alone=kinds[Kind.ADDED],
        model_alone=kinds[Kind.REMOVED],
    )


def _kind(change: Change) -> Kind:
    later = change.later_seconds
    return Kind.SAME if later is not None and abs(later) <= _SAME_SECONDS else change.kind
