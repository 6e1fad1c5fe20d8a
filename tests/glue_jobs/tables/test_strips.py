# SPDX-License-Identifier: Apache-2.0
"""Rows of a day and the rows of reports that the whole job makes of them.

Each case is a group with its runs, or a few partitions of a topic that is named like the case.
"""

import shutil
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kafka_lag.contract import NEEDED_FOR_BACKLOG, NEEDED_FOR_RATE
from kafka_lag_report.daily_report import main
from kafka_lag_report.schemas import TABLES
from tests.glue_jobs.days import Row, group_row, report_rows, topic_row, write_run

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

DAY = date(2026, 1, 31)
MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)
# Minutes of the runs, and for how many minutes each stands: the two before a long silence twice as
# long as the pause before them, as nobody knows more.
STANDS = {0: 1, 1: 1, 2: 1, 3: 2, 5: 1, 6: 1, 7: 1, 8: 2, 59: 1, 60: 2, 1439: 1}
AGED: Row = {"time_lag_error_seconds": 1.0}
UNREAD: Row = {"unread_reason": "timeout"}


def minute(number: int) -> datetime:
    return MIDNIGHT + timedelta(minutes=number)


def age(seconds: float, **more: Any) -> Row:
    """An age of which it is known that it was no greater."""
    return {"time_lag_seconds": seconds, **AGED, **more}


def sla(seconds: float, target: float = 60.0, **more: Any) -> Row:
    return age(seconds, sla_seconds=target) | more


def slo(seconds: float = 60.0, **more: Any) -> Row:
    objective = {"slo_age_seconds": 60.0, "slo_target": 99.0, "slo_days": 7}
    return age(seconds) | objective | more


def quartiles(*values: int) -> Row:
    names = ("lower_quartile", "median", "upper_quartile", "most")
    return dict(zip(names, values, strict=True))


