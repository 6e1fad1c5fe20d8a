# SPDX-License-Identifier: Apache-2.0
"""A topic's day: known only where all its partitions are, its rates by its offsets."""

from pathlib import Path

import numpy as np
import pytest

from tests.dev.report_check.small_days import reports, second, write_rows
from tests.dev.report_check.test_lag_summary import RUNS, UNREAD, group
from tests.glue_jobs.days import Row, group_row


def topic_summary(root: Path, rows: list[Row]) -> Row:
    write_rows(root, "groups", [group(at) for at in RUNS])
    write_rows(root, "group_partitions", rows)
    (row,) = [row for row in reports(root)["lag_summary"] if row["topic"]]
    return row


def test_a_topics_lag_is_unknown_while_a_partition_is(tmp_path: Path) -> None:
    lags: dict[int, list[tuple[int | None, float | None]]] = {
        0: [(5, 10.0), (6, 20.0)],
        60: [(7, None), (None, 8.0)],
        120: [(None, None), (None, None)],
    }
    rows = [
        group_row(p, None, 0, 0, taken_at=second(at), lag=lag, time_lag_seconds=age)
        for at, parts in lags.items()
        for p, (lag, age) in enumerate(parts)
    ]
    late = [
        group_row(0, None, 0, 0, taken_at=second(480), lag=900, time_lag_seconds=900.0),
        group_row(1, None, 0, 0, taken_at=second(480), **UNREAD),
    ]

    row = topic_summary(tmp_path, [*rows, *late])

    assert (row["lag_max"], row["time_lag_max"]) == (11, 20)
    assert row["lag_p50"] == pytest.approx(np.quantile([11] * 60 + [7] * 60, 0.5))
    assert row["known_minutes"] == 2
    assert row["unknown_minutes"] == 9 - 2
    assert (row["owner"], row["ok_minutes"], row["sla_minutes"], row["gone"]) == (None,) * 4


def test_a_topics_rates_are_by_its_offsets(tmp_path: Path) -> None:
    at = [second(seconds) for seconds in (0, 60, 480)]
    row = topic_summary(
        tmp_path,
        [
            group_row(0, 10, 0, 100, taken_at=at[0], consume_rate=3.0),
            group_row(1, 10, 0, 50, taken_at=at[0], consume_rate=4.0),
            group_row(0, 20, 0, 400, taken_at=at[1], consume_rate=6.0),
            group_row(1, 90, 0, 99, taken_at=at[1], leader=7),
            group_row(0, 999, 0, 9999, taken_at=second(420), consume_rate=99.0, **UNREAD),
            # recreated: another log, of which one reading tells nothing
            group_row(0, 5, 0, 7, taken_at=at[2], topic_id="id-2"),
            # it went back, which is no production
            group_row(1, 4, 0, 40, taken_at=at[2], consume_rate=None),
        ],
    )

    assert row["produce_rate"] == pytest.approx(300 / 480)
    assert row["consume_rate"] == pytest.approx(10 / 480)
    assert row["best_consume_rate"] == 7
    assert row["catch_up_capacity"] == pytest.approx(7 / (300 / 480))


def test_one_reading_tells_no_rate(tmp_path: Path) -> None:
    row = topic_summary(tmp_path, [group_row(0, 1, 0, 2, taken_at=second(0), consume_rate=1.0)])

    assert (row["produce_rate"], row["consume_rate"], row["catch_up_capacity"]) == (None,) * 3
