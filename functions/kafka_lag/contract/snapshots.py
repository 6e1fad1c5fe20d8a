# SPDX-License-Identifier: Apache-2.0
"""Where snapshots, history and reports lie, and the words that stand in columns of snapshots."""

from enum import StrEnum

SNAPSHOT_PREFIX = "snapshots"
HISTORY_PREFIX = "history"
REPORT_PREFIX = "reports"
# Below the reports, by cluster and date: a day whose reports are being replaced has this object.
REPLACING_FOLDER = "_replacing"
COMPLETE_NAME = "complete"

# MAJOR.MINOR: new nullable columns raise MINOR, and readers of a MAJOR take any MINOR of it.
SCHEMA_VERSION = "2.7"
SCHEMA_VERSION_KEY = "kafka_lag_schema_version"
# The bootstrap servers that a run was configured with, joined by commas; in no file where none are
# known.
SERVERS_KEY = "kafka_lag_bootstrap_servers"


class UnreadReason(StrEnum):
    """unread_reason: why a row was not read this time (null: it was)."""

    DENIED = "denied"
    NO_LEADER = "no_leader"
    NO_COORDINATOR = "no_coordinator"
    TIMEOUT = "timeout"
    THROTTLED = "throttled"
    ERROR = "error"


DENIED, NO_LEADER, NO_COORDINATOR, TIMEOUT, THROTTLED, ERROR = UnreadReason

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


class StatusReason(StrEnum):
    """status_reason: why a status is not OK, or is OK though it does not look so.

    The last two: hidden for 30 days, and not known to be deleted, a group, or a topic of a group
    that is read.
    """

    RECORDS_LOST = "records_lost"
    BEYOND_END = "beyond_end"
    PAUSING = "pausing"
    FALLING_BEHIND = "falling_behind"
    SLOW = "slow"
    NO_MEMBER = "no_member"
    INACTIVE = "inactive"
    OPEN_TRANSACTION = "open_transaction"
    OFF_BY_ONE = "off_by_one"
    GONE = "gone"
    UNWATCHED = "unwatched"
    TOPIC_UNWATCHED = "topic_unwatched"


(
    RECORDS_LOST,
    BEYOND_END,
    PAUSING,
    FALLING_BEHIND,
    SLOW,
    NO_MEMBER,
    INACTIVE,
    OPEN_TRANSACTION,
    OFF_BY_ONE,
    GONE,
    UNWATCHED,
    TOPIC_UNWATCHED,
) = StatusReason
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

# skip_reason: somebody set the commit ahead, or nobody knows whether its group read what it passed.
SET_AHEAD, READ_OR_SKIPPED = "set_ahead", "read_or_skipped"
# Records were written below a commit that lay beyond the end of the log: because the log had been
# truncated, because the topic had been recreated, or for a reason that is not known.
TRUNCATED, RECREATED = "truncated", "recreated"
SKIPPED_BEYOND_END = (TRUNCATED, RECREATED, str(BEYOND_END))
# The first that a partition of a group has says why records of the group were skipped. GONE is of
# groups alone: their offsets are gone, and what they left unread has no row any more.
SKIP_REASONS = (SET_AHEAD, *SKIPPED_BEYOND_END, READ_OR_SKIPPED, str(GONE))

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

# The longest window of an objective, in days: the daily report reads as many of its own.
OBJECTIVE_MOST_DAYS = 90
