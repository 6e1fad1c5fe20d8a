# SPDX-License-Identifier: Apache-2.0
"""MSK's own numbers beside ours: a slow consumer is often a full or busy broker."""

from __future__ import annotations

from aws_cdk import aws_cloudwatch as cloudwatch

from kafka_lag_cdk.dashboard.search import of_brokers, of_msk, worst_sum
from kafka_lag_cdk.dashboard.widgets import THIRD, Row, graph, heading

# Above these AWS advises to act [MSK developer guide, "Best practices"].
_BUSY_PERCENT, _FULL_PERCENT = 60.0, 85.0
_WHOLE_PERCENT = 100.0


def broker_rows(msk_name: str, *, disks: bool) -> list[Row]:
    """Disk, where the brokers have one, processor and partitions, all of MSK's free level."""
    return [
        heading("The brokers, as MSK tells"),
        [
            *([_disk(msk_name)] if disks else []),
            graph(
                "Processor",
                worst_sum(("CpuUser", "CpuSystem"), msk_name, "user + system, at most"),
                of_brokers("CpuUser", msk_name, "user"),
                of_brokers("CpuSystem", msk_name, "system"),
                width=THIRD,
                unit="percent",
                most=_WHOLE_PERCENT,
                marks=[("act", _BUSY_PERCENT)],
            ),
            graph(
                "Partitions and controller",
                of_msk("OfflinePartitionsCount", msk_name),
                of_msk("ActiveControllerCount", msk_name),
                of_brokers("UnderReplicatedPartitions", msk_name, "under-replicated"),
                width=THIRD,
            ),
        ],
    ]


def _disk(msk_name: str) -> cloudwatch.IWidget:
    return graph(
        "Disk used by data logs",
        of_brokers("KafkaDataLogsDiskUsed", msk_name),
        width=THIRD,
        unit="percent",
        most=_WHOLE_PERCENT,
        marks=[("act", _FULL_PERCENT)],
    )
