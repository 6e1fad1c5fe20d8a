# SPDX-License-Identifier: Apache-2.0
"""All clusters of one configuration together, and what must not happen between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from pydantic import Field, model_validator

from kafka_lag_config.cluster import Cluster
from kafka_lag_config.faults import Fault, FaultsError
from kafka_lag_config.network import Endpoints
from kafka_lag_config.shared import ExistingBucket, KmsKeys, Shared
from kafka_lag_config.strict import Strict
from kafka_lag_config.types import EMPTY, Account, Listed, Prefix, Text

_LONGEST_STACK_NAME = 128

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class StackName:
    """A stack of CloudFormation by its name; `account` None is whichever deploys."""

    name: str
    account: str | None
    region: str


class Deployment(Strict):
    """All clusters, and what they share."""

    name: Prefix = "kafka-lag"
    """first part of all names; another name is a separate deployment (a chat channel can belong to
    only one)"""
    account: Account | None = None
    """the account of each cluster that names none in its ARN or its `account` (unless given: that
    of whoever deploys)"""
    tags: Annotated[dict[Text, str], Field(max_length=40)] = EMPTY
    """tags of everything that can have some: `{"cost-centre": "4711"}`; at most 40, and no two
    whose names differ only by case. The tag `application` is always there: the deployment's name,
    unless it is given here"""
    permissions_boundary: Text | None = None
    """name, with its path, of a managed policy in each account: the boundary of every role that is
    made"""
    shared: Shared = Shared()
    """settings that the clusters of a region share, below"""
    clusters: Annotated[tuple[Cluster, ...], Listed, Field(min_length=1)]
    """one object each"""

    @model_validator(mode="after")
    def _together(self) -> Deployment:
        between = (
            *self._alike(),
            *self._half_an_account(),
            *self._two_endpoints(),
            *self._two_masters(),
        )
        faults = (Fault(("clusters",), sentence) for sentence in between)
        alone = (*self._too_long(), *self._of_nobody(), *self._keys(), *self._same_tags())
        FaultsError.raise_any((*faults, *alone))
        return self

    def all_tags(self) -> dict[str, str]:
        """`tags`, and `application`, the deployment's name, unless they have it in any spelling."""
        given = {key.casefold() for key in self.tags}
        return {key: self.name for key in ("application",) if key not in given} | self.tags

    def places(self) -> dict[tuple[str | None, str], tuple[Cluster, ...]]:
        """The clusters by account and region, in the order they were written."""
        found: dict[tuple[str | None, str], tuple[Cluster, ...]] = {}
        for cluster in self.clusters:
            place = self.place_of(cluster)
            found[place] = (*found.get(place, ()), cluster)
        return found

    def place_of(self, cluster: Cluster) -> tuple[str | None, str]:
        """Account (None: whichever deploys) and region of a cluster."""
        account, region = cluster.place
        return account or self.account, region

    def existing_bucket(self, account: str | None, region: str) -> ExistingBucket | None:
        """The bucket of the user's in an account and region, None where one is made."""
        return _there(self.shared.existing_buckets, account, region)

    def existing_topic(self, account: str | None, region: str) -> str | None:
        """The user's topic for alarms in an account and region, None where one is made."""
        return _there(self.shared.notify.existing_topics, account, region)

    def kms_keys(self, account: str | None, region: str) -> KmsKeys:
        """The user's keys there; the bucket's is that of their own bucket, if it is theirs."""
        keys = _there(self.shared.kms_keys, account, region) or KmsKeys()
        bucket = self.existing_bucket(account, region)
        return keys.model_copy(update={"bucket": bucket.kms_key_arn}) if bucket else keys

    def stack_name(self, cluster: Cluster, *of: str) -> str:
        """The name of a cluster's stack, or of one beside it; letters, digits and '-' only."""
        return "-".join((self.name, re.sub(r"[^A-Za-z0-9-]", "-", cluster.name), *of))

    def scaling_stack_name(self, cluster: Cluster) -> str:
        """Return the stack name for services of another account, the same in each account."""
        return self.stack_name(cluster, "scaling")

    @property
    def shared_stack_name(self) -> str:
        """The name of each region's shared stack."""
        return f"{self.name}-shared"

    @property
    def chat_stack_name(self) -> str:
        """The name of each account's stack of chat channels."""
        return f"{self.name}-chat"

    @property
    def views_stack_name(self) -> str:
        """The name of each region's stack of views."""
        return f"{self.name}-views"

    def _too_long(self) -> Iterator[Fault]:
        for index, cluster in enumerate(self.clusters):
            names = [self.stack_name(cluster)]
            if any(each.account for each in cluster.scaling):
                names.append(self.scaling_stack_name(cluster))
            longest = max(names, key=len)
            if len(longest) > _LONGEST_STACK_NAME:
                yield Fault(
                    ("clusters", index, "name"),
                    f"gives its stack {longest} a name of {len(longest)} characters, and "
                    f"CloudFormation takes {_LONGEST_STACK_NAME} at most: shorten it, or the "
                    "deployment's name",
                )

    def _alike(self) -> Iterator[str]:
        """Names are an account's, whatever the region, as those of its dashboards are."""
        accounts = dict.fromkeys(self.place_of(cluster)[0] for cluster in self.clusters)
        # Whoever deploys may be in any of them.
        apart = [{each} for each in accounts] if None not in accounts else [set(accounts)]
        for together in apart:
            yield from self._alike_of([c for c in self.clusters if self.place_of(c)[0] in together])

    def _alike_of(self, clusters: Sequence[Cluster]) -> Iterator[str]:
        stacks = [(self.stack_name(cluster), cluster.name) for cluster in clusters]
        ours = [self.shared_stack_name, self.chat_stack_name]
        ours += [self.views_stack_name] * (self.shared.views is not None)
        for stack, count in Counter([*(name.lower() for name, _ in stacks), *ours]).items():
            if count > 1:
                same = [owner for name, owner in stacks if name.lower() == stack]
                yield (
                    f"{' and '.join(same)} would get the stack {stack}, which "
                    "another has: change a name"
                )

    def _half_an_account(self) -> Iterator[str]:
        """Yield an error if only some clusters of a region name their account: two shared stacks
        may then be one."""
        for account, region in self.places():
            known = [other for other, there in self.places() if there == region and other]
            if account is None and known:
                names = ", ".join(cluster.name for cluster in self.places()[None, region])
                yield (
                    f"{names} in {region} would share a stack or not, as others there are in "
                    f"account {known[0]}: give account"
                )

    def _of_nobody(self) -> Iterator[Fault]:
        """Buckets, keys and topics of a place without a cluster, or of several accounts."""
        for kind, key, what in (
            *(("existing_buckets", each, "bucket") for each in self.shared.existing_buckets),
            *(("kms_keys", each, "key") for each in self.shared.kms_keys),
        ):
            yield from self._of_no_place(("shared", kind, key), what)
        for key, arn in self.shared.notify.existing_topics.items():
            place = ("shared", "notify", "existing_topics", key)
            yield from self._of_no_place(place, "topic")
            if (region := arn.split(":")[3]) != key.rpartition("/")[2]:
                yield Fault(
                    place, f"the topic is in {region}, and alarms publish in their own region only"
                )

    def _of_no_place(self, place: tuple[str, ...], what: str) -> Iterator[Fault]:
        account, _, region = place[-1].rpartition("/")
        owners = [owner for owner, there in self.places() if there == region]
        if not owners:
            regions = ", ".join(sorted({region for _, region in self.places()}))
            yield Fault(place, f"no cluster is in this region; there are some in {regions}")
        elif account and account not in owners:
            known = ", ".join(owner or "whichever deploys" for owner in owners)
            yield Fault(place, f"no cluster is in this account there; some are in {known}")
        elif not account and len(owners) > 1:
            both = " and ".join(str(owner) for owner in owners)
            yield Fault(
                place,
                f"the accounts {both} have clusters there, and a {what} is one account's: "
                f"write {owners[0]}/{region}",
            )

    def _keys(self) -> Iterator[Fault]:
        """Keys that could not encrypt what they are for."""
        for key, bucket in self.shared.existing_buckets.items():
            place = ("shared", "existing_buckets", key)
            yield from _elsewhere((*place, "kms_key_arn"), key, bucket.kms_key_arn)
        for key, keys in self.shared.kms_keys.items():
            place = ("shared", "kms_keys", key)
            for what in KmsKeys.model_fields:
                yield from _elsewhere((*place, what), key, getattr(keys, what))
            if keys.topic and not self.shared.notify.encrypted:
                yield Fault((*place, "topic"), "must be left out where notify.encrypted is false")
        for account, region in self.places():
            keys = _there(self.shared.kms_keys, account, region) or KmsKeys()
            if keys.bucket and self.existing_bucket(account, region):
                yield Fault(
                    ("shared", "kms_keys"),
                    f"bucket is for one that is made, and {region} has one in existing_buckets: "
                    "write its key there, as kms_key_arn",
                )

    def _same_tags(self) -> Iterator[Fault]:
        """Keys that differ by case alone: IAM refuses a role with both [IAM user guide, tags]."""
        spelled: dict[str, str] = {}
        for key in self.tags:
            other = spelled.setdefault(key.casefold(), key)
            if other != key:
                yield Fault(("tags", key), f"is the same key as {other} to IAM: keep one of them")

    def _two_endpoints(self) -> Iterator[str]:
        for kind in Endpoints.model_fields:
            owners: dict[str, str] = {}
            for cluster in self.clusters:
                if not getattr(cluster.vpc.endpoints, kind):
                    continue
                other = owners.setdefault(cluster.vpc.id, cluster.name)
                if other != cluster.name:
                    yield (
                        f"{other} and {cluster.name} both make the {kind} endpoint of "
                        f"{cluster.vpc.id}, which can have one; leave it to one of them"
                    )

    def _two_masters(self) -> Iterator[str]:
        owners: dict[tuple[object, ...], str] = {}
        for cluster in self.clusters:
            for scaling in cluster.scaling:
                owner, region = self.place_of(cluster)
                place = (scaling.account or owner, region)
                service = (*place, scaling.ecs_cluster, scaling.service)
                follows = f"{cluster.name}'s group {scaling.group}"
                if service not in owners:
                    owners[service] = follows
                else:
                    yield (
                        f"{owners[service]} and {follows} both scale the service "
                        f"{scaling.ecs_cluster}/{scaling.service}, which follows one"
                    )


