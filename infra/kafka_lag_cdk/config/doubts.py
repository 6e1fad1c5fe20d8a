# SPDX-License-Identifier: Apache-2.0
"""Warnings about a cluster's keys that are unlikely to be meant.

Nothing of it is a fault: synthesis and `kafka-lag cost` warn of it, in the same sentences.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kafka_lag.wording.formatting import format_list
from kafka_lag_cdk.alarm_rules import any_group_rules, left_out
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.document import CLOUDWATCH, EMF, FilterSection
from kafka_lag_cdk.config.faults import Place, path_of
from kafka_lag_cdk.config.network import Vpc
from kafka_lag_cdk.config.services import services_of
from kafka_lag_cdk.config.shell_patterns import shell_pattern_in
from kafka_lag_cdk.config.strict import Strict
from kafka_lag_cdk.config.tasks import LEAST_CATCH_UP
from kafka_lag_cdk.config.types import find_one_name
from kafka_lag_cdk.config.watched import WatchedCluster

_BY_GROUP = ("uncommitted", "owner", "sla_seconds", "slo", "tasks")
_BY_EXPRESSION = (*_BY_GROUP, "allowed_lag")

_MOST_NAMES = 3
_NO_SINK = f"sinks names neither {EMF} nor {CLOUDWATCH}"


@dataclass(frozen=True, slots=True)
class Doubt:
    """A sentence; `kind` and what it is `about` distinguish it from others of a cluster."""

    kind: str
    about: str
    sentence: str


def find_document_doubts(cluster: Cluster) -> Iterator[Doubt]:
    """Each of a configuration's cluster that has no faults."""
    yield from find_doubts(cluster)
    yield from find_unused_network(cluster.vpc)


def find_doubts(cluster: WatchedCluster) -> Iterator[Doubt]:
    """Each that a cluster of an app may have as well."""
    yield from _one_zone(cluster)
    yield from _no_way_out(cluster)
    yield from _no_sla(cluster)
    yield from _unwatched_sla(cluster)
    yield from _caught_up_late(cluster)
    yield from _small_budgets(cluster)
    yield from _paged_twice(cluster)
    yield from _unpublished(cluster)
    yield from _unread_names(cluster)
    yield from _shell_patterns(cluster)


def _one_zone(cluster: WatchedCluster) -> Iterator[Doubt]:
    ways = cluster.ways_out
    if len(ways.subnets) == 1:
        yield Doubt(
            "one-subnet",
            ways.subnets[0],
            f"{ways.key}.subnets has one subnet: when its zone fails, nothing is collected. Name a "
            "second one, in another zone.",
        )


def _no_way_out(cluster: WatchedCluster) -> Iterator[Doubt]:
    """Warn of services without a known endpoint: a run would wait for them until its end.

    A security group says nothing: it may be that of any endpoint.
    """
    ways = cluster.ways_out
    if ways.nat:
        return
    for service, key, why in (("S3", "s3", "its snapshots"), *services_of(cluster)):
        if key not in ways.endpoints:
            made = f"endpoints.{key} makes an endpoint, " if ways.makes else ""
            yield Doubt(
                "no-way-to",
                key,
                f"{ways.key} names no way to {service} ({why}): {made}{key} in existing_endpoints "
                "says that there is one, nat: true that the subnets have a NAT gateway.",
            )


def find_unused_network(vpc: Vpc) -> Iterator[Doubt]:
    """Keys that are for endpoints which are not made."""
    if vpc.route_tables and not vpc.endpoints.s3:
        yield _idle(
            "vpc.route_tables", "endpoints.s3 is off, whose routes they are for", "Set it, or drop"
        )
    if vpc.cidr and not vpc.endpoints.interfaces:
        yield _idle(
            "vpc.cidr",
            "endpoints makes no interface endpoint, into which it is let",
            "Set one, or drop",
        )


def _no_sla(cluster: WatchedCluster) -> Iterator[Doubt]:
    """Warn of named groups without an SLA alarm if other groups have one."""
    for group in cluster.alarms.groups if cluster.sla_seconds else ():
        if cluster.sla_of(group) is None:
            yield Doubt(
                "no-sla",
                group,
                f"alarms.groups names {group}, which no sla_seconds matches: it gets no alarm on "
                "its age.",
            )


