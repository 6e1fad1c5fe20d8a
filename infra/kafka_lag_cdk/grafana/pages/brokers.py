# SPDX-License-Identifier: Apache-2.0
"""The brokers: MSK's own metrics in CloudWatch, and what snapshots know of logs in Prometheus."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lag import contract
from kafka_lag.contract import exposition
from kafka_lag_cdk.grafana import panels
from kafka_lag_cdk.grafana.model import Json, Page, Panel, Row
from kafka_lag_cdk.grafana.pages.uids import BROKERS, uid_of
from kafka_lag_cdk.grafana.sources import cloudwatch, prometheus
from kafka_lag_cdk.grafana.variables import BROKER, CLUSTER

# Above these AWS advises to act [MSK developer guide, "Best practices"].
_BUSY, _FULL, _WHOLE = 60.0, 85.0, 100.0

_OF_CLUSTER = {contract.DIMENSION_CLUSTER: f"${CLUSTER}"}
_OF_BROKER = {**_OF_CLUSTER, cloudwatch.BROKER_ID: f"${BROKER}"}
_OF_GROUPS = {
    **_OF_CLUSTER,
    contract.DIMENSION_GROUP: cloudwatch.EVERY,
    contract.DIMENSION_TOPIC: cloudwatch.EVERY,
}


def msk_brokers() -> Page:
    """All of MSK's free level; Express brokers have no disks of their own, and so none here."""
    return Page(
        uid=uid_of(BROKERS, cloudwatch.KIND),
        title="Kafka lag: brokers (CloudWatch)",
        description="Disk, processor, traffic and replication, as MSK tells.",
        source=cloudwatch.KIND,
        variables=cloudwatch.brokers(),
        rows=[
            Row("Disk and processor", _resources()),
            Row("Traffic", _traffic()),
            Row("Partitions", _partitions()),
            Row("Consumer lag, as MSK tells", _lag_by_msk()),
        ],
    )


def known_logs() -> Page:
    """What ?level=partition exposes: who leads, what is not in sync, how fast logs grow."""
    return Page(
        uid=uid_of(BROKERS, prometheus.KIND),
        title="Kafka lag: brokers (Prometheus)",
        description="Leaders, replicas and growth of logs; needs a scrape of ?level=partition.",
        source=prometheus.KIND,
        variables=prometheus.topics(),
        rows=[Row("Brokers", _leaders()), Row("Topics", _logs())],
    )


def _resources() -> list[Panel]:
    disk = {"KafkaDataLogsDiskUsed": "data", "KafkaAppLogsDiskUsed": "logs", "RootDiskUsed": "root"}
    cpu = {"CpuUser": "user", "CpuSystem": "system", "CpuIoWait": "waits for disk"}
    memory = {"MemoryUsed": "used", "MemoryFree": "free"}
    return [
        panels.lines(
            "Disk used",
            _msk(disk),
            unit=panels.PERCENT,
            width=panels.THIRD,
            most=_WHOLE,
            marks=[(_FULL, panels.RED)],
        ),
        panels.lines(
            "Processor",
            _msk(cpu),
            unit=panels.PERCENT,
            width=panels.THIRD,
            description="AWS advises to keep user and system together below 60 %.",
            most=_WHOLE,
            marks=[(_BUSY, panels.RED)],
        ),
        panels.lines("Memory", _msk(memory), unit=panels.BYTES, width=panels.THIRD),
    ]


def _traffic() -> list[Panel]:
    traffic = {"BytesInPerSec": "in", "BytesOutPerSec": "out"}
    records = {"MessagesInPerSec": ""}
    return [
        panels.lines("Bytes", _msk(traffic), unit=panels.BYTES_PER_SECOND, width=panels.THIRD),
        panels.lines("Records written", _msk(records), unit=panels.PER_SECOND, width=panels.THIRD),
        panels.lines("Connections", _msk({"ConnectionCount": ""}), width=panels.THIRD),
    ]


