# SPDX-License-Identifier: Apache-2.0
"""Where more members read no more in all: known from too few of them, and held."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import LagReport
from tests.builders import MINUTE, NOON
from tests.functions.lag.builders import Runs, group

HELD = ("shared_limit_members", "shared_limit_rate")
# Records that lie there, whatever is read.
END = 10**9
DAY = 1_440


class Group:
    """Runs a minute apart over a group with a backlog."""

    def __init__(self, rules: Rules | None = None) -> None:
        self._runs = Runs(rules or Rules(lookup_budget=0))
        self._minute, self._commit = 0, 0

    def run(self, members: int, each: float, minutes: int = 1, **more: Any) -> LagReport:
        """So many members read so much a second each; their partitions are as one here."""
        for _ in range(minutes):
            self._commit += round(60 * each)
            end = more.pop("end", END)
            last = self._runs.run(
                self._minute, self._commit, end or self._commit, members=members, **more
            )
            self._minute += 1
        return last

    def wait(self, minutes: int) -> None:
        """Nobody looks for so long."""
        self._minute += minutes


def found(*stages: tuple[int, float, int]) -> tuple[Any, ...]:
    """What is held after stages of members, records/s of each, and minutes."""
    seen = Group()
    for members, each, minutes in stages:
        last = seen.run(members, each, minutes)
    return group(last, *HELD)


# Two samples of three members, whose total is 30/s: the first two minutes are none.
THREE = (3, 10.0, 4)


@pytest.mark.parametrize(
    ("more", "held"),
    [
        pytest.param((6, 5.0, 5), (3, 30.0), id="twice as many read as much"),
        pytest.param((6, 4.0, 5), (3, 30.0), id="and less"),
        pytest.param((6, 6.2, 5), (4, 37.2), id="a quarter of what they should"),
        pytest.param((6, 6.3, 5), (None, None), id="more than that"),
        pytest.param((6, 10.0, 5), (None, None), id="twice as much"),
        pytest.param((6, 5.0, 2), (None, None), id="seen in two minutes only"),
        pytest.param((4, 7.5, 5), (3, 30.0), id="one more"),
        pytest.param((24, 1.25, 5), (3, 30.0), id="eight times as many"),
        pytest.param((2, 15.0, 5), (None, None), id="fewer"),
    ],
)
def test_members_that_read_no_more_in_all_are_not_needed(
    more: tuple[int, float, int], held: tuple[Any, ...]
) -> None:
    assert found(THREE, more) == held


def test_a_fifth_more_members_is_too_few_to_compare() -> None:
    assert found((10, 10.0, 5), (12, 8.3, 9)) == (None, None)
    assert found((10, 10.0, 5), (13, 7.0, 9)) == (10, 100.0)


def test_the_fewest_members_are_those_that_would_have_read_as_much() -> None:
    """Two read 20/s, six 24/s: as much as three do."""
    assert found((2, 10.0, 5), (6, 4.0, 9)) == (3, 24.0)


def test_members_that_stand_still_for_a_minute_are_waited_for() -> None:
    assert found(THREE, (6, 0.5, 1), (6, 10.0, 5)) == (None, None)


def test_a_member_that_is_slow_still_reads_more() -> None:
    """The mean of three at 10/s and one at 6/s."""
    assert found(THREE, (4, 9.0, 9)) == (None, None)


def test_a_backlog_that_is_over_says_nothing_of_the_next() -> None:
    """Fewer records a second of each may be another version by then."""
    seen = Group()
    seen.run(3, 10.0, 5)
    caught_up = seen.run(3, 10.0, 3, end=None)
    assert group(caught_up, "kept_up_at") == (NOON + 7 * MINUTE,)
    seen.run(3, 10.0)
    assert group(seen.run(6, 5.0, 9), *HELD) == (None, None)


def held_at_three() -> Group:
    seen = Group()
    seen.run(3, 10.0, 4)
    seen.run(6, 5.0, 4)
    return seen


@pytest.mark.parametrize(
    ("each", "held"),
    [
        pytest.param(10.0, (3, 30.0), id="as much"),
        pytest.param(8.1, (3, 30.0), id="nearly"),
        pytest.param(7.9, (None, None), id="less, so that more were needed"),
        pytest.param(11.4, (3, 30.0), id="a little more"),
        pytest.param(11.6, (6, 34.8), id="more, as there is room again"),
    ],
)
def test_those_that_are_held_are_held_to_what_they_read(each: float, held: tuple[Any, ...]) -> None:
    assert group(held_at_three().run(3, each, 5), *HELD) == held


def test_it_is_held_without_a_backlog_too_and_tried_anew_after_a_day() -> None:
    seen = held_at_three()
    # Found in minute 6, the third with six members.
    seen.run(3, 10.0, 2, end=None)
    seen.wait(DAY - 5)
    assert group(seen.run(3, 10.0), *HELD) == (3, 30.0)
    assert group(seen.run(3, 10.0), *HELD) == (None, None)


def test_the_run_that_found_it_is_named() -> None:
    last = held_at_three().run(3, 10.0)
    assert group(last, "shared_limit_since") == (NOON + 6 * MINUTE,)


def test_a_run_that_did_not_read_keeps_it() -> None:
    assert group(held_at_three().run(3, 0.0, end=contract.NO_LEADER), *HELD) == (3, 30.0)
