# SPDX-License-Identifier: Apache-2.0
"""Every name that crosses a seam: metrics, dimensions, columns, values, keys, variables.

Imports nothing but its own columns, so that infrastructure, jobs and tests can read it without the
collector. All of it is public interface: see CHANGELOG.md before changing a letter.
"""

from kafka_lag.contract.columns import BOOLEAN as BOOLEAN
from kafka_lag.contract.columns import COLUMNS as COLUMNS
from kafka_lag.contract.columns import DATASETS as DATASETS
from kafka_lag.contract.columns import DOUBLE as DOUBLE
from kafka_lag.contract.columns import DOUBLE_LIST as DOUBLE_LIST
from kafka_lag.contract.columns import GROUP_PARTITIONS as GROUP_PARTITIONS
from kafka_lag.contract.columns import GROUPS as GROUPS
from kafka_lag.contract.columns import INT as INT
from kafka_lag.contract.columns import INT_LIST as INT_LIST
from kafka_lag.contract.columns import LISTS as LISTS
from kafka_lag.contract.columns import LONG as LONG
from kafka_lag.contract.columns import RISES as RISES
from kafka_lag.contract.columns import STRING as STRING
from kafka_lag.contract.columns import TIMESTAMP as TIMESTAMP
from kafka_lag.contract.columns import TOPIC_PARTITIONS as TOPIC_PARTITIONS
from kafka_lag.contract.usual import FAR as FAR
from kafka_lag.contract.usual import FAR_RUNS as FAR_RUNS
from kafka_lag.contract.usual import FLOORS as FLOORS
from kafka_lag.contract.usual import LEAST_WEEKS as LEAST_WEEKS
from kafka_lag.contract.usual import LEAST_WEEKS_OF_RUNS as LEAST_WEEKS_OF_RUNS
from kafka_lag.contract.usual import USUAL_ADDED as USUAL_ADDED
from kafka_lag.contract.usual import USUAL_COLUMNS as USUAL_COLUMNS
from kafka_lag.contract.usual import USUAL_DATE_KEY as USUAL_DATE_KEY
from kafka_lag.contract.usual import USUAL_PART as USUAL_PART
from kafka_lag.contract.usual import USUAL_PREFIX as USUAL_PREFIX
from kafka_lag.contract.usual import USUAL_VERSION as USUAL_VERSION
from kafka_lag.contract.usual import USUAL_VERSION_KEY as USUAL_VERSION_KEY
from kafka_lag.contract.usual import USUAL_WEEKS as USUAL_WEEKS
from kafka_lag.contract.usual import usual_key as usual_key

# Environment of the collector.
ENV_CONFIG = "KAFKA_LAG_CONFIG"
ENV_BUCKET = "KAFKA_LAG_BUCKET"
# Instead of the document's, where a deploy looked them up: host:port,host:port.
ENV_BOOTSTRAP_SERVERS = "KAFKA_LAG_BOOTSTRAP_SERVERS"
# Instead of the document's, where a deploy makes the secret: its ARN.
ENV_SECRET_ID = "KAFKA_LAG_SECRET_ID"  # noqa: S105  # the name of a variable
# Set by Lambda itself.
ENV_REGION = "AWS_REGION"
# For the C library and Arrow, which read them as the process starts: what a run frees, the next can
# use. With the allocators' own choices 200,000 group-partitions hold 390 MiB instead of 310.
MEMORY_SETTINGS = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
# Of the collector's configuration document. To be raised where a collector of before would read a
# newer document wrongly: a key that is gone, has another unit or means something else, or a new one
# that must not be overlooked. A new key alone needs none: a collector of before leaves it out, and
# one that misses a key in an older document names it.
DOCUMENT_VERSION_KEY, DOCUMENT_VERSION = "version", 1

