# SPDX-License-Identifier: Apache-2.0
"""Columns of snapshots, which are the contract's, and of reports, in the types of Spark and Arrow.

They are explicit, so that no run depends on which file is read first. A column that a file lacks is
null. `cluster` and `dt` are folder names in snapshots and reports and therefore in no schema here;
docs/snapshots.md says what each column means.
"""

from functools import cache

import pyarrow as pa
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

from kafka_lag import contract

STRING = StringType()
LONG = LongType()
INT = IntegerType()
DOUBLE = DoubleType()
BOOLEAN = BooleanType()
TIMESTAMP = TimestampType()
INT_LIST = ArrayType(INT)
DOUBLE_LIST = ArrayType(DOUBLE)


def columns(**types: DataType) -> StructType:
    """A schema of nullable columns, in this order."""
    return StructType([StructField(name, kind) for name, kind in types.items()])


_SPARK_TYPES = {
    contract.STRING: STRING,
    contract.LONG: LONG,
    contract.INT: INT,
    contract.DOUBLE: DOUBLE,
    contract.BOOLEAN: BOOLEAN,
    contract.TIMESTAMP: TIMESTAMP,
    contract.INT_LIST: INT_LIST,
    contract.DOUBLE_LIST: DOUBLE_LIST,
}
SNAPSHOTS = {
    dataset: columns(**{name: _SPARK_TYPES[kind] for name, kind in kinds.items()})
    for dataset, kinds in contract.COLUMNS.items()
}

PARTITION_SKEW = columns(
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
    lag_skewed_minutes=DOUBLE,
    production_partitions=INT,
    production_mean=DOUBLE,
    production_max=DOUBLE,
    production_max_to_mean=DOUBLE,
    production_top_partition=INT,
    production_top_share=DOUBLE,
    production_even_share=DOUBLE,
    production_gini=DOUBLE,
    production_skewed=BOOLEAN,
    production_skewed_minutes=DOUBLE,
    cause=STRING,
    cause_partitions=INT_LIST,
    cause_leader=INT,
    cause_member=STRING,
    cause_client_id=STRING,
    cause_client_host=STRING,
)

RETENTION_RISK = columns(
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
    retention_seconds=DOUBLE,
    retention_needed_seconds=DOUBLE,
    retention_unlimited=BOOLEAN,
)

LAG_SUMMARY = columns(
    consumer_group=STRING,
    topic=STRING,
    owner=STRING,
    lag_p50=DOUBLE,
    lag_p95=DOUBLE,
    lag_p99=DOUBLE,
    lag_max=DOUBLE,
    time_lag_p50=DOUBLE,
    time_lag_p95=DOUBLE,
    time_lag_p99=DOUBLE,
    time_lag_max=DOUBLE,
    time_lag_max_is_least=BOOLEAN,
    time_lag_least_minutes=DOUBLE,
    first_seen=TIMESTAMP,
    last_seen=TIMESTAMP,
    known_minutes=DOUBLE,
    unknown_minutes=DOUBLE,
    produce_rate=DOUBLE,
    consume_rate=DOUBLE,
    best_consume_rate=DOUBLE,
    catch_up_capacity=DOUBLE,
    ok_minutes=DOUBLE,
    warn_minutes=DOUBLE,
    err_minutes=DOUBLE,
    status_changes=INT,
    rebalancing_runs=INT,
    rebalances=LONG,
    rebalancing_minutes=DOUBLE,
    sla_seconds=DOUBLE,
    sla_minutes=DOUBLE,
    sla_met_minutes=DOUBLE,
    sla_compliance=DOUBLE,
    records_lost=LONG,
    gone=BOOLEAN,
)

LAG_HOURLY = columns(
    consumer_group=STRING,
    hour=INT,
    known_minutes=DOUBLE,
    time_lag_seconds=DOUBLE,
    time_lag_max=DOUBLE,
    time_lag_least_minutes=DOUBLE,
    time_lag_deviation=DOUBLE,
    time_lag_high=DOUBLE,
    lag=DOUBLE,
    lag_deviation=DOUBLE,
    lag_high=DOUBLE,
    produce_rate=DOUBLE,
    produce_rate_deviation=DOUBLE,
    produce_rate_max=DOUBLE,
    consume_rate=DOUBLE,
)

ANOMALIES = columns(
    consumer_group=STRING,
    hour=INT,
    measure=STRING,
    value=DOUBLE,
    value_is_least=BOOLEAN,
    usual=DOUBLE,
    spread=DOUBLE,
    deviation=DOUBLE,
    direction=STRING,
    days=INT,
)

BROKER_HOTSPOTS = columns(
    leader=INT,
    leader_rack=STRING,
    partitions_led=DOUBLE,
    partitions_share=DOUBLE,
    produced=LONG,
    produce_share=DOUBLE,
    lag_mean=DOUBLE,
    lag_share=DOUBLE,
    lag_to_partitions=DOUBLE,
    lag_to_others=DOUBLE,
    hot=BOOLEAN,
)

