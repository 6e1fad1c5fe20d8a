# SPDX-License-Identifier: Apache-2.0
"""Finds a day's incidents from its evidence and findings; what belongs together is one incident.

A hot broker, a hot consumer or a skewed topic is a cause and not an incident.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kafka_lag_report.cluster_incidents import cluster_incidents
from kafka_lag_report.evidence import Evidence
from kafka_lag_report.findings import Findings
from kafka_lag_report.group_incidents import group_incidents
from kafka_lag_report.incident import Incident, Kind
from kafka_lag_report.run_clock import clock_of
from kafka_lag_report.sentences import incident_of, plain
from kafka_lag_report.unusual import unusual_incidents


def find_incidents(
    evidence: Evidence, findings: Findings, *, first_day: bool = False
) -> tuple[Incident, ...]:
    """Returns the incidents of one cluster's day, worst first, each with its sentence."""
    clock = clock_of(evidence, findings)
    of_cluster = cluster_incidents(evidence, findings, clock, first_day=first_day)
    found = _held_up_once([*group_incidents(evidence, findings, clock), *of_cluster])
    found += unusual_incidents(findings, found)
    ordered = sorted(found, key=lambda one: one.order)
    since_first = [replace(one, first_run=clock.begins_late(one.since)) for one in ordered]
    return tuple(
        replace(one, text=plain(incident_of(one, findings.day, findings.seen_until)))
        for one in since_first
    )


def _held_up_once(found: Sequence[Incident]) -> list[Incident]:
    """Returns the incidents without groups that only waited for a transaction.

    Such a group is left out if a transaction has an incident of its own. If that incident is about
    one group, it takes the collector's id of the group's incident.
    """
    lines = [one for one in found if one.kind == Kind.HELD_UP and one.incident_id is None]
    waited = [one for one in found if one.kind == Kind.HELD_UP and one.incident_id is not None]
    ids = {one.group: one.incident_id for one in waited}
    named = {id(one): replace(one, incident_id=ids.get(one.group)) for one in lines}
    left = [one for one in found if one not in waited or not lines]
    return [named.get(id(one), one) for one in left]
