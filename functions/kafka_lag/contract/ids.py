# SPDX-License-Identifier: Apache-2.0
"""Ids of incidents and messages: the same from every program, and safe in keys and URLs."""

import hashlib
import json

_DIGITS = 32


def hash_names(*parts: str | int) -> str:
    """Returns an id of names and numbers, whatever characters the names have."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:_DIGITS]


def incident_id(cluster: str, group: str, since: int) -> str:
    """Returns the id of a group's incident that began at `since`, ms UTC."""
    return hash_names(cluster, group, since)


def message_id(cluster: str, group: str, what: str, since: int) -> str:
    """Returns the id of a message: `what` became of a group, and since when, ms UTC."""
    return f"{hash_names(cluster, group)}-{what}-{since}"
