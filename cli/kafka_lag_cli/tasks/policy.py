# SPDX-License-Identifier: Apache-2.0
"""The tasks of a service that follows `TasksNeeded`, as Application Auto Scaling sets them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def follow_tasks_needed(
    first: int, needed: Sequence[float], least: int, most: int
) -> Sequence[int]:
    """Returns the tasks that are set at the end of each minute, `first` before the first one.

    The rules that are deployed for `tasks` set the number of the minute before, between `least` and
    `most`. NaN in `needed` is an unknown number: it changes nothing.
    """
    seen = np.array([first, *needed[:-1]], np.float64)
    newest = np.maximum.accumulate(np.where(np.isnan(seen), 0, np.arange(len(seen))))
    tasks: list[int] = np.clip(seen[newest], least, most).astype(np.int64).tolist()
    return tasks
