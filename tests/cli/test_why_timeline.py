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
    LeaderChange,
    Minute,
    Timeline,
    fold,
    list_events,
)
from tests.builders import HOUR, MINUTE, NOON

OK = {"status": contract.OK, "members": 2, "owners_changed": 0, "rebalances": 0}


def a_minute(number: int, row: dict[str, Any], *changes: LeaderChange) -> Minute:
    return Minute(NOON + number * MINUTE, {**dict.fromkeys(COLUMNS), **row}, changes)


def a_timeline(*minutes: Minute) -> Timeline:
    last = minutes[-1].taken_at
    return Timeline(last - 3 * HOUR, last, MINUTE, minutes, len(minutes), 0)


# What a letter says of a run; a hyphen is a run that is missing.
RUNS: dict[str, tuple[dict[str, Any], tuple[LeaderChange, ...]]] = {
    "o": (OK, ()),
    "w": ({**OK, "status": contract.WARN}, ()),
    "s": ({**OK, "worst_status": contract.STALLED}, ()),
    "e": ({**OK, "status": contract.ERR, "worst_status": contract.STALLED}, ()),
    "c": ({**OK, "cause": contract.STOPPED}, ()),
    "3": ({**OK, "members": 3}, ()),
    "?": ({**OK, "members": None}, ()),
    "m": ({**OK, "owners_changed": 2, "rebalances": 1}, ()),
    "r": ({**OK, "rebalances": 1}, ()),
    "l": (OK, (LeaderChange("orders", 0, 1, 2),)),
}


def of_runs(runs: str) -> Timeline:
    minutes = (
        a_minute(at, RUNS[each][0], *RUNS[each][1]) for at, each in enumerate(runs) if each != "-"
    )
    return a_timeline(*minutes)


# Runs by minute, how many are on each line, and the events: their first run, and how many they are.
@pytest.mark.parametrize(
    ("runs", "lines", "events"),
    [
        ("oooooooooo", [10], []),
        ("oooooooooowwwww", [10, 5], [(10, 1)]),
        ("oooooooooosssss", [10, 5], [(10, 1)]),
        ("ooooooooooccccc", [10, 5], [(10, 1)]),
        ("oooooooooo33333", [10, 5], [(10, 1)]),
        # A count that is not known is no change.
        ("oo??oo", [6], []),
        ("oorroo", [2, 2, 2], [(2, 2)]),
        # Owners that change in each run are one event.
        ("ommmo", [1, 3, 1], [(1, 3)]),
        ("olo", [1, 1, 1], [(1, 1)]),
        # A run that is missing parts nothing, two do.
        ("oo-oo", [4], []),
        ("oo--oo", [2, 2], [(4, 1)]),
        # Trouble that goes on is shown in parts, and what is well is not.
        ("o" * 120 + "e" * 60, [120, 15, 15, 15, 15], [(120, 1)]),
    ],
)
def test_runs_are_folded_to_lines_with_what_changed_beside_them(
    runs: str, lines: list[int], events: list[tuple[int, int]]
) -> None:
    timeline = of_runs(runs)
    found = list_events(timeline)

    assert [len(each.minutes) for each in fold(timeline)] == lines
    assert [
        ((each.minutes[0].taken_at - NOON) // MINUTE, len(each.minutes)) for each in found
    ] == events


def test_an_event_sums_what_it_counts_and_says_how_long_no_run_was_made() -> None:
    (restless,) = list_events(of_runs("ommmo"))
    (gap,) = list_events(of_runs("oo--oo"))

    assert (restless.total("owners_changed"), restless.total("rebalances")) == (6, 3)
    assert (restless.gap_seconds, gap.gap_seconds) == (None, 180.0)


def test_a_line_has_the_worst_status_the_mean_rate_and_the_bounds_of_members() -> None:
    rows = [{**OK, "members": 2 + number % 2, "produce_rate": float(number)} for number in range(9)]
    rows = [{**row, **({"status": contract.WARN} if n % 2 else {})} for n, row in enumerate(rows)]
    stretches = fold(a_timeline(*map(a_minute, range(180), rows * 20)))

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
