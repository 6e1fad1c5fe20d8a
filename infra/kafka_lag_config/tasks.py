# SPDX-License-Identifier: Apache-2.0
"""Settings for the tasks that a group needs, wherever they run."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from kafka_lag.lag.group_settings import TaskSettings
from kafka_lag_config.strict import Strict
from kafka_lag_config.types import Number

_DEFAULT = TaskSettings()
# Sooner no task reads that a backlog calls for.
LEAST_CATCH_UP = 60
# Beyond these a number is a slip of the pen.
_MOST_RECORDS = 10**9
_LONGEST = 86_400
_MOST_MEMBERS = 1_000


class TaskKeys(Strict):
    """Settings for the tasks that a group needs."""

    capacity: Annotated[Number, Field(gt=0, le=_MOST_RECORDS)] | None = _DEFAULT.capacity
    """records a second that one member of the group reads while it has a backlog; it replaces the
    [learnt capacity](metrics.md#the-capacity-of-one-member) (unless given: learnt)"""
    catch_up_seconds: Annotated[Number, Field(ge=LEAST_CATCH_UP, le=_LONGEST)] = (
        _DEFAULT.catch_up_seconds
    )
    """seconds within which `TasksNeeded` works off a backlog; 60 at least, and at most the SLA"""
    members_per_task: Annotated[int, Field(ge=1, le=_MOST_MEMBERS)] = _DEFAULT.members_per_task
    """consumers in one task, because `TasksNeeded` counts tasks"""
    prefer_even: bool = _DEFAULT.prefer_even
    """true: each task gets whole partitions, and `TasksNeeded` is so large that no task gets more
    records than it can read; false: as if partitions could be split"""

    def task_keys(self) -> dict[str, Any] | None:
        """These keys alone, None where none is given."""
        names = set(TaskKeys.model_fields)
        given = names & self.model_fields_set
        return self.model_dump(mode="json", include=names) if given else None
