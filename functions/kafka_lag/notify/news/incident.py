# SPDX-License-Identifier: Apache-2.0
"""What was last told of a group that is not well, and the name that all its messages share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Incident:
    """As last told: the held status, WARN or ERR, and when OK was left, ms UTC.

    `missing_since` is the first set without a row of the group, `last_seen` the one before it;
    both None where the newest set has one.
    """

    status: str
    since: int
    last_seen: int | None = None
    missing_since: int | None = None


# By group; a group that is not here is well as far as was told.
Standing: TypeAlias = Mapping[str, Incident]


@dataclass(frozen=True, slots=True)
class Told:
    """What a channel knows of a cluster: the run told of last, ms UTC, and how things stood."""

    cluster: str
    taken_at: int
    standing: Standing


def incident_id(cluster: str, group: str, since: int) -> str:
    """The same for opened, worse, better and resolved; safe in keys, whatever the group's name."""
    told = json.dumps([cluster, group, since])
    return hashlib.sha256(told.encode()).hexdigest()[:_DIGITS]
