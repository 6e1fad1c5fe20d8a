# SPDX-License-Identifier: Apache-2.0
"""Scaling of an ECS service by the group that it consumes as: by tasks needed, or by lag."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from kafka_lag import contract
from kafka_lag_config.faults import Fault, FaultsError
from kafka_lag_config.strict import Strict
from kafka_lag_config.tasks import TaskKeys
from kafka_lag_config.types import (
    Account,
    Checked,
    Count,
    GroupName,
    Listed,
    Name,
    Positive,
    Whole,
    matching,
)

Minutes = Annotated[int, Field(ge=1, le=60)]
Cooldown = Annotated[int, Field(ge=0, le=3600)]
_LEAST_IN_COOLDOWN = 600


def _check_in_cooldown(seconds: int) -> int:
    if seconds < _LEAST_IN_COOLDOWN:
        raise ValueError(
            f"must be at least {_LEAST_IN_COOLDOWN}: each task that leaves costs a rebalance, and "
            "the lag that it makes must be worked off first"
        )
    return seconds


InCooldown = Annotated[
    int,
    Field(le=3600),
    Checked(_check_in_cooldown, lambda schema: {**schema, "minimum": _LEAST_IN_COOLDOWN}),
]
Cron = Annotated[
    str,
    matching(
        r"cron\([^()]+\)",
        "must be a cron expression of Application Auto Scaling, as cron(0 7 ? * MON-FRI *)",
    ),
]
Timezone = Annotated[
    str, matching(r"[A-Za-z][A-Za-z0-9_+/-]*", "must be a time zone's name, as Europe/Berlin")
]


class Step(Strict):
    """From this value of the metric on, add so many tasks."""

    above: Positive
    add: Whole


class Steps(Strict):
    """Tasks by steps of lag or age: `out` in rising order, one fewer while under `below`.

    A breach must be seen in `out_minutes` of the last minutes, which are two more, and quiet in
    every one of `in_minutes`; then nothing of the kind for a cooldown. Missing data does nothing.
    """

    metric: Literal["ScalingLag", "EstimatedTimeLag"] = "ScalingLag"
    """ScalingLag or EstimatedTimeLag. Steps change the number of running tasks; beside `tasks` they
    act only while `TasksNeeded` is unknown"""
    out: Annotated[tuple[Step, ...], Listed, Field(min_length=1, max_length=10)]
    """objects of `above` and `add`, in rising order: from the value `above` on, `add` tasks are
    added"""
    below: Positive
    """below this value tasks are removed"""
    remove: Whole = 1
    """number of tasks that are removed"""
    out_minutes: Minutes = 3
    """minutes above a step before tasks are added"""
    in_minutes: Minutes = 15
    """minutes below `below` before tasks are removed; 60 beside `tasks`"""
    out_cooldown_seconds: Cooldown = 120
    """seconds before further tasks are added"""
    in_cooldown_seconds: InCooldown = 600
    """seconds before further tasks are removed, 600 at least, because each task that leaves costs a
    rebalance; 3600 beside `tasks`"""

    @model_validator(mode="after")
    def _rising(self) -> Steps:
        FaultsError.raise_any(Fault((), sentence) for sentence in self._falling())
        return self

    def _falling(self) -> Iterator[str]:
        bounds = [self.below, *(step.above for step in self.out)]
        if bounds != sorted(set(bounds)):
            yield "below and the steps' above must rise from one to the next"
        added = [step.add for step in self.out]
        if added != sorted(added):
            yield "a higher step must not add fewer tasks"


class Tasks(Strict):
    """Set as many tasks as `TasksNeeded` says: of the group, or the most of it and of `groups`."""

    groups: Annotated[tuple[GroupName, ...], Listed] = ()
    """`"tasks": {}`: as many tasks as [TasksNeeded](metrics.md#tasksneeded). `groups` names further
    consumer groups in the same tasks: the largest `TasksNeeded` counts, and the service is not
    scaled while one of them is unknown"""


class ScheduledBounds(Strict):
    """Other bounds from some times on."""

    cron: Cron
    """when the bounds change, as in `cron(0 7 ? * MON-FRI *)`"""
    timezone: Timezone = "UTC"
    """timezone of `cron`"""
    min: Count
    """tasks at least from then on, until another entry or a deploy sets others"""
    max: Whole | None = None
    """tasks at most (unless given: the service's)"""


class Tracking(Strict):
    """Set as many tasks as keep `ScalingLagPerMember` at a value."""

    lag_per_member: Positive
    """in place of steps: the value at which `ScalingLagPerMember` is kept. A good value: the
    records that a task reads in a second, times the seconds of lag that you accept"""
    out_cooldown_seconds: Cooldown = 60
    """seconds before further tasks are added"""
    in_cooldown_seconds: InCooldown = 600
    """seconds before further tasks are removed, 600 at least"""
    scale_in: bool = True
    """false: only ever add tasks"""


@dataclass(frozen=True, slots=True)
class EcsService:
    """A service by the names of its cluster and its own, which may be known on deploy only.

    `account` where it is another than the watched cluster's, or written down. `path` is what
    distinguishes it until then.
    """

    cluster: str
    name: str
    account: str | None = None
    path: str | None = None

    @property
    def identity(self) -> str:
        """What distinguishes it from others."""
        return f"{self.account}:{self}" if self.account else self.known_as

    @property
    def known_as(self) -> str:
        """The path, or the names."""
        return self.path or str(self)

    def __str__(self) -> str:
        return f"{self.cluster}/{self.name}"


class GroupScaling(TaskKeys):
    """Scaling of a service by a group, with at most as many tasks as there are `partitions`."""

    group: GroupName
    """exact name of the consumer group of the service's tasks"""
    min: Count = 1
    """tasks at least"""
    max: Whole
    """tasks at most; never above `partitions`"""
    partitions: Whole
    """partitions of the largest topic that the group reads, because further tasks read nothing"""
    tasks: Tasks | None = None
    steps: Steps | None = None
    tracking: Tracking | None = None
    schedule: Annotated[tuple[ScheduledBounds, ...], Listed] = ()
    """a list; each entry sets other bounds at its times"""
    suspended: bool = False
    """deploy everything and let nothing act, to watch the alarms first"""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        at_all = (Fault((), sentence) for sentence in self._impossible())
        FaultsError.raise_any(chain(at_all, self._impossible_bounds()))
        return self

    def _impossible(self) -> Iterator[str]:
        if not (self.tasks or self.steps or self.tracking):
            yield "give tasks, steps or tracking"
        elif self.tracking and (self.tasks or self.steps):
            yield (
                "tracking stands alone, as two rules would both set the number of tasks: leave it "
                "out, or tasks and steps"
            )
        if self.min > self.max:
            yield f"min is {self.min} and above max, {self.max}"
        if self.max > self.partitions:
            yield (
                f"max is {self.max}, and tasks beyond the {self.partitions} partitions read nothing"
                ": lower max, or correct partitions"
            )
        if self.tracking and self.min < 1:
            yield "tracking needs min of 1: without members there is no lag per member"
        further = self.tasks.groups if self.tasks else ()
        if twice := next((each for each in further if self.groups.count(each) > 1), None):
            yield f"tasks.groups names {twice}, which the service follows already: leave it out"

    def _impossible_bounds(self) -> Iterator[Fault]:
        for index, bounds in enumerate(self.schedule):
            place, most = ("schedule", index), self.most_at(bounds)
            if bounds.min > most:
                yield Fault(
                    place, f"min is {bounds.min} and above max, {most}: lower min, or give a max"
                )
            if bounds.max is not None and bounds.max > self.partitions:
                yield Fault(
                    place,
                    f"max is {bounds.max}, and tasks beyond the {self.partitions} partitions read "
                    "nothing: lower max, or correct partitions",
                )

    @property
    def groups(self) -> tuple[str, ...]:
        """All groups that it consumes as."""
        return (self.group, *(self.tasks.groups if self.tasks else ()))

    @property
    def most(self) -> int:
        """Tasks at most; a configuration that was checked has no more than partitions."""
        return min(self.max, self.partitions)

    def most_at(self, bounds: ScheduledBounds) -> int:
        """Tasks at most from a scheduled time on."""
        return self.max if bounds.max is None else bounds.max

    @property
    def fallback_steps(self) -> Steps | None:
        """The steps, with an hour of rest where they stand in for tasks that are not known."""
        if not (self.tasks and self.steps):
            return self.steps
        rest = {"in_minutes": 60, "in_cooldown_seconds": 3600}
        given = self.steps.model_fields_set
        return self.steps.model_copy(update={k: v for k, v in rest.items() if k not in given})

    @property
    def metric(self) -> str:
        """The metric that drives it."""
        if self.tasks:
            return contract.TASKS_NEEDED
        return self.steps.metric if self.steps else contract.SCALING_LAG_PER_MEMBER


class Scaling(GroupScaling):
    """A service of a configuration, by names; `account`: if it is another than the cluster's."""

    ecs_cluster: Name
    """name of the service's ECS cluster"""
    service: Name
    """name of the ECS service"""
    account: Account | None = None
    """the service's account; another account gets [a stack of its
    own](scaling.md#a-service-in-another-account-or-region) in the cluster's region (unless given:
    the cluster's)"""

    @property
    def ecs_service(self) -> EcsService:
        """The service that is scaled."""
        return EcsService(self.ecs_cluster, self.service, self.account)
