# SPDX-License-Identifier: Apache-2.0
"""Jars of Kafka's that no broker needs by itself: storage for tiered topics."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

from dev.kafka.jars import CACHE, kafka_version, run_program

# The tests' own: LocalTieredStorage is in it.
STORAGE_TEST = "kafka-storage:jar:test"


def extra_jar(name: str, *, cache: Path = CACHE) -> Path:
    """The jar of the brokers' version, without what it depends on; downloaded once."""
    artifact, *kind = name.split(":")
    version = ".".join(map(str, kafka_version()))
    folder = cache / "extra"
    file = f"{artifact}-{version}{'-' + kind[-1] if kind else ''}.jar"
    if not (folder / file).is_file():
        folder.mkdir(parents=True, exist_ok=True)
        wanted = ":".join(["org.apache.kafka", artifact, version, *kind])
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={wanted}"]
            run_program([*command, f"-DoutputDirectory={scratch}"], what=f"fetch {wanted}")
            with suppress(OSError):
                Path(scratch, file).rename(folder / file)
    return folder / file
