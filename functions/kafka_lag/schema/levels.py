# SPDX-License-Identifier: Apache-2.0
"""The parts of a configuration document that filter names and choose metrics."""

from __future__ import annotations

import re
from typing import Any

from marshmallow import RAISE, Schema, fields, post_load

from kafka_lag.lag.rules import NameFilter
from kafka_lag.schema.fields import Pattern, count, switch
from kafka_lag.sinks.config import Levels

# Kafka's and MSK's own bookkeeping, which nobody's consumers lag on by accident.
INTERNAL_TOPICS = r"^__(consumer_offsets|transaction_state|share_group_state)$|^__amazon_msk_"


class FilterSchema(Schema):
    """Allow and deny for names; deny wins."""

    class Meta:
        """Unknown keys are faults."""

        unknown = RAISE

    allow = Pattern(load_default=None, allow_none=True)
    deny = Pattern(load_default=None, allow_none=True)

    @post_load
    def _made(self, data: dict[str, Any], **_: Any) -> NameFilter:
        return NameFilter(**data)


class TopicFilterSchema(FilterSchema):
    """The same; unless told otherwise, topics that are Kafka's own are denied."""

    deny = Pattern(load_default=re.compile(INTERNAL_TOPICS), allow_none=True)


class PartitionsSchema(Schema):
    """The allow-list of partition metrics."""

    class Meta:
        """Unknown keys are faults."""

        unknown = RAISE

    groups = fields.Nested(FilterSchema, load_default=NameFilter)
    topics = fields.Nested(FilterSchema, load_default=NameFilter)


class LevelsSchema(Schema):
    """Which metrics are published, and how many at most."""

    class Meta:
        """Unknown keys are faults."""

        unknown = RAISE

    max_metrics = count(1000, 0, 1_000_000)
    topics = switch(default=True)
    max_offset_lag = switch(default=False)
    partitions = fields.Nested(PartitionsSchema, load_default=None, allow_none=True)
    scaling = fields.Nested(FilterSchema, load_default=None, allow_none=True)
    drain_time = switch(default=False)
    members = switch(default=False)
    rebalancing = switch(default=False)
    named = fields.List(fields.String(), load_default=list)

    @post_load
    def _made(self, data: dict[str, Any], **_: Any) -> Levels:
        partitions = data.pop("partitions") or {"groups": None, "topics": NameFilter()}
        return Levels(
            **{**data, "named": frozenset(data["named"])},
            partition_groups=partitions["groups"],
            partition_topics=partitions["topics"],
        )
