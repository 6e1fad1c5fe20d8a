# SPDX-License-Identifier: Apache-2.0
"""The rights of a login on a cluster, and what a monitor cannot read there; nothing is changed.

A right on all topics or groups is tried on a name that nobody uses: brokers check the right first,
and tell only a login that has it that the name does not exist.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from kafka import errors
from kafka.protocol.admin import ACLOperation, DescribeConfigsRequest, DescribeGroupsRequest
from kafka.protocol.metadata import MetadataRequest

from kafka_lag import contract
from kafka_lag.brokers.access import IAM, Access, Credentials, Login
from kafka_lag.brokers.bootstrap import connect
from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.coordinators import ConsumerGroup, chunks
from kafka_lag.brokers.errors import UnansweredError
from kafka_lag.brokers.group_members import GroupDescription, describe_groups
from kafka_lag.brokers.groups import find_groups
from kafka_lag.brokers.login import CredentialSource
from kafka_lag.brokers.retries import RetryBudget
from kafka_lag.brokers.time_lookups import LookUpBudget, look_up
from kafka_lag.brokers.topic_settings import TopicSettingsCache
from kafka_lag.brokers.topics import build_table
from kafka_lag.errors import ReporterError
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.lag.model import Throttled
from kafka_lag.lag.time_index import NEWEST, LookupResults
from kafka_lag_cli.doctor.acls import AclListing, list_acls

GROUP_COMMITS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"

_TOPIC_DENIED = errors.TopicAuthorizationFailedError.errno
_GROUP_DENIED = errors.GroupAuthorizationFailedError.errno
# The versions of Metadata that say what may be done: with the cluster (KIP-430), until KIP-700
# moved that to another request, and with topics.
_WITH_OPERATIONS, _WITH_CLUSTER_OPERATIONS = 8, 10
_NOT_SAID = -(2**31)
_TOPIC_RESOURCE = 2
_NAMES_PER_REQUEST = 500
# More would not change what is said, and cost the brokers a look-up each.
MOST_LOOKED_UP = 2_000
_SCRAM = ("SCRAM-SHA-512", "SCRAM-SHA-256")
# A time that every record is at or after.
_FIRST = 0


@dataclass(frozen=True, slots=True)
class Rights:
    """The rights of the login; null if no broker answered.

    `topics`, `settings` and `groups` are of names that nobody has named: Describe, DescribeConfigs
    and Describe. `hidden_topics` are owned by members of groups, or named by ACLs, and may not be
    described; some may not exist. Of those in `without_settings` configs may not be described.
    `denied_groups` are listed and may not be described, `without_members` may be but for their
    members, as these own topics that may not. `hidden_prefixes` begin names of topics that may not
    be described, if there are any, and `prefixes_without_settings` those whose configs may not.
    """

    cluster: bool | None = None
    topics: bool | None = None
    settings: bool | None = None
    groups: bool | None = None
    hidden_topics: tuple[str, ...] = ()
    without_settings: tuple[str, ...] = ()
    denied_groups: tuple[str, ...] = ()
    without_members: tuple[str, ...] = ()
    hidden_prefixes: tuple[str, ...] = ()
    prefixes_without_settings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicAhead:
    """A topic whose newest record is so many ms later than the clock of this machine.

    `by_brokers`: whether brokers set the time of its records; None where that may not be read.
    """

    topic: str
    ms: int
    by_brokers: bool | None


@dataclass(frozen=True, slots=True)
class Clocks:
    """Newest times of `partitions`, of `wanted`; `empty` hold no record. They were `requested` of
    so many, at most `MOST_LOOKED_UP`: others of these had no answer.

    `of_commits` of those wanted are the topic's that Kafka keeps commits in.
    """

    partitions: int = 0
    empty: int = 0
    wanted: int = 0
    ahead: tuple[TopicAhead, ...] = ()
    of_commits: int = 0
    requested: int = 0


@dataclass(frozen=True, slots=True)
class Inspection:
    """The findings of an inspection; `login` is the one that the brokers accepted.

    `version` is the least that the brokers can be by what they speak. `not_responding` has a cause
    by address. `given_up` are addresses of brokers that a client quota kept from answering;
    `throttled` is null where it held no answer back. `unlisted` are ids of brokers that did not
    list their groups. `groups` are names by kind, in Kafka's words;
    None where no broker said. `topics` are those that filters want and that may be described.
    `has_transactions`: whether a transactional producer has ever written; None is not known.
    """

    login: Login | None
    cluster_id: str
    version: tuple[int, ...] | None
    brokers: tuple[str, ...]
    not_responding: Mapping[str, str]
    rights: Rights = field(default_factory=Rights)
    acls: AclListing = field(default_factory=AclListing)
    topics: tuple[str, ...] = ()
    groups: Mapping[str | None, tuple[str, ...]] = field(default_factory=dict)
    clocks: Clocks = field(default_factory=Clocks)
    has_transactions: bool | None = None
    throttled: Throttled | None = None
    given_up: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()

    @property
    def heard_all(self) -> bool:
        """True if every broker listed its groups: each lists only those that it coordinates."""
        return not (self.not_responding or self.given_up or self.unlisted)

    @property
    def lists_all_groups(self) -> bool:
        """True if only the filters can keep a group out of `groups`."""
        return self.heard_all and bool(self.rights.cluster or self.rights.groups)


def inspect_cluster(
    access: Access,
    credentials: CredentialSource,
    topics: NameFilter,
    groups: NameFilter,
    deadline: float,
    clock: Callable[[], float] = time.time,
) -> Inspection:
    """Logs in and looks at what these filters want, until `deadline` (time.monotonic).

    Raises LoginError, SourceError or ConfigError where nobody can log in.
    """
    connections, login = connect(access, credentials.candidates(), deadline)
    try:
        inspect = _Inspector(connections, topics, groups, deadline, clock)
        return connections.run(inspect.run(login))
    finally:
        connections.close()


def find_scram_mechanism(
    access: Access, credentials: CredentialSource, offered: Collection[str], deadline: float
) -> str | None:
    """Another mechanism with which the brokers accept a login that they reject with its own.

    SCRAM proves a password without sending it, so that it may be tried.
    """
    if not access.logs_in or access.sasl_mechanism == IAM:
        return None
    for mechanism in _SCRAM:
        if mechanism not in offered or mechanism == access.sasl_mechanism:
            continue
        tried = replace(access, sasl_mechanism=mechanism)
        with suppress(ReporterError):
            connections, _ = connect(tried, credentials.candidates(), deadline)
            connections.close()
            return mechanism
    return None


class _Inspector:
    """One inspection over connections that are logged in."""

    def __init__(
        self,
        connections: Connections,
        topics: NameFilter,
        groups: NameFilter,
        deadline: float,
        clock: Callable[[], float],
    ) -> None:
        self._connections, self._deadline, self._clock = connections, deadline, clock
        self._topics, self._groups = topics, groups
        # A topic may be called so, and no prefix of an ACL begins so: denied to us, it is denied by
        # an ACL on all names, or by default.
        self._nobody = f"-_.{secrets.token_hex(8)}.kafka-lag-doctor"

    async def run(self, login: Login | None) -> Inspection:
        connections = self._connections
        addresses = {
            broker.node_id: f"{broker.host}:{broker.port}"
            for broker in connections.pool.manager.cluster.brokers()
        }
        acls = await list_acls(connections)
        listed, cluster = await self._list_topics()
        groups_right = await self._may_describe_groups()
        listing = await find_groups(
            connections, RetryBudget(connections), self._groups, known=(), once=()
        )
        descriptions = await self._describe(listing.groups)
        visible = {topic.name: topic for topic in listed or () if topic.name}
        named = _owned_topics(descriptions.values()) | _literal_topics(acls)
        unseen = sorted(n for n in named - visible.keys() if self._topics.accepts(n))
        # What begins like an ACL is tried by a name that nobody has, too.
        made_up = {prefix + self._nobody: prefix for prefix in self._prefixes(acls)}
        denied, topics_right = await self._look_for_topics([*unseen, *made_up])
        no_settings, settings = await self._look_for_settings(denied)
        hidden, hidden_prefixes = _apart(denied, made_up)
        unread, prefixes_without_settings = _apart(no_settings, made_up)
        wanted = sorted(name for name in visible if self._topics.accepts(name))
        unread += tuple(n for n in wanted if _lacks(visible[n], ACLOperation.DESCRIBE_CONFIGS))
        rights = Rights(
            cluster=cluster,
            topics=topics_right,
            settings=settings,
            groups=groups_right,
            hidden_topics=hidden,
            without_settings=unread,
            denied_groups=_failing(descriptions, _GROUP_DENIED),
            without_members=_failing(descriptions, _TOPIC_DENIED),
            hidden_prefixes=hidden_prefixes,
            prefixes_without_settings=prefixes_without_settings,
        )
        newest = await self._newest_times([visible[name] for name in visible])
        clocks = await self._clocks(newest, wanted, visible)
        not_responding, given_up = _split_down(connections, addresses)
        delays = connections.throttled_seconds().values()
        user = login.username if isinstance(login, Credentials) else None
        return Inspection(
            login=login,
            cluster_id=connections.cluster_id,
            version=_version(connections),
            brokers=tuple(addresses.values()),
            not_responding=not_responding,
            rights=rights,
            acls=acls,
            topics=tuple(wanted),
            groups=_by_kind(listing.groups),
            clocks=clocks,
            has_transactions=_has_transactions(newest, visible, topics_right)
            if listed is not None
            else None,
            throttled=Throttled(max(delays), user) if delays else None,
            unlisted=tuple(problem.name for problem in listing.problems),
            given_up=given_up,
        )

    def _prefixes(self, listing: AclListing) -> list[str]:
        """Return the prefixes of ACLs on topics, if all topics but some denied ones are wanted."""
        if self._topics.allow is not None:
            return []
        found = {acl.name for acl in listing.acls or () if acl.resource == "topic" and acl.prefixed}
        return sorted(name for name in found if self._topics.accepts(name + self._nobody))

    async def _list_topics(self) -> tuple[list[Any] | None, bool | None]:
        """All topics that may be described, and whether the cluster may be."""
        try:
            answer = await self._connections.send_to_any(
                lambda: MetadataRequest(
                    topics=None,
                    allow_auto_topic_creation=False,
                    include_cluster_authorized_operations=True,
                    include_topic_authorized_operations=True,
                    min_version=_WITH_OPERATIONS,
                    max_version=_WITH_CLUSTER_OPERATIONS,
                )
            )
        except UnansweredError:
            return None, None
        operations = _operations(answer)
        topics = [topic for topic in answer.topics or () if topic.partitions]
        self._connections.update_brokers(answer)
        return topics, None if operations is None else ACLOperation.DESCRIBE in operations

    async def _look_for_topics(self, names: Sequence[str]) -> tuple[tuple[str, ...], bool | None]:
        """Return the names that may not be described, and whether an unused name may be."""
        codes: dict[str, int] = {}
        for part in chunks([self._nobody, *names], _NAMES_PER_REQUEST):
            request = [MetadataRequest.MetadataRequestTopic(name=name) for name in part]
            try:
                answer = await self._connections.send_to_any(
                    partial(MetadataRequest, topics=request, allow_auto_topic_creation=False)
                )
            except UnansweredError:
                continue
            codes |= {topic.name: topic.error_code for topic in answer.topics or ()}
        denied = tuple(name for name in names if codes.get(name) == _TOPIC_DENIED)
        return denied, _allowed(codes.get(self._nobody), _TOPIC_DENIED)

    async def _look_for_settings(self, names: Sequence[str]) -> tuple[tuple[str, ...], bool | None]:
        """Return the names whose configs may not be read, and whether an unused name's may be."""
        resource = DescribeConfigsRequest.DescribeConfigsResource
        codes: dict[str, int] = {}
        for part in chunks([self._nobody, *names], _NAMES_PER_REQUEST):
            # One key keeps the answer short.
            resources = [
                resource(_TOPIC_RESOURCE, name, configuration_keys=["cleanup.policy"])
                for name in part
            ]
            try:
                answer = await self._connections.send_to_any(
                    partial(DescribeConfigsRequest, resources=resources)
                )
            except UnansweredError:
                continue
            codes |= {each.resource_name: each.error_code for each in answer.results or ()}
        denied = tuple(name for name in names if codes.get(name) == _TOPIC_DENIED)
        return denied, _allowed(codes.get(self._nobody), _TOPIC_DENIED)

    async def _may_describe_groups(self) -> bool | None:
        try:
            answer = await self._connections.send_to_any(
                lambda: DescribeGroupsRequest(groups=[self._nobody])
            )
        except UnansweredError:
            return None
        codes = [group.error_code for group in answer.groups or ()]
        return _allowed(codes[0] if codes else None, _GROUP_DENIED)

    async def _describe(self, groups: Iterable[ConsumerGroup]) -> dict[str, GroupDescription]:
        """Descriptions of all that have commits, those without members too."""
        return await describe_groups(
            self._connections,
            (replace(group, state=None) for group in groups if not group.is_shared),
        )

    async def _newest_times(self, topics: Collection[Any]) -> _NewestTimes:
        table = build_table(list(topics), {})
        rows = table.frame.numbers("partition_id").values
        # The first partitions of all topics before the second of any.
        frame = table.frame.take(np.argsort(rows, kind="stable")[:MOST_LOOKED_UP])
        newest = await self._look_up(frame, NEWEST)
        answered_ms = int(self._clock() * 1000)
        gone = newest.none.copy()
        ahead = np.flatnonzero(newest.found & (newest.times > answered_ms))
        # A segment remembers its newest time when the record is deleted already.
        first = await self._look_up(frame.take(ahead), _FIRST)
        is_deleted = first.none | (first.found & (first.offsets > newest.offsets[ahead]))
        gone[ahead[is_deleted]] = True
        times: dict[str, list[int]] = defaultdict(list)
        empty: dict[str, int] = defaultdict(int)
        columns = (newest.found.tolist(), gone.tolist(), newest.times.tolist())
        for name, found, none, at in zip(frame.strings("topic").to_list(), *columns, strict=True):
            if none:
                empty[name] += 1
            elif found:
                times[name].append(at)
        requested = Counter(map(str, frame.strings("topic").to_list()))
        return _NewestTimes(times, empty, requested, answered_ms)

    async def _look_up(self, partitions: Frame, at: int) -> LookupResults:
        times = np.full(len(partitions), at, np.int64)
        return await look_up(self._connections, partitions, times, LookUpBudget(), self._deadline)

    async def _clocks(
        self, newest: _NewestTimes, wanted: Sequence[str], visible: Mapping[str, Any]
    ) -> Clocks:
        looked_at = {*wanted, *({GROUP_COMMITS} & visible.keys())}
        ahead = {
            name: max(newest.times[name]) - newest.answered_ms
            for name in sorted(looked_at & newest.times.keys())
            if max(newest.times[name]) > newest.answered_ms
        }
        table = build_table([visible[name] for name in ahead], {})
        settings = await TopicSettingsCache().read(self._connections, table, (), 0)

        def by_brokers(name: str) -> bool | None:
            if name == GROUP_COMMITS:
                # Coordinators write commits, at times of their own.
                return True
            kind = settings.values.get(name, {}).get("message.timestamp.type")
            return None if kind is None else kind == "LogAppendTime"

        return Clocks(
            partitions=sum(len(newest.times[name]) for name in looked_at & newest.times.keys()),
            empty=sum(newest.empty.get(name, 0) for name in looked_at),
            requested=sum(newest.requested.get(name, 0) for name in looked_at),
            wanted=sum(len(visible[name].partitions) for name in looked_at),
            of_commits=sum(len(visible[n].partitions) for n in looked_at & {GROUP_COMMITS}),
            ahead=tuple(TopicAhead(name, ms, by_brokers(name)) for name, ms in ahead.items()),
        )


