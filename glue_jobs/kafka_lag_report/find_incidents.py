# SPDX-License-Identifier: Apache-2.0
"""A day's incidents, out of its evidence and its findings: one for all that belongs together.

A hot broker, a hot consumer or a skewed topic is a cause, and no incident.
"""

from __future__ import annotations

from dataclasses import replace

from kafka_lag_report.cluster_incidents import cluster_incidents
from kafka_lag_report.evidence import Evidence
from kafka_lag_report.findings import Findings
from kafka_lag_report.group_incidents import group_incidents
from kafka_lag_report.incident import Incident
from kafka_lag_report.run_clock import clock_of
from kafka_lag_report.sentences import incident_of, plain
from kafka_lag_report.unusual import unusual_incidents


def find_incidents(
    evidence: Evidence, findings: Findings, *, first_day: bool = False
) -> tuple[Incident, ...]:
    """The incidents of one cluster's day, worst first, each with its sentence."""
    clock = clock_of(evidence, findings)
    found = [
        *group_incidents(evidence, findings, clock),
        *cluster_incidents(evidence, findings, clock, first_day=first_day),
    ]
    found += unusual_incidents(findings, found)
    ordered = sorted(found, key=lambda one: one.order)
    since_first = [replace(one, first_run=clock.begins_late(one.since)) for one in ordered]
    return tuple(
        replace(one, text=plain(incident_of(one, findings.day, findings.seen_until)))
        for one in since_first
    )
