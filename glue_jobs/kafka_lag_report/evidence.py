# SPDX-License-Identifier: Apache-2.0
"""Reads the evidence for incidents: spells, which are runs in a row that said the same.

Spark finds the spells, so Python sees few rows. A group without an incident that was read all day
has none. Of partitions there are only rows about unread ones and about changes of the leader.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import Row

from kafka_lag_report.queries import Queries, collect_rows, run_at_once


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The input for finding incidents of one cluster's day; `runs` are the times of all runs.

    The others are rows of the statements in `sql/spells`, in order of their first runs.
    """

    runs: tuple[datetime, ...]
    groups: Sequence[Row]
    incidents: Sequence[Row]
    unread_topics: Sequence[Row]
    stints: Sequence[Row]


def gather_evidence(queries: Queries, runs: Sequence[datetime]) -> Evidence:
    """Returns the evidence of one cluster's day; `runs` are the times of its runs."""
    stints = collect_rows(queries.keep("spells/stints"))
    names = ("spells/groups", "spells/incidents", "spells/unread_topics")
    found = run_at_once(queries.collect, names) | {"spells/stints": stints}
    in_order = {
        path.removeprefix("spells/"): sorted(rows, key=lambda row: (row.first, repr(row)))
        for path, rows in found.items()
    }
    return Evidence(runs=tuple(runs), **in_order)
