# SPDX-License-Identifier: Apache-2.0
"""Days of the `lag_hourly` report without computing them, for tests of its history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kafka_lag.contract import REPORT_PREFIX

REPORT = "lag_hourly"
HOURS = 24
_SCHEMA = pa.schema(
    {
        "consumer_group": pa.string(),
        "hour": pa.int32(),
        **dict.fromkeys(
            (
                "known_minutes",
                "time_lag_seconds",
                "time_lag_max",
                "time_lag_least_minutes",
                "time_lag_deviation",
                "time_lag_high",
                "lag",
                "lag_deviation",
                "lag_high",
                "produce_rate",
                "produce_rate_deviation",
                "produce_rate_max",
                "consume_rate",
            ),
            pa.float64(),
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hour:
    """One row of the report."""

    consumer_group: str
    hour: int
    known_minutes: float | None = 60.0
    time_lag_seconds: float | None = None
    time_lag_max: float | None = None
    time_lag_least_minutes: float | None = None
    time_lag_deviation: float | None = None
    time_lag_high: float | None = None
    lag: float | None = None
    lag_deviation: float | None = None
    lag_high: float | None = None
    produce_rate: float | None = None
    produce_rate_deviation: float | None = None
    produce_rate_max: float | None = None
    consume_rate: float | None = None


def usual_hours(groups: Iterable[str], seed: int) -> list[Hour]:
    """A day like any other: 40 s old and 20 records/s at noon, a tenth of that at night."""
    rng = np.random.default_rng(seed)
    rows = []
    for group in groups:
        for hour in range(HOURS):
            busy = 0.55 - 0.45 * np.cos(2 * np.pi * hour / HOURS)
            age, rate = 40 * busy * rng.uniform(0.9, 1.1), 20 * busy * rng.uniform(0.95, 1.05)
            rows.append(
                Hour(
                    consumer_group=group,
                    hour=hour,
                    time_lag_seconds=age,
                    time_lag_max=2 * age,
                    time_lag_deviation=age / 4,
                    lag=age * rate,
                    lag_deviation=age * rate / 4,
                    produce_rate=rate,
                    consume_rate=rate,
                )
            )
    return rows


def write_hours(root: Path, cluster: str, day: date, rows: Sequence[Hour]) -> Path:
    """The report of one day, in one file."""
    folder = root / REPORT_PREFIX / REPORT / f"cluster={quote(cluster, safe='')}" / f"dt={day}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "part-00000.zstd.parquet"
    table = pa.Table.from_pylist([asdict(row) for row in rows], schema=_SCHEMA)
    pq.write_table(table, path, compression="zstd")
    return path


def write_usual_days(
    root: Path, cluster: str, groups: Sequence[str], *, before: date, days: int = 42
) -> None:
    """So many usual days, the last of them the one before `before`."""
    for back in range(1, days + 1):
        write_hours(root, cluster, before - timedelta(days=back), usual_hours(groups, seed=back))
