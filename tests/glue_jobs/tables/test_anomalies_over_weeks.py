# SPDX-License-Identifier: Apache-2.0
"""Two months of 60 groups with weekends, a holiday and planted anomalies: what is flagged.

Weekends are 30, 40 and 50 % of a working day, each for a third of the groups. Of 200 such
groups the rule of before, the same hour of the last 14 days whatever the weekday, flags 88, 73 and
21 % of the weekends' hours (groups without half days): 169, 141 and 41 of a group in a month.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_lag_report.session import quick_session
from kafka_lag_report.tables.anomalies import anomalies

pytestmark = pytest.mark.spark

Array = npt.NDArray[Any]

GROUPS, DAYS, HOURS = 60, 60, 24
FIRST = date(2026, 1, 5)  # a Monday
LEARNT = 21  # days of which nothing is said, as no weekday was seen three times
HOLIDAY = 38  # a Thursday in the sixth week
# The first month of which anything is said, as the fewest weeks are known then.
JUDGED = range(LEARNT - 1, LEARNT + 30)
NOISE = 0.05
# What a weekend has of a working day's values, and which days of a week it is; by group in turn.
WEEKENDS = ((0.3, (5, 6)), (0.4, (4, 5)), (0.5, (5, 6)))
# Half of the groups rest on the afternoon before the weekend, too.
HALF_DAY_HOUR = 12
PLANTED_A_GROUP = 5


@dataclass(frozen=True, slots=True)
class Flagged:
    """A truth for each group, day and hour: flagged high or low, and planted."""

    high: Array
    low: Array
    planted: Array


def usual_values(random: np.random.Generator) -> Array:
    """By group, day and hour: busy at noon, resting at weekends and on the holiday."""
    level = np.ones((GROUPS, DAYS, HOURS))
    weekday = np.arange(DAYS) % 7
    for group in range(GROUPS):
        share, weekend = WEEKENDS[group % len(WEEKENDS)]
        level[group, np.isin(weekday, weekend)] = share
        if group < GROUPS // 2:
            level[group, weekday == weekend[0] - 1, HALF_DAY_HOUR:] = share
        level[group, HOLIDAY] = share
    busy = 1.0 - 0.6 * np.cos(2 * np.pi * np.arange(HOURS) / HOURS)
    noise: Array = 1.0 + NOISE * random.standard_normal(level.shape)
    return 500.0 * level * busy * noise


def plant(values: Array, random: np.random.Generator) -> Array:
    """Makes some hours of each group three times as large; where that is."""
    planted = np.zeros(values.shape, bool)
    days = [day for day in JUDGED if day not in (LEARNT - 1, HOLIDAY)]
    for group in range(GROUPS):
        for day in random.choice(days, PLANTED_A_GROUP, replace=False):
            planted[group, day, random.integers(HOURS)] = True
    values[planted] *= 3.0
    return planted


def write_hours(path: Path, values: Array) -> None:
    """`lag_hourly` of each day, in files by the day's number."""
    for day in range(values.shape[1]):
        unknown = pa.nulls(GROUPS * HOURS, pa.float64())
        others = (
            *("time_lag_seconds", "time_lag_least_minutes", "time_lag_deviation", "lag_deviation"),
            *("time_lag_high", "lag_high"),
            *("produce_rate", "produce_rate_deviation", "produce_rate_max"),
        )
        table = pa.table(
            {
                "dt": [str(FIRST + timedelta(days=day))] * (GROUPS * HOURS),
                "consumer_group": np.repeat([str(n) for n in range(GROUPS)], HOURS),
                "hour": pa.array(np.tile(np.arange(HOURS), GROUPS), pa.int32()),
                "lag": values[:, day].ravel(),
                **dict.fromkeys(others, unknown),
            }
        )
        pq.write_table(table, path / f"{day}.parquet")


@pytest.fixture(name="flagged", scope="module")
def _flagged(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Flagged:
    """Every day's anomalies by those of its weekday in the six weeks before it, as the job has."""
    root, random = tmp_path_factory.mktemp("weeks"), np.random.default_rng(1)
    values = usual_values(random)
    planted = plant(values, random)
    write_hours(root, values)
    found = {direction: np.zeros(values.shape, bool) for direction in ("high", "low")}
    quick = quick_session(spark)
    for day in JUDGED:
        days = (day, *(day - 7 * week for week in range(1, 7) if day >= 7 * week))
        today, *before = (str(root / f"{number}.parquet") for number in days)
        for row in anomalies(quick.read.parquet(today), quick.read.parquet(*before)).collect():
            found[row["direction"]][int(row["consumer_group"]), day, row["hour"]] = True
    return Flagged(found["high"], found["low"], planted)


def test_a_group_has_at_most_one_false_flag_a_month(flagged: Flagged) -> None:
    false = (flagged.high | flagged.low) & ~flagged.planted
    false[:, HOLIDAY] = False
    assert false.sum(axis=(1, 2)).max() <= 1


@pytest.mark.parametrize("weekend", range(len(WEEKENDS)))
def test_what_is_three_times_as_much_is_found(flagged: Flagged, weekend: int) -> None:
    found = flagged.high[flagged.planted]
    of_group = np.nonzero(flagged.planted)[0]
    assert len(found) == GROUPS * PLANTED_A_GROUP
    assert found[of_group % len(WEEKENDS) == weekend].mean() >= 0.95


def test_a_holiday_is_flagged(flagged: Flagged) -> None:
    assert flagged.low[:: len(WEEKENDS), HOLIDAY].mean() > 0.95


def test_nothing_is_said_before_a_weekday_was_seen_three_times(flagged: Flagged) -> None:
    said = flagged.high | flagged.low
    assert not said[:, LEARNT - 1].any()
    assert said[:, LEARNT:].any()
