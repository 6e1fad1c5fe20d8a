# SPDX-License-Identifier: Apache-2.0
"""Messages about a group's status, the state of sending them, and the event of a schedule."""

# The state of notify_status: a cursor for each cluster and channel.
NOTIFIED_PREFIX = "notified"

# EventBridge.
EVENT_SOURCE = "kafka-lag"
EVENT_DETAIL_TYPE = "Kafka Lag Group Status"
EVENT_SCHEMA_VERSION = "1"

# Kinds of messages, and STATUS_GONE, the status of a deleted group, which is not a held status.
OPENED, WORSE, BETTER, RESOLVED = "opened", "worse", "better", "resolved"
# A resolved group has worked off its backlog.
CAUGHT_UP = "caught_up"
LOSS_BEGUN, LOSS_ENDED = "loss_begun", "loss_ended"
LOSS_NEAR, LOSS_AVERTED = "loss_near", "loss_averted"
PROMISE_BROKEN, PROMISE_KEPT = "promise_broken", "promise_kept"
# Records of a group without an open incident were skipped, or may have been.
SKIPPED = "skipped"
STATUS_GONE = "GONE"
# Attributes by which subscribers filter messages; the kind is one of the above, or `gone`.
ATTRIBUTE_CLUSTER = "cluster"
ATTRIBUTE_GROUP = "group"
ATTRIBUTE_STATUS = "status"
ATTRIBUTE_WORST_STATUS = "worst_status"
ATTRIBUTE_OWNER = "owner"
ATTRIBUTE_KIND = "kind"
# Owners to be alerted, and owners whose trouble is over. SNS tests each attribute by itself, so a
# filter on status and owner would not know whose status it is.
ATTRIBUTE_PAGE_OWNERS, ATTRIBUTE_END_OWNERS = "page_owners", "end_owners"

# The event a schedule sends.
EVENT_CLUSTER = "cluster"
EVENT_SCHEDULED_TIME = "scheduled_time"
