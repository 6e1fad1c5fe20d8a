# SPDX-License-Identifier: Apache-2.0
"""How often a group was rebalanced since the run before: by its epoch, and unknown without two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.model import ClusterReading, Snapshot
from tests.builders import HOUR, MINUTE, NOON, a_reading, a_report, table

# What a run learns of the group: its epoch; that it was not read, that it was not described, that
# it is a classic one, that it does not exist, that it was deleted.
UNREAD, UNDESCRIBED, CLASSIC, ABSENT, DELETED = "unread", "undescribed", "classic", "absent", "gone"
Learned: TypeAlias = int | str


def reading(learned: Learned, at: int) -> ClusterReading:
    topics = {"orders": [(0, 9)]}
    if learned in (ABSENT, DELETED):
        return a_reading({}, topics, at=at, gone_groups=["g"] if learned == DELETED else [])
    groups: dict[str, Any] = {"g": contract.TIMEOUT if learned == UNREAD else {"orders": [5]}}
    epoch = learned if isinstance(learned, int) else None
    return a_reading(groups, topics, at=at, epochs={} if learned == CLASSIC else {"g": epoch})


def rows_of(runs: Iterable[Learned], every: int = MINUTE) -> list[tuple[Any, ...] | None]:
    """group_epoch and rebalances in each run, None where the group has no row."""
    found: list[tuple[Any, ...] | None] = []
    snapshot = Snapshot.empty()
    for number, learned in enumerate(runs):
        at = NOON + number * every
        snapshot = a_report(reading(learned, at), snapshot, at=at).snapshot
        found.append(next(iter(table(snapshot.groups, "group_epoch", "rebalances")), None))
    return found


@pytest.mark.parametrize(
    ("runs", "last"),
    [
        pytest.param([7], (7, None), id="first-seen"),
        pytest.param([0], (0, None), id="first-seen-before-any"),
        pytest.param([7, 7], (7, 0), id="none"),
        pytest.param([7, 8], (8, 1), id="one"),
        pytest.param([0, 2], (2, 2), id="the-first-two"),
        pytest.param([7, 2**31 - 1], (2**31 - 1, 2**31 - 8), id="as-many-as-there-can-be"),
        pytest.param([7, 9, 9], (9, 0), id="counted-once"),
        pytest.param([7, UNREAD], (7, None), id="not-read"),
        pytest.param([7, 9, UNREAD], (9, None), id="not-read-after-some"),
        pytest.param([7, UNREAD, UNREAD, 9], (9, 2), id="since-it-was-last-read"),
        pytest.param([UNREAD, 9], (9, None), id="never-read"),
        pytest.param([7, UNDESCRIBED], (7, None), id="not-described"),
        pytest.param([7, UNDESCRIBED, UNREAD, 9], (9, 2), id="since-it-was-last-described"),
        pytest.param([UNDESCRIBED, 9], (9, None), id="never-described"),
        pytest.param([7, 3], (3, None), id="went-down"),
        pytest.param([7, 3, 4], (4, 1), id="went-down-and-on-from-there"),
        pytest.param([7, UNREAD, 3], (3, None), id="went-down-while-not-read"),
        pytest.param([CLASSIC, CLASSIC], (None, None), id="classic"),
        pytest.param([7, CLASSIC], (None, None), id="became-classic"),
        pytest.param([CLASSIC, 7], (7, None), id="became-new"),
        pytest.param([7, CLASSIC, 9], (9, None), id="became-classic-and-new-again"),
        pytest.param([7, DELETED], (None, None), id="deleted"),
        pytest.param([7, DELETED, 9], (9, None), id="deleted-and-made-anew"),
        pytest.param([7, ABSENT, 9], (9, None), id="not-listed-meanwhile"),
    ],
)
def test_rebalances_are_what_the_epoch_rose_by(
    runs: list[Learned], last: tuple[int | None, int | None]
) -> None:
    assert rows_of(runs)[-1] == last


def test_an_epoch_is_kept_for_a_day_in_which_the_group_is_not_read() -> None:
    days = rows_of([7, *[UNREAD] * 5], every=6 * HOUR)
    assert days == [(7, None), *[(7, None)] * 4, (None, None)]


def test_a_group_that_became_classic_unread_has_no_epoch_to_count_from() -> None:
    before = a_report(reading(7, NOON)).snapshot
    unread = a_reading({"g": contract.TIMEOUT}, {"orders": [(0, 9)]}, at=NOON + MINUTE)
    groups = a_report(unread, before, at=NOON + MINUTE).snapshot.groups
    assert table(groups, "group_type", "group_epoch", "rebalances") == [("classic", None, None)]


def test_a_group_of_the_consumer_protocol_has_no_members_hash() -> None:
    """Not even an empty one: a run that describes no member hashes an empty list."""
    found = reading(7, NOON)
    empty = found.groups.with_columns(members_hash=Column.of(np.zeros(1, np.int64)))
    groups = a_report(replace(found, groups=empty)).snapshot.groups
    assert table(groups, "group_epoch", "members_hash") == [(7, None)]


def test_each_group_has_its_own_epoch() -> None:
    topics = {"orders": [(0, 9)]}
    groups: dict[str, Any] = {name: {"orders": [5]} for name in "gh"}
    before = a_report(a_reading(groups, topics, epochs={"g": 4, "h": 9})).snapshot
    turned = {name: groups[name] for name in "hg"}
    now = a_report(a_reading(turned, topics, epochs={"g": 5, "h": 9}), before).snapshot.groups
    assert table(now, "consumer_group", "rebalances") == [("h", 0), ("g", 1)]


LEARNED = st.sampled_from([UNREAD, UNDESCRIBED, CLASSIC, ABSENT, DELETED]) | st.integers(0, 9)


@given(st.lists(LEARNED, max_size=12))
def test_there_is_no_negative_number_of_rebalances_and_none_without_an_epoch(
    runs: list[Learned],
) -> None:
    for learned, row in zip(runs, rows_of(runs), strict=True):
        epoch, rebalances = row or (None, None)
        assert rebalances is None or (rebalances >= 0 and learned == epoch)


@given(st.lists(st.sampled_from([UNREAD, UNDESCRIBED]) | st.integers(0, 5), max_size=12))
def test_no_rebalance_is_left_out_or_counted_twice_whichever_runs_read_the_group(
    steps: list[int | str],
) -> None:
    runs: list[Learned] = [3]
    epoch = 3
    for step in steps:
        epoch += step if isinstance(step, int) else 1
        runs.append(epoch if isinstance(step, int) else step)
    rows = rows_of([*runs, epoch])
    assert sum((row and row[1]) or 0 for row in rows) == epoch - 3


# A classic group's members and what they own, as a hash; a state in which they wait for partitions.
WAITING = "PreparingRebalance"


def classic(learned: int | str | None, at: int) -> ClusterReading:
    found = reading(UNREAD if learned == UNREAD else CLASSIC, at)
    state = WAITING if learned == WAITING else "Stable"
    return replace(
        found,
        groups=found.groups.with_columns(
            group_type=Strings.constant("classic", 1),
            group_state=Strings.constant(state, 1),
            members_hash=Column.optional([learned if isinstance(learned, int) else 0]).only(
                np.array([learned not in (UNREAD, None)])
            ),
        ),
    )


def classic_rows(
    runs: Iterable[int | str | None], away_before: Mapping[int, int] = {}
) -> list[tuple[Any, ...]]:
    """rebalances and rebalancing_share in each run; before some nobody looked for so long, ms."""
    away = 0
    found: list[tuple[Any, ...]] = []
    snapshot = Snapshot.empty()
    for number, learned in enumerate(runs):
        away += away_before.get(number, 0)
        at = NOON + number * MINUTE + away
        snapshot = a_report(classic(learned, at), snapshot, at=at).snapshot
        found += table(snapshot.groups, "rebalances", "rebalancing_share")
    return found


@pytest.mark.parametrize(
    ("runs", "last"),
    [
        pytest.param([1], None, id="first-seen"),
        pytest.param([1, 1], 0, id="none"),
        pytest.param([1, -2], 1, id="others"),
        pytest.param([1, UNREAD], None, id="not-read"),
        pytest.param([1, UNREAD, 2], 1, id="while-not-read"),
        pytest.param([1, None, 2], 1, id="while-not-described"),
        pytest.param([1, WAITING], 1, id="under-way"),
        pytest.param([1, WAITING, WAITING], 0, id="the-same-one-under-way"),
        pytest.param([1, WAITING, 2], 0, id="over-and-counted-already"),
        pytest.param([1, WAITING, 2, 3], 1, id="the-one-after"),
    ],
)
def test_a_classic_group_was_rebalanced_where_its_members_or_what_they_own_changed(
    runs: list[int | str | None], last: int | None
) -> None:
    assert classic_rows(runs)[-1][0] == last


@pytest.mark.parametrize(
    ("runs", "always"),
    [
        pytest.param(range(12), True, id="in-each-run"),
        pytest.param([*[0] * 60, *range(12)], True, id="since-twelve-runs"),
        pytest.param([*[0] * 60, *range(5)], False, id="for-five-minutes-as-a-deploy-does"),
        pytest.param([number // 5 for number in range(60)], False, id="in-each-fifth-run"),
        pytest.param([*range(30), *[29] * 10], False, id="until-ten-minutes-ago"),
        pytest.param([1, *[WAITING] * 12], True, id="never-settles"),
        pytest.param([*range(12), *[UNREAD] * 9], True, id="not-read-since"),
    ],
)
def test_a_group_that_most_runs_see_rebalanced_does_so_all_the_time(
    runs: Iterable[int | str | None], *, always: bool
) -> None:
    assert (classic_rows(runs)[-1][1] >= contract.MOSTLY_REBALANCING) is always


def test_one_rebalance_seen_after_a_long_time_may_have_been_the_only_one() -> None:
    rows = classic_rows([*[0] * 10, 1, 1], away_before={10: HOUR})

    assert rows[-2][0] == 1
    assert rows[-2][1] < 0.3


def test_rebalances_from_before_a_long_time_without_a_reading_are_over() -> None:
    assert classic_rows([*range(12), 11], away_before={12: HOUR})[-1][1] < 0.01