@dataclass(frozen=True, slots=True)
class _NewestTimes:
    """By topic: the newest time of each partition with records, how many are empty, how many were
    requested, and when the brokers answered, ms.
    """

    times: Mapping[str, list[int]]
    empty: Mapping[str, int]
    requested: Mapping[str, int]
    answered_ms: int


def _split_down(
    connections: Connections, addresses: Mapping[int, str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Returns brokers that do not respond with their causes, and those that a quota holds back."""
    failed = connections.down()
    down = {address: failed[node] for node, address in addresses.items() if node in failed}
    held_back = tuple(name for name, why in down.items() if why.reason == contract.THROTTLED)
    return {name: why.detail for name, why in down.items() if name not in held_back}, held_back


def _allowed(code: int | None, denied: int) -> bool | None:
    return None if code is None else code != denied


def _operations(answer: Any) -> set[int] | None:
    """Return the operations that an answer allows; null if it does not say."""
    found = getattr(answer, "authorized_operations", None)
    if found is None or found == _NOT_SAID:
        return None
    return {int(each) for each in found}


def _lacks(topic: Any, operation: int) -> bool:
    operations = _operations(topic)
    return operations is not None and operation not in operations


def _failing(descriptions: Mapping[str, GroupDescription], code: int) -> tuple[str, ...]:
    return tuple(
        sorted(n for n, each in descriptions.items() if each.failure and each.failure.code == code)
    )


def _owned_topics(descriptions: Iterable[GroupDescription]) -> set[str]:
    return {
        topic
        for description in descriptions
        for member in description.members or ()
        for topic, _ in member.assignment
    }


def _literal_topics(listing: AclListing) -> set[str]:
    return {
        acl.name
        for acl in listing.acls or ()
        if acl.resource == "topic" and not acl.prefixed and acl.name != "*"
    }


def _apart(
    names: Iterable[str], made_up: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of topics, and the prefixes of those that are made up."""
    listed = tuple(names)
    return (
        tuple(name for name in listed if name not in made_up),
        tuple(made_up[name] for name in listed if name in made_up),
    )


def _by_kind(groups: Iterable[ConsumerGroup]) -> dict[str | None, tuple[str, ...]]:
    kinds: dict[str | None, list[str]] = defaultdict(list)
    for group in sorted(groups, key=lambda group: group.name):
        kinds[group.kind].append(group.name)
    return {kind: tuple(names) for kind, names in kinds.items()}


def _version(connections: Connections) -> tuple[int, ...] | None:
    data = connections.pool.manager.broker_version_data
    return tuple(data.broker_version) if data is not None else None


def _has_transactions(
    newest: _NewestTimes, visible: Mapping[str, Any], may_describe: bool | None
) -> bool | None:
    if TRANSACTIONS not in visible:
        return False if may_describe else None
    if newest.times.get(TRANSACTIONS):
        return True
    is_complete = newest.empty.get(TRANSACTIONS) == len(visible[TRANSACTIONS].partitions)
    return False if is_complete else None
