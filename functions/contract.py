# SPDX-License-Identifier: Apache-2.0
"""Every name that crosses a seam: metrics, dimensions, columns, words, keys, variables.

Imports nothing, so that infrastructure, jobs and tests can read it without the collector.
All of it is public interface: see CHANGELOG.md before changing a letter.
"""

# Environment of the collector.
ENV_CONFIG = "KAFKA_LAG_CONFIG"
ENV_BUCKET = "KAFKA_LAG_BUCKET"
# Instead of the document's, where a deploy looked them up: host:port,host:port.
ENV_BOOTSTRAP_SERVERS = "KAFKA_LAG_BOOTSTRAP_SERVERS"
# Set by Lambda itself.
ENV_REGION = "AWS_REGION"

# The event a schedule sends.
EVENT_CLUSTER = "cluster"
EVENT_SCHEDULED_TIME = "scheduled_time"

# CloudWatch.
NAMESPACE = "KafkaLag"
DIMENSION_CLUSTER = "Cluster Name"
DIMENSION_GROUP = "Consumer Group"
DIMENSION_TOPIC = "Topic"
DIMENSION_PARTITION = "Partition"

OFFSET_LAG = "OffsetLag"
MAX_OFFSET_LAG = "MaxOffsetLag"
ESTIMATED_TIME_LAG = "EstimatedTimeLag"
GROUP_STATUS = "GroupStatus"
TIME_TO_DATA_LOSS = "TimeToDataLoss"
SCALING_LAG = "ScalingLag"
SCALING_LAG_PER_MEMBER = "ScalingLagPerMember"
ESTIMATED_DRAIN_TIME = "EstimatedDrainTime"
MEMBERS = "Members"
REBALANCING = "Rebalancing"
COLLECTOR_SUCCESS = "CollectorSuccess"
COLLECTOR_DURATION = "CollectorDuration"
GROUPS_READ = "GroupsRead"
PARTITIONS_UNKNOWN = "PartitionsUnknown"
PARTITIONS_UNCOMMITTED = "PartitionsUncommitted"
READ_ERRORS = "ReadErrors"
LAGS_CLAMPED = "LagsClamped"
TIME_LAG_LOOKUPS = "TimeLagLookups"
METRICS_OMITTED = "MetricsOmitted"

COUNT = "Count"
SECONDS = "Seconds"
NO_UNIT = "None"

# The reporter's own, which no budget leaves out.
HEALTH_UNITS = {
    COLLECTOR_SUCCESS: COUNT,
    COLLECTOR_DURATION: SECONDS,
    GROUPS_READ: COUNT,
    PARTITIONS_UNKNOWN: COUNT,
    PARTITIONS_UNCOMMITTED: COUNT,
    READ_ERRORS: COUNT,
    LAGS_CLAMPED: COUNT,
    TIME_LAG_LOOKUPS: COUNT,
    METRICS_OMITTED: COUNT,
}
METRIC_UNITS = {
    OFFSET_LAG: COUNT,
    MAX_OFFSET_LAG: COUNT,
    ESTIMATED_TIME_LAG: SECONDS,
    GROUP_STATUS: NO_UNIT,
    TIME_TO_DATA_LOSS: SECONDS,
    SCALING_LAG: COUNT,
    SCALING_LAG_PER_MEMBER: COUNT,
    ESTIMATED_DRAIN_TIME: SECONDS,
    MEMBERS: COUNT,
    REBALANCING: NO_UNIT,
    **HEALTH_UNITS,
}
# Of each level before options; a partition has those of a topic.
LAG_METRICS = (OFFSET_LAG, ESTIMATED_TIME_LAG)
GROUP_METRICS = (*LAG_METRICS, GROUP_STATUS, TIME_TO_DATA_LOSS)
SCALING_METRICS = (SCALING_LAG, SCALING_LAG_PER_MEMBER)

# Snapshots: the three datasets, in the order they are written; the last completes a set.
TOPIC_PARTITIONS = "topic_partitions"
GROUP_PARTITIONS = "group_partitions"
GROUPS = "groups"
DATASETS = (TOPIC_PARTITIONS, GROUP_PARTITIONS, GROUPS)

SNAPSHOT_PREFIX = "snapshots"
HISTORY_PREFIX = "history"
REPORT_PREFIX = "reports"

# The tag of a snapshot object whose rows are in the history: only then may it expire.
COMPACTED_TAG = "kafka-lag-compacted"
COMPACTED_VALUE = "true"

SCHEMA_VERSION = "2"
SCHEMA_VERSION_KEY = "kafka_lag_schema_version"

# Column types, as words that Arrow, Spark and Glue each translate.
STRING = "string"
LONG = "long"
INT = "int"
DOUBLE = "double"
BOOLEAN = "boolean"
TIMESTAMP = "timestamp"  # milliseconds, UTC
INT_LIST = "list<int>"

