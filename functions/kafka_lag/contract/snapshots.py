# SPDX-License-Identifier: Apache-2.0
"""Prefixes of snapshots, history and reports, and the words in columns of snapshots."""

from enum import StrEnum

SNAPSHOT_PREFIX = "snapshots"
HISTORY_PREFIX = "history"
REPORT_PREFIX = "reports"
# Below the reports, by cluster and date: the day's reports are being replaced while this exists.
REPLACING_FOLDER = "_replacing"
COMPLETE_NAME = "complete"

# MAJOR.MINOR: new nullable columns raise MINOR, and readers of a MAJOR take any MINOR of it.
SCHEMA_VERSION = "2.11"
SCHEMA_VERSION_KEY = "kafka_lag_schema_version"
# The bootstrap servers in a run's configuration, joined by commas; absent from the file if unknown.
SERVERS_KEY = "kafka_lag_bootstrap_servers"


class UnreadReason(StrEnum):
    """unread_reason: why a row was not read in this run; null: it was read."""

    DENIED = "denied"
    NO_LEADER = "no_leader"
    NO_COORDINATOR = "no_coordinator"
    TIMEOUT = "timeout"
    THROTTLED = "throttled"
    ERROR = "error"


DENIED, NO_LEADER, NO_COORDINATOR, TIMEOUT, THROTTLED, ERROR = UnreadReason

# uncounted: why a group-partition adds nothing to the sums of its group and topic; null: it does.
UNCOMMITTED, UNKNOWN, IGNORED = "uncommitted", "unknown", "ignored"

# status of a partition; a group has only OK, WARN or ERR. The numbers of both follow Burrow's
# order.
OK, WARN, STOP, STALL, REWIND, ERR = "OK", "WARN", "STOP", "STALL", "REWIND", "ERR"
PARTITION_STATUS_VALUES = {OK: 0, WARN: 1, ERR: 2, STOP: 3, STALL: 4, REWIND: 5}
GROUP_STATUS_VALUES = {status: PARTITION_STATUS_VALUES[status] for status in (OK, WARN, ERR)}
# The severity of a partition's status for its group: the number of a group's status, at most ERR's.
PARTITION_SEVERITIES = {
    status: min(number, GROUP_STATUS_VALUES[ERR])
    for status, number in PARTITION_STATUS_VALUES.items()
}


class StatusReason(StrEnum):
    """status_reason: why a status is not OK, or is OK though it does not look so.

    UNWATCHED: the group has been hidden for 30 days and is not known to be deleted.
    TOPIC_UNWATCHED: the same for a topic of a group that is read.
    """

    RECORDS_LOST = "records_lost"
    BEYOND_END = "beyond_end"
    PAUSING = "pausing"
    FALLING_BEHIND = "falling_behind"
    SLOW = "slow"
    NO_MEMBER = "no_member"
    UNAVAILABLE = "unavailable"
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
    UNAVAILABLE,
    INACTIVE,
    OPEN_TRANSACTION,
    OFF_BY_ONE,
    GONE,
    UNWATCHED,
    TOPIC_UNWATCHED,
) = StatusReason
# Reasons in the last row of a group, which says only that the group has ended.
LAST_ROW_REASONS = (GONE, UNWATCHED)
UNWATCHED_AFTER_MS = 30 * 86_400_000
# A backlog is SLOW if working it off takes more than this many times its age.
SLOW_FROM_AGES = 10.0

# consumer_status of a partition and worst_status of a group, with the severity as a group's number.
# They name what the consumer does, whatever was lost. The other five words are reasons as well.
STOPPED, STALLED, REWOUND = "stopped", "stalled", "rewound"
CONSUMER_STATUS_SEVERITIES = {
    STOPPED: GROUP_STATUS_VALUES[ERR],
    STALLED: GROUP_STATUS_VALUES[ERR],
    REWOUND: GROUP_STATUS_VALUES[ERR],
    BEYOND_END: GROUP_STATUS_VALUES[ERR],
    FALLING_BEHIND: GROUP_STATUS_VALUES[WARN],
    SLOW: GROUP_STATUS_VALUES[WARN],
    NO_MEMBER: GROUP_STATUS_VALUES[WARN],
    # A partition without a leader, which nobody can read.
    UNAVAILABLE: GROUP_STATUS_VALUES[WARN],
}

# Statuses that rates decide.
STATUSES_BY_RATES = (str(FALLING_BEHIND), str(SLOW))

