# SPDX-License-Identifier: Apache-2.0
"""A cluster as it is watched: by which keys, with which alarms, and which services follow it.

How it is reached is said by ids in a configuration (`cluster`), by objects in a CDK app (`props`).
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from kafka_lag import contract
from kafka_lag.contract.dimensions import dimension_value
from kafka_lag.lag.group_settings import ByName, NameFilter, TaskSettings
from kafka_lag.settings import levels_of
from kafka_lag.sinks.config import Levels
from kafka_lag_config.document import CollectorKeys, check_authorities, written
from kafka_lag_config.faults import Fault, FaultsError, Place
from kafka_lag_config.protocols import IAM
from kafka_lag_config.scaling import EcsService, GroupScaling
from kafka_lag_config.strict import Strict
from kafka_lag_config.tasks import TaskKeys
from kafka_lag_config.types import Distinct, GroupName, Listed, Name, Text, Whole

# Beside the configuration in its layer.
CA_FILE = "ca.pem"

_TRANSPORT = {
    "scram": "SASL_SSL",
    "iam": "SASL_SSL",
    "tls": "SSL",
    "none": "SSL",
    "plaintext": "PLAINTEXT",
}

# How MSK ends the ids of its serverless clusters, as in ...-s2.
_SERVERLESS = re.compile(r"-s\d+\Z")

_LARGEST_MINUTES = 60
# Of all periods together, those of less than an hour each [CloudWatch API, PutMetricAlarm].
_LONGEST_ALARM_MINUTES = 24 * 60
# Lambda ends the function after 55 s, and what was read has to be written by then.
_LONGEST_RUN = 50

# Characters that CDK lets a dimension have.
_LONGEST_VALUE = 255

_FOLLOWS = "follows from auth; leave it out"

# What CloudWatch takes for the retention of a log group.
LogDays = Literal[1, 3, 7, 14, 30, 60, 90, 180, 365, 731]
MemoryMb = Annotated[int, Field(ge=256, le=10240)]
Groups = Annotated[tuple[GroupName, ...], Listed, Distinct]
Count = Annotated[int, Field(ge=1)]


class Function(Strict):
    """The collector's Lambda."""

    memory_mb: MemoryMb = 512
    """of the Lambda"""
    alone: bool = False
    """reserve a concurrency of one; small accounts have none to reserve"""
    log_days: LogDays = 14
    """that its log is kept: 1, 3, 7, 14, 30, 60, 90, 180, 365 or 731"""
    python: Literal["3.13", "3.14"] = "3.13"
    """or 3.14"""
    architecture: Literal["arm64", "x86_64"] = "arm64"
    """or x86_64"""


class SlaRuns(Strict):
    """In how many of how many runs an SLA must be broken for a page."""

    datapoints: Count
    """runs that must be above the SLA"""
    periods: Count
    """of so many runs, a day's at most"""

    @model_validator(mode="after")
    def _can_be_reached(self) -> Self:
        if self.datapoints > self.periods:
            raise ValueError(f"{self.datapoints} of {self.periods} runs are never reached")
        return self


class AlarmSettings(Strict):
    """The alarms to create; those on the reporter's own health always exist."""

    groups: Groups = ()
    """exact names of groups with alarms of their own: status, data loss, the age in `sla_seconds`,
    the budget of `slo`"""
    any_group: bool = True
    """an alarm each that watches status, data loss and (where there are `sla_seconds`) SLA of every
    group that is not in `alarms.groups`"""
    any_unusual: bool = False
    """an alarm on groups that are unlike what the daily report has learnt of this hour of the week;
    `levels.unusual` is true with it"""
    anomalies: Groups = ()
    """exact names of groups whose time lag is compared with its own past"""
    offset_lag: dict[GroupName, Whole] = Field(default_factory=dict)
    """by exact name of a group: an alarm when more records than these are unread, named in
    `alarms.groups` or not"""
    sla_runs: dict[GroupName, SlaRuns] = Field(default_factory=dict)
    """by exact name of a group in `alarms.groups`: in how many runs its SLA must be broken for a
    page, as in `{"datapoints": 5, "periods": 10}` (unless given: 3 of 5); [`kafka-lag replay
    --propose`](command-line.md#replay) finds them"""
    brokers: bool = True
    """alarms on MSK's own metrics of its brokers: disk 85 % full, processor idle less than 40 %"""

    @property
    def owners_with_topics(self) -> Collection[str]:
        """Owners whose groups' alarms go to a topic of theirs."""
        return ()


