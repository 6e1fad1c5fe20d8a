# SPDX-License-Identifier: Apache-2.0
"""The same reports by DuckDB from the same files, timed and compared."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb

from dev.report_bench.job import CORES
from dev.report_check import compare, run, written
from kafka_lag_report.schemas import REPORTS


@dataclass(frozen=True, slots=True)
class Checked:
    """DuckDB's seconds for all reports, and what the job wrote otherwise, in words."""

    seconds: float
    compared: tuple[str, ...]
    differences: tuple[str, ...]


def checked(source: Path, output: Path, clusters: Sequence[str], day: date) -> Checked:
    """DuckDB's answers, on as many cores as the job had, held against what the job wrote."""
    seconds, differences = 0.0, []
    for cluster in clusters:
        with duckdb.connect(config={"threads": CORES}) as connection:
            began = time.perf_counter()
            expected = run(connection, source, cluster, day, today=datetime.now(UTC).date())
            seconds += time.perf_counter() - began
        for report in REPORTS:
            found = compare(expected[report], written(output, report, cluster, day))
            differences += [f"{cluster}, {report}: {words}" for words in found]
    return Checked(seconds, tuple(REPORTS), tuple(differences))