# Environment of serve_lag, beside the bucket: who has access, and the secret with the token.
ENV_AUTH = "KAFKA_LAG_AUTH"
ENV_TOKEN_SECRET = "KAFKA_LAG_TOKEN_SECRET"  # noqa: S105  # the name of a variable
AUTH_IAM, AUTH_BEARER = "iam", "bearer"

# Environment of notify_status, beside the bucket.
ENV_STATUS_TOPIC = "KAFKA_LAG_STATUS_TOPIC"
ENV_EVENT_BUS = "KAFKA_LAG_EVENT_BUS"
ENV_CHAT = "KAFKA_LAG_CHAT"

# What notify_status remembers lies here: of each channel a cursor a cluster, and a claim a message.
NOTIFIED_PREFIX = "notified"
# Claims expire and cursors do not, so a lifecycle rule must distinguish them by prefix.
CLAIMS_PREFIX = f"{NOTIFIED_PREFIX}/claims"
CURSORS_PREFIX = f"{NOTIFIED_PREFIX}/cursors"

# EventBridge.
EVENT_SOURCE = "kafka-lag"
EVENT_DETAIL_TYPE = "Kafka Lag Group Status"
EVENT_SCHEMA_VERSION = "1"

# What a message reports, and the status of a group that was deleted, which is no held status.
OPENED, WORSE, BETTER, RESOLVED = "opened", "worse", "better", "resolved"
# The backlog is worked off of a group that was resolved before it was.
CAUGHT_UP = "caught_up"
LOSS_BEGUN, LOSS_ENDED = "loss_begun", "loss_ended"
LOSS_NEAR, LOSS_AVERTED = "loss_near", "loss_averted"
PROMISE_BROKEN, PROMISE_KEPT = "promise_broken", "promise_kept"
STATUS_GONE = "GONE"
# What subscribers filter messages by; the kind is one of the above, or `gone`.
ATTRIBUTE_CLUSTER = "cluster"
ATTRIBUTE_GROUP = "group"
ATTRIBUTE_STATUS = "status"
ATTRIBUTE_WORST_STATUS = "worst_status"
ATTRIBUTE_OWNER = "owner"
ATTRIBUTE_KIND = "kind"
# Owners with something to be paged for, and with something that is over: SNS tests each list by
# itself, so no filter on status and owner knows whose status it is.
ATTRIBUTE_PAGE_OWNERS, ATTRIBUTE_END_OWNERS = "page_owners", "end_owners"

# The event a schedule sends.
EVENT_CLUSTER = "cluster"
EVENT_SCHEDULED_TIME = "scheduled_time"

# CloudWatch.
NAMESPACE = "KafkaLag"
DIMENSION_CLUSTER = "Cluster Name"
DIMENSION_GROUP = "Consumer Group"
DIMENSION_TOPIC = "Topic"
DIMENSION_PARTITION = "Partition"
# Of the daily report, which is of all clusters of a deployment in a region.
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
COLLECTOR_SUCCESS = "CollectorSuccess"
COLLECTOR_DURATION = "CollectorDuration"
GROUPS_READ = "GroupsRead"
PARTITIONS_UNKNOWN = "PartitionsUnknown"
PARTITIONS_UNCOMMITTED = "PartitionsUncommitted"
READ_ERRORS = "ReadErrors"
LAGS_CLAMPED = "LagsClamped"
TIME_LAG_LOOKUPS = "TimeLagLookups"
METRICS_OMITTED = "MetricsOmitted"
DAILY_REPORT_SUCCESS = "DailyReportSuccess"

