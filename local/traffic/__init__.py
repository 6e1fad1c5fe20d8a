# SPDX-License-Identifier: Apache-2.0
"""Producers and consumers that behave in named ways: `with Traffic(cluster) as traffic:`."""

from local.traffic.behaviour import Behaviour, Topic
from local.traffic.catalog import BEHAVIOURS
from local.traffic.probe import GroupView, PartitionView
from local.traffic.traffic import Running, Traffic

__all__ = ["BEHAVIOURS", "Behaviour", "GroupView", "PartitionView", "Running", "Topic", "Traffic"]
