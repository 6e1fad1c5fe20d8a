# SPDX-License-Identifier: Apache-2.0
"""Explains why a group loses records: how long its topics keep them, and the rates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame, locate


@dataclass(frozen=True, slots=True)
class Loss:
    """Records of a topic that were deleted before a group read them; None is unknown.

    A retention below 0 means unlimited. Rates, records/s, are of the partitions that lost records.
    """

    topic: str
    records: int
    retention_ms: int | None
    retention_bytes: int | None
    produce_rate: float | None
    consume_rate: float | None


def find_losses(rows: Frame, logs: Frame) -> list[Loss]:
    """Returns a loss for each topic, most records first.

    `rows` are a group's partitions of one run, `logs` the partitions of topics.
    """
    rows = rows.where(rows.numbers("records_lost") > 0)
    logs = logs.take(locate(rows, logs, contract.PARTITION_KEY))
    topics = rows.strings("topic").pruned()
    by_topic = np.argsort(topics.codes.values, kind="stable")
    bounds = np.searchsorted(topics.codes.values[by_topic], np.arange(len(topics.categories) + 1))
    found = [
        Loss(
            topic=str(topic),
            records=int(_sum(rows.numbers("records_lost").take(at)) or 0),
            retention_ms=_first_known(logs.numbers("retention_ms").take(at)),
            retention_bytes=_first_known(logs.numbers("retention_bytes").take(at)),
            produce_rate=_sum(logs.numbers("produce_rate").take(at)),
            consume_rate=_sum(rows.numbers("consume_rate").take(at)),
        )
        for topic, (begin, end) in zip(topics.categories, pairwise(bounds), strict=True)
        for at in [by_topic[begin:end]]
    ]
    return sorted(found, key=lambda loss: -loss.records)


def _sum(values: Column) -> float | None:
    """Returns the sum; None if a value is unknown."""
    return float(values.values.sum()) if values.known.all() else None


def _first_known(values: Column) -> Any:
    known: Iterable[Any] = (value for value in values.to_list() if value is not None)
    return next(iter(known), None)