COUNT = "Count"
SECONDS = "Seconds"
PER_SECOND = "Count/Second"
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
    TASKS_NEEDED: COUNT,
    ESTIMATED_DRAIN_TIME: SECONDS,
    MEMBERS: COUNT,
    REBALANCING: NO_UNIT,
    PRODUCE_RATE: PER_SECOND,
    CONSUME_RATE: PER_SECOND,
    SLA_USED: NO_UNIT,
    UNUSUAL: NO_UNIT,
    **HEALTH_UNITS,
}
# Of each level before options; a partition has those of a topic.
LAG_METRICS = (OFFSET_LAG, ESTIMATED_TIME_LAG)
GROUP_METRICS = (*LAG_METRICS, GROUP_STATUS, TIME_TO_DATA_LOSS)
SCALING_METRICS = (SCALING_LAG, SCALING_LAG_PER_MEMBER, TASKS_NEEDED)
# Of each group, where the key of `levels` is true.
CHOSEN_METRICS = {
    "drain_time": (ESTIMATED_DRAIN_TIME,),
    "members": (MEMBERS,),
    "rebalancing": (REBALANCING,),
    "rates": (PRODUCE_RATE, CONSUME_RATE),
    "unusual": (UNUSUAL,),
}

SNAPSHOT_PREFIX = "snapshots"
HISTORY_PREFIX = "history"
REPORT_PREFIX = "reports"
# Below the reports, by cluster and date: a day whose reports are being replaced has this object.
REPLACING_FOLDER = "_replacing"
COMPLETE_NAME = "complete"

# MAJOR.MINOR: new nullable columns raise MINOR, and readers of a MAJOR take any MINOR of it.
SCHEMA_VERSION = "2.6"
SCHEMA_VERSION_KEY = "kafka_lag_schema_version"
# The bootstrap servers that a run was configured with, joined by commas; in no file where none are
# known.
SERVERS_KEY = "kafka_lag_bootstrap_servers"

# Why a row was not read this time (null: it was).
DENIED = "denied"
NO_LEADER = "no_leader"
NO_COORDINATOR = "no_coordinator"
TIMEOUT = "timeout"
ERROR = "error"

# uncounted: why a group-partition adds nothing to the sums of its group and topic (null: it does).
UNCOMMITTED, UNKNOWN, IGNORED = "uncommitted", "unknown", "ignored"

# status: of a partition, and OK, WARN, ERR of a group; the numbers of both, in Burrow's order.
OK, WARN, STOP, STALL, REWIND, ERR = "OK", "WARN", "STOP", "STALL", "REWIND", "ERR"
PARTITION_STATUS_VALUES = {OK: 0, WARN: 1, ERR: 2, STOP: 3, STALL: 4, REWIND: 5}
GROUP_STATUS_VALUES = {status: PARTITION_STATUS_VALUES[status] for status in (OK, WARN, ERR)}
# How bad for its group a partition's status is, by the group's numbers: none is worse than ERR.
PARTITION_SEVERITIES = {
    status: min(number, GROUP_STATUS_VALUES[ERR])
    for status, number in PARTITION_STATUS_VALUES.items()
}

# status_reason
RECORDS_LOST = "records_lost"
BEYOND_END = "beyond_end"
PAUSING = "pausing"
FALLING_BEHIND = "falling_behind"
SLOW = "slow"
NO_MEMBER = "no_member"
INACTIVE = "inactive"
OPEN_TRANSACTION = "open_transaction"
GONE = "gone"
# Hidden for 30 days, and not known to be deleted: a group, or a topic of a group that is read.
UNWATCHED, TOPIC_UNWATCHED = "unwatched", "topic_unwatched"
# Reasons that the last row of a group has, which says only that it ends.
LAST_ROW_REASONS = (GONE, UNWATCHED)
UNWATCHED_AFTER_MS = 30 * 86_400_000
# A backlog is SLOW that takes more than so many times its age to be worked off.
SLOW_FROM_AGES = 10.0

