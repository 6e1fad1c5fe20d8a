# SPDX-License-Identifier: Apache-2.0
"""Runs in a row, a minute apart: what is remembered of how a commit moves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.movement import add_movement, is_still, most_observations
from kafka_lag.lag.previous_rows import match_previous
from tests.builders import MINUTE, NOON
from tests.functions.lag.builders import Row, first, numbers_of, rows, snapshot

RULES = Rules()
STATE = (
    "observations",
    "commit_changed_at",
    "rewound_from",
    "rewound_at",
    "pause_seconds",
    "pauses_seen",
    "work_between_pauses",
    "work_since_pause",
    "pause_age_left",
)
UNREAD = {"unread_reason": "timeout"}


def a_run(values: Row, before: Snapshot, at: int) -> Frame:
    """One run; an unread row carries what it had, but for its time lag."""
    frame = rows(values, at=at)
    if "unread_reason" in values and len(before.group_partitions):
        carried, reason = before.group_partitions, frame.strings("unread_reason")
        age = carried.numbers("time_lag_seconds").only(~reason.known)
        frame = carried.with_columns(unread_reason=reason, time_lag_seconds=age)
    return add_movement(frame, match_previous(frame, before), at, RULES)


def after(*runs: Row, every: int = MINUTE) -> Frame:
    """The last of these runs, begun at noon."""
    previous, found = Snapshot.empty(), rows({})
    for number, values in enumerate(runs):
        at = NOON + number * every
        found = a_run(values, previous, at)
        previous = snapshot(found, at=at)
    return found


def commits(*offsets: int | None) -> list[Row]:
    return [{"committed_offset": offset} for offset in offsets]


def test_readings_are_counted_up_to_those_that_fill_the_window() -> None:
    assert [first(after(*commits(*[5] * n)), "observations")[0] for n in (1, 2, 10, 12)] == [
        1,
        2,
        10,
        10,
    ]


def test_two_readings_are_counted_however_short_the_window() -> None:
    assert most_observations(Rules(interval_ms=60_000, window_ms=60_000)) == 2


def test_a_recreated_topic_is_counted_anew() -> None:
    found = after({"topic_id": "a"}, {"topic_id": "a"}, {"topic_id": "b"})
    assert first(found, "observations") == (1,)


@pytest.mark.parametrize(
    ("offsets", "run"),
    [
        pytest.param([5], 0, id="first-seen"),
        pytest.param([5, 5, 5], 0, id="unmoved"),
        pytest.param([5, 6, 6], 1, id="moved"),
        pytest.param([5, 5, 4], 2, id="went-back"),
        pytest.param([None, 5, 5], 1, id="first-commit"),
        pytest.param([5, None], None, id="commit-deleted"),
    ],
)
def test_a_commit_changed_in_the_first_run_that_saw_it(
    offsets: list[int | None], run: int | None
) -> None:
    changed = None if run is None else NOON + run * MINUTE
    assert first(after(*commits(*offsets)), "commit_changed_at") == (changed,)


@pytest.mark.parametrize(
    ("offsets", "source", "run"),
    [
        pytest.param([9, 4], 9, 1, id="went-back"),
        pytest.param([9, 4, 8], 9, 1, id="on-its-way"),
        pytest.param([9, 4, 4, 4], 9, 1, id="stands-where-it-went"),
        pytest.param([9, 4, 9], None, None, id="reached-again"),
        pytest.param([9, 4, 6, 2], 9, 3, id="32-went-back-twice"),
        pytest.param([9, 4, 9, 12, 3, 10], 12, 4, id="32-second-not-recovered"),
        pytest.param([5, 6, 6], None, None, id="never-back"),
        pytest.param([9, None, 4], None, None, id="commit-deleted-in-between"),
    ],
)
def test_a_rewind_is_kept_until_its_highest_commit_is_reached_again(
    offsets: list[int | None], source: int | None, run: int | None
) -> None:
    since = None if run is None else NOON + run * MINUTE
    found = first(after(*commits(*offsets)), "rewound_from", "rewound_at")
    assert found == (source, since)


def test_a_recreated_topic_was_not_rewound() -> None:
    found = after(
        {"committed_offset": 9, "end_offset": 9}, {"committed_offset": 0, "end_offset": 2}
    )
    assert first(found, "rewound_from") == (None,)


def test_a_commit_beyond_the_end_was_never_reached_and_a_lower_one_is_no_rewind() -> None:
    found = after(
        {"committed_offset": 3, "end_offset": 5},
        {"committed_offset": 9, "end_offset": 5},
        {"committed_offset": 4, "end_offset": 6},
    )
    assert first(found, "rewound_from") == (None,)


def test_an_unread_row_keeps_all_columns_of_the_previous_one() -> None:
    before = snapshot(after(*commits(9, 4, 5)), at=NOON + 2 * MINUTE)
    found = a_run({**UNREAD}, before, NOON + 3 * MINUTE)
    assert first(found, *STATE) == first(before.group_partitions, *STATE)


@pytest.mark.parametrize(
    ("row", "still"),
    [
        pytest.param({"commit_changed_at": NOON - 10 * MINUTE}, False, id="for-the-window"),
        pytest.param({"commit_changed_at": NOON - 11 * MINUTE}, True, id="longer"),
        pytest.param({"commit_changed_at": NOON - 99 * MINUTE, "observations": 1}, True, id="seen"),
        pytest.param({"committed_offset": None, "observations": 9}, False, id="not-yet-watched"),
        pytest.param({"committed_offset": None, "observations": 10}, True, id="never-committed"),
    ],
)
def test_a_commit_lies_still_once_it_has_not_moved_for_longer_than_the_window(
    row: Row, still: bool
) -> None:
    assert is_still(rows({"committed_offset": 5, **row}), NOON, RULES).tolist() == [still]


RUN = st.fixed_dictionaries(
    {"committed_offset": st.none() | st.integers(0, 2**62)},
    optional={
        "time_lag_seconds": st.none() | st.floats(0, 1e9),
        "end_offset": st.none() | st.integers(0, 2**62),
        "unread_reason": st.just("timeout"),
    },
)


@given(st.lists(RUN, min_size=1, max_size=12), st.integers(1, 10 * MINUTE))
def test_whatever_runs_see_nothing_is_negative_or_from_the_future(
    runs: list[Row], every: int
) -> None:
    with np.errstate(all="raise", under="ignore"):
        found = after(*runs, every=every)
    last = NOON + (len(runs) - 1) * every
    seen, changed, source, since, pause, seen_pauses, *_ = first(found, *STATE)
    assert seen is None or 1 <= seen <= 10
    assert all(time is None or NOON <= time <= last for time in (changed, since))
    assert source is None or source > first(found, "committed_offset")[0]
    assert all(value >= 0 and np.isfinite(value) for value in numbers_of(found, *STATE))
    assert (pause is None) == (seen_pauses is None)
