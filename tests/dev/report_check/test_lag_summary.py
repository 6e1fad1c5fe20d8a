# SPDX-License-Identifier: Apache-2.0
"""Lag and its hours: weighted by the time between runs, unknown where a part is."""

from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.dev.report_check.small_days import reports, second, write_rows
from tests.glue_jobs.days import Row

# seconds of the day and for how long each run stands: the interval is 60
RUNS = {0: 60.0, 60: 60.0, 120: 120.0, 420: 60.0, 480: 60.0}
UNREAD = {"unread_reason": "timeout"}


def group(at: float, **more: Any) -> Row:
    return {"consumer_group": "billing", "taken_at": second(at), **more}


def summary(root: Path, rows: list[Row]) -> Row:
    """The group's own row; one of the five runs without a row of it still was."""
    others = [group(at, consumer_group="other") for at in RUNS]
    write_rows(root, "groups", [*rows, *others])
    (row,) = [row for row in reports(root)["lag_summary"] if row["consumer_group"] == "billing"]
    return row


def test_percentiles_are_of_values_repeated_by_seconds(tmp_path: Path) -> None:
    lags = [1, 2, 3, 4, 5]
    row = summary(tmp_path, [group(at, lag=lag) for at, lag in zip(RUNS, lags, strict=True)])

    repeated = np.repeat(lags, [60, 60, 120, 60, 60])
    shares = [0.5, 0.95, 0.99]
    assert [row["lag_p50"], row["lag_p95"], row["lag_p99"]] == pytest.approx(
        list(np.quantile(repeated, shares))
    )
    assert row["lag_max"] == 5


def test_percentiles_of_many_groups_at_odd_times(tmp_path: Path) -> None:
    random = Random(6)  # noqa: S311
    times = sorted(random.sample(range(86_400), 40))
    gaps = [float(gap) for gap in np.diff(times)]
    weights = [
        min(gaps[0], 2 * float(np.median(gaps))),
        *(min(after, 2 * before) for before, after in pairwise(gaps)),
        min(float(np.median(gaps)), 86_400 - times[-1]),
    ]
    values: dict[str, list[float | None]] = {
        name: [random.choice([None, 0.0, random.expovariate(0.01)]) for _ in times]
        for name in map(str, range(30))
    }
    rows = [
        group(at, consumer_group=name, time_lag_seconds=value)
        for name, ages in values.items()
        for at, value in zip(times, ages, strict=True)
    ]
    write_rows(tmp_path, "groups", rows)

    found = {row["consumer_group"]: row for row in reports(tmp_path)["lag_summary"]}

    for name, ages in values.items():
        known = [
            (v, max(int(w + 0.5), 1)) for v, w in zip(ages, weights, strict=True) if v is not None
        ]
        repeated = np.repeat([v for v, _ in known], [w for _, w in known])
        expected = [*np.quantile(repeated, [0.5, 0.95, 0.99]), repeated.max()]
        names = ("time_lag_p50", "time_lag_p95", "time_lag_p99", "time_lag_max")
        assert [found[name][column] for column in names] == pytest.approx(expected)


def test_a_value_of_half_a_second_counts_once(tmp_path: Path) -> None:
    # the last run lies so near to midnight that it stands for less than half a second
    rows = [group(86_400 - 60.25, lag=0), group(86_400 - 0.25, lag=61)]
    write_rows(tmp_path, "groups", rows)

    (row,) = reports(tmp_path)["lag_summary"]

    assert row["lag_p99"] == pytest.approx(np.quantile([0] * 60 + [61], 0.99))


def test_minutes_of_each_status(tmp_path: Path) -> None:
    row = summary(
        tmp_path,
        [
            group(0, lag=1, status="OK"),
            group(60, lag=1, status="WARN", owner="a"),
            group(120, lag=None, status=None, owner="b"),
            group(420, lag=9, status="ERR", **UNREAD),
            group(480, lag=1, status="OK"),
        ],
    )

    assert (row["ok_minutes"], row["warn_minutes"], row["err_minutes"]) == (2, 1, 0)
    assert (row["status_changes"], row["owner"]) == (2, "b")
    assert (row["first_seen"], row["last_seen"]) == (second(0), second(480))
    assert (row["known_minutes"], row["unknown_minutes"]) == (3, 9 - 3)
    assert row["lag_max"] == 1


