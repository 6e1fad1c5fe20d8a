# SPDX-License-Identifier: Apache-2.0
"""Columns of several clusters as families, each family's samples together as the format wants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from prometheus_client.core import Metric

from kafka_lag.contract.exposition import LABEL_CLUSTER
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame

# The values of a sample's labels by their names.
Labels = dict[str, str]


@dataclass(frozen=True, slots=True)
class Labelled:
    """Rows of one cluster with their labels, made once for all families."""

    frame: Frame
    labels: Sequence[Labels]

    @classmethod
    def of(cls, cluster: str, frame: Frame, names: Mapping[str, str]) -> Labelled:
        """Labels by the columns they are from; what is unknown is empty, which is no label."""
        keys = [frame.columns[column].to_list() for column in names.values()]
        told = [
            {
                LABEL_CLUSTER: cluster,
                **{n: "" if v is None else str(v) for n, v in zip(names, row, strict=True)},
            }
            for row in zip(*keys, strict=True)
        ]
        return cls(frame, told)


def gauges(parts: Sequence[Labelled], families: Mapping[str, tuple[str, str]]) -> Iterable[Metric]:
    """A family each, from its column and its help."""
    for family, (column, told) in families.items():
        yield gauge(family, told, [(part.labels, part.frame.numbers(column)) for part in parts])


def gauge(family: str, told: str, parts: Iterable[tuple[Sequence[Labels], Column]]) -> Metric:
    """One family; a value that is none, or is negative, is as good as unknown, and absent."""
    made = Metric(family, told, "gauge")
    for labels, column in parts:
        good = column.known & np.isfinite(column.values) & (column.values >= 0)
        rows = np.flatnonzero(good).tolist()
        for row, value in zip(rows, column.values[good].tolist(), strict=True):
            # Samples do not change their labels, so all families share a row's.
            made.add_sample(family, labels[row], value)
    return made