@dataclass(frozen=True, slots=True)
class WaysOut:
    """The ways to AWS's services from a cluster's subnets, as written below `key`.

    `endpoints` are those of VPC endpoints, `makes` whether the key could make some.
    """

    key: str
    subnets: tuple[str, ...]
    nat: bool
    endpoints: frozenset[str]
    makes: bool


class WatchedCluster(CollectorKeys):
    """A cluster's keys but for those of its network and login, with what follows from them.

    `elsewhere` has those of the collector's words that a cluster says otherwise.
    """

    elsewhere: ClassVar[Mapping[str, str]] = {
        "cluster": "write name",
        "cafile": "write ca_file",
        "security_protocol": _FOLLOWS,
        "sasl_mechanism": _FOLLOWS,
        "secret_id": _FOLLOWS,
    }

    name: Name
    """in metrics, keys and the stack's name, once an account: letters, digits, `.`, `_`, `-`"""
    ca_file: Text | None = None
    """PEM file of a private authority that signed the brokers' certificates, seen from this file;
    every certificate in it must be readable (unless given: the system's)"""
    broker_type: Literal["standard", "express"] = "standard"
    """`express` for MSK's Express brokers, which have no disks: no alarm and no graph of them"""
    function: Function = Function()
    alarms: AlarmSettings = AlarmSettings()
    scaling: Annotated[tuple[GroupScaling, ...], Listed] = ()
    dashboard: bool = True
    """one a cluster"""
    paused: bool = False
    """run nothing: the schedule is kept, but disabled; the alarms that would miss the runs are not
    """

    @field_validator("interval_seconds")
    @classmethod
    def _divides_an_hour(cls, seconds: float) -> float:
        minutes = seconds / 60
        if minutes % 1 or _LARGEST_MINUTES % minutes:
            allowed = [60 * each for each in range(1, 61) if _LARGEST_MINUTES % each == 0]
            raise ValueError(
                "must be whole minutes that divide an hour: "
                f"{', '.join(map(str, allowed[:-1]))} or {allowed[-1]}"
            )
        return seconds

    @field_validator("deadline_seconds")
    @classmethod
    def _ends_in_time(cls, seconds: float) -> float:
        if seconds > _LONGEST_RUN:
            raise ValueError(
                f"must be at most {_LONGEST_RUN}, as the function is ended after 55 seconds"
            )
        return seconds

    @field_validator("ca_file")
    @classmethod
    def _found(cls, name: str | None, info: ValidationInfo) -> str | None:
        """Its place as it is from everywhere."""
        place = check_authorities(name, info)
        return name if place is None else str(place.resolve())

    @model_validator(mode="after")
    def _possible(self) -> Self:
        FaultsError.raise_any(self.impossible())
        FaultsError.raise_any(self.without_effect())
        return self

    def impossible(self) -> Iterator[Fault]:
        """Yield faults of keys that are each right and impossible together."""
        yield from self._two_masters()
        yield from self._two_needs()

    def without_effect(self) -> Iterator[Fault]:
        """Keys of a possible cluster whose alarm or policy would never get data."""
        return _find_keys_without_effect(self)

    def _two_masters(self) -> Iterator[Fault]:
        first: dict[str, str] = {}
        for index, scaling in enumerate(self.scaling):
            service = self.distinguished(scaling.ecs_service)
            if service in first:
                both = f"{first[service]} and {scaling.group} both scale the service "
                yield Fault(("scaling", index), f"{both}{service}, which follows one")
            first.setdefault(service, scaling.group)

    def distinguished(self, service: EcsService) -> str:
        """Return the identity of a service."""
        return f"{service.account}:{service}" if service.account else service.known_as

    def _two_needs(self) -> Iterator[Fault]:
        first: dict[str, dict[str, Any] | None] = {}
        for index, scaling in enumerate(self.scaling):
            keys = scaling.task_keys()
            if first.setdefault(scaling.group, keys) != keys:
                sentence = f"{scaling.group} has other {', '.join(TaskKeys.model_fields)} in an "
                yield Fault(
                    ("scaling", index),
                    f"{sentence}entry before, and one group has one {contract.TASKS_NEEDED}",
                )

    @property
    @abstractmethod
    def is_msk(self) -> bool:
        """True if MSK runs the cluster."""

    @property
    @abstractmethod
    def is_serverless(self) -> bool:
        """True for MSK Serverless: only IAM, no visible brokers, no metrics by partition."""

    @property
    @abstractmethod
    def msk_name(self) -> str | None:
        """The cluster's name in MSK's own metrics, None where it is not MSK."""

    @property
    @abstractmethod
    def way_in(self) -> str:
        """The type of its login, or `plaintext` without any."""

    @property
    @abstractmethod
    def has_secret(self) -> bool:
        """True if the login is a secret."""

    @property
    @abstractmethod
    def ways_out(self) -> WaysOut:
        """The ways from the collector to AWS's services."""

    @property
    def has_brokers(self) -> bool:
        """True if MSK publishes metrics of its brokers."""
        return self.is_msk and not self.is_serverless

    @property
    def has_disks(self) -> bool:
        """True if the brokers have disks that can fill up."""
        return self.has_brokers and self.broker_type == "standard"

    @property
    def watches_any_group(self) -> bool:
        """True if queries watch all groups. A paused cluster has none: they would cost and have no
        data.

        They see what a sink publishes into CloudWatch's namespaces.
        """
        return self.alarms.any_group and bool(self.sink_names) and not self.paused

    @property
    def watches_unusual(self) -> bool:
        """True if a query watches all groups for unusual values."""
        return self.alarms.any_unusual and bool(self.sink_names) and not self.paused

    @property
    def watches_brokers(self) -> bool:
        """True if there are alarms on the brokers; none while paused, because queries cost."""
        return self.has_brokers and self.alarms.brokers and not self.paused

    @property
    def named_groups(self) -> tuple[str, ...]:
        """Groups that an alarm or a policy names, which come first in the budget."""
        alarms = self.alarms
        named = [*alarms.groups, *alarms.anomalies, *alarms.offset_lag]
        named += [group for scaling in self.scaling for group in scaling.groups]
        return tuple(dict.fromkeys(named))

    @property
    def interval_minutes(self) -> int:
        """Minutes between scheduled runs."""
        return int(self.interval_seconds) // 60

    @property
    def published_levels(self) -> Levels:
        """The metrics that the collector publishes, including those for alarms and scaling."""
        return levels_of(self._levels())

    def catch_up_seconds_of(self, group: str) -> float:
        """Within so many `TasksNeeded` works off the group's backlog."""
        given = {each: scaling for scaling in self.scaling for each in scaling.groups}
        by_service, by_name = given.get(group), ByName.of(self.tasks.items()).get(group)
        if by_service is not None and by_service.task_keys() is not None:
            return by_service.catch_up_seconds
        return (by_name or TaskSettings()).catch_up_seconds

    def document_with(
        self, *, bootstrap_servers: list[str] | None, mechanism: str | None, secret_id: str | None
    ) -> dict[str, Any]:
        """Its collector's normalised document; brokers and secret are None where a deploy knows.

        `mechanism` is that of SCRAM.
        """
        whole = written(
            self,
            cluster=self.name,
            bootstrap_servers=bootstrap_servers,
            security_protocol=_TRANSPORT[self.way_in],
            sasl_mechanism=mechanism or IAM,
            secret_id=secret_id,
            cafile=CA_FILE if self.ca_file else None,
        )
        return whole | {"levels": self._levels(), "tasks": self._tasks() | whole["tasks"]}

    def _levels(self) -> dict[str, Any]:
        levels = self.levels.model_dump(mode="json")
        levels["named"] = list(dict.fromkeys([*self.levels.named, *self.named_groups]))
        levels["unusual"] = self.levels.unusual or self.alarms.any_unusual
        if self.scaling and "scaling" not in self.levels.model_fields_set:
            every = (group for scaling in self.scaling for group in scaling.groups)
            groups = dict.fromkeys(map(re.escape, every))
            levels["scaling"] = {"allow": rf"^(?:{'|'.join(groups)})\Z", "deny": None}
        return levels

    def _tasks(self) -> dict[str, Any]:
        """Return the task keys that services give for their groups, by expression."""
        given = {group: each.task_keys() for each in self.scaling for group in each.groups}
        return {
            rf"^{re.escape(group)}\Z": keys for group, keys in given.items() if keys is not None
        }


