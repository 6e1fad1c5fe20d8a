# SPDX-License-Identifier: Apache-2.0
"""The names at /metrics: families and labels, and the snapshot column that each one shows.

Families called kafka_consumergroup_* and kafka_topic_* are those of danielqsj/kafka_exporter, with
its labels, so that its dashboards still work; every family also has a `cluster` label.
"""

LABEL_CLUSTER = "cluster"
LABEL_GROUP = "consumergroup"
LABEL_TOPIC = "topic"
LABEL_PARTITION = "partition"
# Labels of the info family.
LABEL_OWNER = "owner"
LABEL_STATE = "state"
LABEL_TYPE = "type"
LABEL_PROTOCOL = "protocol"
# Labels of the families of worst status and cause.
LABEL_WORST_STATUS = "worst_status"
LABEL_CAUSE = "cause"
# Label of the family of partition statuses.
LABEL_LEADER = "leader"
# Labels of the family of partition members.
LABEL_CLIENT_ID = "client_id"
LABEL_CLIENT_HOST = "client_host"
LABEL_MEMBER_ID = "member_id"

# Families of each cluster.
SNAPSHOT_AGE = "kafka_lag_snapshot_age_seconds"
SNAPSHOT_READABLE = "kafka_lag_snapshot_readable"

# Families of each group, at every level.
GROUP_INFO = "kafka_lag_group_info"
GROUP_STATUS_GAUGE = "kafka_lag_group_status"
GROUP_HELD_STATUS = "kafka_lag_group_held_status"
GROUP_WORST_STATUS = "kafka_lag_group_worst_status"
GROUP_CAUSE = "kafka_lag_group_cause"
GROUP_LAG = "kafka_lag_group_lag"
GROUP_TIME_LAG = "kafka_lag_group_time_lag_seconds"
GROUP_TASKS_NEEDED = "kafka_lag_group_tasks_needed"
GROUP_TIME_TO_DATA_LOSS = "kafka_lag_group_time_to_data_loss_seconds"
GROUP_STATUSES = {
    GROUP_STATUS_GAUGE: ("status", "Status of the group: 0 OK, 1 WARN, 2 ERR."),
    GROUP_HELD_STATUS: ("held_status", "The last status that lasted: 0 OK, 1 WARN, 2 ERR."),
}
GROUP_GAUGES = {
    GROUP_LAG: ("lag", "Records behind, all partitions of the group."),
    "kafka_lag_group_max_lag": ("max_lag", "Records behind in the worst partition."),
    GROUP_TIME_LAG: ("time_lag_seconds", "Age of the oldest next unread record."),
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
    GROUP_TASKS_NEEDED: (
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
    "kafka_lag_group_sla_seconds": ("sla_seconds", "The time lag that is promised."),
    "kafka_lag_group_unusual": (
        "unusual",
        "1 where lag, time lag or the records written are far from usual at this hour; absent: "
        "not learnt.",
    ),
    "kafka_lag_group_rebalances": (
        "rebalances",
        "Rebalances since the run before; of classic groups one stands for one or more.",
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

# Families of each group and topic, from ?level=topic on.
TOPIC_LAG = "kafka_consumergroup_lag_sum"
TOPIC_OFFSET = "kafka_consumergroup_current_offset_sum"
TOPIC_TIME_LAG = "kafka_lag_topic_time_lag_seconds"
TOPIC_PARTITIONS_GAUGE = "kafka_topic_partitions"
GROUP_MEMBERS_AS_ELSEWHERE = "kafka_consumergroup_members"

# Families of each group-partition, at ?level=partition.
PARTITION_STATUS_GAUGES = {
    "kafka_lag_partition_status": (
        "status",
        "Status of the partition: 0 OK, 1 WARN, 2 ERR, 3 STOP, 4 STALL, 5 REWIND.",
    ),
}
PARTITION_GAUGES = {
    "kafka_consumergroup_lag": ("lag", "Records behind in this partition."),
    "kafka_consumergroup_current_offset": ("committed_offset", "The offset committed."),
    "kafka_lag_partition_time_lag_seconds": ("time_lag_seconds", "Age of the next unread record."),
}
PARTITION_MEMBER_INFO = "kafka_lag_partition_member_info"
PARTITION_COMMIT_AGE = "kafka_lag_partition_commit_age_seconds"
# Families of each partition of a topic, at ?level=partition.
LOG_GAUGES = {
    "kafka_topic_partition_current_offset": ("end_offset", "The next offset to be written."),
    "kafka_topic_partition_oldest_offset": ("start_offset", "The first offset not deleted."),
    "kafka_topic_partition_leader": ("leader", "Broker that leads the partition."),
}
LOG_REPLICAS = "kafka_topic_partition_replicas"
LOG_IN_SYNC = "kafka_topic_partition_in_sync_replica"
LOG_UNDER_REPLICATED = "kafka_topic_partition_under_replicated_partition"
