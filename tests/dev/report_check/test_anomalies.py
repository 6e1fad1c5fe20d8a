# SPDX-License-Identifier: Apache-2.0
"""Hours beside those of the same weekday in the weeks before, from the reports that were stored."""

from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.dev.report_check.small_days import DAY, reports, second, write_rows
from tests.glue_jobs.days import Row

WEEKS = [100.0, 90.0, 110.0, 100.0, 130.0, 100.0]  # median 100, deviations' median 5


def store(root: Path, values: list[float | None], column: str = "time_lag_seconds") -> None:
    """An hour of `billing` for each of the weeks before, the newest first."""
    for back, value in enumerate(values, start=1):
        day = DAY - timedelta(weeks=back)
        place = root / "reports/lag_hourly/cluster=demo" / f"dt={day}"
        place.mkdir(parents=True, exist_ok=True)
        row = {"consumer_group": ["billing"], "hour": pa.array([0], pa.int32())}
        pq.write_table(
            pa.table({**row, column: pa.array([value], pa.float64())}), place / "p.parquet"
        )


def today(
    root: Path, value: float | None, column: str = "time_lag_seconds", hour: int = 0
) -> list[Row]:
    row = {"consumer_group": "billing", "taken_at": second(hour * 3600), column: value}
    write_rows(root, "groups", [row])
    return reports(root)["anomalies"]


# hours before, today's -> deviation, null: no row
CASES: dict[str, tuple[list[float | None], float | None, float | None]] = {
    "by a tenth of the usual": ([1000.0] * 6, 1600.0, 6.0),
    "by ten seconds or a tenth": ([*WEEKS], 150.0, 5.0),
    "not far enough": ([*WEEKS], 149.9, None),
    "low": ([*WEEKS], 0.0, -10.0),
    # A group of one hour: twice the median deviation, which is 80.
    "by the spread": ([0.0, 20.0, 100.0, 100.0, 180.0, 200.0], 1060.0, 6.0),
    "by ten seconds": ([0.0] * 6, 50.0, 5.0),
    "two weeks are no history": ([*WEEKS[:2]], 9999.0, None),
    "nor are three of which one is unknown": ([*WEEKS[:2], None], 9999.0, None),
    "the sixth week counts": ([None] * 3 + [100.0] * 3, 150.0, 5.0),
    "the seventh does not": ([None] * 4 + [100.0] * 3, 150.0, None),
    "nothing known today": ([*WEEKS], None, None),
}


@pytest.mark.parametrize("case", CASES)
def test_an_hour_beside_its_usual_range(case: str, tmp_path: Path) -> None:
    history, value, deviation = CASES[case]
    store(tmp_path, history)

    found = [row["deviation"] for row in today(tmp_path, value)]

    assert found == ([] if deviation is None else pytest.approx([deviation]))


def test_what_is_told_of_it(tmp_path: Path) -> None:
    store(tmp_path, [2.0, 2.0, 2.0, 1.0, 3.0, 2.0], "produce_rate")

    (row,) = today(tmp_path, 0.5, "produce_rate")

    assert row == {
        "consumer_group": "billing",
        "hour": 0,
        "measure": "produce_rate",
        "value": 0.5,
        "usual": 2,
        "spread": 0,
        # a tenth of the usual is as much as the floor of 0.2
        "deviation": pytest.approx(-7.5),
        "direction": "low",
        "days": 6,
    }


def test_another_hour_has_its_own_history(tmp_path: Path) -> None:
    store(tmp_path, [*WEEKS])

    assert today(tmp_path, 9999.0, hour=1) == []


def test_a_queue_has_a_floor_of_its_own(tmp_path: Path) -> None:
    store(tmp_path, [0.0] * 6, "lag")

    (row,) = today(tmp_path, 120, "lag")

    assert (row["measure"], row["value"], row["deviation"]) == ("lag", 120.0, 6.0)


def test_other_weekdays_are_no_history(tmp_path: Path) -> None:
    store(tmp_path, [*WEEKS])
    for folder in sorted((tmp_path / "reports/lag_hourly/cluster=demo").iterdir()):
        day = date.fromisoformat(folder.name.removeprefix("dt=")) + timedelta(days=1)
        folder.rename(folder.with_name(f"dt={day}"))

    assert today(tmp_path, 9999.0) == []
