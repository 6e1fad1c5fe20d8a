# SPDX-License-Identifier: Apache-2.0
"""The facts of a watched cluster, from a configuration or from the objects of an app.

Alarm rules, costs, warnings and the constructs go by these facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag.lag.group_settings import ByName, NameFilter, TaskSettings
from kafka_lag.settings import levels_of
from kafka_lag.sinks.config import Levels
from kafka_lag_config.document import CLOUDWATCH, OtlpSection, OtlpSink, written
from kafka_lag_config.faults import Fault, Place
from kafka_lag_config.protocols import IAM
from kafka_lag_config.reach import Reach, find_reach_faults
from kafka_lag_config.scaling import EcsService, GroupScaling
from kafka_lag_config.settings import AlarmSettings, CollectorSettings
from kafka_lag_config.tasks import TaskKeys

# Beside the configuration in its layer.
CA_FILE = "ca.pem"

_TRANSPORT = {
    "scram": "SASL_SSL",
    "iam": "SASL_SSL",
    "tls": "SSL",
    "none": "SSL",
    "plaintext": "PLAINTEXT",
}

# All periods of an alarm together, if shorter than an hour each [CloudWatch API, PutMetricAlarm].
_LONGEST_ALARM_MINUTES = 24 * 60
# The budget of metrics by OTLP, which have a price by their bytes.
_MOST_BY_OTLP = 100_000
# Characters that CDK lets a dimension have.
_LONGEST_VALUE = 255


@dataclass(frozen=True, slots=True)
class FollowingService:
    """An ECS service that follows a group; one that is `apart` is scaled in its own account."""

    service: EcsService
    scaling: GroupScaling
    apart: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """A cluster by its name, with its settings, its alarms, and how it is reached.

    `owners_with_topics` are owners whose groups' alarms go to a topic of theirs.
    """

    name: str
    settings: CollectorSettings
    reach: Reach
    alarms: AlarmSettings
    services: tuple[FollowingService, ...] = ()
    owners_with_topics: tuple[str, ...] = ()

    @property
    def has_disks(self) -> bool:
        """True if the brokers have disks that can fill up."""
        return self.reach.has_brokers and self.settings.broker_type == "standard"

    @property
    def _publishes(self) -> bool:
        """True if a sink publishes metrics of the cluster's groups into CloudWatch."""
        settings = self.settings
        return (bool(settings.sink_names) or settings.by_otlp) and not settings.paused

    @property
    def watches_any_group(self) -> bool:
        """True if queries watch all groups. A paused cluster has none: they would cost and have no
        data.

        They see what a sink publishes into CloudWatch's namespaces.
        """
        return self.alarms.any_group and self._publishes

    @property
    def watches_unusual(self) -> bool:
        """True if a query watches all groups for unusual values."""
        return self.alarms.any_unusual and self._publishes

    @property
    def watches_brokers(self) -> bool:
        """True if there are alarms on the brokers; none while paused, because queries cost."""
        return self.reach.has_brokers and self.alarms.brokers and not self.settings.paused

    @property
    def named_groups(self) -> tuple[str, ...]:
        """Groups that an alarm or a policy names, which come first in the budget."""
        alarms = self.alarms
        named = [*alarms.groups, *alarms.anomalies, *alarms.offset_lag, *alarms.deployments]
        named += [group for each in self.services for group in each.scaling.groups]
        return tuple(dict.fromkeys(named))

    @property
    def published_levels(self) -> Levels:
        """The metrics that the collector publishes, including those for alarms and scaling.

        With `metrics: otlp`, those that classic alarms and Application Auto Scaling need, because
        neither reads what comes by OTLP.
        """
        return levels_of(self._classic_levels())

    def levels_at(self, endpoint: OtlpSection) -> Levels:
        """Returns the metrics that an OTLP endpoint gets."""
        return levels_of(self._levels_at(endpoint))

    def catch_up_seconds_of(self, group: str) -> float:
        """Within so many `TasksNeeded` works off the group's backlog."""
        given = {group: each.scaling for each in self.services for group in each.scaling.groups}
        by_service, by_name = given.get(group), ByName.of(self.settings.tasks.items()).get(group)
        if by_service is not None and by_service.task_keys() is not None:
            return by_service.catch_up_seconds
        return (by_name or TaskSettings()).catch_up_seconds

    def document(self) -> dict[str, Any]:
        """Its collector's normalised document; brokers are None where MSK is asked for them."""
        reach, settings = self.reach, self.settings
        whole = written(
            settings,
            cluster=self.name,
            bootstrap_servers=list(reach.servers) or None,
            security_protocol=_TRANSPORT[reach.way_in],
            sasl_mechanism=reach.mechanism or IAM,
            secret_id=reach.secret_arn,
            cafile=CA_FILE if settings.ca_file else None,
        )
        for sink, endpoint in zip(whole["sinks"], settings.sinks, strict=True):
            if settings.by_otlp and isinstance(endpoint, OtlpSink):
                sink["otlp"]["levels"] = self._levels_at(endpoint.otlp)
        levels, tasks = self._classic_levels(), self._tasks() | whole["tasks"]
        return whole | {"levels": levels, "tasks": tasks}

    def _levels_at(self, endpoint: OtlpSection) -> dict[str, Any]:
        own = endpoint.levels
        return self._levels() if own is None else own.model_dump(mode="json")

    def _classic_levels(self) -> dict[str, Any]:
        levels = self._levels()
        if not self.settings.by_otlp:
            return levels
        nothing = dict.fromkeys((*contract.CHOSEN_METRICS, "topics", "max_offset_lag"), False)
        named = {"named_only": True, "max_metrics": self.settings.levels.max_metrics}
        return levels | nothing | named | {"partitions": None}

    def _levels(self) -> dict[str, Any]:
        given = self.settings.levels
        levels = given.model_dump(mode="json")
        levels["named"] = list(dict.fromkeys([*given.named, *self.named_groups]))
        if self.settings.by_otlp and "max_metrics" not in given.model_fields_set:
            levels["max_metrics"] = _MOST_BY_OTLP
        levels["releases"] = list(dict.fromkeys([*given.releases, *self.alarms.deployments]))
        levels["unusual"] = given.unusual or self.alarms.any_unusual
        if self.services and "scaling" not in given.model_fields_set:
            every = (group for each in self.services for group in each.scaling.groups)
            groups = dict.fromkeys(map(re.escape, every))
            levels["scaling"] = {"allow": rf"^(?:{'|'.join(groups)})\Z", "deny": None}
        return levels

    def _tasks(self) -> dict[str, Any]:
        """Return the task keys that services give for their groups, by expression."""
        given = {
            group: each.scaling.task_keys()
            for each in self.services
            for group in each.scaling.groups
        }
        return {
            rf"^{re.escape(group)}\Z": keys for group, keys in given.items() if keys is not None
        }


