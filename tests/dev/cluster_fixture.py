# SPDX-License-Identifier: Apache-2.0
"""The one real cluster that all tests of a session share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dev.kafka import KafkaCluster


@pytest.fixture(scope="session")
def shared_cluster() -> Iterator[KafkaCluster]:
    """Three brokers: a test that stops one starts it again, and has topic names of its own."""
    from dev.kafka import KafkaCluster

    with KafkaCluster() as cluster:
        yield cluster