# A report, and the keys of the row that is meant.
Where = tuple[str, Row]
OF_GROUP: Where = ("lag_summary", {"topic": None})
OF_DAY: Where = ("tasks_needed", {"hour": None})
SLO: Where = ("slo", {})
# A group's rows by minute; where its row is, and what it says.
GROUPS: dict[str, tuple[dict[int, Row], Where, Row]] = {
    "levels of lag by time": (
        {n: {"lag": 10 * n, "time_lag_seconds": 1.0 * n} for n in (1, 2, 3)},
        OF_GROUP,
        {"lag_p50": 25.0, "lag_p95": 30.0, "lag_max": 30.0, "time_lag_p50": 2.5},
    ),
    "the oldest was a least age": (
        {0: age(9.0), 1: {"time_lag_seconds": 10.0}, 3: {"time_lag_seconds": 8.0}, 5: UNREAD},
        OF_GROUP,
        {"time_lag_max": 10.0, "time_lag_max_is_least": True, "time_lag_least_minutes": 3.0},
    ),
    "as old for sure": (
        {0: age(9.0), 1: {"time_lag_seconds": 9.0}},
        OF_GROUP,
        {"time_lag_max_is_least": False, "time_lag_least_minutes": 1.0},
    ),
    "unknown for two runs": (
        {0: {"lag": 1}, 1: {}, 3: {"lag": 1}, 5: {"lag": 9, **UNREAD}},
        OF_GROUP,
        {"first_seen": minute(0), "last_seen": minute(3), "known_minutes": 3.0}
        | {"unknown_minutes": 3.0, "lag_max": 1.0},
    ),
    "never read": (
        {0: {"lag": 4, "time_lag_seconds": 4.0, "status": "OK", **UNREAD}},
        OF_GROUP,
        {"lag_max": None, "first_seen": None, "known_minutes": 0.0, "unknown_minutes": 1.0}
        | {"ok_minutes": 0.0, "gone": False, "time_lag_max_is_least": None},
    ),
    "rates count by time": (
        {
            2: {"produce_rate": 10.0, "consume_rate": 40.0},
            3: {"produce_rate": 20.0, "consume_rate": 30.0},
            5: {"consume_rate": 35.0},
        },
        OF_GROUP,
        {"produce_rate": 50 / 3, "consume_rate": 33.75, "best_consume_rate": 40.0}
        | {"catch_up_capacity": 2.4},
    ),
    "status": (
        {
            0: {"status": "OK"},
            1: {"status": "WARN"},
            2: {},
            3: {"status": "ERR"},
            5: {"status": "OK", **UNREAD},
            6: {"status": "ERR"},
        },
        OF_GROUP,
        {"ok_minutes": 1.0, "warn_minutes": 1.0, "err_minutes": 3.0, "status_changes": 2},
    ),
    "rebalancing": (
        {
            0: {"group_state": "PreparingRebalance", "owners_changed": 1, "rebalances": 1},
            1: {"rebalancing_share": 0.59, "owners_changed": 0},
            2: {"rebalancing_share": 0.6, "owners_changed": 2, "rebalances": 3},
            3: {"group_state": "Reconciling", "rebalances": 9, **UNREAD},
        },
        OF_GROUP,
        {"rebalancing_runs": 2, "rebalances": 4, "rebalancing_minutes": 1.0},
    ),
    "an SLA": (
        {
            0: sla(60.0),
            1: sla(60.5, time_lag_error_seconds=None),
            2: {"sla_seconds": 60.0, "owner": "before"},
            5: sla(80.0, 90.0, owner="team"),
            # at least so old: undecided
            6: sla(80.0, 90.0, time_lag_error_seconds=None),
        },
        OF_GROUP,
        {"sla_seconds": 90.0, "sla_minutes": 3.0, "sla_met_minutes": 2.0}
        | {"sla_compliance": 2 / 3, "owner": "team"},
    ),
    "losses, then gone": (
        {
            0: {"lag": 1, "records_lost": 5},
            1: {"lag": 1, "records_lost": 3},
            2: {"records_lost": 99, "unread_reason": "error", "status_reason": "gone"},
        },
        OF_GROUP,
        {"records_lost": 5, "gone": True, "known_minutes": 2.0},
    ),
    "an hour by time": (
        {
            2: age(10.0, lag=100, produce_rate=1.0, consume_rate=2.0),
            3: {"time_lag_seconds": 20.0, "lag": 250, "produce_rate": 4.0, "consume_rate": 5.0},
            60: {"lag": 7},
        },
        ("lag_hourly", {"hour": 0}),
        {"known_minutes": 3.0, "time_lag_seconds": 50 / 3, "time_lag_max": 20.0}
        | {"lag": 200.0, "lag_deviation": 75.0, "produce_rate": 3.0, "consume_rate": 4.0}
        | {"time_lag_least_minutes": 2.0, "produce_rate_max": 4.0},
    ),
    "an hour with one run": (
        {59: {"lag": 1}, 60: {"lag": 7}, 1439: {"lag": 900, **UNREAD}},
        ("lag_hourly", {"hour": 1}),
        {"lag": 7.0, "lag_deviation": 0.0, "lag_high": 7.0, "known_minutes": 0.0}
        | {"time_lag_seconds": None},
    ),
    "tasks, a quarter of the time each": (
        {n: {"tasks_needed": needed} for n, needed in ((0, 1), (1, 2), (2, 3), (5, 9))},
        ("tasks_needed", {"hour": 0}),
        quartiles(1, 2, 3, 9),
    ),
    "tasks of the day by time": (
        {0: {"tasks_needed": 1}, 60: {"tasks_needed": 5}, 1: {}, 2: {"tasks_needed": 7, **UNREAD}},
        OF_DAY,
        {**quartiles(1, 5, 5, 5), "known_minutes": 3.0},
    ),
    "tasks, and the last that was known": (
        {
            0: {"tasks_needed": 3, "members": 2, "tasks_needed_reason": NEEDED_FOR_BACKLOG},
            1: {"tasks_needed": 2, "members": 4, "tasks_needed_reason": NEEDED_FOR_RATE},
            2: {"tasks_needed": 1},
            3: {"members": 9},
        },
        OF_DAY,
        {"members": 2, "last_tasks_needed": 1, "tasks_needed_reason": NEEDED_FOR_RATE},
    ),
    "an objective": (
        {0: slo(60.0), 1: slo(60.5), 2: slo(60.5), 5: slo(99.0, **UNREAD)},
        SLO,
        {"kept_minutes": 1.0, "broken_minutes": 2.0, "unknown_minutes": 1437.0}
        | {"budget_left_minutes": 98.8, "burn_rate": 200 / 3},
    ),
    "an objective and least ages": (
        {0: slo(60.5, time_lag_error_seconds=None), 1: slo(time_lag_error_seconds=None)},
        SLO,
        {"kept_minutes": 0.0, "broken_minutes": 1.0, "unknown_minutes": 1439.0},
    ),
    "an objective of which nothing is known": (
        {0: slo(**UNREAD)},
        SLO,
        {"burn_rate": None, "budget_left_minutes": 100.8},
    ),
    "a new group with an objective": (
        {59: slo(), 60: slo()},
        SLO,
        {"kept_minutes": 3.0, "unknown_minutes": 1378.0, "since": minute(59)},
    ),
    "a group with an objective that is deleted": (
        {0: slo(), 1: slo(), 3: slo(status_reason="gone")},
        SLO,
        {"kept_minutes": 2.0, "unknown_minutes": 1.0, "until": minute(3)},
    ),
    "another objective": (
        {0: slo(), 1: slo(slo_age_seconds=30.0, slo_target=90.0, slo_days=1)},
        SLO,
        {"kept_minutes": 1.0, "broken_minutes": 1.0, "age_seconds": 30.0, "target": 90.0}
        | {"days": 1, "budget_minutes": 144.0},
    ),
    "an objective that is dropped": (
        {0: slo(), 1: age(0.0)},
        SLO,
        {"kept_minutes": 1.0, "unknown_minutes": 0.0, "until": minute(1)},
    ),
}