def is_serverless_arn(arn: str) -> bool:
    """Return true for an ARN of MSK Serverless."""
    return _SERVERLESS.search(arn) is not None


def _find_keys_without_effect(cluster: WatchedCluster) -> Iterator[Fault]:
    """Keys whose alarm or policy would never get data, which nobody would miss."""
    levels = cluster.published_levels
    yield from _too_long(cluster)
    yield from _unread(cluster, cluster.groups.names)
    yield from _unscaled(cluster, levels)
    yield from _no_room(cluster, levels)
    yield from _too_seldom(cluster)
    yield from _unfit_runs(cluster)
    yield from _unpublished(cluster)
    yield from _unused_topics(cluster)
    yield from _no_brokers(cluster)


def _too_long(cluster: WatchedCluster) -> Iterator[Fault]:
    """CloudWatch takes 1,024 characters, but CDK makes no metric of more than 255."""
    for place, group in _named(cluster):
        if (length := len(dimension_value(group))) > _LONGEST_VALUE:
            sentence = f"as a dimension the name has {length} characters, and alarms are made for"
            yield _fault(
                place, f"{sentence} {_LONGEST_VALUE} at most; any_group watches it all the same"
            )


def _unfit_runs(cluster: WatchedCluster) -> Iterator[Fault]:
    """Yield faults of runs for missing alarms, and of runs that CloudWatch does not take."""
    for group, runs in cluster.alarms.sla_runs.items():
        place = ("alarms", "sla_runs", group)
        if group not in cluster.alarms.groups:
            yield _fault(place, f"{group} has no alarm of its own: name it in alarms.groups")
        elif cluster.sla_of(group) is None:
            yield _fault(place, f"{group} has no SLA: no sla_seconds matches it")
        if (minutes := runs.periods * cluster.interval_minutes) > _LONGEST_ALARM_MINUTES:
            yield _fault(
                (*place, "periods"), f"are {minutes:,} minutes, and an alarm sees a day at most"
            )


