# SPDX-License-Identifier: Apache-2.0
"""Clusters and their topics, as far as snapshots know them."""

from __future__ import annotations

import numpy as np

from kafka_lag import contract
from kafka_lag.views.burrow.envelope import Asked, failed, told
from kafka_lag.views.http import Answer

NO_CLUSTER = "cluster not found"
# Burrow's own words for how it reaches the brokers; a snapshot does not know how it was taken.
_NO_PROFILE = {"name": "", "client-id": "", "kafka-version": "", "tls": None, "sasl": None}


def clusters(asked: Asked) -> Answer:
    """The names of those that have snapshots."""
    names = asked.page(asked.snapshots.clusters())
    return told(asked.request, "cluster list returned", {"clusters": names})


def cluster(asked: Asked, name: str) -> Answer:
    """Burrow's configuration of the cluster: all that is known of it is how often it is read."""
    newest = asked.snapshots.newest(name)
    if newest is None:
        return failed(asked.request, 404, "cluster module not found")
    seconds = _interval_seconds(asked, name, newest)
    module = {
        "class-name": "kafka",
        "servers": [],
        "client-profile": _NO_PROFILE,
        "topic-refresh": seconds,
        "offset-refresh": seconds,
    }
    return told(asked.request, "cluster module detail returned", {"module": module}, newest)


def topics(asked: Asked, cluster_name: str) -> Answer:
    """The names of the cluster's topics, in order."""
    found = asked.newest(cluster_name, contract.TOPIC_PARTITIONS)
    if found is None:
        return failed(asked.request, 404, NO_CLUSTER)
    taken_at, rows = found
    names = asked.page(sorted(rows.strings("topic").pruned().categories))
    return told(asked.request, "topic list returned", {"topics": names}, taken_at)


def topic(asked: Asked, cluster_name: str, name: str) -> Answer:
    """The end offset of each partition in order, but for those that were never read."""
    found = asked.newest(cluster_name, contract.TOPIC_PARTITIONS)
    mask = None if found is None else found[1].strings("topic").is_in([name])
    if found is None or mask is None or not mask.any():
        return failed(asked.request, 404, "cluster or topic not found")
    rows = found[1].where(mask)
    ends = rows.take(np.argsort(rows.numbers("partition_id").values)).numbers("end_offset")
    offsets = asked.page(ends.values[ends.known].tolist())
    return told(asked.request, "topic offsets returned", {"offsets": offsets}, found[0])


def _interval_seconds(asked: Asked, name: str, newest: int) -> int:
    """Between the two newest runs; 0 where there is but one."""
    before = asked.runs(name, newest, 2)[1:]
    return (newest - before[0]) // 1000 if before else 0
