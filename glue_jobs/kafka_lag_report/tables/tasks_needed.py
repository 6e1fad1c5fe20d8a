# SPDX-License-Identifier: Apache-2.0
"""Tasks that groups needed in the day and in each of its hours, as quartiles of the time.

By hour of the week they are the tables of seven days.
"""

from pyspark.sql import DataFrame

from kafka_lag.contract import TASKS_QUARTILES
from kafka_lag_report.run_weights import WHOLE_SECONDS, weighted_minutes
from kafka_lag_report.skew import grouped, with_columns

_OF = ("consumer_group", "hour")
_NAMES = ("lower_quartile", "median", "upper_quartile")
_HALF = 0.5


def _part_reached(name: str) -> str:
    """SQL: in which part of the time in which it is known no more were there."""
    of = f"PARTITION BY {', '.join(_OF)}"
    seconds = f"sum(IF({name} IS NULL, NULL, seconds))"
    upwards = f"{of} ORDER BY {name} RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    return f"try_divide({seconds} OVER ({upwards}), {seconds} OVER ({of}))"


def _least_for(name: str, part: float) -> str:
    """SQL, an aggregate: the least number that was enough for that part of the time."""
    return f"min({name}) FILTER (WHERE {name}_part >= {part}D)"


_PARTS = {f"{name}_part": _part_reached(name) for name in ("tasks_needed", "members")}
_MEASURES = {
    "known_minutes": weighted_minutes("true"),
    **{
        name: _least_for("tasks_needed", part)
        for name, part in zip(_NAMES, TASKS_QUARTILES, strict=True)
    },
    "most": "max(tasks_needed)",
    "members": _least_for("members", _HALF),
    "last_tasks_needed": "max_by(tasks_needed, taken_at)",
    "tasks_needed_reason": (
        "max_by(tasks_needed_reason, taken_at) FILTER (WHERE tasks_needed_reason IS NOT NULL)"
    ),
}


def tasks_needed(groups: DataFrame) -> DataFrame:
    """A row per group and UTC hour in which it is known, and one of the day with null `hour`.

    A quartile is the least number that was enough for that part of the time in which it is known,
    `members` the same for half of the time. `last_tasks_needed` and `tasks_needed_reason` are the
    last that were known.
    """
    known = groups.where("unread_reason IS NULL AND tasks_needed IS NOT NULL").selectExpr(
        *("consumer_group", "taken_at", "weight", "tasks_needed", "members", "tasks_needed_reason"),
        f"{WHOLE_SECONDS} AS seconds",
        # a row for the hour's, and one for the day's
        "explode(array(hour(taken_at), CAST(NULL AS int))) AS hour",
    )
    return grouped(with_columns(known, _PARTS), _OF, _MEASURES)