def _unread(cluster: WatchedCluster, read: NameFilter) -> Iterator[Fault]:
    for place, group in _named(cluster):
        if read.deny is not None and read.deny.search(group):
            yield _fault(place, f"the group {group} is not read: groups.deny matches it")
        elif not read.accepts(group):
            yield _fault(place, f"the group {group} is not read: groups.allow does not match it")


def _named(cluster: WatchedCluster) -> Iterator[tuple[Place, str]]:
    for key in ("groups", "anomalies"):
        for index, group in enumerate(getattr(cluster.alarms, key)):
            yield ("alarms", key, index), group
    for group in cluster.alarms.offset_lag:
        yield ("alarms", "offset_lag", group), group
    for index, scaling in enumerate(cluster.scaling):
        yield ("scaling", index, "group"), scaling.group
        for further, group in enumerate(scaling.groups[1:]):
            yield ("scaling", index, "tasks", "groups", further), group


def _unscaled(cluster: WatchedCluster, levels: Levels) -> Iterator[Fault]:
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


def _no_room(cluster: WatchedCluster, levels: Levels) -> Iterator[Fault]:
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


def _too_seldom(cluster: WatchedCluster) -> Iterator[Fault]:
    minutes = cluster.interval_minutes
    for index, scaling in enumerate(cluster.scaling):
        if scaling.tracking and minutes > 1:
            yield _fault(
                ("scaling", index, "tracking"),
                f"needs {contract.SCALING_LAG_PER_MEMBER} every minute, and interval_seconds "
                f"makes it every {minutes}; give steps",
            )


def _unpublished(cluster: WatchedCluster) -> Iterator[Fault]:
    if cluster.sink_names:
        return
    for place, group in _named(cluster):
        yield _fault(
            place,
            f"{group} has no metrics in CloudWatch, as sinks names neither emf nor cloudwatch",
        )


def _unused_topics(cluster: WatchedCluster) -> Iterator[Fault]:
    """Topics of owners without a named group."""
    alarms = cluster.alarms
    named = (*alarms.groups, *alarms.anomalies, *alarms.offset_lag)
    owners = {cluster.owner_of(group) for group in named}
    for owner in alarms.owners_with_topics:
        if owner not in owners:
            yield _fault(
                ("alarms", "owner_topics", owner),
                "owns no group that alarms name, which alone have alarms of their own: write the "
                "name as owner has it",
            )


def _no_brokers(cluster: WatchedCluster) -> Iterator[Fault]:
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
