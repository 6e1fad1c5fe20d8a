# SPDX-License-Identifier: Apache-2.0
"""Which members own no partition. Who owns one, run by run: test_status and test_rollup."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag.lag.ownership import count_idle


@pytest.mark.parametrize(
    ("group", "owners", "idle"),
    [
        pytest.param({}, 2, 2, id="two of four"),
        pytest.param({}, 4, 0, id="none"),
        pytest.param({}, 5, 0, id="some have left"),
        pytest.param({"protocol": "connect"}, 2, None, id="another protocol"),
        pytest.param({"protocol": "connect"}, 4, 0, id="another protocol and all own some"),
        pytest.param({"protocol": None}, 3, 1, id="a protocol that is not said"),
        pytest.param({"group_state": "PreparingRebalance"}, 1, None, id="they wait"),
        pytest.param({}, 0, None, id="nobody owns anything"),
        pytest.param({"group_type": "consumer"}, 0, 4, id="the coordinator assigns"),
    ],
)
def test_members_that_own_nothing_are_counted_where_that_is_known(
    group: dict[str, Any], owners: int, idle: int | None
) -> None:
    usual = {"members": 4, "protocol": "consumer", "group_state": "Stable", "group_type": "classic"}
    assert count_idle({**usual, **group}, owners) == idle
