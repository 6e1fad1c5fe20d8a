# SPDX-License-Identifier: Apache-2.0
"""Brokers on real sockets, under a clock that skips waits without effect."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.functions.brokers.listening import Cluster, cluster
from tests.functions.brokers.skipped_waits import skipping_waits


@pytest.fixture(name="brokers")
def _brokers() -> Iterator[Cluster]:
    """Three of them, each with its partition and its group."""
    with cluster() as brokers, skipping_waits(brokers):
        yield brokers
