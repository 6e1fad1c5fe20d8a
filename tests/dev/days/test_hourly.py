# SPDX-License-Identifier: Apache-2.0
"""Invented history has the columns of the report and one day after the other."""

from datetime import date
from pathlib import Path

import pyarrow.parquet as pq

from dev.days.hourly import REPORT, Hour, usual_hours, write_hours, write_usual_days
from kafka_lag_report.schemas import REPORTS


def test_an_hour_is_written_with_the_columns_of_the_report(tmp_path: Path) -> None:
    row = Hour(consumer_group="g", hour=3, time_lag_seconds=40.0)
    path = write_hours(tmp_path, "a/b", date(2026, 1, 30), [row])

    table = pq.ParquetFile(path).read()
    assert table.schema.names == REPORTS[REPORT].names
    assert table.to_pylist()[0]["time_lag_seconds"] == 40.0
    assert table.to_pylist()[0]["produce_rate"] is None
    assert path.parent == tmp_path / "reports" / REPORT / "cluster=a%2Fb" / "dt=2026-01-30"


def test_usual_days_end_the_day_before(tmp_path: Path) -> None:
    write_usual_days(tmp_path, "c", ["g"], before=date(2026, 1, 31), days=3)

    days = sorted(path.name for path in (tmp_path / "reports" / REPORT / "cluster=c").iterdir())
    assert days == ["dt=2026-01-28", "dt=2026-01-29", "dt=2026-01-30"]


def test_days_are_alike_and_not_the_same() -> None:
    one, other = (usual_hours(["g"], seed) for seed in (1, 2))

    assert one != other
    for ours, theirs in zip(one, other, strict=True):
        assert ours.produce_rate is not None
        assert theirs.produce_rate is not None
        assert abs(ours.produce_rate / theirs.produce_rate - 1) < 0.15
