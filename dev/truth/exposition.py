# SPDX-License-Identifier: Apache-2.0
"""Lag and time lag in what a program answers in Prometheus' text format."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from dev.truth.planted import GroupPartition, GroupTopic


@dataclass(frozen=True, slots=True)
class Series:
    """A metric by its sample's name, and what its labels are called; `scale` makes seconds of it.

    `partition` is null for a series a topic.
    """

    name: str
    group: str
    topic: str
    partition: str | None
    scale: float = 1.0


def lags_and_ages(
    text: str, lag: Series, age: Series | None
) -> tuple[Mapping[GroupPartition, float], Mapping[GroupTopic, float]]:
    """Lags by partition, ages by group and topic, of the worst partition. Raises ValueError.

    NaN hides in no maximum: one makes the age of its topic NaN.
    """
    lags: dict[GroupPartition, float] = {}
    ages: dict[GroupTopic, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = sample.labels
            if sample.name == lag.name and lag.partition in labels:
                at = labels[lag.group], labels[lag.topic], int(labels[lag.partition])
                lags[at] = sample.value
            elif age is not None and sample.name == age.name:
                where = labels[age.group], labels[age.topic]
                value = sample.value * age.scale
                known = ages.get(where, -math.inf)
                ages[where] = value if math.isnan(value) else max(known, value)
    return lags, ages
