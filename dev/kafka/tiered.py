# SPDX-License-Identifier: Apache-2.0
"""Brokers with tiered topics: old segments lie in a folder, as if it were remote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dev.kafka.extra_jars import STORAGE_TEST, extra_jar

# Of a topic: what is complete is copied, and at once gone from the brokers' own disks.
TIERED_TOPIC: Mapping[str, str] = {"remote.storage.enable": "true", "local.retention.ms": "1000"}


def tiered_settings(folder: Path, *, brokers: int) -> dict[str, str]:
    """Settings of brokers that keep remote segments below `folder`, by Kafka's storage of tests."""
    return {
        "remote.log.storage.system.enable": "true",
        "remote.log.storage.manager.class.name": (
            "org.apache.kafka.server.log.remote.storage.LocalTieredStorage"
        ),
        "remote.log.storage.manager.class.path": str(extra_jar(STORAGE_TEST)),
        "remote.log.storage.manager.impl.prefix": "rsm.config.",
        "rsm.config.dir": str(folder),
        "remote.log.metadata.manager.listener.name": "PLAINTEXT",
        "rlmm.config.remote.log.metadata.topic.replication.factor": str(min(3, brokers)),
        "rlmm.config.remote.log.metadata.topic.num.partitions": "3",
        "remote.log.manager.task.interval.ms": "500",
    }
