# SPDX-License-Identifier: Apache-2.0
"""A broker's classes are kept once for each Java and its jars, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from dev.kafka import KafkaCluster, KafkaClusterError
from dev.kafka.archive import archive_of, reading
from dev.kafka.cluster import QUICK_START
from dev.kafka.jars import KafkaServer


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> KafkaServer:
    server = KafkaServer(tmp_path / "server")
    server.jars.mkdir(parents=True)
    (server.jars / "kafka.jar").write_text("classes")
    return server


class Training:
    """Brokers that leave their number as their archive."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, archive: Path) -> None:
        self.times += 1
        archive.write_text(str(self.times))


def test_classes_are_kept_once_for_a_java_and_its_jars(server: KafkaServer) -> None:
    train = Training()
    first = archive_of(server, train, version="17.0.1")
    assert first is not None
    assert archive_of(server, train, version="17.0.1") == first
    assert (train.times, first.read_text()) == (1, "1")


def test_another_java_keeps_its_own_classes(server: KafkaServer) -> None:
    train = Training()
    kept = [archive_of(server, train, version=version) for version in ("17.0.1", "21.0.2")]
    assert [archive.read_text() for archive in kept if archive is not None] == ["1", "2"]


def test_classes_of_other_jars_are_kept_anew(server: KafkaServer) -> None:
    train = Training()
    archive_of(server, train, version="17.0.1")
    (server.jars / "kafka.jar").write_text("other classes")
    archive = archive_of(server, train, version="17.0.1")
    assert archive is not None
    assert archive.read_text() == "2"


def test_of_two_processes_that_keep_classes_at_once_each_has_a_whole_archive(
    server: KafkaServer,
) -> None:
    seen = []

    def overtaken(archive: Path) -> None:
        archive.write_text("half")
        other = archive_of(server, Training(), version="17.0.1")
        assert other is not None
        seen.append(other.read_text())
        archive.write_text("later")

    archive = archive_of(server, overtaken, version="17.0.1")
    assert archive is not None
    assert [*seen, archive.read_text()] == ["1", "later"]
    assert sorted(server.folder.iterdir()) == sorted([archive, server.jars])


def test_where_no_classes_can_be_kept_brokers_do_without(server: KafkaServer) -> None:
    def dies(archive: Path) -> None:
        archive.write_text("half")
        raise KafkaClusterError("Node 1 died")

    assert archive_of(server, dies, version="17.0.1") is None
    assert [*server.folder.iterdir()] == [server.jars]


@pytest.mark.kafka
@pytest.mark.thorough
@pytest.mark.parametrize("content", ["no archive", None], ids=["spoilt", "gone"])
def test_a_broker_starts_without_an_archive_that_serves(
    content: str | None, tmp_path: Path
) -> None:
    archive = tmp_path / "classes.jsa"
    if content is not None:
        archive.write_text(content)
    with KafkaCluster(brokers=1, java_options=(*QUICK_START, *reading(archive))) as cluster:
        assert cluster.alive(1)
