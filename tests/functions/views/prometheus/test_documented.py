# SPDX-License-Identifier: Apache-2.0
"""docs/prometheus.md names every family that is exposed, and none of ours that is not."""

from __future__ import annotations

import re
from pathlib import Path

from tests.fakes import MemoryStore
from tests.functions.views.prometheus.scrapes import ask

DOC = (Path(__file__).parents[4] / "docs" / "prometheus.md").read_text()
EXPOSED = set(
    re.findall(
        r"^# TYPE (\S+) gauge$", ask(MemoryStore(), {"level": "partition"}).body.decode(), re.M
    )
)
# Of kafka_exporter, and said to be.
ELSEWHERE = {"kafka_topic_partition_leader_is_preferred", "kafka_brokers", "kafka_broker_info"}


def test_every_family_is_documented() -> None:
    assert EXPOSED
    assert EXPOSED - set(re.findall(r"`(\w+)`", DOC)) == set()


def test_every_family_that_is_documented_is_exposed() -> None:
    named = set(
        re.findall(r"(?<!\w)kafka_(?:lag|consumergroup|topic|broker)\w*[a-z](?![\w*])", DOC)
    )
    assert named - EXPOSED - ELSEWHERE == set()
