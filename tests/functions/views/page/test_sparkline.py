# SPDX-License-Identifier: Apache-2.0
"""A sparkline is drawn where something is known, at the same runs from one page to the next."""

from __future__ import annotations

import re

import pytest

from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from kafka_lag.views.latest_run import LatestRun, Snapshots, find_latest_run
from kafka_lag.views.sparkline import PERIODS, RecentRuns, Sparkline, load_recent_runs
from tests.fakes import MemoryStore
from tests.functions.views.page.rows import HOUR, MINUTE, NOON, a_group, frame_of
from tests.functions.views.waiting import WaitingStore


class CountingStore(MemoryStore):
    """How many objects were read, and how often keys were listed."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = self.lists = 0

    def read(self, key: str) -> bytes:
        self.reads += 1
        return super().read(key)

    def keys(self, prefix: str, after: str = "") -> list[str]:
        self.lists += 1
        return super().keys(prefix, after)


def history(ages: dict[int, float | None], store: MemoryStore | None = None) -> MemoryStore:
    """Runs at these times with one group of such an age."""
    store = MemoryStore() if store is None else store
    for at, age in ages.items():
        _put(store, at, age)
    return store


def _put(store: MemoryStore, at: int, age: float | None) -> None:
    rows = frame_of(contract.GROUPS, [a_group("g", time_lag_seconds=age)])
    data = to_parquet(rows, contract.GROUPS)
    store.objects[object_key(contract.GROUPS, "shop", at)] = data


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


def every(minutes: int, *ages: float | None) -> dict[int, float | None]:
    """Runs at this interval, the last at noon."""
    return {NOON - minutes * MINUTE * back: age for back, age in enumerate(reversed(ages))}


def test_time_runs_to_the_right_and_lag_upwards() -> None:
    line = drawn(history(every(180, 0.0, 50.0, 100.0)))

    assert line.path == "M0 40L120 21.5L240 2.96"
    assert line.area == "M0 40L0 40L120 21.5L240 2.96L240 40Z"
    assert line.most == 100


def test_a_small_lag_is_no_mountain() -> None:
    assert drawn(history(every(180, 0.0, 1.0))).path == "M120 40L240 36.3"


@pytest.mark.parametrize(
    ("ages", "lines"),
    [
        ((1.0, 2.0, None, 4.0, 5.0), 2),
        ((1.0, 2.0, None, 4.0, None, 6.0, 7.0), 2),
        ((None, None), 0),
    ],
)
def test_a_line_is_broken_where_nothing_is_known(
    ages: tuple[float | None, ...], lines: int
) -> None:
    assert drawn(history(every(20, *ages))).path.count("M") == lines


def test_a_line_is_broken_where_runs_are_missing() -> None:
    ages = every(10, *[5.0] * 30)
    for back in range(8, 14):
        del ages[NOON - back * 10 * MINUTE]

    assert drawn(history(ages)).path.count("M") == 2


def test_a_lone_point_is_a_dot() -> None:
    assert drawn(history({NOON: 10.8})) == Sparkline("", "", "M240 2.96h0", 10.8)


def test_a_point_between_gaps_is_a_dot_beside_the_line() -> None:
    line = drawn(history(every(60, 1.0, 2.0, None, 10.8)))

    assert (line.path.count("M"), line.area.count("M")) == (1, 1)
    assert line.dots == "M240 2.96h0"


@pytest.mark.parametrize("hours", [7, 24 * 40])
def test_an_old_sparkline_ends_at_the_newest_run(hours: int) -> None:
    line = drawn(history(every(180, 0.0, 50.0, 100.0)), now=NOON + hours * HOUR)

    assert line.path == "M0 40L120 21.5L240 2.96"


def test_a_run_a_little_late_leaves_the_sparkline_at_the_present() -> None:
    runs = history(every(60, 0.0, 10.8))

    assert drawn(runs, now=NOON + 3 * HOUR).path == "M80 40L120 2.96"
    assert drawn(runs, now=NOON + 3 * HOUR + 1).path == "M200 40L240 2.96"


def test_nothing_is_drawn_beyond_the_six_hours() -> None:
    line = drawn(history(every(60, *[1.0] * 8, 5.0)), now=NOON + 2 * HOUR)

    assert line.path.startswith("M0 ")


def test_a_group_that_was_not_there_has_no_sparkline() -> None:
    assert drawn(history(every(10, 1.0, 2.0)), "other") == Sparkline("", "", "", None)


def test_a_run_that_cannot_be_read_is_left_out() -> None:
    store = history(every(60, 1.0, 2.0, 3.0))
    store.objects[object_key(contract.GROUPS, "shop", NOON - HOUR)] = b"torn"

    assert len(re.findall(r"[ML]", drawn(store).path)) == 2


def test_the_runs_of_a_sparkline_are_read_at_once() -> None:
    store = WaitingStore()
    snapshots, found = seen(history(every(30, *[1.0] * 9), store))
    # the newest is known already
    store.wait_for(8)

    assert len(loaded(snapshots, found, NOON).runs) == 9


def test_a_minute_later_one_more_run_is_read() -> None:
    store = history(every(4, *[1.0] * 91))
    snapshots, found = seen(store)
    first = {at for at, _ in loaded(snapshots, found, NOON).runs}
    _put(store, NOON + MINUTE, 1.0)

    snapshots, found = seen(store, NOON + MINUTE)
    second = {at for at, _ in loaded(snapshots, found, NOON + MINUTE).runs}

    assert second - first == {NOON + MINUTE}
    assert len(second) == 25
    assert min(second) <= NOON - 5 * HOUR - 40 * MINUTE


@pytest.mark.parametrize("most", [1, 2, 5, 25])
@pytest.mark.parametrize("minutes", [0, 7])
def test_no_more_runs_are_read_than_may_be(most: int, minutes: int) -> None:
    now = NOON + minutes * MINUTE
    times = (now - back * 5 * MINUTE for back in range(72))
    snapshots, found = seen(history(dict.fromkeys(times, 1.0)), now)

    assert max(1, most - 1) <= len(loaded(snapshots, found, now, most).runs) <= most


@pytest.mark.parametrize("period", PERIODS)
def test_a_curve_goes_as_far_back_as_its_period(period: str) -> None:
    span = PERIODS[period].span_ms
    ages = {NOON - span - MINUTE: 99.0, NOON - span // 2: 0.0, NOON - MINUTE: None, NOON: 10.8}

    assert drawn(history(ages), period=period).dots == "M120 40h0M240 2.96h0"


@pytest.mark.parametrize("period", PERIODS)
def test_no_period_reads_more_than_120_objects(period: str) -> None:
    step = 5 * MINUTE if period == "7d" else MINUTE
    count = PERIODS[period].span_ms // step + 60
    data = to_parquet(frame_of(contract.GROUPS, [a_group("g")]), contract.GROUPS)
    store = CountingStore()
    for back in range(count):
        store.objects[object_key(contract.GROUPS, "shop", NOON - back * step)] = data
    snapshots, found = seen(store, NOON + 30_000)

    runs = loaded(snapshots, found, NOON + 30_000, PERIODS[period].max_runs, period).runs

    assert PERIODS[period].max_runs - 2 <= len(runs) <= PERIODS[period].max_runs
    assert store.reads <= 120
    assert store.lists <= 24


def test_a_week_is_listed_by_the_day_and_the_past_not_again() -> None:
    store = CountingStore()
    history(every(60, *[1.0] * 24 * 7), store)
    now = [NOON + 30_000]
    snapshots = Snapshots(store, lambda: now[0] / 1000)
    found = find_latest_run(snapshots, "shop", now[0])
    assert isinstance(found, LatestRun)
    store.lists = 0

    snapshots.runs("shop", NOON - 7 * 24 * HOUR, NOON)
    first = store.lists
    now[0] += MINUTE
    snapshots.runs("shop", NOON - 7 * 24 * HOUR, NOON)

    assert (first, store.lists - first) == (8, 1)


def test_a_run_read_for_a_curve_is_not_read_again_for_another_group() -> None:
    store = CountingStore()
    snapshots, found = seen(history(every(10, *[1.0] * 36), store))
    loaded(snapshots, found, NOON)
    reads = store.reads

    loaded(snapshots, found, NOON).draw(["g", "other"], "lag", 10.0)

    assert store.reads == reads


def test_of_a_curves_runs_no_more_is_cached_than_is_drawn() -> None:
    snapshots, found = seen(history(every(30, *[1.0] * 9)))

    first, *_, last = loaded(snapshots, found, NOON).runs

    assert set(first[1].columns) == {"consumer_group", "lag", "time_lag_seconds"}
    # which the page shows, so that all of it is there anyway
    assert "status" in last[1].columns


def test_an_hour_without_runs_is_a_gap_in_a_day() -> None:
    ages = every(5, *[5.0] * 24 * 12)
    for back in range(40, 60):
        del ages[NOON - back * 5 * MINUTE]

    assert drawn(history(ages), period="24h").path.count("M") == 2
