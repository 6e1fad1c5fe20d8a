# SPDX-License-Identifier: Apache-2.0
"""Producers and consumers that behave in named ways: `with Traffic(cluster) as traffic:`."""

from dev.traffic.behaviour import Behaviour, GroupView, PartitionView, Topic
from dev.traffic.catalog import BEHAVIOURS, possible
from dev.traffic.traffic import Running, Traffic

__all__ = [
    "BEHAVIOURS",
    "Behaviour",
    "GroupView",
    "PartitionView",
    "Running",
    "Topic",
    "Traffic",
    "possible",
]
