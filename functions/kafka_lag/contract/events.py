# SPDX-License-Identifier: Apache-2.0
"""What is sent of a group's status and where that is remembered, and what a schedule sends."""

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
# Records of a group without an open incident were skipped, or may have been.
SKIPPED = "skipped"
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
