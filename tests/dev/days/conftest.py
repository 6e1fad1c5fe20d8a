# SPDX-License-Identifier: Apache-2.0
"""The day of all scenarios, written once, and SQL over it."""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dev.days import write_day
from dev.days.scenarios import truth
from kafka_lag import contract

Ask: TypeAlias = Callable[..., list[tuple[Any, ...]]]

DATE = date(2026, 1, 31)
EVERY = timedelta(minutes=10)


@pytest.fixture(name="truth_day", scope="session")
def _truth_day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("truth")
    write_day(root, truth(), date=DATE, every=EVERY)
    return root


@pytest.fixture(name="tables", scope="session")
def _tables(truth_day: Path) -> Mapping[str, Any]:
    """The three datasets as Arrow tables."""
    return {
        dataset: pa.concat_tables(
            pq.ParquetFile(path).read()
            for path in sorted((truth_day / "snapshots" / dataset).rglob("*.parquet"))
        )
        for dataset in contract.DATASETS
    }


@pytest.fixture(name="ask", scope="session")
def _ask(tables: Mapping[str, Any]) -> Ask:
    """Rows of a query over the datasets, with values for its question marks."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for dataset, table in tables.items():
        connection.register(dataset, table)
    return lambda query, *values: connection.execute(query, values).fetchall()