def strip(of: Sequence[int], partition: int, **columns: Any) -> list[Row]:
    """A partition's rows at these minutes; of a column that is a list each has its own."""
    found = []
    for place, number in enumerate(of):
        own = {n: c[place] if isinstance(c, list) else c for n, c in columns.items()}
        found.append({"minute": number, "partition": partition, **own})
    return found


def lags(partition: int, member: str | None, *values: int | None, since: int = 0) -> list[Row]:
    """An owner's partition run by run, with these lags."""
    times = list(STANDS)[since : since + len(values)]
    return strip(times, partition, member_id=member, lag=list(values), leader=None)


def moved(
    partition: int, member: str | None, *commits: int | None, since: int = 0, **more: Any
) -> list[Row]:
    """The same with these commits."""
    times = list(STANDS)[since : since + len(commits)]
    return strip(times, partition, member_id=member, committed=list(commits), **more)


def ended(*ends: int | None, partition: int = 0, **more: Any) -> list[Row]:
    """A partition's ends, run by run."""
    return strip(list(STANDS)[: len(ends)], partition, end=list(ends), **more)


OF_A: Where = ("consumer_hotspots", {"member_id": "a"})
OF_B: Where = ("consumer_hotspots", {"member_id": "b"})
OF_NOBODY: Where = ("consumer_hotspots", {"member_id": None})
RISK: Where = ("retention_risk", {})
SKEW: Where = ("partition_skew", {})
# The row of the topic, which is named like the case.
OF_TOPIC: Where = ("lag_summary", {})
# Rows of a group's partitions; where its row is, and what it says.
PARTITIONS: dict[str, tuple[list[Row], Where, Row]] = {
    "a partition that changed hands": (
        [*lags(0, "a", 20, 20, 20), *lags(0, "b", 500, since=3)],
        OF_A,
        {"partitions_owned": 0.75, "lag_mean": 15.0, "lag_share": 15 / 140},
    ),
    "owned by nobody": (
        [*lags(0, None, 10), *lags(1, "a", 30)],
        OF_NOBODY,
        {"lag_mean": 10.0, "lag_share": 0.25, "hot": False},
    ),
    "consumed under two leaders": (
        [*moved(0, "a", 10, 40), *moved(0, "a", 60, 70, since=2, leader=2)],
        OF_A,
        {"consumed": 60, "partitions_owned": 1.0},
    ),
    "consumed by one that came back": (
        [*moved(0, "a", 0, 5), *moved(0, None, 5, 5, since=2), *moved(0, "a", 9, 20, since=4)],
        OF_A,
        {"consumed": 20},
    ),
    "read again after a reset": (
        [*moved(0, "a", 0, 100), *moved(0, "b", 0, 100, since=2)],
        OF_B,
        {"consumed": 100},
    ),
    "a lag that is unknown": (
        [*lags(0, "a", None), *lags(1, "b", 30)],
        OF_A,
        {"partitions_owned": 1.0, "lag_mean": None, "lag_share": None, "hot": None},
    ),
    "hot": (
        [*lags(0, "a", 225), *lags(1, "b", 75), *lags(2, "c", 75)],
        OF_A,
        {"lag_to_others": 3.0, "hot": True},
    ),
    "too few records to be hot": (
        [*lags(0, "a", 222), *lags(1, "b", 74), *lags(2, "c", 74)],
        OF_A,
        {"lag_to_others": 3.0, "hot": False},
    ),
    "too small a share to be hot": (
        [*lags(0, "a", 749), *lags(1, "b", 251)],
        OF_A,
        {"hot": False},
    ),
    "the owner after an incident": (
        [*lags(0, "a", 200, 200, 200), *lags(0, "b", 5_000, since=3)],
        OF_B,
        {"lag_to_partitions": 25 / 7, "hot": False},
    ),
    "hot beside one that came later": (
        [*lags(0, "a", 900, 900, 900), *lags(1, "b", 0, since=1), *lags(2, "b", 0, since=2)],
        OF_A,
        {"hot": True},
    ),
    "rates of offsets": (
        [
            *strip((0, 5), 0, end=[1_000, 1_500], committed=[900, 1_100]),
            *strip((0, 5), 1, end=[7_000, 7_100]),
            # going back is no speed, and one sight tells nothing
            *strip((0, 5), 2, end=[500, 100]),
            *strip((0,), 3, end=[5]),
        ],
        OF_TOPIC,
        {"produce_rate": 2.0, "consume_rate": 200 / 300, "first_seen": minute(0)}
        | {"last_seen": minute(5), "status_changes": None, "owner": None, "records_lost": None},
    ),
    "a topic recreated": (
        [
            *strip((0, 1), 0, end=[9_000, 9_300], topic_id="old"),
            *strip((3, 5), 0, end=[0, 300], topic_id="new"),
        ],
        OF_TOPIC,
        {"produce_rate": 2.0},
    ),
    "losses are no consumption": (
        [
            *strip((0, 5), 0, start=[0, 1_000], committed=[40, 1_060], records_lost=[960, 0]),
            *strip((0, 5), 1, end=[1_060, 1_060]),
        ],
        OF_TOPIC,
        {"consume_rate": 0.2},
    ),
    "lag of an unread partition": (
        [
            *strip((0, 1), 0, lag=[10, 10]),
            *strip((0, 1), 1, lag=[30, 30], unread_reason=[None, "no_leader"]),
        ],
        OF_TOPIC,
        {"lag_max": 40.0, "known_minutes": 1.0, "unknown_minutes": 1.0},
    ),
    "lost in one run": (
        ended(100, 100, committed=40, start=[20, 50], records_lost=[0, 10]),
        RISK,
        {"retention_risk": "LOST", "records_lost": 10, "least_margin": 0}
        | {"least_margin_at": minute(1), "lag_at_least_margin": 50},
    ),
    "once at risk": (
        ended(
            *(9, 9, 9),
            committed=9,
            retention_risk=["SAFE", "AT_RISK", None],
            seconds_until_loss=[900.0, 60.0, None],
        ),
        RISK,
        {"retention_risk": "AT_RISK", "least_seconds_until_loss": 60.0}
        | {"least_seconds_until_loss_at": minute(1)},
    ),
    "no loss does not prove safety": (
        ended(9, committed=9, retention_margin=4),
        RISK,
        {"retention_risk": None, "least_margin": 4},
    ),
    "older by the time it took to produce": (
        ended(0, 600, committed=0, records_lost=300, **age(7_200.0)),
        RISK,
        {"retention_needed_seconds": 7_230.0},
    ),
    "of a least age nobody knows what is enough": (
        ended(0, 600, committed=0, time_lag_seconds=7_200.0),
        RISK,
        {"retention_needed_seconds": None},
    ),
    **{
        f"retention of {ms} and {policy}": (
            ended(9, 9, retention_ms=[3_600_000, ms], cleanup_policy=policy),
            RISK,
            {"retention_seconds": seconds, "retention_unlimited": unlimited},
        )
        for ms, policy, seconds, unlimited in (
            (7_200_000, "delete", 7_200.0, False),
            (None, "compact,delete", 3_600.0, False),
            (-1, "delete", None, True),
            (7_200_000, "compact", 7_200.0, True),
            (-1, None, None, True),
            (7_200_000, None, 7_200.0, None),
        )
    },
}
NAMES = ("max_to_mean", "top_partition", "top_share", "even_share", "gini", "skewed")
# Lags by partition, and how they are spread.
SPREADS: dict[str, tuple[list[int | None], tuple[Any, ...]]] = {
    "uneven": ([667, 166, 167], (2.001, 0, 0.667, 1 / 3, 0.334, True)),
    "even": ([500] * 4, (1.0, 0, 0.25, 0.25, 0.0, False)),
    "three to one": ([100, 300], (1.5, 1, 0.75, 0.5, 0.25, True)),
    "just under the factor": ([1010, 2990], (1.495, 1, 0.7475, 0.5, 0.2475, False)),
    "too few records": ([3, 1, 0], (2.25, 0, 0.75, 1 / 3, 0.5, False)),
    "one partition": ([5000], (1.0, 0, 1.0, 1.0, 0.0, False)),
    "nothing to share": ([0, 0], (1.0, None, 0.5, 0.5, 0.0, False)),
    "one is unknown": ([None, 600, 200], (1.5, 1, 0.75, 0.5, 0.25, True)),
    "nothing known": ([None, None], (None,) * 6),
}
PARTITIONS |= {
    case: (
        [row for n, lag in enumerate(values) for row in lags(n, "m", lag)],
        SKEW,
        dict(zip((f"lag_{name}" for name in NAMES), expected, strict=True)),
    )
    for case, (values, expected) in SPREADS.items()
}
SKIPPED: Row = {"skipped_from": 100, "skipped_to": 700, "skipped_at": [None, minute(1)]}
YESTERDAY: Row = {**SKIPPED, "skipped_at": minute(-60)}
# Commits run by run, what else is known of them, and how many records were read: not in the first
# cluster, because the SQL knows no skips.
CONSUMED: dict[str, tuple[list[int], Row, int]] = {
    "read again": ([50, 10, 30], {}, 20),
    "a run that was not read": ([5, 99, 7], {"unread_reason": [None, "timeout", None]}, 2),
    "passed over a loss": ([10, 45], {"start": 40, "records_lost": [30, 0]}, 5),
    "passed a part of a loss": ([10, 30], {"start": 40, "records_lost": [30, 10]}, 0),
    "a skip is not read": ([90, 705], SKIPPED, 15),
    "a skip over a truncated log": ([690, 705], {**SKIPPED, "skip_reason": "truncated"}, 15),
    "a skip of the day before": ([700, 705], YESTERDAY, 5),
    "a commit beyond the end": ([10, 2**63 - 1, 20], {}, 10),
    "an end that is unknown": ([5, 8], {"end": None}, 3),
}
LATE = 900
# Lags, leaders, members and records produced by partition; what stands still; the cause, the leader
# and member that it names, and the partitions. A further group lags under leader 1 as well.
CAUSES: dict[str, tuple[list[int], list[int | None], str, list[int], str, tuple[Any, ...]]] = {
    "hot keys": (
        [LATE, 0, 0], [1, 2, 3], "abc", [667, 166, 167], "",
        ("production", None, None, [0]),
    ),
    "a slow broker": (
        [LATE, 0, 0, LATE, 0, 0], [1, 2, 3, 1, 2, 3], "aabbcc", [100] * 6, "",
        ("broker", 1, None, [0, 3]),
    ),
    "a slow member": (
        [LATE, LATE, 0, 0, 0, 0], [1, 2, 3, 1, 2, 3], "aabbcc", [100] * 6, "",
        ("consumer", None, "a", [0, 1]),
    ),
    "two thirds of a member's partitions": (
        [LATE, LATE, 0, 0, 0, 0], [1, 2, 3, 4, 5, 6], "aaabcd", [100] * 6, "",
        ("consumer", None, "a", [0, 1]),
    ),
    "three fifths of them": (
        [LATE] * 3 + [0] * 7, list(range(10)), "aaaaabcdef", [100] * 10, "",
        ("unexplained", None, None, [0, 1, 2]),
    ),
    "two thirds of the excess": (
        [9_900, 6_300, 0, 0, 0, 0], [1, 2, 1, 2, 1, 2], "abcdef", [100] * 6, "",
        ("consumer", None, "a", [0]),
    ),
    "less of the excess": (
        [9_900, 6_600, 0, 0, 0, 0], [1, 2, 1, 2, 1, 2], "abcdef", [100] * 6, "",
        ("unexplained", None, None, [0, 1]),
    ),
    "each its own leader and member": (
        [LATE, 0, 0], [1, 2, 3], "abc", [100] * 3, "",
        ("unexplained", None, None, [0]),
    ),
    "a broker and a member alike": (
        [LATE, LATE, 0, 0, 0, 0], [1, 1, 2, 2, 3, 3], "aabbcc", [100] * 6, "",
        ("broker", 1, None, [0, 1]),
    ),
    "nobody leads and nobody owns": (
        [LATE, LATE, 0, 0, 0, 0], [None, None, 1, 1, 2, 2], "--bbcc", [100] * 6, "",
        ("unexplained", None, None, [0, 1]),
    ),
    "an idle topic accuses no key": (
        [LATE, 0, 0, LATE, 0, 0], [1, 2, 3, 1, 2, 3], "aabbcc", [0] * 6, "",
        ("broker", 1, None, [0, 3]),
    ),
    "a broker under which no other group lags": (
        [0, LATE, 0, LATE, 500, 0], [21, 22, 23, 22, 21, 23], "aabbcc", [100] * 6, "",
        ("unexplained", 22, None, [1, 3]),
    ),
    "one that stands still goes first": (
        [10, 10, 10, LATE], [4, 4, 2, 1], "mmnn", [100] * 4, "STALL",
        ("stalled", None, "n", [3]),
    ),
    "one that nobody reads goes first": (
        [10, 10, 10, LATE], [4, 4, 2, 1], "mmn-", [100] * 4, "STOP",
        ("stopped", None, None, [3]),
    ),
    "no skew, no cause": (
        [200] * 3, [1, 2, 3], "abc", [667, 166, 167], "",
        (None, None, None, None),
    ),
}  # fmt: skip


