# SPDX-License-Identifier: Apache-2.0
"""The last word on groups that are proven gone."""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Words
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import ClusterReading, Snapshot

# What a message needs to say who it was and how it was.
_KEPT = (
    "read_at",
    "consumer_group",
    "owner",
    "last_status",
    "held_status",
    "held_since",
    "incident_since",
)


def farewells(groups: Frame, reading: ClusterReading, before: Snapshot) -> Frame:
    """The rows, and one last row for each group that is proven gone since the snapshot before."""
    old = before.groups
    told = old.words("status_reason").is_in([contract.GONE])
    gone = old.where(old.words("consumer_group").is_in(reading.gone_groups) & ~told)
    if not len(gone):
        return groups
    last = Frame.empty(contract.GROUPS).take(np.full(len(gone), -1, np.int64))
    kept = {name: gone.columns[name] for name in _KEPT}
    reason = Words.constant(contract.GONE, len(gone))
    return groups.concat(last.with_columns(**kept, status_reason=reason))
