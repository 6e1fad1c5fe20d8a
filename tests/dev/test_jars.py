# SPDX-License-Identifier: Apache-2.0
"""Jars are fetched once, whole or not at all."""

from pathlib import Path

import pytest

from dev.kafka import KafkaClusterError
from dev.kafka.jars import kafka_server

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]


def test_jars_that_are_there_are_not_fetched_again() -> None:
    first = kafka_server()
    before = first.folder.stat().st_mtime_ns

    second = kafka_server()

    assert second == first
    assert second.folder.stat().st_mtime_ns == before


def test_a_failed_download_says_why_and_leaves_nothing_behind(tmp_path: Path) -> None:
    pom = tmp_path / "pom.xml"
    pom.write_text("<project><kafka.version>4.1.0<")

    with pytest.raises(KafkaClusterError, match="mvn could not fetch Kafka's jars"):
        kafka_server(cache=tmp_path / "cache", pom=pom)

    assert list((tmp_path / "cache").iterdir()) == []
