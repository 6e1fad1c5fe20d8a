# SPDX-License-Identifier: Apache-2.0
"""The Kafka server: jars from Maven Central and what an empty node begins with, made once."""

import hashlib
import shutil
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from dev.kafka.errors import KafkaClusterError
from dev.kafka.node.settings import format_properties, new_id

POM = Path(__file__).with_name("pom.xml")
CACHE = Path(__file__).parents[2] / ".local" / "kafka-libs"


@dataclass(frozen=True, slots=True)
class KafkaServer:
    """Where the server's files lie in the checkout."""

    folder: Path

    @property
    def class_path(self) -> str:
        """All jars, as Java takes them."""
        return str(self.folder / "jars" / "*")

    @property
    def bootstrap(self) -> Path:
        """The metadata an empty node begins with: which features are on (KIP-848 is one)."""
        return self.folder / "bootstrap.checkpoint"


def kafka_server(*, cache: Path = CACHE, pom: Path = POM) -> KafkaServer:
    """Return the server for this pom, downloading it when it is not there yet."""
    folder = cache / hashlib.sha256(pom.read_bytes()).hexdigest()[:16]
    if not folder.is_dir():
        _download(pom, folder)
    return KafkaServer(folder)


def _download(pom: Path, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    console = Console(stderr=True)
    console.print("Downloading Kafka's jars with Maven, once (about 45 MB) ...")
    with tempfile.TemporaryDirectory(prefix="download-", dir=folder.parent) as scratch:
        server = KafkaServer(Path(scratch, "server"))
        _copy_dependencies(pom, server.folder / "jars")
        _make_bootstrap(server, Path(scratch))
        # A rename is all or nothing; it fails when another process was quicker, whose files serve.
        with suppress(OSError):
            server.folder.rename(folder)
    console.print(f"Kafka's jars are in {folder}", soft_wrap=True)


def _copy_dependencies(pom: Path, jars: Path) -> None:
    command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
    _run([*command, f"-DoutputDirectory={jars}"], what="fetch Kafka's jars")


def _make_bootstrap(server: KafkaServer, scratch: Path) -> None:
    """Format one node for the file that is the same for all: a JVM saved per node and start."""
    properties = scratch / "server.properties"
    properties.write_text(format_properties(scratch / "data"), encoding="utf-8")
    command = ["java", "-cp", server.class_path, "kafka.tools.StorageTool", "format"]
    _run([*command, "-t", new_id(), "-c", str(properties)], what="format a Kafka node")
    shutil.copy(scratch / "data" / server.bootstrap.name, server.bootstrap)


def _run(command: list[str], *, what: str) -> None:
    program = shutil.which(command[0])
    if program is None:
        raise KafkaClusterError(
            f"{command[0]} is not on the PATH: python -m dev.prerequisites says how to install it"
        )
    done = subprocess.run(
        [program, *command[1:]],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise KafkaClusterError(f"{command[0]} could not {what}:\n{said}")