def _partitions() -> list[Panel]:
    replicas = {
        "UnderReplicatedPartitions": "under-replicated",
        "UnderMinIsrPartitionCount": "too few in sync",
    }
    counts = {"LeaderCount": "led", "PartitionCount": "with replicas"}
    whole = {"OfflinePartitionsCount": "offline", "ActiveControllerCount": "controllers"}
    return [
        panels.lines("Not in sync", _msk(replicas), width=panels.THIRD),
        panels.lines("Partitions", _msk(counts), width=panels.THIRD),
        panels.lines(
            "Offline partitions, and controllers: 1",
            [
                cloudwatch.target(cloudwatch.MSK, n, _OF_CLUSTER, label)
                for n, label in whole.items()
            ],
            width=panels.THIRD,
        ),
    ]


def _lag_by_msk() -> list[Panel]:
    """To compare: its times are estimates of the time to drain, ours are ages."""
    graphs = (
        ("Lag by group and topic", "SumOffsetLag", panels.RECORDS, "Records behind."),
        (
            "Estimated time to drain by group and topic",
            "EstimatedMaxTimeLag",
            panels.SECONDS,
            "MSK's EstimatedMaxTimeLag is a time to drain, not an age.",
        ),
    )
    names = (contract.DIMENSION_GROUP, contract.DIMENSION_TOPIC)
    label = cloudwatch.shown(names)
    return [
        panels.lines(
            title,
            [cloudwatch.target(cloudwatch.MSK, metric, _OF_GROUPS, label)],
            unit=unit,
            description=told,
        )
        for title, metric, unit, told in graphs
    ]


def _msk(metrics: Mapping[str, str]) -> list[Json]:
    """A line a broker for each metric, named by the word for it and the broker's id."""
    broker = cloudwatch.shown([cloudwatch.BROKER_ID])
    return [
        cloudwatch.target(cloudwatch.MSK, name, _OF_BROKER, f"{word} {broker}".strip())
        for name, word in metrics.items()
    ]


def _leaders() -> list[Panel]:
    leader = prometheus.chosen_logs("kafka_topic_partition_leader")
    short = prometheus.chosen_logs(exposition.LOG_UNDER_REPLICATED)
    replicas = prometheus.chosen_logs(exposition.LOG_REPLICAS)
    in_sync = prometheus.chosen_logs(exposition.LOG_IN_SYNC)
    return [
        panels.lines(
            "Partitions led, by broker",
            [prometheus.target(f'count_values("broker", {leader})', "{{broker}}")],
            width=panels.THIRD,
        ),
        panels.lines(
            "Partitions with a replica out of sync",
            [prometheus.target(f"sum ({short})", "partitions")],
            width=panels.THIRD,
            marks=[(1.0, panels.RED)],
        ),
        panels.lines(
            "Replicas",
            [
                prometheus.target(f"sum ({replicas})", "all"),
                prometheus.target(f"sum ({in_sync})", "in sync"),
            ],
            width=panels.THIRD,
        ),
    ]


def _logs() -> list[Panel]:
    end = prometheus.chosen_logs("kafka_topic_partition_current_offset")
    start = prometheus.chosen_logs("kafka_topic_partition_oldest_offset")
    short = prometheus.chosen_logs(exposition.LOG_UNDER_REPLICATED)
    by, name = f"by ({exposition.LABEL_TOPIC})", f"{{{{{exposition.LABEL_TOPIC}}}}}"
    graphs = (
        # A gauge, as a topic that is made anew begins at 0 and is no counter's reset.
        ("Records written, by topic", f"sum {by} (deriv({end}[5m]))", panels.PER_SECOND),
        ("Records kept, by topic", f"sum {by} ({end} - {start})", panels.RECORDS),
        ("Partitions with a replica out of sync, by topic", f"sum {by} ({short}) > 0", "short"),
    )
    return [
        panels.lines(title, [prometheus.target(expression, name)], unit=unit, width=panels.THIRD)
        for title, expression, unit in graphs
    ]