# ages of the runs, their errors and what was promised -> minutes told, minutes kept
PROMISES: dict[str, tuple[list[Row], tuple[float, float]]] = {
    "kept to the second, and broken": (
        [
            group(0, time_lag_seconds=30.0, time_lag_error_seconds=0.0, sla_seconds=30.0),
            group(60, time_lag_seconds=30.5, time_lag_error_seconds=9.0, sla_seconds=30.0),
        ],
        (2, 1),
    ),
    "each run by the promise of its time": (
        [
            group(0, time_lag_seconds=30.0, time_lag_error_seconds=0.0, sla_seconds=20.0),
            group(120, time_lag_seconds=30.0, time_lag_error_seconds=0.0, sla_seconds=40.0),
        ],
        (3, 2),
    ),
    "a least age breaks it or tells nothing": (
        [
            group(0, time_lag_seconds=31.0, sla_seconds=30.0),
            group(120, time_lag_seconds=29.0, sla_seconds=30.0),
        ],
        (1, 0),
    ),
    "nothing known, nothing promised, nothing read": (
        [
            group(0, time_lag_error_seconds=0.0, sla_seconds=30.0),
            group(60, time_lag_seconds=1.0, time_lag_error_seconds=0.0),
            group(120, time_lag_seconds=1.0, time_lag_error_seconds=0.0, sla_seconds=3.0, **UNREAD),
        ],
        (0, 0),
    ),
}


@pytest.mark.parametrize("case", PROMISES)
def test_a_promise_is_judged_where_it_can_be(case: str, tmp_path: Path) -> None:
    rows, (told, kept) = PROMISES[case]

    row = summary(tmp_path, rows)

    assert (row["sla_minutes"], row["sla_met_minutes"]) == (told, kept)
    assert row["sla_compliance"] == (kept / told if told else None)


def test_rates_are_means_over_the_time_they_stood(tmp_path: Path) -> None:
    row = summary(
        tmp_path,
        [
            group(60, produce_rate=10.0, consume_rate=40.0),
            group(120, produce_rate=40.0, consume_rate=None),
            group(420, produce_rate=99.0, consume_rate=99.0, **UNREAD),
            group(480, produce_rate=None, consume_rate=10.0),
        ],
    )

    assert row["produce_rate"] == pytest.approx((10 * 60 + 40 * 120) / 180)
    assert row["consume_rate"] == 25
    assert row["best_consume_rate"] == 40
    assert row["catch_up_capacity"] == pytest.approx(40 / 30)


def test_rebalances_and_losses_of_runs_that_were_read(tmp_path: Path) -> None:
    row = summary(
        tmp_path,
        [
            group(0, group_state="PreparingRebalance", records_lost=4),
            group(60, group_state="Stable", owners_changed=2, records_lost=7),
            group(120, group_state="Stable", owners_changed=0),
            group(420, group_state="Assigning", owners_changed=5, records_lost=90, **UNREAD),
            group(480, group_state="Reconciling", owners_changed=1),
        ],
    )

    assert (row["rebalancing_runs"], row["records_lost"], row["gone"]) == (3, 7, False)


def test_a_group_that_is_gone_says_so(tmp_path: Path) -> None:
    assert summary(tmp_path, [group(0), group(60, status_reason="gone")])["gone"] is True


@pytest.mark.parametrize("unread", [{}, UNREAD])
def test_a_group_of_which_nothing_is_known(unread: Row, tmp_path: Path) -> None:
    row = summary(tmp_path, [group(0, **unread), group(60, **unread)])

    zero = {
        "known_minutes",
        "ok_minutes",
        "warn_minutes",
        "err_minutes",
        "status_changes",
        "rebalancing_runs",
        "sla_minutes",
        "sla_met_minutes",
    }
    seen = (
        {} if unread else {"first_seen": second(0), "last_seen": second(60), "unknown_minutes": 2}
    )
    known = {name: value for name, value in row.items() if value is not None}
    assert known == {"consumer_group": "billing", "gone": False, **dict.fromkeys(zero, 0), **seen}


def test_hours_are_means_over_what_was_known(tmp_path: Path) -> None:
    hour = 3_600
    rows = [
        group(hour, time_lag_seconds=10.0, lag=1, produce_rate=2.0, consume_rate=3.0),
        group(hour + 60, time_lag_seconds=None, lag=4),
        group(hour + 120, time_lag_seconds=40.0, lag=None, produce_rate=5.0),
        group(hour + 240, time_lag_seconds=900.0, **UNREAD),
        group(3 * hour, time_lag_seconds=9.0, **UNREAD),
    ]
    write_rows(tmp_path, "groups", rows)

    (row,) = reports(tmp_path)["lag_hourly"]

    # the third run stands for 120 s, at most twice the gap before it
    assert row == {
        "consumer_group": "billing",
        "hour": 1,
        "known_minutes": 3,
        "time_lag_seconds": pytest.approx((10 * 60 + 40 * 120) / 180),
        "time_lag_max": 40,
        "time_lag_deviation": 15,
        "lag": 2.5,
        "lag_deviation": 1.5,
        "produce_rate": pytest.approx((2 * 60 + 5 * 120) / 180),
        "consume_rate": 3,
    }