def services_of(cluster: ClusterFacts) -> Iterator[tuple[str, str, str]]:
    """AWS's services that the collector calls beside S3: name, endpoint's key, and what for."""
    endpoints = cluster.settings.otlp_endpoints
    if cluster.reach.has_secret:
        yield "Secrets Manager", "secrets_manager", "its login"
    elif any(each.headers_secret for each in endpoints):
        yield "Secrets Manager", "secrets_manager", "the headers of an otlp sink"
    if CLOUDWATCH in cluster.settings.sink_names or any(each.sigv4 for each in endpoints):
        yield "CloudWatch", "monitoring", "its sinks"


def find_faults(cluster: ClusterFacts) -> tuple[Fault, ...]:
    """Return the faults of keys that are each right and impossible together.

    Without any, those of keys whose alarm or policy would never get data.
    """
    impossible = (*find_reach_faults(cluster.reach), *_two_masters(cluster), *_two_needs(cluster))
    return impossible or tuple(_find_keys_without_effect(cluster))


def _two_masters(cluster: ClusterFacts) -> Iterator[Fault]:
    first: dict[str, str] = {}
    for index, each in enumerate(cluster.services):
        service, group = each.service.identity, each.scaling.group
        if service in first:
            both = f"{first[service]} and {group} both scale the service {service}"
            yield Fault(("scaling", index), f"{both}, which follows one")
        first.setdefault(service, group)


def _two_needs(cluster: ClusterFacts) -> Iterator[Fault]:
    first: dict[str, dict[str, Any] | None] = {}
    for index, scaling in enumerate(each.scaling for each in cluster.services):
        keys = scaling.task_keys()
        if first.setdefault(scaling.group, keys) != keys:
            sentence = f"{scaling.group} has other {', '.join(TaskKeys.model_fields)} in an "
            yield Fault(
                ("scaling", index),
                f"{sentence}entry before, and one group has one {contract.TASKS_NEEDED}",
            )


def _find_keys_without_effect(cluster: ClusterFacts) -> Iterator[Fault]:
    """Keys whose alarm or policy would never get data, which nobody would miss."""
    levels = cluster.published_levels
    yield from _too_long(cluster)
    yield from _unread(cluster, cluster.settings.groups.names)
    yield from _unscaled(cluster, levels)
    yield from _no_room(cluster, levels)
    yield from _too_seldom(cluster)
    yield from _unfit_runs(cluster)
    yield from _unpublished(cluster)
    yield from _hidden_from_any(cluster)
    yield from _unused_topics(cluster)
    yield from _no_brokers(cluster)


def _too_long(cluster: ClusterFacts) -> Iterator[Fault]:
    """CloudWatch takes 1,024 characters, but CDK makes no metric of more than 255."""
    for place, group in _named(cluster):
        if (length := len(dimension_value(group))) > _LONGEST_VALUE:
            sentence = f"as a dimension the name has {length} characters, and alarms are made for"
            yield _fault(
                place, f"{sentence} {_LONGEST_VALUE} at most; any_group watches it all the same"
            )


