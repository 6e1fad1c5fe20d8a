# SPDX-License-Identifier: Apache-2.0
"""Many groups at one coordinator."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lag.brokers.groups.census import Group
from kafka_lag.brokers.groups.members import describe
from tests.functions.brokers.fakes import FakeWire


@pytest.mark.parametrize("kind", ["classic", "consumer"])
def test_describing_twenty_thousand_groups_of_one_coordinator_takes_moments(kind: str) -> None:
    """Half a second; comparing each group with all others took half a minute."""

    def answer(request: Any) -> Any:
        names = getattr(request, "group_ids", None) or request.groups
        fields = {"error_code": 0, "group_state": "Stable", "protocol_type": "c", "members": []}
        return SimpleNamespace(groups=[SimpleNamespace(group_id=n, **fields) for n in names])

    groups = [Group(f"g{number}", 1, "Stable", kind) for number in range(20_000)]
    wire: Any = FakeWire(answer)
    began = time.process_time()
    described = asyncio.run(describe(wire, groups))
    assert time.process_time() - began < 6
    assert len(described) == 20_000