CONSUMER_HOTSPOTS = columns(
    consumer_group=STRING,
    client_host=STRING,
    client_id=STRING,
    member_id=STRING,
    partitions_owned=DOUBLE,
    partitions_share=DOUBLE,
    consumed=LONG,
    lag_mean=DOUBLE,
    lag_share=DOUBLE,
    lag_to_partitions=DOUBLE,
    lag_to_others=DOUBLE,
    hot=BOOLEAN,
)

TASKS_NEEDED = columns(
    consumer_group=STRING,
    hour=INT,
    known_minutes=DOUBLE,
    lower_quartile=INT,
    median=INT,
    upper_quartile=INT,
    most=INT,
    members=INT,
    last_tasks_needed=INT,
    tasks_needed_reason=STRING,
)

SLO = columns(
    consumer_group=STRING,
    age_seconds=DOUBLE,
    target=DOUBLE,
    days=INT,
    since=TIMESTAMP,
    until=TIMESTAMP,
    kept_minutes=DOUBLE,
    broken_minutes=DOUBLE,
    unknown_minutes=DOUBLE,
    window_kept_minutes=DOUBLE,
    window_broken_minutes=DOUBLE,
    window_unknown_minutes=DOUBLE,
    budget_minutes=DOUBLE,
    budget_left_minutes=DOUBLE,
    burn_rate=DOUBLE,
)

COVERAGE = columns(
    dataset=STRING,
    runs=INT,
    expected_runs=INT,
    objects=INT,
    objects_skipped=INT,
    skipped=STRING,
    first_run=TIMESTAMP,
    last_run=TIMESTAMP,
    interval_seconds=DOUBLE,
    longest_gap_seconds=DOUBLE,
    in_progress=BOOLEAN,
    source=STRING,
)

REPORTS = {
    "partition_skew": PARTITION_SKEW,
    "retention_risk": RETENTION_RISK,
    "lag_summary": LAG_SUMMARY,
    "lag_hourly": LAG_HOURLY,
    "anomalies": ANOMALIES,
    "broker_hotspots": BROKER_HOTSPOTS,
    "consumer_hotspots": CONSUMER_HOTSPOTS,
    "tasks_needed": TASKS_NEEDED,
    "slo": SLO,
    "coverage": COVERAGE,
}

INCIDENTS = columns(
    kind=STRING,
    level=STRING,
    text=STRING,
    incident_id=STRING,
    consumer_group=STRING,
    owner=STRING,
    topic=STRING,
    partitions=INT_LIST,
    since=TIMESTAMP,
    until=TIMESTAMP,
    still=BOOLEAN,
    minutes=DOUBLE,
    cause=STRING,
    leader=INT,
    moved_to=INT_LIST,
    member_id=STRING,
    client_id=STRING,
    client_host=STRING,
    lag_max=LONG,
    time_lag_max=DOUBLE,
    time_lag_is_least=BOOLEAN,
    records_lost=LONG,
    lost_of=STRING,
    records_rewound=LONG,
    records_skipped=LONG,
    least_seconds_until_loss=DOUBLE,
    least_seconds_until_loss_at=TIMESTAMP,
    retention_seconds=DOUBLE,
    retention_enough_seconds=DOUBLE,
    retention_unlimited=BOOLEAN,
    sla_seconds=DOUBLE,
    sla_missed_minutes=DOUBLE,
    sla_minutes=DOUBLE,
    gone_at=TIMESTAMP,
    counted=INT,
    measure=STRING,
    direction=STRING,
    value=DOUBLE,
    usual=DOUBLE,
    share=DOUBLE,
    even_share=DOUBLE,
)

# All that is published of a day: the reports, and what the incidents are that they show.
TABLES = {**REPORTS, "incidents": INCIDENTS}

TEXT = pa.dictionary(pa.int32(), pa.string())
_TYPES = {
    STRING: TEXT,
    LONG: pa.int64(),
    INT: pa.int32(),
    DOUBLE: pa.float64(),
    BOOLEAN: pa.bool_(),
    TIMESTAMP: pa.timestamp("ms", tz="UTC"),
    INT_LIST: pa.list_(pa.int32()),
    DOUBLE_LIST: pa.list_(pa.float64()),
}


@cache
def arrow_schema(dataset: str) -> pa.Schema:
    """The dataset's columns in their order, all nullable, and text by dictionary."""
    return pa.schema([(field.name, _TYPES[field.dataType]) for field in SNAPSHOTS[dataset]])


def report_schema(report: str) -> pa.Schema:
    """The report's columns in their order, all nullable."""
    types = {**_TYPES, STRING: pa.string()}
    return pa.schema([(field.name, types[field.dataType]) for field in TABLES[report]])


def in_columns(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows in exactly these columns, null where they lack one; ArrowException if none fits."""
    # thousands of objects of few rows, most of them as they should be
    if rows.schema.equals(schema):
        return rows.replace_schema_metadata()
    there = set(rows.column_names)
    columns = [
        _in_type(rows[field.name], field.type)
        if field.name in there
        else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema)


def _in_type(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    return column if column.type == kind else column.cast(kind, safe=False)
