# SPDX-License-Identifier: Apache-2.0
"""What all clusters say and what each says itself, and whose words a fault is in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lag_cdk.config.document import KEYS
from kafka_lag_cdk.config.faults import Fault, Place
from kafka_lag_cdk.config.given.checking import MISPLACED

CLUSTERS, DEFAULTS = "clusters", "defaults"
_COLLECTOR = "collector"


def over(defaults: Any, own: Any) -> Any:
    """What a cluster says over what all say; an object of a `type` replaces the other whole.

    Its own keys come first, as among expressions for names the first that fits decides.
    """
    if not (isinstance(defaults, Mapping) and isinstance(own, Mapping)):
        return own
    if defaults.get("type") != own.get("type", defaults.get("type")):
        return own
    merged = {key: over(defaults.get(key), value) for key, value in own.items()}
    return merged | {key: value for key, value in defaults.items() if key not in own}


def split(cluster: Any) -> Any:
    """A cluster's object as its model takes it: the collector's keys gathered under one."""
    if not isinstance(cluster, Mapping):
        return cluster
    beside = {*KEYS, *MISPLACED}
    own = {key: value for key, value in cluster.items() if key not in beside}
    return {**own, _COLLECTOR: {key: cluster[key] for key in cluster if key in KEYS}}


def where_written(fault: Fault, clusters: list[Any], defaults: Any) -> Fault:
    """A fault of a merged cluster as one of `defaults`, where that alone makes it."""
    match fault.place:
        case (str(key), int(index), *inner) if key == CLUSTERS and not fault.joint:
            place = _begun(tuple(inner), defaults)
            if _holds(defaults, place) and not _holds(clusters[index], place):
                return Fault((DEFAULTS, *inner), fault.sentence)
    return fault


def _begun(place: Place, given: Any) -> Place:
    """Of a key that is missing in an item of a list, the item: lists are never merged."""
    while any(isinstance(part, int) for part in place) and not _holds(given, place):
        place = place[:-1]
    return place


def _holds(given: Any, place: Place) -> bool:
    for part in place:
        below = dict(enumerate(given)) if isinstance(given, list) else given
        if not isinstance(below, Mapping) or part not in below:
            return False
        given = below[part]
    return True