def _hidden_from_any(cluster: ClusterFacts) -> Iterator[Fault]:
    """Yield a fault of alarms on any group that would see only groups with alarms of their own."""
    watches = cluster.watches_any_group or cluster.watches_unusual
    if cluster.settings.levels.named_only and watches:
        yield _fault(
            ("levels", "named_only"),
            "alarms on any group would see named groups alone: set alarms.any_group to false and "
            "leave out alarms.any_unusual, or leave out named_only",
        )


def _unfit_runs(cluster: ClusterFacts) -> Iterator[Fault]:
    """Yield faults of runs for missing alarms, and of runs that CloudWatch does not take."""
    for group, runs in cluster.alarms.sla_runs.items():
        place = ("alarms", "sla_runs", group)
        if group not in cluster.alarms.groups:
            yield _fault(place, f"{group} has no alarm of its own: name it in alarms.groups")
        elif cluster.settings.sla_of(group) is None:
            yield _fault(place, f"{group} has no SLA: no sla_seconds matches it")
        if (minutes := runs.periods * cluster.settings.interval_minutes) > _LONGEST_ALARM_MINUTES:
            yield _fault(
                (*place, "periods"), f"are {minutes:,} minutes, and an alarm sees a day at most"
            )


def _unread(cluster: ClusterFacts, read: NameFilter) -> Iterator[Fault]:
    for place, group in _named(cluster):
        if read.deny is not None and read.deny.search(group):
            yield _fault(place, f"the group {group} is not read: groups.deny matches it")
        elif not read.accepts(group):
            yield _fault(place, f"the group {group} is not read: groups.allow does not match it")


def _named(cluster: ClusterFacts) -> Iterator[tuple[Place, str]]:
    for key in ("groups", "anomalies", "deployments"):
        for index, group in enumerate(getattr(cluster.alarms, key)):
            yield ("alarms", key, index), group
    for group in cluster.alarms.offset_lag:
        yield ("alarms", "offset_lag", group), group
    for index, scaling in enumerate(each.scaling for each in cluster.services):
        yield ("scaling", index, "group"), scaling.group
        for further, group in enumerate(scaling.groups[1:]):
            yield ("scaling", index, "tasks", "groups", further), group


def _unscaled(cluster: ClusterFacts, levels: Levels) -> Iterator[Fault]:
    for index, scaling in enumerate(each.scaling for each in cluster.services):
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


def _no_room(cluster: ClusterFacts, levels: Levels) -> Iterator[Fault]:
    """Groups that are named come first in the budget, so they must fit together."""
    needed = len(contract.HEALTH_UNITS) + sum(
        len(levels.group_metrics)
        + len(contract.SCALING_METRICS) * _scales(levels, group)
        + (cluster.settings.sla_of(group) is not None)
        + (group in levels.releases)
        for group in levels.named
    )
    if levels.named and levels.max_metrics < needed:
        yield _fault(
            ("levels", "max_metrics"),
            f"{levels.max_metrics} leaves no room for the groups that alarms and scaling name; "
            f"they need {needed}",
        )


def _too_seldom(cluster: ClusterFacts) -> Iterator[Fault]:
    minutes = cluster.settings.interval_minutes
    for index, scaling in enumerate(each.scaling for each in cluster.services):
        if scaling.tracking and minutes > 1:
            yield _fault(
                ("scaling", index, "tracking"),
                f"needs {contract.SCALING_LAG_PER_MEMBER} every minute, and interval_seconds "
                f"makes it every {minutes}; give steps",
            )


def _unpublished(cluster: ClusterFacts) -> Iterator[Fault]:
    if cluster.settings.sink_names:
        return
    for place, group in _named(cluster):
        yield _fault(
            place,
            f"{group} has no metrics in CloudWatch, as sinks names neither emf nor cloudwatch",
        )


def _unused_topics(cluster: ClusterFacts) -> Iterator[Fault]:
    """Topics of owners without a named group."""
    alarms = cluster.alarms
    named = (*alarms.groups, *alarms.anomalies, *alarms.offset_lag)
    owners = {cluster.settings.owner_of(group) for group in named}
    for owner in cluster.owners_with_topics:
        if owner not in owners:
            yield _fault(
                ("alarms", "owner_topics", owner),
                "owns no group that alarms name, which alone have alarms of their own: write the "
                "name as owner has it",
            )


def _no_brokers(cluster: ClusterFacts) -> Iterator[Fault]:
    """Keys about brokers whose metrics MSK does not publish."""
    if cluster.reach.has_brokers:
        return
    why = "MSK Serverless shows no brokers" if cluster.reach.is_serverless else "it is not MSK"
    if cluster.alarms.brokers and "brokers" in cluster.alarms.model_fields_set:
        yield _fault(("alarms", "brokers"), f"would have no data, as {why}: leave it out")
    if "broker_type" in cluster.settings.model_fields_set:
        yield _fault(("broker_type",), f"has no effect, as {why}: leave it out")


def _fault(place: Place, sentence: str) -> Fault:
    return Fault(place, sentence, joint=True)
