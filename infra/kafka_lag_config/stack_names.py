# SPDX-License-Identifier: Apache-2.0
"""The stacks of a cluster's deployment by name, account and region; without CDK.

The app makes them by these, and whoever looks at what is deployed looks for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafka_lag_config.cluster import Cluster
from kafka_lag_config.deployment import Deployment


@dataclass(frozen=True, slots=True)
class StackName:
    """A stack of CloudFormation; `account` None is whichever deploys."""

    name: str
    account: str | None
    region: str


def scaling_accounts(cluster: Cluster) -> tuple[str, ...]:
    """The accounts beside the cluster's own in which services follow its groups."""
    named = dict.fromkeys(each.account for each in cluster.scaling)
    return tuple(each for each in named if each and cluster.scaling_in(each))


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
