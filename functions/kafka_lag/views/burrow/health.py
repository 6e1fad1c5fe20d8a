# SPDX-License-Identifier: Apache-2.0
"""What load balancers ask of Burrow."""

from __future__ import annotations

from kafka_lag.views.burrow.envelope import Asked
from kafka_lag.views.http import Answer

_TEXT = "text/plain; charset=utf-8"


def alive(_: Asked) -> Answer:
    """Burrow's word for: there is somebody who answers."""
    return Answer(200, _TEXT, b"GOOD")


def ready(asked: Asked) -> Answer:
    """Whether any cluster has a snapshot; raises StoreError where that cannot be known."""
    if any(asked.snapshots.newest(cluster) for cluster in asked.snapshots.clusters()):
        return Answer(200, _TEXT, b"READY")
    return Answer(503, _TEXT, b"STARTING")