# consumer_status of a partition and worst_status of a group: what the consumer does, whatever was
# lost; with how bad that is, by the group's numbers. The other four are reasons as well.
STOPPED, STALLED, REWOUND = "stopped", "stalled", "rewound"
CONSUMER_STATUS_SEVERITIES = {
    STOPPED: GROUP_STATUS_VALUES[ERR],
    STALLED: GROUP_STATUS_VALUES[ERR],
    REWOUND: GROUP_STATUS_VALUES[ERR],
    BEYOND_END: GROUP_STATUS_VALUES[ERR],
    FALLING_BEHIND: GROUP_STATUS_VALUES[WARN],
    SLOW: GROUP_STATUS_VALUES[WARN],
    NO_MEMBER: GROUP_STATUS_VALUES[WARN],
}

# cause of a group: what happened, where the figures decide it. STOPPED and OPEN_TRANSACTION, which
# are words of statuses, are causes as well.
MORE_PRODUCED = "more_produced"
CAPACITY_FELL = "capacity_fell"
TOO_FEW_MEMBERS = "too_few_members"
HOT_PARTITION = "hot_partition"
SLOW_MEMBER = "slow_member"
STUCK_RECORD = "stuck_record"
REBALANCES = "rebalances"
SLOW_BROKER = "slow_broker"
UNAVAILABLE = "unavailable"
RETENTION_RACE = "retention_race"
OFFSETS_RESET = "offsets_reset"
UNEXPLAINED = "unexplained"
CAUSES = (
    MORE_PRODUCED,
    CAPACITY_FELL,
    TOO_FEW_MEMBERS,
    HOT_PARTITION,
    SLOW_MEMBER,
    STUCK_RECORD,
    STOPPED,
    REBALANCES,
    SLOW_BROKER,
    UNAVAILABLE,
    OPEN_TRANSACTION,
    RETENTION_RACE,
    OFFSETS_RESET,
    UNEXPLAINED,
)
# What became of a topic in which a commit lies beyond the end, in the evidence of OFFSETS_RESET.
MADE_ANEW, CUT = "made_anew", "cut"

# What no status has a word for, as it is named in columns of groups (`<name>_since` and others).
TROUBLE_LOSS, TROUBLE_AT_RISK, TROUBLE_SLA_BROKEN = "loss", "at_risk", "sla_broken"

# tasks_needed_reason: what makes it that many, then why it is not known.
NEEDED_FOR_RATE = "rate"
NEEDED_FOR_RECENT_RATE = "recent_rate"
NEEDED_FOR_BACKLOG = "backlog"
NEEDED_FOR_HOT_PARTITION = "hot_partition"
LIMITED_BY_PARTITIONS = "partitions"
LIMITED_BY_SHARED = "shared_limit"
NO_CAPACITY = "no_capacity"
PARTITIONS_UNREAD = "partitions_unread"
NO_RATE = "no_rate"

# time_lag_method
METHOD_NONE = "none"
METHOD_ALLOWED = "allowed"
METHOD_MARKER = "marker"
METHOD_CARRIED = "carried"
METHOD_INTERPOLATED = "interpolated"
METHOD_RECORD_TIME = "record_time"
METHOD_AT_LEAST = "at_least"

# retention_risk; and the longest time to loss that is published, also where nothing will be lost.
LOST, AT_RISK, SAFE = "LOST", "AT_RISK", "SAFE"
NO_LOSS_SECONDS = 30 * 86_400.0

# group_state, in Kafka's words, of groups that are being assigned partitions.
REBALANCING_STATES = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")

# rebalancing_share from which on a group is said to rebalance all the time.
MOSTLY_REBALANCING = 0.6

# How tasks needed are summed up over a time: in these parts of it no more were needed. Each is a
# number that was needed, the least that reaches the part.
TASKS_QUARTILES = (0.25, 0.5, 0.75)

# group_type: groups that are listed and have no lag, as they commit no records read in order.
UNSUPPORTED_GROUP_TYPES = ("share",)

# published: the finest level that the cluster's levels chose for this row.
PUBLISHED_NONE = "none"
PUBLISHED_GROUP = "group"
PUBLISHED_TOPIC = "topic"
PUBLISHED_PARTITION = "partition"
