# SPDX-License-Identifier: Apache-2.0
"""An archive of a broker's classes (Java's CDS), which halves the time of the next start."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rich.console import Console

from dev.kafka.errors import KafkaClusterError
from dev.kafka.jars import KafkaServer, run_program


def reading(archive: Path) -> tuple[str, ...]:
    """Returns Java's options to use an archive; Java silently ignores a missing or unfit one."""
    return f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:cds=off"


def writing(archive: Path) -> tuple[str, ...]:
    """Returns Java's options to write the archive when the process ends normally."""
    return f"-XX:ArchiveClassesAtExit={archive}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"


def archive_of(server: KafkaServer, train: Callable[[Path], None]) -> Path | None:
    """Returns the archive of these jars for this Java, and makes it beside them if it is missing.

    `train` has a broker start and end that leaves its archive in the file. Null where none can be
    made: brokers start without, later.
    """
    # Java compares all of this before it uses an archive.
    version = run_program(["java", "-Xinternalversion"], what="say its version")
    jars = [(jar, jar.stat()) for jar in sorted(server.jars.glob("*.jar"))]
    known = [f"{jar} {found.st_size} {found.st_mtime_ns}" for jar, found in jars]
    digest = hashlib.sha256("\n".join([version, *known]).encode()).hexdigest()[:16]
    archive = server.folder / f"classes-{digest}.jsa"
    if not archive.is_file():
        console = Console(stderr=True)
        console.print("Keeping the classes of Kafka's broker for quick starts, once ...")
        with (
            suppress(KafkaClusterError, OSError),
            tempfile.TemporaryDirectory(prefix="archive-", dir=server.folder) as scratch,
        ):
            made = Path(scratch, archive.name)
            train(made)
            # A rename is all or nothing: of two processes the later one's file stays, both serve.
            made.replace(archive)
    return archive if archive.is_file() else None
