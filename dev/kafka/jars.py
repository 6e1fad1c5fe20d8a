# SPDX-License-Identifier: Apache-2.0
"""The Kafka server by version: jars from Maven Central, an empty node, classes, and features."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from dev.kafka.node import KafkaClusterError, format_properties, new_id

POM = Path(__file__).with_name("pom.xml")
CACHE = Path(__file__).parents[2] / ".local" / "kafka-libs"
# Names another version than the pom's for all brokers that this process starts.
ENV_VERSION = "KAFKA_VERSION"


@dataclass(frozen=True, slots=True)
class KafkaServer:
    """The folders of the server's files in the checkout."""

    folder: Path

    @property
    def jars(self) -> Path:
        """Returns the folder of all jars."""
        return self.folder / "jars"

    @property
    def class_path(self) -> str:
        """Returns all jars as a class path of Java."""
        return str(self.jars / "*")

    @property
    def bootstrap(self) -> Path:
        """The metadata an empty node begins with: which features are on (KIP-848 is one)."""
        return next(self.folder.glob("*.checkpoint"))

    def copy_bootstrap(self, data: Path) -> None:
        """Copies that metadata to where a node looks for it: since Kafka 4.4 into its log."""
        is_of_log = self.bootstrap.name != "bootstrap.checkpoint"
        folder = data / "__cluster_metadata-0" if is_of_log else data
        folder.mkdir(exist_ok=True)
        shutil.copy(self.bootstrap, folder)


def kafka_version() -> tuple[int, ...]:
    """Returns the version of the brokers: the environment's `KAFKA_VERSION`, else the pom's."""
    found = re.search(r"<kafka\.version>([^<]+)<", POM.read_text(encoding="utf-8"))
    named = os.environ.get(ENV_VERSION) or (found[1] if found else "")
    if not re.fullmatch(r"\d+\.\d+\.\d+", named):
        raise KafkaClusterError(f"{ENV_VERSION} must be a version such as 4.1.0, not {named!r}")
    return tuple(int(part) for part in named.split("."))


def kafka_server() -> KafkaServer:
    """Returns the server of the pom and this version, and downloads it if it is missing."""
    version = ".".join(map(str, kafka_version()))
    digest = hashlib.sha256(POM.read_bytes() + version.encode()).hexdigest()[:16]
    folder = CACHE / f"{version}-{digest}"
    if not folder.is_dir():
        _download(version, folder)
    return KafkaServer(folder)


def _download(version: str, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    console = Console(stderr=True)
    console.print(f"Downloading the jars of Kafka {version} with Maven, once (about 45 MB) ...")
    with tempfile.TemporaryDirectory(prefix="download-", dir=folder.parent) as scratch:
        server = KafkaServer(Path(scratch, "server"))
        command = ["mvn", "-q", "-B", "-f", str(POM), f"-Dkafka.version={version}"]
        command += ["dependency:copy-dependencies", f"-DoutputDirectory={server.jars}"]
        run_program(command, what="fetch Kafka's jars")
        _make_bootstrap(server, Path(scratch))
        # A rename is all or nothing; it fails when another process was quicker, whose files serve.
        with suppress(OSError):
            server.folder.rename(folder)
    console.print(f"Kafka's jars are in {folder}", soft_wrap=True)


def _make_bootstrap(server: KafkaServer, scratch: Path) -> None:
    """Formats one node to get a file that is the same for all.

    This saves a JVM per node and start.
    """
    properties = scratch / "server.properties"
    properties.write_text(format_properties(scratch / "data"), encoding="utf-8")
    command = ["java", "-cp", server.class_path, "kafka.tools.StorageTool", "format"]
    run_program([*command, "-t", new_id(), "-c", str(properties)], what="format a Kafka node")
    shutil.copy(next((scratch / "data").rglob("*.checkpoint")), server.folder)


def run_program(command: list[str], *, what: str) -> str:
    """Returns what the program prints; raises KafkaClusterError if it is missing or fails."""
    program = shutil.which(command[0])
    if program is None:
        raise KafkaClusterError(
            f"{command[0]} is not on the PATH: make setup says how to install it"
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
    return done.stdout


@dataclass(frozen=True, slots=True)
class BrokerFeature:
    """A feature of the brokers, and the first version that has it on by default."""

    name: str
    since: tuple[int, ...]

    @property
    def missing(self) -> bool:
        """Returns whether the brokers that this process starts lack the feature."""
        return kafka_version() < self.since


# Early access from 3.7, behind settings that keep a cluster from upgrading.
CONSUMER_PROTOCOL = BrokerFeature("the consumer group protocol of KIP-848", (4, 0, 0))
# Before, brokers knew share groups from 4.1 on, without their lag.
SHARE_LAG = BrokerFeature("the lag of share groups (KIP-1226)", (4, 2, 0))
DEAD_LETTER_QUEUE = BrokerFeature("dead letter queues of share groups (KIP-1191)", (4, 4, 0))
DELAYED_UPLOAD = BrokerFeature("delayed tiered uploads (remote.copy.lag.ms)", (4, 4, 0))
# Before, a partition whose replicas in sync are gone stays without a leader whatever its settings.
UNCLEAN_ELECTION = BrokerFeature("unclean elections of KRaft (KAFKA-12670)", (3, 9, 0))
# Before, the newest timestamp of an uncompressed batch came with the offset of its last record.
NEWEST_IN_BATCH = BrokerFeature("the newest record's own offset (KAFKA-16341)", (3, 8, 0))


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
    # Maven's name for the kind of jar.
    kind = "test" if kafka_version() < (4, 4) else "test-fixtures"
    jar = CACHE / "extra" / f"kafka-storage-{version}-{kind}.jar"
    if not jar.is_file():
        jar.parent.mkdir(parents=True, exist_ok=True)
        wanted = f"org.apache.kafka:kafka-storage:{version}:jar:{kind}"
        with tempfile.TemporaryDirectory(dir=jar.parent) as scratch:
            command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={wanted}"]
            run_program([*command, f"-DoutputDirectory={scratch}"], what=f"fetch {wanted}")
            with suppress(OSError):
                Path(scratch, jar.name).rename(jar)
    return jar
