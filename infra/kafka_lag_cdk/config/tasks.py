# SPDX-License-Identifier: Apache-2.0
"""How the tasks that a group needs are reckoned, wherever they run."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from kafka_lag.lag.group_settings import TaskSettings
from kafka_lag_cdk.config.strict import Strict
from kafka_lag_cdk.config.types import Number

_DEFAULT = TaskSettings()
# Beyond these a number is a slip of the pen.
_MOST_RECORDS = 10**9
_LONGEST = 86_400
_MOST_MEMBERS = 1_000


class TaskKeys(Strict):
    """`capacity` is that of one member in records/s; without it what the collector learns."""

    capacity: Annotated[Number, Field(gt=0, le=_MOST_RECORDS)] | None = _DEFAULT.capacity
    catch_up_seconds: Annotated[Number, Field(ge=60, le=_LONGEST)] = _DEFAULT.catch_up_seconds
    members_per_task: Annotated[int, Field(ge=1, le=_MOST_MEMBERS)] = _DEFAULT.members_per_task
    prefer_even: bool = _DEFAULT.prefer_even

    def task_keys(self) -> dict[str, Any] | None:
        """These keys alone, None where none is given."""
        names = set(TaskKeys.model_fields)
        given = names & self.model_fields_set
        return self.model_dump(mode="json", include=names) if given else None
