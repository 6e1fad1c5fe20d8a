# SPDX-License-Identifier: Apache-2.0
"""A sparkline is drawn if a value is known, at the same runs from one page to the next."""

from __future__ import annotations

from functools import cache

import pytest

from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from kafka_lag.views.latest_run import LatestRun, Snapshots, find_latest_run
from kafka_lag.views.sparkline import PERIODS, RecentRuns, Sparkline, load_recent_runs
from tests.fakes import MemoryStore
from tests.functions.views.page.rows import HOUR, MINUTE, NOON, a_group, frame_of
from tests.functions.views.waiting import WaitingStore


@cache
def a_run(age: float | None) -> bytes:
    """A run with one group of such an age."""
    return to_parquet(frame_of(contract.GROUPS, [a_group("g", time_lag_seconds=age)]), "groups")


def history(ages: dict[int, float | None], store: MemoryStore | None = None) -> MemoryStore:
    """Runs at these times."""
    store = MemoryStore() if store is None else store
    for at, age in ages.items():
        store.objects[object_key(contract.GROUPS, "shop", at)] = a_run(age)
    return store


def seen(store: MemoryStore, now: int = NOON) -> tuple[Snapshots, LatestRun]:
    snapshots = Snapshots(store, lambda: now / 1000)
    found = find_latest_run(snapshots, "shop", now)
    assert isinstance(found, LatestRun)
    return snapshots, found


def loaded(
    snapshots: Snapshots, found: LatestRun, now: int, most: int = 25, period: str = "6h"
) -> RecentRuns:
    return load_recent_runs(snapshots, found, now, PERIODS[period], most)


def drawn(store: MemoryStore, group: str = "g", now: int = NOON, period: str = "6h") -> Sparkline:
    snapshots, found = seen(store, now)
    runs = loaded(snapshots, found, now, period=period)
    (line,) = runs.draw([group], "time_lag_seconds", 10.0)
    return line


def every(minutes: int, *ages: float | None, without: range = range(0)) -> dict[int, float | None]:
    """Runs at this interval, the last at noon, but for some, counted back from it."""
    return {
        NOON - minutes * MINUTE * back: age
        for back, age in enumerate(reversed(ages))
        if back not in without
    }


RISE = every(180, 0.0, 50.0, 100.0)


def test_time_runs_to_the_right_and_lag_upwards() -> None:
    line = drawn(history(RISE))

    assert line.path == "M0 40L120 21.5L240 2.96"
    assert line.area == "M0 40L0 40L120 21.5L240 2.96L240 40Z"
    assert line.most == 100


@pytest.mark.parametrize(
    ("ages", "path", "dots"),
    [
        (every(180, 0.0, 1.0), "M120 40L240 36.3", ""),
        ({NOON: 10.8}, "", "M240 2.96h0"),
        (every(60, 0.0, 10.8, None, 10.8), "M120 40L160 2.96", "M240 2.96h0"),
        (every(180, None, None), "", ""),
    ],
    ids=["a small lag is no mountain", "a lone point", "a point beside a line", "nothing"],
)
def test_a_line_is_drawn_between_neighbours_and_a_dot_where_there_is_none(
    ages: dict[int, float | None], path: str, dots: str
) -> None:
    line = drawn(history(ages))

    assert (line.path, line.dots) == (path, dots)


@pytest.mark.parametrize(
    ("ages", "period"),
    [
        (every(20, 1.0, 2.0, None, 4.0, 5.0), "6h"),
        (every(20, 1.0, 2.0, None, 4.0, None, 6.0, 7.0), "6h"),
        (every(10, *[5.0] * 30, without=range(8, 14)), "6h"),
        (every(5, *[5.0] * 24 * 12, without=range(40, 60)), "24h"),
    ],
    ids=["unknown", "a dot between", "runs missing", "an hour missing in a day"],
)
def test_a_line_is_broken_where_nothing_is_known(
    ages: dict[int, float | None], period: str
) -> None:
    assert drawn(history(ages), period=period).path.count("M") == 2


