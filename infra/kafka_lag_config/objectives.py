# SPDX-License-Identifier: Apache-2.0
"""Objectives of groups: an age, a share of the minutes, and the days in which it is to be kept."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from kafka_lag.contract import OBJECTIVE_MOST_DAYS
from kafka_lag.lag.group_settings import Objective
from kafka_lag_config.strict import Strict
from kafka_lag_config.types import Number

LONGEST_AGE = 366 * 86_400
# As few bad minutes are no incident: every restart of a consumer would break the objective.
_LEAST_BUDGET_MINUTES = 2
_TOO_SMALL = (
    "leaves {budget:.2g} minutes in {days} days, which two bad minutes break: take a lower target "
    "or more days"
)


class ObjectiveKeys(Strict):
    """A group's objective."""

    age_seconds: Annotated[Number, Field(gt=0, le=LONGEST_AGE)]
    """a minute is good if the oldest unread record is not older than this"""
    target: Annotated[Number, Field(ge=50, lt=100)]
    """percent of the minutes that must be good, from 50 to below 100, as in 99.5"""
    days: Annotated[int, Field(ge=1, le=OBJECTIVE_MOST_DAYS)] = Field(
        default=30,
        description=f"days whose minutes count, up to {OBJECTIVE_MOST_DAYS}, today included",
    )

    @model_validator(mode="after")
    def _is_not_broken_by_two_minutes(self) -> Self:
        budget = self.objective.budget_minutes
        if budget < _LEAST_BUDGET_MINUTES:
            raise ValueError(_TOO_SMALL.format(budget=budget, days=self.days))
        return self

    @property
    def objective(self) -> Objective:
        """Return the objective in the collector's type."""
        return Objective(self.age_seconds, self.target, self.days)
