# SPDX-License-Identifier: Apache-2.0
"""The tables as data: columns, where their objects lie, and how Athena finds the partitions.

Partitions are projected, which means computed from a table's parameters: nothing crawls, and no
partition is ever added [Athena user guide, partition projection].
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag_cdk.config.shared import Keep
from kafka_lag_cdk.storage import report_columns as reports

# Contract types in Glue's words. Athena takes a Parquet timestamp of milliseconds in UTC as
# `timestamp`, and shows it in UTC.
GLUE_TYPES = {
    contract.STRING: "string",
    contract.LONG: "bigint",
    contract.INT: "int",
    contract.DOUBLE: "double",
    contract.BOOLEAN: "boolean",
    contract.TIMESTAMP: "timestamp",
    contract.INT_LIST: "array<int>",
}

_HISTORY_TABLE = "history_"

_CLUSTER, _DATE, _HOUR = "cluster", "dt", "hour"

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
    reports.COVERAGE: "which runs of the day the reports rest on, by dataset",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table; its objects lie under `prefix`, and `days` of them are looked for."""

    name: str
    description: str
    prefix: str
    columns: Mapping[str, str]
    days: int
    hourly: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The partition columns. All are text, as `hour = '07'` is in the objects' keys."""
        return (_CLUSTER, _DATE, _HOUR) if self.hourly else (_CLUSTER, _DATE)

    def location(self, bucket: str) -> str:
        """The address above all partitions."""
        return f"s3://{bucket}/{self.prefix}/"

    def parameters(self, bucket: str, clusters: Sequence[str]) -> dict[str, str]:
        """What tells Athena which partitions there are: these clusters, the last days, 24 hours."""
        folders = "".join(f"{key}=${{{key}}}/" for key in self.keys)
        ranges = {
            _CLUSTER: {"type": "enum", "values": ",".join(clusters)},
            _DATE: {
                "type": "date",
                "format": "yyyy-MM-dd",
                "range": f"NOW-{self.days}DAYS,NOW",
                "interval": "1",
                "interval.unit": "DAYS",
            },
            _HOUR: {"type": "integer", "range": "0,23", "digits": "2"},
        }
        return {
            "EXTERNAL": "TRUE",
            "classification": "parquet",
            "projection.enabled": "true",
            **{
                f"projection.{key}.{word}": value
                for key in self.keys
                for word, value in ranges[key].items()
            },
            "storage.location.template": f"{self.location(bucket)}{folders}",
        }


def tables(keep: Keep) -> Iterator[Table]:
    """Every table there is, each as far back as its objects are kept."""
    for dataset in contract.DATASETS:
        yield Table(
            name=dataset,
            description=f"{_DATASET_ROWS[dataset]}, of every run",
            prefix=f"{contract.SNAPSHOT_PREFIX}/{dataset}",
            columns=contract.COLUMNS[dataset],
            days=keep.snapshot_days,
            hourly=True,
        )
        yield Table(
            name=f"{_HISTORY_TABLE}{dataset}",
            description=f"{_DATASET_ROWS[dataset]}, of every run of a day that was compacted",
            prefix=f"{contract.HISTORY_PREFIX}/{dataset}",
            columns=contract.COLUMNS[dataset],
            days=keep.history_days,
        )
    for name, columns in reports.REPORT_COLUMNS.items():
        yield Table(
            name=name,
            description=f"Daily report: {_REPORT_ROWS[name]}",
            prefix=f"{contract.REPORT_PREFIX}/{name}",
            columns=columns,
            days=keep.report_days,
        )
