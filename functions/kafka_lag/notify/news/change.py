# SPDX-License-Identifier: Apache-2.0
"""One group's news, before anybody puts it into words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from kafka_lag.notify.news.incident import incident_id

# What one set says of a group: values by column of `groups`, None for unknown.
Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """Times in ms UTC.

    `status` is the held one, or STATUS_GONE, `before` the one told last, `since` when `status`
    began, `incident_since` when the group left OK. Of a group that is gone, `row` is its last one.
    """

    cluster: str
    group: str
    kind: str
    status: str
    before: str
    since: int
    incident_since: int
    taken_at: int
    row: Row

    @property
    def id(self) -> str:
        """The incident's, shared by all its messages."""
        return incident_id(self.cluster, self.group, self.incident_since)

    @property
    def name(self) -> str:
        """This message's own, by which it is told once."""
        return f"{self.id}-{self.status}-{self.since}"
