# SPDX-License-Identifier: Apache-2.0
"""A cluster's first weeks, for which no usual values exist yet."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from kafka_lag.contract import USUAL_COLUMNS, USUAL_DATE_KEY
from kafka_lag_report.storage import Storage
from kafka_lag_report.usual import write_usual
from tests.glue_jobs.days import a_day
from tests.glue_jobs.hourly import write_usual_days

SATURDAY = date(2026, 1, 31)


class SessionNeededError(Exception):
    """Somebody asks for the session."""


class NoSession:
    def __getattr__(self, name: str) -> Any:
        raise SessionNeededError(name)


def write(root: Path, days: int) -> None:
    """What is usual, of so many days up to Saturday."""
    write_usual_days(root, "demo", ["billing"], before=SATURDAY + timedelta(days=1), days=days)
    session: Any = NoSession()
    write_usual(session, Storage(), str(root), a_day())


@pytest.mark.parametrize("days", [1, 21])
def test_of_three_weeks_nothing_is_usual(tmp_path: Path, days: int) -> None:
    write(tmp_path, days)

    (file,) = (tmp_path / "usual/cluster=demo").iterdir()
    # older releases of pyarrow make a column of the folder's name
    found = pq.ParquetFile(file).read()
    assert (found.num_rows, found.schema.names) == (0, list(USUAL_COLUMNS))
    assert found.schema.metadata[USUAL_DATE_KEY.encode()] == b"2026-01-31"


def test_a_weekday_that_was_seen_four_times_has_usual_hours(tmp_path: Path) -> None:
    with pytest.raises(SessionNeededError):
        write(tmp_path, 22)