@pytest.mark.parametrize(
    ("ages", "now", "path"),
    [
        (RISE, NOON + 7 * HOUR, "M0 40L120 21.5L240 2.96"),
        (RISE, NOON + 40 * 24 * HOUR, "M0 40L120 21.5L240 2.96"),
        (every(60, 0.0, 10.8), NOON + 3 * HOUR, "M80 40L120 2.96"),
        (every(60, 0.0, 10.8), NOON + 3 * HOUR + 1, "M200 40L240 2.96"),
    ],
    ids=["old", "very old", "a little late", "a moment later"],
)
def test_an_old_sparkline_ends_at_the_newest_run_and_one_a_little_late_at_the_present(
    ages: dict[int, float | None], now: int, path: str
) -> None:
    assert drawn(history(ages), now=now).path == path


@pytest.mark.parametrize("period", PERIODS)
def test_a_curve_goes_as_far_back_as_its_period(period: str) -> None:
    span = PERIODS[period].span_ms
    ages = {NOON - span - MINUTE: 99.0, NOON - span // 2: 0.0, NOON - MINUTE: None, NOON: 10.8}

    assert drawn(history(ages), period=period).dots == "M120 40h0M240 2.96h0"


def test_a_group_that_was_not_there_has_no_sparkline() -> None:
    assert drawn(history(every(10, 1.0, 2.0)), "other") == Sparkline("", "", "", None)


def test_a_run_that_cannot_be_read_is_left_out() -> None:
    store = history(every(60, 1.0, 2.0, 3.0))
    store.objects[object_key(contract.GROUPS, "shop", NOON - HOUR)] = b"torn"

    assert drawn(store).path.count("L") == 1


def test_the_runs_of_a_sparkline_are_read_at_once_and_only_what_is_drawn_is_cached() -> None:
    store = WaitingStore()
    snapshots, found = seen(history(every(30, *[1.0] * 9), store))
    # the newest is known already
    store.wait_for(8)

    first, *rest, last = loaded(snapshots, found, NOON).runs

    assert len(rest) == 7
    assert set(first[1].columns) == {"consumer_group", "lag", "time_lag_seconds"}
    # which the page shows, so that all of it is there anyway
    assert "status" in last[1].columns


def test_a_minute_later_or_for_another_group_no_more_than_one_run_is_read() -> None:
    store = history(every(4, *[1.0] * 91))
    snapshots, found = seen(store)
    first = {at for at, _ in loaded(snapshots, found, NOON).runs}
    reads = store.calls.count("read")
    loaded(snapshots, found, NOON).draw(["g", "other"], "lag", 10.0)
    assert store.calls.count("read") == reads
    history({NOON + MINUTE: 1.0}, store)

    snapshots, found = seen(store, NOON + MINUTE)
    second = {at for at, _ in loaded(snapshots, found, NOON + MINUTE).runs}

    assert second - first == {NOON + MINUTE}
    assert len(second) == 25
    assert min(second) <= NOON - 5 * HOUR - 40 * MINUTE


@pytest.mark.parametrize("period", PERIODS)
def test_no_period_reads_more_than_120_objects(period: str) -> None:
    step = 5 * MINUTE if period == "7d" else MINUTE
    count = PERIODS[period].span_ms // step + 60
    store = history({NOON - back * step: 1.0 for back in range(count)})
    snapshots, found = seen(store, NOON + 30_000)

    runs = loaded(snapshots, found, NOON + 30_000, PERIODS[period].max_runs, period).runs

    assert PERIODS[period].max_runs - 2 <= len(runs) <= PERIODS[period].max_runs
    assert store.calls.count("read") <= 120
    assert store.calls.count("keys") <= 24


def test_a_week_is_listed_by_the_day_and_the_past_not_again() -> None:
    store = history(every(60, *[1.0] * 24 * 7))
    now = [NOON + 30_000]
    snapshots = Snapshots(store, lambda: now[0] / 1000)
    find_latest_run(snapshots, "shop", now[0])
    store.calls.clear()

    snapshots.runs("shop", NOON - 7 * 24 * HOUR, NOON)
    first = store.calls.count("keys")
    now[0] += MINUTE
    snapshots.runs("shop", NOON - 7 * 24 * HOUR, NOON)

    assert (first, store.calls.count("keys") - first) == (8, 1)
