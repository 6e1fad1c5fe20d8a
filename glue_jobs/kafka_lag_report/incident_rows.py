# SPDX-License-Identifier: Apache-2.0
"""A day's rows of `groups` reduced to a row an incident: what the collector last said of it.

The collector decides what an incident is. What is added is what it cost on this day.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import DataFrame

from kafka_lag.contract import ERR, NO_LOSS_SECONDS, READ_OR_SKIPPED, UNEXPLAINED
from kafka_lag_report.run_weights import weighted_minutes
from kafka_lag_report.segments import DATED_AGE
from kafka_lag_report.skew import grouped, selected, with_columns


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentRows:
    """An incident as the day's rows have it; `first` and `last` of them, `last_read` of those read.

    `since`, `until`, `worst`, `lost`, `skipped`, `is_at_risk` and `is_sla_broken` are the
    collector's, of its `last` row. `worst_last` is the last run that saw the worst status,
    `worst_minutes` how long the day's runs saw it; topic, partition and member are those of the
    worst partition then, and `is_empty` says that the group had no members in any of these runs.
    `cause` was last named at `named_at`, by `cause_evidence`; both are null if that was before
    the day. `passed` records were read or skipped. `seconds_left` is the shortest time to a loss
    that a run saw, `seconds_left_now` the last. `dated`: the largest time lag that is no least one.
    """

    group: str
    incident_id: str
    first: datetime
    last: datetime
    since: datetime
    until: datetime | None = None
    last_read: datetime | None = None
    owner: str | None = None
    worst: str | None = None
    worst_since: datetime | None = None
    worst_last: datetime | None = None
    worst_minutes: float = 0.0
    topic: str | None = None
    partition: int | None = None
    member: str | None = None
    is_empty: bool | None = None
    is_error: bool = False
    cause: str | None = None
    cause_since: datetime | None = None
    cause_evidence: str | None = None
    named_at: datetime | None = None
    lag: int | None = None
    time_lag: float | None = None
    dated: float | None = None
    lost: int | None = None
    rewound: int | None = None
    skipped: int | None = None
    skip_reason: str | None = None
    passed: int | None = None
    is_at_risk: bool = False
    seconds_left: float | None = None
    seconds_left_at: datetime | None = None
    seconds_left_now: float | None = None
    is_sla_broken: bool = False
    sla: float | None = None
    sla_missed: float = 0.0


def incident_rows(groups: DataFrame) -> DataFrame:
    """A row for each `IncidentRows`, of weighed rows of `groups`; times in seconds since 1970.

    A run of the incident's first minutes, before the collector published it, counts as well.
    """
    of_incidents = groups.where("incident_id IS NOT NULL").select("consumer_group").distinct()
    rows = selected(groups.join(of_incidents, "consumer_group", "left_semi"), _ROW)
    # the newest row first: the next incident is then the last one seen
    following = "PARTITION BY group ORDER BY at DESC"
    published = "IF(published IS NULL, NULL, struct(published AS id, since))"
    rows = with_columns(rows, {"coming": f"last({published}, true) OVER ({following})"})
    incident = "coalesce(published, IF(coming.since <= at, coming.id, NULL))"
    rows = with_columns(rows, {"incident_id": incident}).where("incident_id IS NOT NULL")
    return grouped(
        rows,
        ("group", "incident_id"),
        {
            "first": "min(at)",
            "last": "max(at)",
            "last_read": "coalesce(max(IF(is_read, at, NULL)), max(read_at))",
            "since": "min(since)",
            "until": "max_by(until, at)",
            # the last row of a group that is deleted has none of these
            **{n: f"max_by({n}, IF({n} IS NULL, NULL, at))" for n in _NEWEST},
            "is_at_risk": "max(is_at_risk)",
            "is_sla_broken": "max(is_sla_broken)",
            "worst_last": "max(IF(is_worst, at, NULL))",
            "worst_minutes": weighted_minutes("is_worst"),
            **{n: f"max_by({n}, IF(is_worst, at, NULL))" for n in ("topic", "partition", "member")},
            "is_empty": "min(IF(is_worst, coalesce(members = 0, false), NULL))",
            "is_error": f"coalesce(max(is_read AND status = '{ERR}'), false)",
            **{n: f"max_by({n}, named_at)" for n in ("cause_since", "cause_evidence", "named_at")},
            "owner": "max(owner)",
            **{n: f"max({n})" for n in ("lag", "time_lag", "dated", "rewound", "passed", "sla")},
            "skip_reason": "max(skip_reason)",
            "seconds_left": "min(to_loss)",
            "seconds_left_at": "max_by(at, IF(to_loss IS NULL, NULL, struct(-to_loss, at)))",
            "seconds_left_now": "max_by(to_loss, at)",
            "sla_missed": weighted_minutes("sla IS NOT NULL"),
        },
    )


_READ = "unread_reason IS NULL"
_SKIPS = f"{_READ} AND skipped_at = taken_at"
_NEWEST = ("worst", "worst_since", "cause", "lost", "skipped")
_PEAK = "IF(incident_peak_lag_at >= date_trunc('day', taken_at), incident_peak_lag, NULL)"
_ROW = {
    "group": "consumer_group",
    "at": "unix_seconds(taken_at)",
    "weight": "weight",
    "is_read": _READ,
    "read_at": "unix_seconds(read_at)",
    "owner": "owner",
    "status": "status",
    "members": "members",
    "published": "incident_id",
    "since": "unix_seconds(coalesce(incident_from, incident_since))",
    "until": "unix_seconds(incident_until)",
    "worst": "incident_worst_status",
    "worst_since": "unix_seconds(incident_worst_status_since)",
    "is_worst": f"coalesce({_READ} AND worst_status = incident_worst_status, false)",
    "topic": "worst_topic",
    "partition": "worst_partition",
    "member": "worst_member",
    "cause": "incident_cause",
    "named_at": (
        f"IF({_READ} AND cause = incident_cause AND cause <> '{UNEXPLAINED}',"
        " unix_seconds(taken_at), NULL)"
    ),
    "cause_since": "unix_seconds(cause_since)",
    "cause_evidence": "cause_evidence",
    "lag": f"greatest(IF({_READ}, lag, NULL), {_PEAK})",
    "time_lag": f"IF({_READ}, time_lag_seconds, NULL)",
    "dated": f"IF({_READ}, {DATED_AGE}, NULL)",
    "lost": "incident_lost",
    "rewound": f"IF({_READ}, records_rewound, NULL)",
    "skipped": "incident_skipped",
    "skip_reason": f"IF({_SKIPS} AND skip_reason <> '{READ_OR_SKIPPED}', skip_reason, NULL)",
    "passed": f"IF({_SKIPS} AND skip_reason = '{READ_OR_SKIPPED}', records_skipped, NULL)",
    "is_at_risk": "incident_at_risk_since IS NOT NULL",
    "to_loss": (
        f"IF({_READ} AND seconds_until_loss < {NO_LOSS_SECONDS}D, seconds_until_loss, NULL)"
    ),
    "is_sla_broken": "incident_sla_broken_since IS NOT NULL",
    "sla": f"IF({_READ} AND time_lag_seconds > sla_seconds, sla_seconds, NULL)",
}
