# SPDX-License-Identifier: Apache-2.0
"""Missing rights of a login that read nothing: brokers leave out denied names in silence."""

from __future__ import annotations

import time

from kafka_lag.errors import SourceError
from kafka_lag.lag.model import Snapshot
from kafka_lag.wording.formatting import format_list
from kafka_lag_cli.connecting.collect_options import CollectOptions

_MOST_NAMES = 3


def check_rights_to_read(collect: CollectOptions, snapshot: Snapshot) -> None:
    """Looks for the cause of a snapshot without any partition of a group.

    Raises SourceError where a right is missing without which there may be some, and what
    `inspect_cluster` raises.
    """
    if len(snapshot.group_partitions):
        return
    # Costs the start of those alone who see nothing.
    from kafka_lag_cli.doctor.inspection import inspect_cluster  # noqa: PLC0415

    rules, deadline = collect.settings.rules, time.monotonic() + collect.settings.deadline
    collect, source = collect.find_protocol(), collect.make_source()
    rights = inspect_cluster(
        collect.settings.access, source, rules.topics, rules.groups, deadline
    ).rights
    denied = []
    if rights.groups is False:
        denied.append("groups")
        if rights.cluster is False:
            denied.append("the cluster")
    if rights.topics is False:
        denied.append("topics")
    if denied:
        raise SourceError(
            f"Nothing of any group could be read: Describe on {format_list(denied, _MOST_NAMES)} "
            "is denied to this login, and brokers leave out what it may not describe. "
            "`kafka-lag doctor` with the same options prints the line that repairs each."
        )
