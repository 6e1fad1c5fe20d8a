# SPDX-License-Identifier: Apache-2.0
"""The messages of one set: one a change, or one for all."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_lag.notify.messages.event import event
from kafka_lag.notify.messages.notice import notice
from kafka_lag.notify.messages.storm import is_storm, storm, worst_first
from kafka_lag.notify.messages.telling import Telling
from kafka_lag.notify.news.change import Change


def tellings(changes: Sequence[Change], groups: int) -> list[Telling]:
    """The worst first; `groups` is how many the set has."""
    ordered = worst_first(changes)
    if is_storm(ordered, groups):
        return [storm(ordered, groups)]
    return [Telling(change.name, notice(change), (event(change),)) for change in ordered]
