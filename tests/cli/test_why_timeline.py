# SPDX-License-Identifier: Apache-2.0
"""How the runs of a group are folded to lines, and which changes stand beside them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag_cli.why.timeline import (
    COLUMNS,
    Event,
    LeaderChange,
    Minute,
    Timeline,
    fold,
    list_events,
)
from tests.builders import HOUR, MINUTE, NOON

OK = {"status": contract.OK, "members": 2, "owners_changed": 0, "rebalances": 0}
ERR = {**OK, "status": contract.ERR, "worst_status": contract.STALLED}
MOVED = LeaderChange("orders", 0, 1, 2)


def a_minute(number: int, row: dict[str, Any], *changes: LeaderChange) -> Minute:
    return Minute(NOON + number * MINUTE, {**dict.fromkeys(COLUMNS), **row}, changes)


def a_timeline(*minutes: Minute) -> Timeline:
    last = minutes[-1].taken_at
    return Timeline(last - 3 * HOUR, last, MINUTE, minutes, len(minutes), 0)


def of_rows(*rows: dict[str, Any]) -> Timeline:
    return a_timeline(*(a_minute(number, row) for number, row in enumerate(rows)))


def lengths(timeline: Timeline) -> list[int]:
    return [len(each.minutes) for each in fold(timeline)]


def test_runs_in_which_all_is_alike_are_one_line() -> None:
    (stretch,) = fold(of_rows(*[OK] * 180))

    assert (len(stretch.minutes), stretch.seconds) == (180, 180 * 60.0)


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"status": contract.WARN}, id="status"),
        pytest.param({"worst_status": contract.STALLED}, id="worst-status"),
        pytest.param({"cause": contract.STOPPED}, id="cause"),
        pytest.param({"members": 3}, id="members"),
        pytest.param({"owners_changed": 1}, id="owners"),
        pytest.param({"rebalances": 1}, id="rebalances"),
    ],
)
def test_a_change_begins_a_line_and_is_an_event(changed: dict[str, Any]) -> None:
    timeline = of_rows(*[OK] * 10, *[{**OK, **changed}] * 10)

    (event,) = list_events(timeline)

    assert lengths(timeline) == [10, 10]
    assert (event.before.taken_at, event.minutes[0].taken_at) == (
        NOON + 9 * MINUTE,
        NOON + 10 * MINUTE,
    )


def test_a_count_of_members_that_is_not_known_is_no_change() -> None:
    timeline = of_rows(OK, {**OK, "members": None}, OK)

    assert (lengths(timeline), list_events(timeline)) == ([3], [])


def test_a_leader_that_changes_begins_a_line_and_is_an_event() -> None:
    timeline = a_timeline(a_minute(0, OK), a_minute(1, OK, MOVED), a_minute(2, OK))

    assert lengths(timeline) == [1, 1, 1]
    assert [each.now.leader_changes for each in list_events(timeline)] == [(MOVED,)]


@pytest.mark.parametrize(("missing", "is_gap"), [(1, False), (2, True)])
def test_runs_that_are_missing_part_two_lines(missing: int, is_gap: bool) -> None:
    timeline = a_timeline(a_minute(0, OK), a_minute(1 + missing, OK))
    events: list[Event] = list_events(timeline)

    assert len(fold(timeline)) == (2 if is_gap else 1)
    assert [each.gap_seconds for each in events] == ([(1 + missing) * 60.0] if is_gap else [])


def test_trouble_that_goes_on_is_shown_in_parts_and_what_is_well_is_not() -> None:
    timeline = of_rows(*[OK] * 120, *[ERR] * 60)

    assert lengths(timeline) == [120, 15, 15, 15, 15]


def test_owners_that_change_in_each_run_are_one_event_with_their_sum() -> None:
    restless = {**OK, "owners_changed": 2, "rebalances": 1}
    (event,) = list_events(of_rows(OK, restless, restless, restless, OK))

    assert (len(event.minutes), event.total("owners_changed"), event.total("rebalances")) == (
        3,
        6,
        3,
    )


def test_a_line_has_the_worst_status_the_mean_rate_and_the_bounds_of_members() -> None:
    rows = [{**OK, "members": 2 + number % 2, "produce_rate": float(number)} for number in range(9)]
    rows = [{**row, **({"status": contract.WARN} if n % 2 else {})} for n, row in enumerate(rows)]
    stretches = fold(of_rows(*rows * 20))

    assert len(stretches) <= 20
    assert stretches[0].worst.row["status"] == contract.WARN
    assert stretches[0].bounds("members") == (2, 3)
    assert stretches[0].mean("produce_rate") == pytest.approx(4.0, abs=1.0)


@given(
    st.lists(
        st.tuples(
            st.integers(1, 4),
            st.sampled_from([contract.OK, contract.WARN, contract.ERR, None]),
            st.sampled_from([None, 0, 1, 2]),
            st.integers(0, 1),
        ),
        min_size=1,
        max_size=120,
    )
)
def test_lines_hold_each_run_once_in_order(runs: list[tuple[int, Any, Any, int]]) -> None:
    at, minutes = 0, []
    for pause, status, members, owners in runs:
        row = {"status": status, "members": members, "owners_changed": owners, "rebalances": 0}
        minutes.append(a_minute(at, row))
        at += pause
    timeline = a_timeline(*minutes)

    assert [each for stretch in fold(timeline) for each in stretch.minutes] == minutes
    assert all(stretch.seconds > 0 for stretch in fold(timeline))
