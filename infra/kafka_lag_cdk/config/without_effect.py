# SPDX-License-Identifier: Apache-2.0
"""Keys of a cluster that would have no effect: an alarm or a policy that never gets data.

They are errors before a deploy, as nobody would miss what they name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.sinks.config import Levels
from kafka_lag_cdk.config.faults import Fault, Place

if TYPE_CHECKING:
    # A cluster is checked as it is made.
    from kafka_lag_cdk.config.cluster import Cluster

# Characters that CDK lets a dimension have.
_LONGEST_VALUE = 255


def find_keys_without_effect(cluster: Cluster) -> Iterator[Fault]:
    """Each such key with its reason, of a cluster that is right otherwise."""
    levels = cluster.published_levels
    yield from _too_long(cluster)
    yield from _unread(cluster, cluster.groups.names)
    yield from _unscaled(cluster, levels)
    yield from _no_room(cluster, levels)
    yield from _too_seldom(cluster)
    yield from _unpublished(cluster)
    yield from _unused_topics(cluster)
    yield from _no_brokers(cluster)


def _too_long(cluster: Cluster) -> Iterator[Fault]:
    """CloudWatch takes 1,024 characters, but CDK makes no metric of more than 255."""
    for place, group in _named(cluster):
        if (length := len(dimension_value(group))) > _LONGEST_VALUE:
            sentence = f"as a dimension the name has {length} characters, and alarms are made for"
            yield _fault(
                place, f"{sentence} {_LONGEST_VALUE} at most; any_group watches it all the same"
            )


def _unread(cluster: Cluster, read: NameFilter) -> Iterator[Fault]:
    for place, group in _named(cluster):
        if read.deny is not None and read.deny.search(group):
            yield _fault(place, f"the group {group} is not read: groups.deny matches it")
        elif not read.accepts(group):
            yield _fault(place, f"the group {group} is not read: groups.allow does not match it")


def _named(cluster: Cluster) -> Iterator[tuple[Place, str]]:
    for key in ("groups", "anomalies"):
        for index, group in enumerate(getattr(cluster.alarms, key)):
            yield ("alarms", key, index), group
    for group in cluster.alarms.offset_lag:
        yield ("alarms", "offset_lag", group), group
    for index, scaling in enumerate(cluster.scaling):
        yield ("scaling", index, "group"), scaling.group
        for further, group in enumerate(scaling.groups[1:]):
            yield ("scaling", index, "tasks", "groups", further), group


def _unscaled(cluster: Cluster, levels: Levels) -> Iterator[Fault]:
    for index, scaling in enumerate(cluster.scaling):
        metric = contract.TASKS_NEEDED if scaling.tasks else contract.SCALING_LAG
        for group in scaling.groups:
            if not _scales(levels, group):
                yield _fault(
                    ("scaling", index, "group"),
                    f"{group} gets no {metric}, as levels.scaling keeps it out; without "
                    "levels.scaling it follows from scaling",
                )


def _scales(levels: Levels, group: str) -> bool:
    return levels.scaling is not None and levels.scaling.accepts(group)


def _no_room(cluster: Cluster, levels: Levels) -> Iterator[Fault]:
    """Groups that are named come first in the budget, so they must fit together."""
    needed = len(contract.HEALTH_UNITS) + sum(
        len(levels.group_metrics)
        + len(contract.SCALING_METRICS) * _scales(levels, group)
        + (cluster.sla_of(group) is not None)
        for group in levels.named
    )
    if levels.named and levels.max_metrics < needed:
        yield _fault(
            ("levels", "max_metrics"),
            f"{levels.max_metrics} leaves no room for the groups that alarms and scaling name; "
            f"they need {needed}",
        )


def _too_seldom(cluster: Cluster) -> Iterator[Fault]:
    minutes = cluster.interval_minutes
    for index, scaling in enumerate(cluster.scaling):
        if scaling.tracking and minutes > 1:
            yield _fault(
                ("scaling", index, "tracking"),
                f"needs {contract.SCALING_LAG_PER_MEMBER} every minute, and interval_seconds "
                f"makes it every {minutes}; give steps",
            )


def _unpublished(cluster: Cluster) -> Iterator[Fault]:
    if cluster.sink_names:
        return
    for place, group in _named(cluster):
        yield _fault(
            place,
            f"{group} has no metrics in CloudWatch, as sinks names neither emf nor cloudwatch",
        )


def _unused_topics(cluster: Cluster) -> Iterator[Fault]:
    """Topics of owners without a named group, and of another region."""
    alarms = cluster.alarms
    named = (*alarms.groups, *alarms.anomalies, *alarms.offset_lag)
    owners = {cluster.owner_of(group) for group in named}
    for owner in alarms.owner_topics:
        if owner not in owners:
            yield _fault(
                ("alarms", "owner_topics", owner),
                "owns no group that alarms name, which alone have alarms of their own: write the "
                "name as owner has it",
            )
    topics: dict[Place, str | None] = {("alarms", "topic"): alarms.topic}
    topics |= {("alarms", "owner_topics", name): arn for name, arn in alarms.owner_topics.items()}
    for place, arn in topics.items():
        if arn and (region := arn.split(":")[3]) != cluster.place[1]:
            yield _fault(
                place,
                f"the topic is in {region}, and alarms publish in their own region only, "
                f"{cluster.place[1]}",
            )


def _no_brokers(cluster: Cluster) -> Iterator[Fault]:
    """Keys about brokers whose metrics MSK does not publish."""
    if cluster.has_brokers:
        return
    why = "MSK Serverless shows no brokers" if cluster.is_serverless else "it is not MSK"
    if cluster.alarms.brokers and "brokers" in cluster.alarms.model_fields_set:
        yield _fault(("alarms", "brokers"), f"would have no data, as {why}: leave it out")
    if "broker_type" in cluster.model_fields_set:
        yield _fault(("broker_type",), f"has no effect, as {why}: leave it out")


def _fault(place: Place, sentence: str) -> Fault:
    return Fault(place, sentence, joint=True)
