# SPDX-License-Identifier: Apache-2.0
"""What a cluster's keys say and is unlikely to be meant.

Nothing of it is a fault: synthesis and `kafka-lag cost` warn of it, in the same sentences.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.document import FilterSection
from kafka_lag_cdk.config.faults import Place, path_of
from kafka_lag_cdk.config.shell_patterns import shell_pattern_in
from kafka_lag_cdk.config.strict import Strict

_BY_EXPRESSION = ("uncommitted", "allowed_lag", "owner", "sla_seconds", "tasks")


@dataclass(frozen=True, slots=True)
class Doubt:
    """A sentence; `kind` and what it is `about` distinguish it from others of a cluster."""

    kind: str
    about: str
    sentence: str


def find_doubts(cluster: Cluster) -> Iterator[Doubt]:
    """Each of a cluster that has no faults."""
    yield from _one_zone(cluster)
    yield from _no_sla(cluster)
    yield from _shell_patterns(cluster)


def _one_zone(cluster: Cluster) -> Iterator[Doubt]:
    if len(cluster.vpc.subnets) == 1:
        yield Doubt(
            "one-subnet",
            cluster.vpc.subnets[0],
            "vpc.subnets has one subnet: when its zone fails, nothing is collected. Name a "
            "second one, in another zone.",
        )


def _no_sla(cluster: Cluster) -> Iterator[Doubt]:
    """Of named groups without an alarm on their age, where other groups have one."""
    for group in cluster.alarms.groups if cluster.sla_seconds else ():
        if cluster.sla_of(group) is None:
            yield Doubt(
                "no-sla",
                group,
                f"alarms.groups names {group}, which no sla_seconds matches: it gets no alarm on "
                "its age.",
            )


def _shell_patterns(cluster: Cluster) -> Iterator[Doubt]:
    for place, expression in _expressions(cluster, ()):
        if (found := shell_pattern_in(expression)) is not None:
            path, repeated = path_of(place), found.repeated
            yield Doubt(
                "shell-pattern",
                f"{path} {expression}",
                f"{path}: {_quoted(expression)} is a regular expression, found anywhere in a name, "
                f"in which {_quoted(f'{repeated}*')} is any number of {_quoted(repeated)}, none "
                f"too. Where * stands for any text, write {_quoted(found.meant)}.",
            )


def _expressions(value: Any, place: Place) -> Iterator[tuple[Place, str]]:
    """All that are found in names, with where they stand."""
    if isinstance(value, FilterSection):
        both = (((*place, key), getattr(value, key)) for key in ("allow", "deny"))
        yield from ((at, expression) for at, expression in both if expression is not None)
    elif isinstance(value, Strict):
        for key, below in value:
            yield from _expressions(below, (*place, key))
    elif isinstance(value, tuple):
        for index, each in enumerate(value):
            yield from _expressions(each, (*place, index))
    elif isinstance(value, dict) and place[-1] in _BY_EXPRESSION:
        yield from ((place, expression) for expression in value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