def explained(case: str) -> list[Row]:
    """The partitions of a case of `CAUSES`, at two runs."""
    lag, leaders, members, made, status, _ = CAUSES[case]
    return [
        row
        for n, owner in enumerate(members)
        for row in strip(
            (0, 1),
            n,
            lag=lag[n],
            leader=leaders[n],
            member_id=None if owner == "-" else owner,
            end=[10_000, 10_000 + made[n]],
            status=status if lag[n] == LATE else "OK",
        )
    ]


PARTITIONS |= {
    case: (
        explained(case),
        SKEW,
        dict(
            zip(
                ("cause", "cause_leader", "cause_member", "cause_partitions"),
                expected,
                strict=True,
            )
        ),
    )
    for case, (*_, expected) in CAUSES.items()
}


def led(partition: int, leader: int | None, *ends: int | None, since: int = 0) -> list[Row]:
    """A topic's partition under a leader, run by run."""
    times = list(STANDS)[since : since + len(ends)]
    return strip(times, partition, leader=leader, end=list(ends), leader_rack="a")


# A cluster each: rows of topics' partitions, with the lag of a group that reads them; the report's
# rows by leader and rack.
BROKERS: dict[str, tuple[list[Row], dict[tuple[int | None, str | None], Row]]] = {
    "moved": (
        [
            *({**row, "lag": 20} for row in led(0, 1, 0, 10, 30)),
            *({**row, "lag": 500} for row in led(0, 2, 40, since=3)),
            *({**row, "lag": 0} for row in led(1, None, 7)),
            # what rose unseen is the next one's that was seen
            *({**row, "lag": 0} for row in [*led(2, 3, 0, None), *led(2, 4, None, 50, since=2)]),
            {**led(3, 5, 0)[0], "leader_rack": "old", "lag": 8},
            {**led(3, 5, 0, since=1)[0], "leader_rack": "new", "lag": 8},
        ],
        {
            (1, "a"): {"partitions_led": 0.75, "produced": 30, "lag_mean": 15.0},
            (2, "a"): {"partitions_led": 0.25, "produced": 10, "lag_mean": 125.0},
            (None, "a"): {"partitions_led": 1.0, "produced": None, "hot": False},
            (3, "a"): {"produced": None},
            (4, "a"): {"produced": 50},
            (5, "old"): {"lag_mean": 0.0},
            (5, "new"): {"lag_mean": 8.0},
        },
    ),
    # what is hot is decided as of members
    "all of the lag": (
        [{**row, "lag": 134 * (n == 0)} for n in range(4) for row in led(n, n, 0)],
        {(0, "a"): {"lag_to_others": None, "hot": True}, (1, "a"): {"hot": False}},
    ),
}


