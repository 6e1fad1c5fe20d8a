# SPDX-License-Identifier: Apache-2.0
"""Metrics: their names, units and dimensions, and which ones each level has."""

# CloudWatch.
NAMESPACE = "KafkaLag"
DIMENSION_CLUSTER = "Cluster Name"
DIMENSION_GROUP = "Consumer Group"
DIMENSION_TOPIC = "Topic"
DIMENSION_PARTITION = "Partition"
# Dimension of the daily report, which covers all clusters of a deployment in a region.
DIMENSION_DEPLOYMENT = "Deployment"

OFFSET_LAG = "OffsetLag"
MAX_OFFSET_LAG = "MaxOffsetLag"
ESTIMATED_TIME_LAG = "EstimatedTimeLag"
GROUP_STATUS = "GroupStatus"
TIME_TO_DATA_LOSS = "TimeToDataLoss"
SCALING_LAG = "ScalingLag"
SCALING_LAG_PER_MEMBER = "ScalingLagPerMember"
TASKS_NEEDED = "TasksNeeded"
ESTIMATED_DRAIN_TIME = "EstimatedDrainTime"
MEMBERS = "Members"
REBALANCING = "Rebalancing"
PRODUCE_RATE = "ProduceRate"
CONSUME_RATE = "ConsumeRate"
SLA_USED = "SlaUsed"
UNUSUAL = "Unusual"
RELEASE_RISK = "ReleaseRisk"
COLLECTOR_SUCCESS = "CollectorSuccess"
COLLECTOR_DURATION = "CollectorDuration"
GROUPS_READ = "GroupsRead"
PARTITIONS_UNKNOWN = "PartitionsUnknown"
PARTITIONS_UNCOMMITTED = "PartitionsUncommitted"
PARTITIONS_UNDATED = "PartitionsUndated"
READ_ERRORS = "ReadErrors"
LAGS_CLAMPED = "LagsClamped"
TIME_LAG_LOOKUPS = "TimeLagLookups"
METRICS_OMITTED = "MetricsOmitted"
DAILY_REPORT_SUCCESS = "DailyReportSuccess"

COUNT = "Count"
SECONDS = "Seconds"
PER_SECOND = "Count/Second"
NO_UNIT = "None"

# The reporter's own metrics, which no budget leaves out.
HEALTH_UNITS = {
    COLLECTOR_SUCCESS: COUNT,
    COLLECTOR_DURATION: SECONDS,
    GROUPS_READ: COUNT,
    PARTITIONS_UNKNOWN: COUNT,
    PARTITIONS_UNCOMMITTED: COUNT,
    PARTITIONS_UNDATED: COUNT,
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
    TASKS_NEEDED: COUNT,
    ESTIMATED_DRAIN_TIME: SECONDS,
    MEMBERS: COUNT,
    REBALANCING: NO_UNIT,
    PRODUCE_RATE: PER_SECOND,
    CONSUME_RATE: PER_SECOND,
    SLA_USED: NO_UNIT,
    UNUSUAL: NO_UNIT,
    RELEASE_RISK: COUNT,
    **HEALTH_UNITS,
}
# Metrics of each level without options; a partition has those of a topic.
LAG_METRICS = (OFFSET_LAG, ESTIMATED_TIME_LAG)
GROUP_METRICS = (*LAG_METRICS, GROUP_STATUS, TIME_TO_DATA_LOSS)
SCALING_METRICS = (SCALING_LAG, SCALING_LAG_PER_MEMBER, TASKS_NEEDED)
# Metrics of each group if the key of `levels` is true.
CHOSEN_METRICS = {
    "drain_time": (ESTIMATED_DRAIN_TIME,),
    "members": (MEMBERS,),
    "rebalancing": (REBALANCING,),
    "rates": (PRODUCE_RATE, CONSUME_RATE),
    "unusual": (UNUSUAL,),
}
