# SPDX-License-Identifier: Apache-2.0
"""What follows from the rest of a cluster is told beside what its user wrote, and not inside."""

from __future__ import annotations

from kafka_lag_cdk.config.document import document_of, loaded
from tests.infra.configured import cluster
from tests.infra.scaling.services import SERVICE, STEPS


def test_what_alarms_and_scaling_watch_is_not_told_of_an_endpoints_own_levels() -> None:
    sinks = ["emf", {"otlp": {"sigv4": True, "levels": {"partitions": {}}}}]
    scaling = [{**SERVICE, "max": 8, "steps": STEPS}]
    found = cluster(sinks=sinks, alarms={"groups": ["stock"]}, scaling=scaling)
    assert document_of(found)["sinks"] == sinks
    values = loaded(found)
    assert values["levels"].named == {"stock", "billing"}
    assert (values["sinks"][1].levels.named, values["sinks"][1].levels.scaling) == (set(), None)