def group_partition(row: Row, **own: Any) -> Row:
    names = {"minute", "partition", "committed", "start", "end", "retention_ms", "cleanup_policy"}
    more = {name: value for name, value in row.items() if name not in {*names, "leader_rack"}}
    committed, start, end = (row.get(name) for name in ("committed", "start", "end"))
    made = group_row(row["partition"], None, 0, 0, member_id="m", topic_id="id")
    known = {"committed_offset": committed, "start_offset": start or 0, "end_offset": end}
    if committed is not None and end is not None:
        known["lag"] = max(end - max(committed, start or 0), 0)
    return {**made, **known, **own, **more}


def topic_partition(row: Row, topic: str) -> Row:
    names = ("leader", "leader_rack", "retention_ms", "cleanup_policy", "topic_id")
    own = {name: row[name] for name in names if name in row}
    return topic_row(row["partition"], row.get("end"), topic=topic, **own)


def write_cluster(root: Path, folder: str, cases: dict[str, list[Row]]) -> None:
    """Runs with the rows of each case, whose topic and group have its name."""
    for number in STANDS:
        rows = [(case, row) for case, of in cases.items() for row in of if row["minute"] == number]
        groups = [
            {"consumer_group": case, **of[number]}
            for case, (of, *_) in GROUPS.items()
            if number in of and folder == "strips"
        ]
        group_rows = [group_partition(row, consumer_group=case, topic=case) for case, row in rows]
        topic_rows = [topic_partition(row, case) for case, row in rows]
        when = minute(number)
        write_run(
            root, "groups", groups or [{"consumer_group": "g"}], at=when, folder=folder, lean=True
        )
        write_run(root, "group_partitions", group_rows, at=when, folder=folder, lean=True)
        write_run(root, "topic_partitions", topic_rows, at=when, folder=folder, lean=True)


