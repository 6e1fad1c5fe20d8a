# SPDX-License-Identifier: Apache-2.0
"""What follows from the rest of a cluster stands beside what its user wrote, and not inside."""

from __future__ import annotations

from kafka_lag.settings import levels_of
from tests.infra.configured import SERVICE, STEPS, cluster


def test_what_alarms_and_scaling_watch_is_not_told_of_an_endpoints_own_levels() -> None:
    sinks = ["emf", {"otlp": {"sigv4": True, "levels": {"partitions": {}}}}]
    scaling = [{**SERVICE, "max": 8, "steps": STEPS}]
    found = cluster(sinks=sinks, alarms={"groups": ["stock"]}, scaling=scaling)
    document = found.document()
    assert document["sinks"] == cluster(sinks=sinks).document()["sinks"]
    assert levels_of(document["levels"]).named == {"stock", "billing"}
    own = levels_of(document["sinks"][1]["otlp"]["levels"])
    assert (own.named, own.scaling) == (frozenset(), None)
