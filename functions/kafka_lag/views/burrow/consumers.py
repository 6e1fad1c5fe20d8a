# SPDX-License-Identifier: Apache-2.0
"""Which groups there are, of a cluster or of a topic."""

from __future__ import annotations

from kafka_lag import contract
from kafka_lag.lag.frame import Frame
from kafka_lag.views.burrow.cluster import NO_CLUSTER
from kafka_lag.views.burrow.envelope import Asked, failed, told
from kafka_lag.views.http import Answer


def living(groups: Frame) -> Frame:
    """Without the groups whose row only says that they were deleted."""
    return groups.where(~groups.strings("status_reason").is_in([contract.GONE]))


def consumers(asked: Asked, cluster: str) -> Answer:
    """The names of the cluster's groups, in order."""
    found = asked.newest(cluster, contract.GROUPS)
    if found is None:
        return failed(asked.request, 404, NO_CLUSTER)
    taken_at, groups = found
    names = asked.page(sorted(living(groups).strings("consumer_group").pruned().categories))
    return told(asked.request, "consumer list returned", {"consumers": names}, taken_at)


def consumers_of_topic(asked: Asked, cluster: str, topic: str) -> Answer:
    """The names of the groups with a commit or an assignment in the topic; none if it is unknown.

    A topic that is unknown is no error to Burrow.
    """
    found = asked.newest(cluster, contract.GROUP_PARTITIONS)
    if found is None:
        return failed(asked.request, 404, NO_CLUSTER)
    taken_at, rows = found
    mask = rows.strings("topic").is_in([topic])
    names = asked.page(sorted(rows.strings("consumer_group").only(mask).pruned().categories))
    return told(asked.request, "consumers of topic returned", {"consumers": names}, taken_at)
