# SPDX-License-Identifier: Apache-2.0
"""The columns of the snapshots as Spark reads them, and of the reports as it writes them.

Explicit, so that no run depends on which file is read first; a column that a file lacks is null.
`cluster` and `dt` are folder names in both and therefore in no schema here.
"""

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

STRING = StringType()
LONG = LongType()
INT = IntegerType()
DOUBLE = DoubleType()
BOOLEAN = BooleanType()
TIMESTAMP = TimestampType()
INT_LIST = ArrayType(INT)

CLUSTER = StructField("cluster", STRING)


def _columns(**types: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in types.items()])


TOPIC_PARTITIONS = _columns(
    taken_at=TIMESTAMP,
    asked_at=TIMESTAMP,
    read_at=TIMESTAMP,
    unread_reason=STRING,
    topic=STRING,
    topic_id=STRING,
    partition_id=INT,
    leader=INT,
    leader_rack=STRING,
    replicas=INT_LIST,
    in_sync_replicas=INT_LIST,
    start_offset=LONG,
    end_offset=LONG,
    retention_ms=LONG,
    retention_bytes=LONG,
    cleanup_policy=STRING,
    timestamp_type=STRING,
    produce_rate=DOUBLE,
)

GROUP_PARTITIONS = _columns(
    taken_at=TIMESTAMP,
    read_at=TIMESTAMP,
    unread_reason=STRING,
    consumer_group=STRING,
    topic=STRING,
    topic_id=STRING,
    partition_id=INT,
    leader=INT,
    client_id=STRING,
    client_host=STRING,
    member_id=STRING,
    owned_at=TIMESTAMP,
    committed_offset=LONG,
    start_offset=LONG,
    end_offset=LONG,
    lag=LONG,
    records_lost=LONG,
    next_record_after=TIMESTAMP,
    next_record_before=TIMESTAMP,
    next_record_time=TIMESTAMP,
    time_lag_seconds=DOUBLE,
    time_lag_error_seconds=DOUBLE,
    time_lag_method=STRING,
    age_growth=DOUBLE,
    commit_changed_at=TIMESTAMP,
    consume_rate=DOUBLE,
    drain_seconds=DOUBLE,
    observations=INT,
    rewound_from=LONG,
    rewound_at=TIMESTAMP,
    pause_seconds=DOUBLE,
    pauses_seen=DOUBLE,
    retention_margin=LONG,
    seconds_until_loss=DOUBLE,
    retention_risk=STRING,
    status=STRING,
    last_status=STRING,
    status_reason=STRING,
    published=STRING,
)

GROUPS = _columns(
    taken_at=TIMESTAMP,
    read_at=TIMESTAMP,
    unread_reason=STRING,
    consumer_group=STRING,
    owner=STRING,
    sla_seconds=DOUBLE,
    group_state=STRING,
    group_type=STRING,
    protocol=STRING,
    members=INT,
    owners_changed=INT,
    topics=INT,
    partitions=INT,
    partitions_unknown=INT,
    partitions_uncommitted=INT,
    lag=LONG,
    max_lag=LONG,
    worst_topic=STRING,
    worst_partition=INT,
    worst_member=STRING,
    worst_leader=INT,
    time_lag_seconds=DOUBLE,
    time_lag_error_seconds=DOUBLE,
    time_lag_method=STRING,
    produce_rate=DOUBLE,
    consume_rate=DOUBLE,
    drain_seconds=DOUBLE,
    seconds_until_loss=DOUBLE,
    records_lost=LONG,
    status=STRING,
    last_status=STRING,
    status_reason=STRING,
    status_since=TIMESTAMP,
    complete=DOUBLE,
    held_status=STRING,
    held_since=TIMESTAMP,
    incident_since=TIMESTAMP,
)

SNAPSHOTS = {
    "topic_partitions": TOPIC_PARTITIONS,
    "group_partitions": GROUP_PARTITIONS,
    "groups": GROUPS,
}

PARTITION_SKEW = _columns(
    consumer_group=STRING,
    topic=STRING,
    lag_partitions=INT,
    lag_mean=DOUBLE,
    lag_max=DOUBLE,
    lag_max_to_mean=DOUBLE,
    lag_top_partition=INT,
    lag_top_share=DOUBLE,
    lag_even_share=DOUBLE,
    lag_gini=DOUBLE,
    lag_skewed=BOOLEAN,
    production_partitions=INT,
    production_mean=DOUBLE,
    production_max=DOUBLE,
    production_max_to_mean=DOUBLE,
    production_top_partition=INT,
    production_top_share=DOUBLE,
    production_even_share=DOUBLE,
    production_gini=DOUBLE,
    production_skewed=BOOLEAN,
)

RETENTION_RISK = _columns(
    consumer_group=STRING,
    topic=STRING,
    partition_id=INT,
    retention_risk=STRING,
    records_lost=LONG,
    least_margin=LONG,
    least_margin_at=TIMESTAMP,
    lag_at_least_margin=LONG,
    least_seconds_until_loss=DOUBLE,
    least_seconds_until_loss_at=TIMESTAMP,
)

REPORTS = {"partition_skew": PARTITION_SKEW, "retention_risk": RETENTION_RISK}
