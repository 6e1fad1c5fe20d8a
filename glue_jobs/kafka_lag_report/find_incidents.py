# SPDX-License-Identifier: Apache-2.0
"""Finds a day's incidents from its evidence and findings; what belongs together is one incident.

A hot broker, a hot consumer or a skewed topic is a cause and not an incident.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kafka_lag_report.cluster_incidents import find_cluster_incidents
from kafka_lag_report.evidence import Evidence
from kafka_lag_report.findings import Findings
from kafka_lag_report.group_incidents import find_group_incidents
from kafka_lag_report.incident import Incident, Kind
from kafka_lag_report.run_clock import make_clock
from kafka_lag_report.sentences import join_words, word_incident
from kafka_lag_report.unusual import find_unusual_incidents


def find_incidents(
    evidence: Evidence, findings: Findings, *, first_day: bool = False
) -> tuple[Incident, ...]:
    """Returns the incidents of one cluster's day, worst first, each with its sentence."""
    clock = make_clock(evidence, findings)
    of_cluster = find_cluster_incidents(evidence, findings, clock, first_day=first_day)
    found = _drop_waiting([*find_group_incidents(evidence, findings, clock), *of_cluster])
    found += find_unusual_incidents(findings, found)
    ordered = sorted(found, key=lambda one: one.order)
    since_first = [replace(one, first_run=clock.begins_late(one.since)) for one in ordered]
    return tuple(
        replace(one, text=join_words(word_incident(one, findings.day, findings.seen_until)))
        for one in since_first
    )


def _drop_waiting(found: Sequence[Incident]) -> list[Incident]:
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
