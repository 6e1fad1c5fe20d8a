# SPDX-License-Identifier: Apache-2.0
"""Readings of this checkout's own classes in the plain form."""

from __future__ import annotations

import numpy as np

from dev.compare.readings import DATASETS, Names, Numbers, Reading, Table
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import ClusterReading


def plain(reading: ClusterReading) -> Reading:
    """A reading without this checkout's classes."""
    return Reading(
        {name: _table(getattr(reading, name)) for name in DATASETS},
        tuple((p.scope, p.name, p.reason, p.detail) for p in reading.problems),
        dict(reading.hidden_topics),
        reading.unlisted_groups,
        reading.gone_topics,
        reading.gone_groups,
    )


def _table(frame: Frame) -> Table:
    found: dict[str, Numbers | Names] = {}
    for name, column in frame.columns.items():
        if isinstance(column, Column):
            found[name] = Numbers(column.values, column.known)
        else:
            codes = np.where(column.known, column.codes.values, -1).astype(np.int32)
            found[name] = Names(codes, column.categories)
    return found
