# SPDX-License-Identifier: Apache-2.0
"""Warnings about keys that are unlikely to be meant, in a configuration or an app.

None is a fault: synthesis and `kafka-lag cost` warn of them, in the same sentences.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_lag.wording.formatting import format_list
from kafka_lag_config.deployment import Deployment
from kafka_lag_config.document import CLOUDWATCH, EMF, FilterSection
from kafka_lag_config.expressions import shell_pattern_in
from kafka_lag_config.facts import ClusterFacts, services_of
from kafka_lag_config.faults import Place, path_of
from kafka_lag_config.shared import Notify, SharedSettings
from kafka_lag_config.strict import Strict
from kafka_lag_config.tasks import LEAST_CATCH_UP
from kafka_lag_config.types import find_names

_BY_GROUP = ("uncommitted", "owner", "sla_seconds", "slo", "tasks")
_BY_EXPRESSION = (*_BY_GROUP, "allowed_lag")

_MOST_NAMES = 3
# Accounts of AWS's documentation, which the examples have and nobody owns.
_INVENTED_ACCOUNTS = ("111122223333", "444455556666")
_NO_SINK = f"sinks names neither {EMF} nor {CLOUDWATCH}"


@dataclass(frozen=True, slots=True)
class Doubt:
    """A sentence; `kind` and what it is `about` distinguish it from others of a cluster."""

    kind: str
    about: str
    sentence: str


def find_doubts(cluster: ClusterFacts) -> Iterator[Doubt]:
    """Yields each of a cluster without faults, of a configuration or of an app."""
    yield from _no_way_out(cluster)
    yield from _unwatched_sla(cluster)
    yield from _caught_up_late(cluster)
    yield from _unread_names(cluster)
    yield from _shell_patterns(cluster)


def _no_way_out(cluster: ClusterFacts) -> Iterator[Doubt]:
    """Warn of services without a known endpoint: a run would wait for them until its end.

    A security group says nothing: it may be that of any endpoint.
    """
    ways = cluster.reach.ways_out
    if ways.nat:
        return
    for service, key, why in (("S3", "s3", "its snapshots"), *services_of(cluster)):
        if key not in ways.endpoints:
            made = f"endpoints.{key} makes an endpoint, " if ways.makes else ""
            yield Doubt(
                "no-way-to",
                key,
                f"vpc names no way to {service} ({why}): {made}{key} in existing_endpoints "
                "says that there is one, nat: true that the subnets have a NAT gateway.",
            )


def _unwatched_sla(cluster: ClusterFacts) -> Iterator[Doubt]:
    """Warn of SLAs without an alarm."""
    named = any(cluster.settings.sla_of(group) is not None for group in cluster.alarms.groups)
    if (
        not cluster.settings.sla_seconds
        or cluster.settings.paused
        or named
        or cluster.watches_any_group
    ):
        return
    why, to_do = (
        ("alarms.any_group is false and alarms.groups names none of its groups", "Set one of them")
        if cluster.settings.sink_names
        else (_NO_SINK, "Name one")
    )
    yield Doubt(
        "unwatched-sla",
        "",
        f"sla_seconds has no alarm, as {why}: a broken SLA shows in snapshots, on pages and in "
        f"status messages alone. {to_do}.",
    )


def _caught_up_late(cluster: ClusterFacts) -> Iterator[Doubt]:
    """Warn of groups that may take longer to catch up than their SLA allows."""
    scaled = (
        group for each in cluster.services if each.scaling.tasks for group in each.scaling.groups
    )
    named = (name for expression in cluster.settings.tasks for name in find_names(expression) or ())
    for group in dict.fromkeys((*scaled, *named)):
        seconds, sla = cluster.catch_up_seconds_of(group), cluster.settings.sla_of(group)
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


def _unread_names(cluster: ClusterFacts) -> Iterator[Doubt]:
    """Warn of values for a group or topic that the filters keep out."""
    for key in _BY_EXPRESSION:
        kind, read = (
            ("topic", cluster.settings.topics)
            if key == "allowed_lag"
            else ("group", cluster.settings.groups)
        )
        for expression in getattr(cluster.settings, key):
            names = find_names(expression) or ()
            for name in (each for each in names if not read.names.accepts(each)):
                denied = read.names.deny is not None and read.names.deny.search(name)
                why = "deny matches it" if denied else "allow does not match it"
                yield Doubt(
                    "unread-name",
                    f"{key} {expression} {name}" if len(names) > 1 else f"{key} {expression}",
                    f"{key} names {name}, which is not read, as {kind}s.{why}: it has no effect. "
                    "Correct one of them.",
                )


def _shell_patterns(cluster: ClusterFacts) -> Iterator[Doubt]:
    for place, expression in _expressions(cluster.settings, ()):
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


def find_shared_doubts(deployment: Deployment, account: str | None, region: str) -> Iterator[Doubt]:
    """Yields each about the shared settings of a deployment in one of its places."""
    clusters = deployment.places()[account, region]
    if account in _INVENTED_ACCOUNTS:
        yield Doubt(
            "example",
            account,
            f"The account {account} is the examples': replace it and all ARNs and ids, or let "
            "kafka-lag init CLUSTER-ARN write the configuration.",
        )
    yield from find_unheard(
        deployment.shared,
        "shared",
        [each.name for each in clusters if each.alarms.topic is None],
        "name a topic of yours in notify.existing_topics",
        has_topic=deployment.existing_topic(account, region) is not None,
        region=region,
    )
    named = {owner for cluster in deployment.clusters for owner in cluster.owner.values()}
    yield from find_unknown_owners(deployment.shared.notify, named, "shared")


def find_unheard(
    settings: SharedSettings,
    key: str,
    paged: Sequence[str],
    own_topic: str,
    *,
    has_topic: bool,
    region: str = "",
) -> Iterator[Doubt]:
    """Warns of alarms and messages that go to a topic without subscribers.

    `key` is what their author calls the settings. Alarms of `paged` go to the topic that is made
    if `has_topic` is false; `own_topic` says how to give one.
    """
    notify, messages = settings.notify, settings.status_messages
    if notify.pages or has_topic:
        if not notify.reads:
            sent = "notices, such as metrics that are left out"
            if messages and messages.topic and not notify.owners:
                sent = "status messages or notices"
            yield Doubt(
                "no-receiver",
                region,
                f"{key}.notify names nobody who reads {sent}: set notify.email, slack or teams, or "
                "subscribe to the topics of notices and reports.",
            )
        return
    senders = ["the daily report"] * settings.report.enabled
    senders += ["status messages"] * (messages is not None)
    senders += [f"alarms of {format_list(paged, _MOST_NAMES)}"] * bool(paged)
    if senders:
        where = f" in {region}" if region else ""
        yield Doubt(
            "no-receiver",
            region,
            f"{key}.notify names nobody, so no one{where} gets {' or '.join(senders)}: set "
            f"notify.email, https, slack or teams, or {own_topic}.",
        )


def find_unlisted(cluster: str) -> Iterator[Doubt]:
    """Warns of an app's cluster that its tables do not know."""
    yield Doubt(
        "unlisted",
        cluster,
        f"LagReports has no {cluster} among its clusters, so Athena finds nothing of it: add the "
        "name there.",
    )


def find_unknown_owners(notify: Notify, named: Collection[str], key: str) -> Iterator[Doubt]:
    """Warns of owners with receivers to whom no cluster gives a group."""
    for owner in notify.owners:
        if owner not in named:
            yield Doubt(
                "unknown-owner",
                owner,
                f"{key}.notify.owners names {owner}, whom no cluster's owner names: nobody of "
                "theirs is paged. Write the name as owner has it.",
            )
