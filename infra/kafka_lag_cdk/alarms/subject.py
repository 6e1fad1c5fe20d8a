# SPDX-License-Identifier: Apache-2.0
"""What alarms are about: what they are called, and what they say of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from kafka_lag.contract.dimensions import dimension_value
from kafka_lag_cdk.alarms.rules import Rule
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.names import DEPLOYMENT, alarm_name, dashboard_name

_MANUAL = "docs/operations.md"
# A description holds 1,024 characters; a group's name may be as long.
_LONGEST_NAME = 150

# Minutes that a stack may take from an alarm to the first run: network interfaces, endpoints.
_DEPLOY_MINUTES = 30


class Subject(Protocol):
    """Whatever rules can be held against."""

    @property
    def warm_up_minutes(self) -> int:
        """Until data must be there, in a first deploy."""

    def name(self, rule: Rule) -> str:
        """The alarm's name."""

    def description(self, rule: Rule, where: str) -> str:
        """What it means, what to do first, and where."""


def described(subject: str, rule: Rule, where: str, manual: str) -> str:
    """A rule in words, of a subject; the manual has a section by the rule's name."""
    parts = (f"{subject}: {rule.meaning}", rule.to_do, where, f"See {manual}#{rule.name}.")
    return " ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class ClusterSubject:
    """A cluster, or one group in it, as one deployment watches it."""

    cluster: Cluster
    group: str | None = None
    deployment: str = DEPLOYMENT

    @property
    def warm_up_minutes(self) -> int:
        """The first run, and what the stack takes until then."""
        return _DEPLOY_MINUTES + self.cluster.interval_minutes

    def name(self, rule: Rule) -> str:
        """`<deployment>/<cluster>/<rule>`, and the group."""
        group = [] if self.group is None else [dimension_value(self.group)]
        return alarm_name(self.deployment, self.cluster.name, rule.name, *group)

    def description(self, rule: Rule, where: str) -> str:
        """Within what CloudWatch takes, however long the names are."""
        owner = None if self.group is None else self.cluster.owner_of(self.group)
        shown = "" if owner is None else f"Owner: {_shortened(owner)}."
        return described(str(self), rule, f"{shown} {where}".strip(), _MANUAL)

    @property
    def shown(self) -> str:
        """The dashboard that shows it, nothing where the cluster has none."""
        named = dashboard_name(self.cluster.name, self.deployment)
        return f"Dashboard: {named}." if self.cluster.dashboard else ""

    def __str__(self) -> str:
        if self.group is None:
            return f"Cluster {self.cluster.name}"
        value = dimension_value(self.group)
        return f"Group {_shortened(value)} of {self.cluster.name}"


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."