COLUMNS = {
    TOPIC_PARTITIONS: {
        "taken_at": TIMESTAMP,
        "asked_at": TIMESTAMP,
        "read_at": TIMESTAMP,
        "unread_reason": STRING,
        "topic": STRING,
        "topic_id": STRING,
        "partition_id": INT,
        "leader": INT,
        "leader_rack": STRING,
        "replicas": INT_LIST,
        "in_sync_replicas": INT_LIST,
        "start_offset": LONG,
        "end_offset": LONG,
        "retention_ms": LONG,
        "retention_bytes": LONG,
        "cleanup_policy": STRING,
        "timestamp_type": STRING,
        "produce_rate": DOUBLE,
    },
    GROUP_PARTITIONS: {
        "taken_at": TIMESTAMP,
        "read_at": TIMESTAMP,
        "unread_reason": STRING,
        "consumer_group": STRING,
        "topic": STRING,
        "topic_id": STRING,
        "partition_id": INT,
        "leader": INT,
        "client_id": STRING,
        "client_host": STRING,
        "member_id": STRING,
        "owned_at": TIMESTAMP,
        "committed_offset": LONG,
        "start_offset": LONG,
        "end_offset": LONG,
        "lag": LONG,
        "records_lost": LONG,
        "next_record_after": TIMESTAMP,
        "next_record_before": TIMESTAMP,
        "next_record_time": TIMESTAMP,
        "time_lag_seconds": DOUBLE,
        "time_lag_error_seconds": DOUBLE,
        "time_lag_method": STRING,
        "age_growth": DOUBLE,
        "commit_changed_at": TIMESTAMP,
        "consume_rate": DOUBLE,
        "drain_seconds": DOUBLE,
        "observations": INT,
        "rewound_from": LONG,
        "rewound_at": TIMESTAMP,
        "pause_seconds": DOUBLE,
        "pauses_seen": DOUBLE,
        "retention_margin": LONG,
        "seconds_until_loss": DOUBLE,
        "retention_risk": STRING,
        "status": STRING,
        "last_status": STRING,
        "status_reason": STRING,
        "published": STRING,
    },
    GROUPS: {
        "taken_at": TIMESTAMP,
        "read_at": TIMESTAMP,
        "unread_reason": STRING,
        "consumer_group": STRING,
        "owner": STRING,
        "sla_seconds": DOUBLE,
        "group_state": STRING,
        "group_type": STRING,
        "protocol": STRING,
        "members": INT,
        "owners_changed": INT,
        "topics": INT,
        "partitions": INT,
        "partitions_unknown": INT,
        "partitions_uncommitted": INT,
        "lag": LONG,
        "max_lag": LONG,
        "worst_topic": STRING,
        "worst_partition": INT,
        "worst_member": STRING,
        "worst_leader": INT,
        "time_lag_seconds": DOUBLE,
        "time_lag_error_seconds": DOUBLE,
        "time_lag_method": STRING,
        "produce_rate": DOUBLE,
        "consume_rate": DOUBLE,
        "drain_seconds": DOUBLE,
        "seconds_until_loss": DOUBLE,
        "records_lost": LONG,
        "status": STRING,
        "last_status": STRING,
        "status_reason": STRING,
        "status_since": TIMESTAMP,
        "complete": DOUBLE,
        "held_status": STRING,
        "held_since": TIMESTAMP,
        "incident_since": TIMESTAMP,
    },
}

# Why a row was not read this time (null: it was).
DENIED = "denied"
NO_LEADER = "no_leader"
NO_COORDINATOR = "no_coordinator"
TIMEOUT = "timeout"
ERROR = "error"

# status: of a partition, and OK, WARN, ERR of a group; the metric's numbers.
OK, WARN, STOP, STALL, REWIND, ERR = "OK", "WARN", "STOP", "STALL", "REWIND", "ERR"
GROUP_STATUS_VALUES = {OK: 0, WARN: 1, ERR: 2}

# status_reason
RECORDS_LOST = "records_lost"
BEYOND_END = "beyond_end"
PAUSING = "pausing"
INACTIVE = "inactive"
GONE = "gone"

# time_lag_method
METHOD_NONE = "none"
METHOD_ALLOWED = "allowed"
METHOD_CARRIED = "carried"
METHOD_INTERPOLATED = "interpolated"
METHOD_RECORD_TIME = "record_time"
METHOD_AT_LEAST = "at_least"

# retention_risk; and the longest time to loss that is told, also where nothing will be lost.
LOST, AT_RISK, SAFE = "LOST", "AT_RISK", "SAFE"
NO_LOSS_SECONDS = 30 * 86_400.0

# group_state, in Kafka's words, of groups that are being assigned partitions.
REBALANCING_STATES = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")

# group_type: groups that are listed and have no lag, as they commit no records read in order.
UNSUPPORTED_GROUP_TYPES = ("share", "streams")

# published: the finest level whose metrics went out for this row.
PUBLISHED_NONE = "none"
PUBLISHED_GROUP = "group"
PUBLISHED_TOPIC = "topic"
PUBLISHED_PARTITION = "partition"
