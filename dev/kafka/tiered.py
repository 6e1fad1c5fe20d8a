# SPDX-License-Identifier: Apache-2.0
"""Brokers with tiered topics: old segments lie in a folder, as if it were remote."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from dev.kafka.jars import CACHE, kafka_version, run_program

# A topic's settings: complete segments are copied, and deleted from the brokers' disks at once.
TIERED_TOPIC: Mapping[str, str] = {"remote.storage.enable": "true", "local.retention.ms": "1000"}


def tiered_settings(folder: Path, *, brokers: int) -> dict[str, str]:
    """Settings of brokers that keep remote segments below `folder`, by Kafka's storage of tests."""
    return {
        "remote.log.storage.system.enable": "true",
        "remote.log.storage.manager.class.name": (
            "org.apache.kafka.server.log.remote.storage.LocalTieredStorage"
        ),
        "remote.log.storage.manager.class.path": str(_storage_jar()),
        "remote.log.storage.manager.impl.prefix": "rsm.config.",
        "rsm.config.dir": str(folder),
        "remote.log.metadata.manager.listener.name": "PLAINTEXT",
        "rlmm.config.remote.log.metadata.topic.replication.factor": str(min(3, brokers)),
        "rlmm.config.remote.log.metadata.topic.num.partitions": "3",
        "remote.log.manager.task.interval.ms": "500",
    }


def _storage_jar() -> Path:
    """Returns Kafka's storage of tests in the brokers' version, which is downloaded once."""
    version = ".".join(map(str, kafka_version()))
    jar = CACHE / "extra" / f"kafka-storage-{version}-test.jar"
    if not jar.is_file():
        jar.parent.mkdir(parents=True, exist_ok=True)
        wanted = f"org.apache.kafka:kafka-storage:{version}:jar:test"
        with tempfile.TemporaryDirectory(dir=jar.parent) as scratch:
            command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={wanted}"]
            run_program([*command, f"-DoutputDirectory={scratch}"], what=f"fetch {wanted}")
            with suppress(OSError):
                Path(scratch, jar.name).rename(jar)
    return jar
