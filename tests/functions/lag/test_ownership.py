# SPDX-License-Identifier: Apache-2.0
"""Who owns a partition, whose owner changed, and which members own none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.ownership import add_owners, count_idle, find_owner_changes, find_unowned
from tests.functions.lag.builders import BEFORE, NOW, rows, snapshot

UNREAD = {"unread_reason": contract.TIMEOUT}


def of_group(members: int | None = 2, state: str | None = "Stable") -> Frame:
    counts = Column.optional([members], np.int32)
    return Frame.of({"members": counts, "group_state": Strings.of([state])})


@pytest.mark.parametrize(
    ("row", "members", "state", "expected"),
    [
        pytest.param({}, 2, "Stable", True, id="nobody's"),
        pytest.param({"member_id": "m"}, 2, "Stable", False, id="a member's"),
        pytest.param({}, 0, "Empty", True, id="without members"),
        pytest.param({}, None, "Stable", False, id="not described"),
        pytest.param(UNREAD, 2, "Stable", False, id="not read"),
        pytest.param({}, 2, "PreparingRebalance", False, id="members wait for it"),
        pytest.param({}, 0, "PreparingRebalance", True, id="nobody waits for it"),
    ],
)
def test_a_partition_is_unowned_where_members_are_known_and_none_has_it(
    row: dict[str, Any], members: int | None, state: str, expected: bool
) -> None:
    assert find_unowned(rows(row), of_group(members, state)).tolist() == [expected]


@pytest.mark.parametrize(
    ("row", "members", "owned_at"),
    [
        pytest.param({"member_id": "m"}, 1, NOW, id="now"),
        pytest.param({}, 1, BEFORE, id="as before"),
        pytest.param({"member_id": "m"}, None, BEFORE, id="its members are of an earlier run"),
        pytest.param({"member_id": "m", **UNREAD}, 1, BEFORE, id="not read"),
    ],
)
def test_the_last_run_in_which_a_member_owned_it_is_kept(
    row: dict[str, Any], members: int | None, owned_at: int
) -> None:
    before = snapshot(rows({"owned_at": BEFORE}, at=BEFORE))
    found = add_owners(rows(row), of_group(members), before, NOW)
    assert found.numbers("owned_at").to_list() == [owned_at]


@pytest.mark.parametrize(
    ("then", "now", "changed"),
    [
        pytest.param({"member_id": "m"}, {"member_id": "m"}, False, id="stays"),
        pytest.param({"member_id": "m"}, {"member_id": "n"}, True, id="another"),
        pytest.param({}, {"member_id": "n"}, True, id="new"),
        pytest.param({"member_id": "m"}, {}, True, id="gone"),
        pytest.param({}, {}, False, id="nobody still"),
        pytest.param({"member_id": "m"}, {"member_id": "n", **UNREAD}, False, id="not read"),
        pytest.param({"topic": "other"}, {"member_id": "n"}, False, id="first seen"),
    ],
)
def test_an_owner_changed_where_the_previous_run_had_another_or_none(
    then: dict[str, Any], now: dict[str, Any], changed: bool
) -> None:
    before = snapshot(rows(then, at=BEFORE))
    assert find_owner_changes(rows(now), before).tolist() == [changed]


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
