# SPDX-License-Identifier: Apache-2.0
"""What pages show, in words that every source has its own queries for, or has nothing to say to."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import Protocol

from kafka_lag_cdk.grafana.model import Json


class Measure(Enum):
    """Of each group, or of its topics and partitions, or of each cluster."""

    STATUS = auto()
    LAG = auto()
    TIME_LAG = auto()
    TIME_LAG_ERROR = auto()
    PROMISED = auto()
    TIME_TO_DATA_LOSS = auto()
    DRAIN_TIME = auto()
    PRODUCED = auto()
    CONSUMED = auto()
    MEMBERS = auto()
    REBALANCING = auto()
    SCALING_LAG = auto()
    RECORDS_LOST = auto()
    TOPIC_LAG = auto()
    TOPIC_TIME_LAG = auto()
    PARTITION_LAG = auto()
    PARTITION_TIME_LAG = auto()
    GROUPS_IN_ERR = auto()
    GROUPS_IN_WARN = auto()
    # Both, of one cluster, where a source counts them from one query.
    GROUPS_COUNTED = auto()
    GROUPS_READ = auto()
    SNAPSHOT_AGE = auto()
    SUCCESS = auto()
    DURATION = auto()
    READ_ERRORS = auto()
    PARTITIONS_UNKNOWN = auto()
    PARTITIONS_UNCOMMITTED = auto()
    METRICS_OMITTED = auto()


class Source(Protocol):
    """Where numbers come from: Grafana's name of the kind, its queries and its variables."""

    @property
    def kind(self) -> str:
        """The datasource's type."""

    @property
    def title(self) -> str:
        """Its name, for people."""

    def queries(self, measure: Measure, *, many: bool, legend: str | None = None) -> list[Json]:
        """A query, or none; `many` clusters and groups are chosen, or one of each.

        `legend` names the line where one panel has several measures.
        """

    def needs(self, measure: Measure) -> str:
        """What must be switched on for it, as a sentence; nothing for what is always there."""

    def variables(self, *, many: bool) -> Sequence[Json]:
        """Datasource, cluster and group; topics too where one group is chosen."""

    def group_link(self, uid: str) -> Json | None:
        """From a line of many to the page of its group, None where a line does not know its."""
