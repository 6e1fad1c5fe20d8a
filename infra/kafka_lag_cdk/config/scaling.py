# SPDX-License-Identifier: Apache-2.0
"""How an ECS service follows the lag of the group that it consumes as."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator

from kafka_lag import contract
from kafka_lag_cdk.config.faults import Fault, FaultsError
from kafka_lag_cdk.config.strict import Strict
from kafka_lag_cdk.config.tasks import TaskKeys
from kafka_lag_cdk.config.types import Count, GroupName, Listed, Name, Positive, Whole

Minutes = Annotated[int, Field(ge=1, le=60)]
Cooldown = Annotated[int, Field(ge=0, le=3600)]
# Each task that leaves costs a rebalance, and the lag that it makes must be worked off.
InCooldown = Annotated[int, Field(ge=600, le=3600)]


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
    out: Annotated[tuple[Step, ...], Listed, Field(min_length=1, max_length=10)]
    below: Positive
    remove: Whole = 1
    out_minutes: Minutes = 3
    in_minutes: Minutes = 15
    out_cooldown_seconds: Cooldown = 120
    in_cooldown_seconds: InCooldown = 600

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


class Tracking(Strict):
    """As many tasks as keep `ScalingLagPerMember` at `lag_per_member` records."""

    lag_per_member: Positive
    out_cooldown_seconds: Cooldown = 60
    in_cooldown_seconds: InCooldown = 600
    scale_in: bool = True


class Scaling(TaskKeys):
    """One service and its group; never more tasks than the group has `partitions` to read.

    While `suspended` all is there and nothing acts: to watch the alarms first.
    """

    group: GroupName
    ecs_cluster: Name
    service: Name
    min: Count = 1
    max: Whole
    partitions: Whole
    steps: Steps | None = None
    tracking: Tracking | None = None
    suspended: bool = False

    @model_validator(mode="after")
    def _possible(self) -> Scaling:
        FaultsError.raise_any(Fault((), sentence) for sentence in self._impossible())
        return self

    def _impossible(self) -> Iterator[str]:
        if (self.steps is None) == (self.tracking is None):
            yield "give either steps or tracking"
        if self.min > self.max:
            yield f"min is {self.min} and above max, {self.max}"
        if self.max > self.partitions:
            yield (
                f"max is {self.max}, and tasks beyond the {self.partitions} partitions read nothing"
                ": lower max, or correct partitions"
            )
        if self.tracking and self.min < 1:
            yield "tracking needs min of 1: without members there is no lag per member"

    @property
    def metric(self) -> str:
        """The metric that drives it."""
        return self.steps.metric if self.steps else contract.SCALING_LAG_PER_MEMBER
