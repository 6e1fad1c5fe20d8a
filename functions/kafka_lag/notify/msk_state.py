# SPDX-License-Identifier: Apache-2.0
"""The state that MSK gives a cluster, which messages on maintenance name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from kafka_lag import contract
from kafka_lag.aws import AWS_ERRORS
from kafka_lag.notify.changes import GroupChange

# The key of the state in a change's row.
MSK_STATE = "msk_state"


class ClusterStates(Protocol):
    """What names the state of a cluster."""

    def read(self, cluster: str) -> str | None:
        """Returns the state of a cluster, such as REBOOTING_BROKER; None if it is not known."""


class MskStates:
    """The states of the MSK clusters with these ARNs, by their names."""

    def __init__(self, client: Any, arns: Mapping[str, str]) -> None:
        self._client, self._arns = client, arns

    def read(self, cluster: str) -> str | None:
        """Returns the state; None if MSK does not say it or denies it, which is no error."""
        if cluster not in self._arns:
            return None
        try:
            answer = self._client.describe_cluster_v2(ClusterArn=self._arns[cluster])
        except AWS_ERRORS:
            return None
        state: str | None = answer.get("ClusterInfo", {}).get("State")
        return state


def read_arns(text: str | None) -> Mapping[str, str]:
    """Returns the ARNs of clusters by name. Raises ValueError for anything but JSON of these."""
    arns = json.loads(text or "{}")
    if not isinstance(arns, dict) or not all(isinstance(each, str) for each in arns.values()):
        raise ValueError(text)
    return arns


def add_states(changes: Sequence[GroupChange], states: ClusterStates) -> list[GroupChange]:
    """Returns the changes; those on maintenance have the state of their cluster in `row`.

    It is requested once for all changes, and only if one is on maintenance.
    """
    clusters = [each.cluster for each in changes if _is_on_maintenance(each)]
    if not clusters:
        return list(changes)
    state = states.read(clusters[0])
    return [
        replace(each, row={**each.row, MSK_STATE: state}) if _is_on_maintenance(each) else each
        for each in changes
    ]


def _is_on_maintenance(change: GroupChange) -> bool:
    return change.row.get("cause") == contract.MAINTENANCE