@pytest.fixture(name="reported", scope="module")
def _reported(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert spark
    root = tmp_path_factory.mktemp("tables")
    cases = {case: rows for case, (rows, *_) in PARTITIONS.items()}
    beside = [row for n in range(3) for row in strip((0,), n, leader=n + 1, lag=LATE * (n == 0))]
    write_cluster(root, "strips", {**cases, "lags under broker 1": beside})
    read = {
        case: moved(0, "a", *commits, **{"end": 999, **more})
        for case, (commits, more, _) in CONSUMED.items()
    }
    for name, (rows, _) in BROKERS.items():
        beside_it = read if name == "moved" else {}
        write_cluster(root, f"brokers%20{name.replace(' ', '%20')}", {"t": rows, **beside_it})
    place = ["--input", str(root), "--output", str(root), "--date", str(DAY)]
    assert main(place, now=lambda: MIDNIGHT + timedelta(days=1)) == 0
    return root


CASES = {**GROUPS, **PARTITIONS}


@pytest.mark.parametrize("case", CASES)
def test_a_strip_has_its_row(reported: Path, case: str) -> None:
    _, where, expected = CASES[case]
    report, keys = where
    keys = {"consumer_group": case} | ({"topic": case} if where is OF_TOPIC else keys)

    (row,) = [r for r in report_rows(reported, report, "strips") if keys.items() <= r.items()]
    nearly = {n: pytest.approx(v) if isinstance(v, float) else v for n, v in expected.items()}
    assert {name: row[name] for name in expected} == nearly


def test_what_was_read_is_consumed(reported: Path) -> None:
    rows = report_rows(reported, "consumer_hotspots", "brokers%20moved")

    consumed = {row["consumer_group"]: row["consumed"] for row in rows if row["member_id"] == "a"}
    assert consumed == {case: consumed for case, (_, _, consumed) in CONSUMED.items()}


@pytest.mark.parametrize("case", BROKERS)
def test_a_broker_has_its_rows(reported: Path, case: str) -> None:
    cluster = f"brokers%20{case.replace(' ', '%20')}"
    rows = report_rows(reported, "broker_hotspots", cluster)

    found = {(row["leader"], row["leader_rack"]): row for row in rows}
    for key, expected in BROKERS[case][1].items():
        assert {n: found[key][n] for n in expected} == pytest.approx(expected, abs=1e-9)
    assert len(found) == len(rows)


def test_only_what_was_read_has_a_row(reported: Path) -> None:
    hours = {row["consumer_group"] for row in report_rows(reported, "lag_hourly", "strips")}
    objectives = {row["consumer_group"] for row in report_rows(reported, "slo", "strips")}

    assert "never read" not in hours
    assert objectives == {case for case, (_, where, _) in GROUPS.items() if where is SLO}


def same_reports(one: Path, other: Path) -> None:
    """But for runs that saw nothing, of which the history has no rows."""
    for name in set(TABLES) - {"coverage"}:
        first, second = (
            [row for row in report_rows(root, name, "strips") if row.get("kind") != "no_runs"]
            for root in (one, other)
        )
        assert first == second, name


def test_a_day_of_which_the_history_alone_is_left_has_the_same_reports(
    reported: Path, tmp_path: Path
) -> None:
    for each in ("history", "snapshots"):
        shutil.copytree(reported / each, tmp_path / each)
    shutil.rmtree(tmp_path / "snapshots/groups/cluster=strips")
    place = ["--input", str(tmp_path), "--output", str(tmp_path), "--cluster", "strips"]
    assert main([*place, "--date", str(DAY)], now=lambda: MIDNIGHT + timedelta(days=1)) == 0

    assert {row["source"] for row in report_rows(tmp_path, "coverage", "strips")} == {"history"}
    same_reports(tmp_path, reported)
