# SPDX-License-Identifier: Apache-2.0
"""The families at /metrics: their rows, labels and values.

Families called kafka_consumergroup_* and kafka_topic_* have the names and labels of
danielqsj/kafka_exporter, so that its dashboards still work. Every family also has a `cluster`
label.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kafka_lag.contract.snapshots import CAUSES, CONSUMER_STATUS_SEVERITIES, TRENDS

GROUP, TOPIC, PARTITION = LEVELS = ("group", "topic", "partition")

LABEL_CLUSTER, LABEL_GROUP, LABEL_TOPIC = "cluster", "consumergroup", "topic"
LABEL_PARTITION, LABEL_STATE = "partition", "state"
# Labels by the column that they show; other labels are called like their column.
COLUMNS_OF_LABELS = {
    LABEL_GROUP: "consumer_group",
    LABEL_PARTITION: "partition_id",
    LABEL_STATE: "group_state",
    "type": "group_type",
}
_PARTITION = (LABEL_GROUP, LABEL_TOPIC, LABEL_PARTITION)


class Rows(Enum):
    """The rows that a family has a sample for: the level they are shown from, and their labels."""

    CLUSTER = (GROUP, ())
    GROUP = (GROUP, (LABEL_GROUP,))
    GROUP_TOPIC = (TOPIC, (LABEL_GROUP, LABEL_TOPIC))
    TOPIC = (TOPIC, (LABEL_TOPIC,))
    GROUP_PARTITION = (PARTITION, _PARTITION)
    PARTITION = (PARTITION, (LABEL_TOPIC, LABEL_PARTITION))


@dataclass(frozen=True, slots=True)
class Family:
    """Gauges of one name.

    `value` is a column, in which a status becomes its number; None: always 1. `labels` and `level`
    are by default the ones of `rows`. `only` is the column that must be known.
    """

    name: str
    rows: Rows
    value: str | None
    help: str
    labels: tuple[str, ...] | None = None
    level: str | None = None
    only: str | None = None

    @property
    def shown_from(self) -> str:
        """Returns the coarsest level that has the family."""
        return self.level or self.rows.value[0]

    @property
    def shown_labels(self) -> tuple[str, ...]:
        """Returns its labels but for `cluster`."""
        return self.labels or self.rows.value[1]

    @property
    def columns(self) -> set[str]:
        """Returns the columns of its rows that its samples need."""
        of_labels = (COLUMNS_OF_LABELS.get(name, name) for name in self.shown_labels)
        return {*of_labels, *filter(None, (self.value, self.only))}


def _gauges(rows: Rows, shown: dict[str, tuple[str, str]]) -> tuple[Family, ...]:
    """Returns a family for each column with its help."""
    return tuple(Family(name, rows, value, text) for name, (value, text) in shown.items())


GROUP_HELD_STATUS = "kafka_lag_group_held_status"
GROUP_TIME_TO_DATA_LOSS = "kafka_lag_group_time_to_data_loss_seconds"
PARTITION_MEMBER_INFO = "kafka_lag_partition_member_info"
PARTITION_COMMIT_AGE = "kafka_lag_partition_commit_age_seconds"
TOPIC_LAG = "kafka_consumergroup_lag_sum"
TOPIC_TIME_LAG = "kafka_lag_topic_time_lag_seconds"
GROUP_GAUGES = {
    "kafka_lag_group_lag": ("lag", "Records behind, all partitions of the group."),
    "kafka_lag_group_max_lag": ("max_lag", "Records behind in the worst partition."),
    "kafka_lag_group_time_lag_seconds": (
        "time_lag_seconds",
        "Age of the oldest next unread record.",
    ),
    "kafka_lag_group_time_lag_error_seconds": (
        "time_lag_error_seconds",
        "How far the true time lag may be from the one shown; absent: it may be any older.",
    ),
    GROUP_TIME_TO_DATA_LOSS: (
        "seconds_until_loss",
        "Time until retention deletes an unread record that is at risk; 30 days if none is.",
    ),
    "kafka_lag_group_drain_seconds": (
        "drain_seconds",
        "Time to work off the lag at the present rates; absent: it is not being worked off.",
    ),
    "kafka_lag_group_produced_records_per_second": (
        "produce_rate",
        "Records a second written to the partitions of the group.",
    ),
    "kafka_lag_group_consumed_records_per_second": (
        "consume_rate",
        "Records a second by which the commits moved.",
    ),
    "kafka_lag_group_records_lost": (
        "records_lost",
        "Records between the commits and the log starts: deleted before they were committed.",
    ),
    "kafka_lag_group_members": ("members", "Live members of the group."),
    "kafka_lag_group_tasks_needed": (
        "tasks_needed",
        "Tasks that read what is written and work off the backlog in time; absent: not known.",
    ),
    "kafka_lag_group_member_capacity_records_per_second": (
        "capacity",
        "Records a second that one member reads while it has a backlog; absent: not learnt.",
    ),
    "kafka_lag_group_partitions": (
        "partitions",
        "Partitions in which the group has a commit or an assignment.",
    ),
    "kafka_lag_group_partitions_unknown": (
        "partitions_unknown",
        "Partitions that were not read for this snapshot.",
    ),
    "kafka_lag_group_partitions_uncommitted": (
        "partitions_uncommitted",
        "Partitions without a commit, which count in no lag.",
    ),
    "kafka_lag_group_complete_ratio": (
        "complete",
        "Share of the committed partitions that were read.",
    ),
    "kafka_lag_group_sla_seconds": ("sla_seconds", "The longest time lag allowed."),
    "kafka_lag_group_unusual": (
        "unusual",
        "1 where lag, time lag or the records written are far from usual at this hour; absent: "
        "not learnt.",
    ),
    "kafka_lag_group_rebalances": (
        "rebalances",
        "Rebalances since the previous run; for a classic group, 1 means one or more.",
    ),
    "kafka_lag_group_rebalancing_ratio": (
        "rebalancing_share",
        "Share of the last runs that saw a rebalance; from 0.6 on it hardly ever stops.",
    ),
    "kafka_lag_group_held_up_records": (
        "held_up_records",
        "Records that open transactions keep from the group; absent: none does.",
    ),
}

FAMILIES = (
    *_gauges(
        Rows.CLUSTER,
        {
            "kafka_lag_snapshot_age_seconds": (
                "age",
                "Age of the snapshot that all else is read from.",
            ),
            "kafka_lag_snapshot_readable": (
                "readable",
                "Whether that snapshot could be read: 1, or 0.",
            ),
        },
    ),
    Family(
        "kafka_lag_group_info",
        Rows.GROUP,
        None,
        "Always 1; what the user and Kafka say of the group.",
        labels=(LABEL_GROUP, "owner", LABEL_STATE, "type", "protocol"),
    ),
    *_gauges(
        Rows.GROUP,
        {
            "kafka_lag_group_status": ("status", "Status of the group: 0 OK, 1 WARN, 2 ERR."),
            GROUP_HELD_STATUS: (
                "held_status",
                "The last status that lasted: 0 OK, 1 WARN, 2 ERR.",
            ),
        },
    ),
    Family(
        "kafka_lag_group_worst_status",
        Rows.GROUP,
        None,
        f"Always 1; what the consumer does: {', '.join(CONSUMER_STATUS_SEVERITIES)}. "
        "Absent: nothing wrong.",
        labels=(LABEL_GROUP, "worst_status"),
        only="worst_status",
    ),
    Family(
        "kafka_lag_group_cause",
        Rows.GROUP,
        None,
        f"Always 1; why it is behind: {', '.join(CAUSES)}. Absent: it is not.",
        labels=(LABEL_GROUP, "cause"),
        only="cause",
    ),
    Family(
        "kafka_lag_group_trend",
        Rows.GROUP,
        None,
        f"Always 1; the lag over the last five runs: {', '.join(TRENDS)}. Absent: not known.",
        labels=(LABEL_GROUP, "trend"),
        only="trend",
    ),
    *_gauges(Rows.GROUP, GROUP_GAUGES),
    Family(
        "kafka_consumergroup_members",
        Rows.GROUP,
        "members",
        "Live members of the group.",
        level=TOPIC,
    ),
    *_gauges(
        Rows.GROUP_TOPIC,
        {
            TOPIC_LAG: ("lag", "Records behind, all partitions of the topic."),
            "kafka_consumergroup_current_offset_sum": (
                "committed_offset",
                "Sum of the offsets committed.",
            ),
            TOPIC_TIME_LAG: ("time_lag_seconds", "Age of the oldest next unread record."),
        },
    ),
    *_gauges(Rows.TOPIC, {"kafka_topic_partitions": ("partitions", "Partitions of the topic.")}),
    *_gauges(
        Rows.GROUP_PARTITION,
        {
            "kafka_consumergroup_lag": ("lag", "Records behind in this partition."),
            "kafka_consumergroup_current_offset": ("committed_offset", "The offset committed."),
            "kafka_lag_partition_time_lag_seconds": (
                "time_lag_seconds",
                "Age of the next unread record.",
            ),
        },
    ),
    Family(
        "kafka_lag_partition_status",
        Rows.GROUP_PARTITION,
        "status",
        "Status of the partition: 0 OK, 1 WARN, 2 ERR, 3 STOP, 4 STALL, 5 REWIND.",
        labels=(*_PARTITION, "leader"),
    ),
    Family(
        PARTITION_MEMBER_INFO,
        Rows.GROUP_PARTITION,
        None,
        "Always 1; the member that owns the partition.",
        labels=(*_PARTITION, "client_id", "client_host", "member_id"),
        only="owner",
    ),
    *_gauges(
        Rows.GROUP_PARTITION,
        {
            PARTITION_COMMIT_AGE: (
                "commit_age",
                "Time from the run that first saw this commit to this reading.",
            )
        },
    ),
    *_gauges(
        Rows.PARTITION,
        {
            "kafka_topic_partition_current_offset": (
                "end_offset",
                "The next offset to be written.",
            ),
            "kafka_topic_partition_oldest_offset": (
                "start_offset",
                "The first offset not deleted.",
            ),
            "kafka_topic_partition_leader": ("leader", "Broker that leads the partition."),
            "kafka_topic_partition_replicas": ("replica_count", "Replicas of the partition."),
            "kafka_topic_partition_in_sync_replica": ("in_sync_count", "Replicas in sync."),
            "kafka_topic_partition_under_replicated_partition": (
                "under_replicated",
                "1 where a replica is not in sync.",
            ),
        },
    ),
)
