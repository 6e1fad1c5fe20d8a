# SPDX-License-Identifier: Apache-2.0
"""The tables over snapshots, history and reports: where their objects lie, and their columns.

What Athena finds them by is made of these, and so is what `kafka-lag query` reads. No CDK needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.contract import reports

CLUSTER, DATE, HOUR = "cluster", "dt", "hour"
HISTORY = "history_"

_DATASET_ROWS = {
    contract.TOPIC_PARTITIONS: "A row for each partition of each topic",
    contract.GROUP_PARTITIONS: "A row for each partition that a group reads",
    contract.GROUPS: "A row for each consumer group",
}
_REPORT_ROWS = {
    reports.PARTITION_SKEW: "how unevenly lag and production fall on a topic's partitions, and why",
    reports.RETENTION_RISK: "each partition's nearest moment to losing records",
    reports.LAG_SUMMARY: "lag, time lag, status and service level of a group (topic is null), and "
    "of each of its topics",
    reports.LAG_HOURLY: "a group's means of each hour",
    reports.ANOMALIES: "hours in which a group was not as usual at that hour",
    reports.BROKER_HOTSPOTS: "each broker's share of lag and production against its partitions",
    reports.CONSUMER_HOTSPOTS: "each member's share of its group's lag against its partitions",
    reports.TASKS_NEEDED: "tasks that a group needed, in each hour and in the day (hour is null)",
    reports.SLO: "minutes of an objective kept, broken and unknown, in the day and in its window",
    reports.INCIDENTS: "what went wrong: who, from when to when, why, and what it cost",
    reports.COVERAGE: "which runs of the day the reports rest on, by dataset",
}


@dataclass(frozen=True, slots=True)
class Table:
    """The Parquet objects below `folder`, in a folder for each value of each of `keys`.

    `prefix` is the part of the bucket, all of which is kept for as many days; `columns` are in the
    contract's types. `keys` are partition columns, all text, as `hour = '07'` is in the objects'
    keys.
    """

    name: str
    description: str
    prefix: str
    folder: str
    columns: Mapping[str, str]
    keys: tuple[str, ...] = (CLUSTER, DATE)


def catalog_tables() -> dict[str, Table]:
    """All tables by name."""
    tables = []
    for dataset, rows in _DATASET_ROWS.items():
        columns = contract.COLUMNS[dataset]
        added = {contract.RISES[dataset]: contract.LONG} if dataset in contract.RISES else {}
        tables += [
            Table(
                dataset,
                f"{rows}, of every run",
                contract.SNAPSHOT_PREFIX,
                f"{contract.SNAPSHOT_PREFIX}/{dataset}",
                columns,
                (CLUSTER, DATE, HOUR),
            ),
            Table(
                f"{HISTORY}{dataset}",
                f"{rows}, of every run of a day that was compacted",
                contract.HISTORY_PREFIX,
                f"{contract.HISTORY_PREFIX}/{dataset}",
                columns | added,
            ),
        ]
    tables += [
        Table(
            report,
            f"Daily report: {_REPORT_ROWS[report]}",
            contract.REPORT_PREFIX,
            f"{contract.REPORT_PREFIX}/{report}",
            columns,
        )
        for report, columns in reports.REPORT_COLUMNS.items()
    ]
    return {table.name: table for table in tables}
