# SPDX-License-Identifier: Apache-2.0
"""What is otherwise than the day before, over all clusters of a run."""

from kafka_lag_report.summary.changes import clusters, groups, topics
from kafka_lag_report.summary.changes.change import Change, Kind
from kafka_lag_report.summary.findings import Findings

__all__ = ["Change", "Kind", "changes"]


def changes(today: Findings, before: Findings | None) -> tuple[Change, ...]:
    """All that is worth telling of `today`, worst first; pure.

    Without a day before, as a whole (null) or of a cluster, its findings are all told as they are,
    and no group is new. `before` holds the clusters that the run was asked for and no others: one
    that is missing today is told.
    """
    before = before or Findings()
    found = [*clusters.changes(today, before), *groups.changes(today, before)]
    found += topics.changes(today, before)
    return tuple(sorted(found, key=lambda c: (c.kind.rank, -c.weight, c.cluster, c.text)))