def _unwatched_sla(cluster: WatchedCluster) -> Iterator[Doubt]:
    """Warn of SLAs without an alarm."""
    named = any(cluster.sla_of(group) is not None for group in cluster.alarms.groups)
    if not cluster.sla_seconds or cluster.paused or named or cluster.watches_any_group:
        return
    why, to_do = (
        ("alarms.any_group is false and alarms.groups names none of its groups", "Set one of them")
        if cluster.sink_names
        else (_NO_SINK, "Name one")
    )
    yield Doubt(
        "unwatched-sla",
        "",
        f"sla_seconds has no alarm, as {why}: a broken SLA shows in snapshots, on pages and in "
        f"status messages alone. {to_do}.",
    )


def _caught_up_late(cluster: WatchedCluster) -> Iterator[Doubt]:
    """Warn of groups that may take longer to catch up than their SLA allows."""
    scaled = (group for each in cluster.scaling if each.tasks for group in each.groups)
    named = (find_one_name(expression) for expression in cluster.tasks)
    for group in dict.fromkeys((*scaled, *filter(None, named))):
        seconds, sla = cluster.catch_up_seconds_of(group), cluster.sla_of(group)
        if sla is not None and seconds > sla:
            to_do = f"Set catch_up_seconds to {sla:g} at most, or raise sla_seconds."
            if sla < LEAST_CATCH_UP:
                to_do = f"Set sla_seconds to {LEAST_CATCH_UP} at least: sooner no task reads."
            yield Doubt(
                "caught-up-late",
                group,
                f"{group} may take catch_up_seconds, {seconds:g}, to work off a backlog, and "
                f"sla_seconds is {sla:g}: TasksNeeded then keeps too few tasks for it. "
                f"{to_do}",
            )


def _small_budgets(cluster: WatchedCluster) -> Iterator[Doubt]:
    """Warn of objectives that two bad runs break."""
    for expression, keys in cluster.slo.items():
        budget = keys.objective.budget_minutes
        if budget < 2 * cluster.interval_minutes:
            yield Doubt(
                "small-budget",
                expression,
                f"slo {expression} leaves {budget:.3g} minutes in {keys.days} days, which two bad "
                f"runs break, as each speaks for {cluster.interval_minutes} minutes. Take a lower "
                "target or more days.",
            )


def _paged_twice(cluster: WatchedCluster) -> Iterator[Doubt]:
    """Warn of named groups that the queries on all groups cannot leave out."""
    named = cluster.alarms.groups
    if not named or not cluster.watches_any_group:
        return
    rules = any_group_rules(with_slas=bool(cluster.sla_seconds))
    kept = [set(left_out(rule, cluster.namespace, cluster.name, named)) for rule in rules]
    twice = [group for group in named if not all(group in each for each in kept)]
    if twice:
        yield Doubt(
            "paged-twice",
            "",
            f"{len(twice)} of the {len(named)} groups in alarms.groups page twice "
            f"({format_list(twice, _MOST_NAMES)}), as any_group's queries cannot leave out more: "
            "name fewer, as with shared.notify.owners, or set alarms.any_group to false.",
        )


def _unpublished(cluster: WatchedCluster) -> Iterator[Doubt]:
    """Warn of keys about metrics, and alarms on them, that nothing publishes."""
    if cluster.sink_names:
        return
    given = cluster.model_fields_set
    if "namespace" in given:
        yield _idle("namespace", _NO_SINK)
    if "levels" in given and all(each.levels is not None for each in cluster.otlp_endpoints):
        others = " and each otlp sink has levels of its own" if cluster.otlp_endpoints else ""
        yield _idle("levels", f"{_NO_SINK}{others}")
    for key in ("any_group", "any_unusual"):
        if key in cluster.alarms.model_fields_set and getattr(cluster.alarms, key):
            yield _idle(
                f"alarms.{key}", f"{_NO_SINK}, and alarms read CloudWatch", "Name one, or drop"
            )


def _unread_names(cluster: WatchedCluster) -> Iterator[Doubt]:
    """Warn of values for a group or topic that the filters keep out."""
    for key in _BY_EXPRESSION:
        kind, read = (
            ("topic", cluster.topics) if key == "allowed_lag" else ("group", cluster.groups)
        )
        for expression in getattr(cluster, key):
            name = find_one_name(expression)
            if name is not None and not read.names.accepts(name):
                denied = read.names.deny is not None and read.names.deny.search(name)
                why = "deny matches it" if denied else "allow does not match it"
                yield Doubt(
                    "unread-name",
                    f"{key} {expression}",
                    f"{key} names {name}, which is not read, as {kind}s.{why}: it has no effect. "
                    "Correct one of them.",
                )


def _idle(key: str, why: str, to_do: str = "Name a sink, or drop") -> Doubt:
    return Doubt("no-effect", key, f"{key} has no effect, as {why}. {to_do} {key}.")


def _shell_patterns(cluster: WatchedCluster) -> Iterator[Doubt]:
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