def _there(by_place: Mapping[str, V], account: str | None, region: str) -> V | None:
    return by_place.get(f"{account}/{region}", by_place.get(region))


def _elsewhere(place: tuple[str, ...], key: str, arn: str | None) -> Iterator[Fault]:
    region = key.rpartition("/")[2]
    if arn and (at := arn.split(":")[3]) != region:
        yield Fault(place, f"is in {at}, and a key encrypts in its own region alone, not {region}")


def scaling_accounts(cluster: Cluster) -> tuple[str, ...]:
    """The accounts beside the cluster's own in which services follow its groups."""
    services = (each.service for each in cluster.facts.services if each.apart)
    return tuple(dict.fromkeys(each.account for each in services if each.account))


def chat_regions(deployment: Deployment) -> dict[str | None, tuple[str, ...]]:
    """Return by account the regions whose topics its chats show; the stack is in the first one."""
    found: dict[str | None, tuple[str, ...]] = {}
    if deployment.shared.notify.has_chats:
        for account, region in deployment.places():
            found[account] = (*found.get(account, ()), region)
    return found


def stack_names_for(deployment: Deployment, cluster: Cluster) -> Iterator[StackName]:
    """All that a cluster needs, those that it shares with others first."""
    account, region = deployment.place_of(cluster)
    yield StackName(deployment.shared_stack_name, account, region)
    if regions := chat_regions(deployment).get(account):
        yield StackName(deployment.chat_stack_name, account, regions[0])
    if deployment.shared.views is not None:
        yield StackName(deployment.views_stack_name, account, region)
    yield StackName(deployment.stack_name(cluster), account, region)
    for other in scaling_accounts(cluster):
        yield StackName(deployment.scaling_stack_name(cluster), other, region)