# skip_reason: the commit was set ahead, or it is unknown whether the group read the records passed.
SET_AHEAD, READ_OR_SKIPPED = "set_ahead", "read_or_skipped"
# Records were written below a commit beyond the end of the log: the log had been truncated, the
# topic had been recreated, or the reason is not known.
TRUNCATED, RECREATED = "truncated", "recreated"
SKIPPED_BEYOND_END = (TRUNCATED, RECREATED, str(BEYOND_END))
# The skip_reason of a group is the first of these that one of its partitions has. GONE is for
# groups only: their offsets are gone, and the records left unread have no row any more.
SKIP_REASONS = (SET_AHEAD, *SKIPPED_BEYOND_END, READ_OR_SKIPPED, str(GONE))

# cause of a group. STOPPED, UNAVAILABLE and OPEN_TRANSACTION, which are words for statuses, are
# causes as well.
MORE_PRODUCED = "more_produced"
CAPACITY_FELL = "capacity_fell"
TOO_FEW_MEMBERS = "too_few_members"
HOT_PARTITION = "hot_partition"
SLOW_MEMBER = "slow_member"
SLOW_MEMBERS = "slow_members"
HUNG = "hung"
STUCK_RECORD = "stuck_record"
REBALANCES = "rebalances"
SLOW_BROKER = "slow_broker"
# Brokers restart one after another.
MAINTENANCE = "maintenance"
RETENTION_RACE = "retention_race"
OFFSETS_RESET = "offsets_reset"
SETTINGS_CHANGED = "settings_changed"
# The group is healthy again and works off its backlog.
CATCHING_UP = "catching_up"
UNEXPLAINED = "unexplained"
CAUSES = (
    MORE_PRODUCED,
    CAPACITY_FELL,
    TOO_FEW_MEMBERS,
    HOT_PARTITION,
    SLOW_MEMBER,
    SLOW_MEMBERS,
    HUNG,
    STUCK_RECORD,
    STOPPED,
    MAINTENANCE,
    REBALANCES,
    SLOW_BROKER,
    UNAVAILABLE,
    OPEN_TRANSACTION,
    RETENTION_RACE,
    OFFSETS_RESET,
    SETTINGS_CHANGED,
    CATCHING_UP,
    UNEXPLAINED,
)
# Causes that consumers, and more of them, can do nothing about.
NOT_OF_CONSUMERS = (MAINTENANCE, UNAVAILABLE, SLOW_BROKER, OPEN_TRANSACTION)
# A slow member that reads less than this share of a capacity stays behind even beside twice the
# members.
TOO_SLOW_SHARE = 0.5
# The fate of a topic with a commit beyond the end, in the evidence of OFFSETS_RESET: it was
# recreated, or truncated.
MADE_ANEW, CUT = "made_anew", "cut"
# Settings of topics that are compared from run to run: columns of topic_partitions, and a count.
RETENTION, REPLICAS, PARTITIONS = "retention_ms", "replicas", "partitions"

# trend of a group's lag over its last five readings; it is not a status.
GROWING, STEADY, SHRINKING = "growing", "steady", "shrinking"
TRENDS = (SHRINKING, STEADY, GROWING)

# Troubles that have no status of their own, as named in columns of groups (`<name>_since` etc.).
TROUBLE_LOSS, TROUBLE_AT_RISK, TROUBLE_SLA_BROKEN = "loss", "at_risk", "sla_broken"
# The column with the time since which a broken SLA has been held.
HELD_SLA_BROKEN = f"held_{TROUBLE_SLA_BROKEN}_since"

# tasks_needed_reason: why this many are needed, or why the number is not known (the last three).
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

# retention_risk; and the longest time to loss that is published, also if nothing will be lost.
LOST, AT_RISK, SAFE = "LOST", "AT_RISK", "SAFE"
NO_LOSS_SECONDS = 30 * 86_400.0

# group_state, in Kafka's words, while partitions are assigned.
REBALANCING_STATES = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")

# From this rebalancing_share on a group is reported to rebalance all the time.
MOSTLY_REBALANCING = 0.6

# Tasks needed over a time are reported as the numbers that were enough for these shares of it. Each
# number was needed at some time, and is the least that reaches the share.
TASKS_QUARTILES = (0.25, 0.5, 0.75)

# group_type of share groups (KIP-932), and the member_id of each partition that members share.
SHARE, SHARED_MEMBER = "share", "shared"

# published: the finest level at which the cluster's levels publish this row.
PUBLISHED_NONE = "none"
PUBLISHED_GROUP = "group"
PUBLISHED_TOPIC = "topic"
PUBLISHED_PARTITION = "partition"

# The longest period of an SLO, in days: the daily report reads this many earlier reports.
OBJECTIVE_MOST_DAYS = 90
