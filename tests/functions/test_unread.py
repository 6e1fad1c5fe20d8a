# SPDX-License-Identifier: Apache-2.0
"""Values of groups and topics with rows that were not read.

For one window they are the last known ones, then unknown; and the same in CloudWatch, on the page
and at /metrics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import pytest

from kafka_lag import contract
from kafka_lag.contract import exposition
from kafka_lag.errors import SourceError
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.sinks.config import Levels
from kafka_lag.snapshots.previous import load_newest
from kafka_lag.views import page, prometheus
from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.wording.formatting import format_count, format_duration
from tests.builders import HOUR, MINUTE, NOON, Commits, Log, a_reading, cell, table
from tests.functions.runs import GROUP, Run
from tests.functions.views.page.reading import UNKNOWN, read
from tests.functions.views.prometheus.scrapes import Series

DENIED, TIMEOUT = contract.DENIED, contract.TIMEOUT
ORDERS = (*GROUP, "orders")
LEVELS = Levels(scaling=NameFilter(), topics=True)
LAG, AGE, LOSS = contract.OFFSET_LAG, contract.ESTIMATED_TIME_LAG, contract.TIME_TO_DATA_LOSS


Unread: TypeAlias = tuple[Commits, Sequence[Log]]


def after(minutes: Sequence[int], commits: Commits, unread: Unread) -> Iterator[tuple[int, Run]]:
    """A collector whose last good run was at noon, after each of its runs so many minutes later.

    Until noon the log of each partition grew by two records a minute, to 20.
    """
    result, logs = unread
    good = [
        a_reading({"g": commits}, {"orders": [(0, 20 + 2 * at)] * len(logs)}, at=NOON + at * MINUTE)
        for at in range(-2, 1)
    ]
    bad = [a_reading({"g": result}, {"orders": logs}, at=NOON + at * MINUTE) for at in minutes]
    run = Run(*good, *bad, levels=LEVELS)
    for at in (*range(-2, 1), *minutes):
        run.sink.published.clear()
        # Where its only group was not read a run fails, once all is published and stored.
        with suppress(SourceError):
            run(NOON + at * MINUTE)
        if at in minutes:
            yield at, run


def group_row(run: Run, *names: str) -> tuple[Any, ...]:
    snapshot = load_newest(run.store, "shop", NOON + 48 * HOUR).value
    return tuple(cell(snapshot.groups, name, consumer_group="g") for name in names)


CAUGHT_UP: Commits = {"orders": [20]}
BEHIND: Commits = {"orders": [17]}
# Minutes for which what was last read counts.
WINDOW = 10


@pytest.mark.parametrize("unread", [(DENIED, [(0, 20)]), (BEHIND, [TIMEOUT])], ids=["group", "log"])
@pytest.mark.parametrize(
    ("commits", "lag", "age"),
    [pytest.param(CAUGHT_UP, 0, 0, id="caught-up"), pytest.param(BEHIND, 3, 75, id="behind")],
)
def test_a_group_counts_as_it_was_last_read_for_one_window_and_then_not_at_all(
    commits: Commits, lag: int, age: float, unread: Unread
) -> None:
    for minutes, run in after((1, 9, 11, 6 * 60), commits, unread):
        said = run.sink.values()
        if minutes <= WINDOW:
            grown = age and pytest.approx(age + 60 * minutes, abs=1)
            assert (said[GROUP, LAG], said[GROUP, AGE]) == (lag, grown)
            error, method = group_row(run, "time_lag_error_seconds", "time_lag_method")
            assert (error, method) == (None, contract.METHOD_AT_LEAST)
        else:
            absent = {(where, name) for where in (GROUP, ORDERS) for name in (LAG, AGE, LOSS)}
            assert not absent & set(said)


SOME_UNREAD: list[list[tuple[int, int] | str]] = [[(0, 20), (0, 20)], [(0, 20), TIMEOUT]]


def test_a_group_with_a_partition_that_was_not_read_does_not_scale() -> None:
    commits: Commits = {"orders": [17, 12]}
    found = [
        run.sink.values().get((GROUP, contract.SCALING_LAG))
        for logs in SOME_UNREAD
        for _, run in after((1, 11), commits, (commits, logs))
    ]
    assert found == [11, 11, None, None]


@pytest.mark.parametrize(
    ("commits", "unread", "early", "late"),
    [
        pytest.param(BEHIND, (BEHIND, [(0, 20)]), (None, None, None), None, id="read"),
        pytest.param(BEHIND, (BEHIND, [TIMEOUT]), (3, 75, None), (3, 75, "unknown"), id="unread"),
        pytest.param(
            {"orders": [None]},
            (DENIED, [(0, 20)]),
            (None, None, "uncommitted"),
            (None, None, "unknown"),
            id="no-commit",
        ),
        pytest.param(
            {"orders": [DENIED]},
            ({"orders": [DENIED]}, [(0, 20)]),
            (None, None, "unknown"),
            None,
            id="never-read",
        ),
    ],
)
def test_a_row_says_what_it_counts_for(
    commits: Commits, unread: Unread, early: tuple[Any, ...], late: tuple[Any, ...] | None
) -> None:
    for minutes, run in after((1, 9, 11), commits, unread):
        rows = load_newest(run.store, "shop", NOON + HOUR).value.group_partitions
        ((lag, age, why),) = table(rows, "last_lag", "last_time_lag_seconds", "uncounted")
        expected = early if minutes <= WINDOW else late or early
        assert (lag, age and round(age), why) == expected


def cloudwatch(run: Run) -> tuple[float | None, float | None]:
    """Lag and age of the topic as published in the last run."""
    said = run.sink.values()
    return said.get((ORDERS, LAG)), said.get((ORDERS, AGE))


def at_metrics(run: Run, at: int) -> tuple[float | None, float | None]:
    request = Request(path="/metrics", query={"level": "topic"}, host="lag.example")
    given = prometheus.answer(request, Snapshots(run.store, lambda: at / 1000), at)
    series: Series = {}
    for line in given.body.decode().splitlines():
        if line and not line.startswith("#"):
            series[line.split("{")[0], frozenset()] = float(line.split()[-1])
    names = (exposition.TOPIC_LAG, exposition.TOPIC_TIME_LAG)
    lag, age = (series.get((name, frozenset())) for name in names)
    return lag, age


def on_page(run: Run, at: int, path: str) -> list[str] | None:
    """The cells of lag and time lag in the table of sums; None where it has no row."""
    request = Request.of("GET", path, "", {"host": "lag.example"})
    seen = read(page.answer(request, Snapshots(run.store, lambda: at / 1000), at))
    name = "orders" if "/group/" in path else "g"
    rows = [row for row in (seen.tables[0] if seen.tables else []) if row[0] == name]
    return rows[0][2:4] if rows else None


def worded(lag: float | None, age: float | None) -> list[str]:
    """How the page says so, but for how far off the age may be."""
    return [
        UNKNOWN if lag is None else format_count(lag),
        UNKNOWN if age is None else format_duration(age),
    ]


TWO: Commits = {"orders": [15, 19]}
CASES: Mapping[str, tuple[Commits, Unread, float | None]] = {
    "read": (TWO, (TWO, [(0, 20), (0, 20)]), 6),
    "one-of-two-was-not-read": (TWO, (TWO, [(0, 20), TIMEOUT]), 6),
    "commit-denied": (TWO, ({"orders": [15, DENIED]}, [(0, 20), (0, 20)]), 6),
    "uncommitted-and-not-read": (
        {"orders": [15, None]},
        ({"orders": [15, None]}, [(0, 20), TIMEOUT]),
        5,
    ),
    "group-denied": (TWO, (DENIED, [(0, 20), (0, 20)]), 6),
    "a-commit-never-known": (
        {"orders": [15, DENIED]},
        ({"orders": [15, DENIED]}, [(0, 20), (0, 20)]),
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_topic_is_the_same_in_cloudwatch_on_the_page_and_at_metrics(case: str) -> None:
    commits, unread, lag = CASES[case]
    for minutes, run in after((1, 9, 11), commits, unread):
        at, said = NOON + minutes * MINUTE, cloudwatch(run)
        missing = case != "read" and minutes > WINDOW
        assert said[0] == (None if missing else lag)
        assert at_metrics(run, at) == pytest.approx(said, abs=1e-3)
        (error,) = group_row(run, "time_lag_error_seconds")
        for path in ("/cluster/shop/group/g", "/cluster/shop/topic/orders"):
            cells = on_page(run, at, path)
            assert cells is not None
            published_lag, published_age = worded(*said)
            assert cells[0] == published_lag
            assert cells[1].removeprefix("at least ").startswith(published_age)
            assert cells[1].startswith("at least ") == (said[1] is not None and error is None)
