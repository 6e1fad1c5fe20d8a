# SPDX-License-Identifier: Apache-2.0
"""Reports against SQL that shares no code with the job."""

from datetime import date, timedelta
from pathlib import Path

import duckdb

from dev.report_check import compare, run, written
from kafka_lag_report.schemas import REPORTS

DAY = date(2026, 1, 31)


def differences(root: Path, cluster: str) -> dict[str, list[str]]:
    """By report what differs from SQL, of those that do."""
    with duckdb.connect() as connection:
        expected = run(connection, root, cluster, DAY, today=DAY + timedelta(days=1))
    found = {name: compare(expected[name], written(root, name, cluster, DAY)) for name in REPORTS}
    return {name: answer for name, answer in found.items() if answer}
