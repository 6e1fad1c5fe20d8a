# SPDX-License-Identifier: Apache-2.0
"""Partitions rolled up to their group: counts, status, the worst partition, time lag and loss."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag.lag.group_settings import ByName, Objective, Rules
from kafka_lag.lag.ownership import count_idle
from tests.builders import HOUR, MINUTE, NOON, a_reading, a_report, table
from tests.functions.lag.strips import Strips, split_strips
from tests.functions.lag.time_index_fake import Log

# The window is of three minutes: a commit that has stood for four is stuck.
COUNTS = split_strips(
    """
    all is read
        end                           10 +5x2
        commit                        10 +5
        end.1                         20 +5
        commit.1                      20 +5
        group.lag                     0x3
        group.max_lag                 0x3
        group.partitions              2x3
        group.complete                1x3
        group.status                  OKx3
        group.worst_topic             ?x3
        group.time_lag_seconds        0x3
        group.time_lag_error_seconds  0x3
        group.time_lag_method         nonex3
        scaling_lag                   0x3
    some of it lags
        end            10 +5x2
        commit         10 +0
        end.1          20 +5
        commit.1       20 +3
        group.lag      0 7 14
        group.max_lag  0 5 10
        scaling_lag    0 7 14
    one is no longer read
        end                           10 +5x7
        commit                        10 +0
        end.1                         20 25 timeoutx6
        commit.1                      20
        group.lag                     0 10 15 20 25 ?x3
        group.max_lag                 0 5 10 15 20 ?x3
        group.partitions              2x8
        group.partitions_unknown      0x2 1x6
        group.complete                1x2 0.5x6
        group.status                  OKx4 ERRx4
        group.time_lag_error_seconds  0 53.99 ?x6
        group.time_lag_method         none interpolated at_leastx6
        scaling_lag                   0 10 ?x6
    one was never read
        end                       10 +5x2
        commit                    10 +0
        end.1                     timeout
        commit.1                  20
        group.lag                 ?x3
        group.partitions_unknown  1x3
        group.complete            0.5x3
        group.time_lag_seconds    ? 53.99 114
        group.time_lag_method     ? at_leastx2
        group.worst_partition     ?x3
        scaling_lag               ?x3
    one was never read, the other stalls
        end                    10 +5x5
        commit                 10
        end.1                  timeout
        commit.1               20
        group.status           ?x4 ERRx2
        group.worst_partition  ?x4 0x2
    nothing is read any more
        end                     10 15 timeoutx6
        commit                  10
        group.lag               0 5x4 ?x3
        group.complete          1x2 0x6
        group.status            OKx2 ?x6
        group.last_status       OKx8
        group.time_lag_seconds  0 53.99 113.8 173.8 233.8 ?x3
    a commit may not be read
        end                           10 +5x2
        commit                        10
        end.1                         20
        commit.1                      denied
        group.lag                     ?x3
        group.partitions_unknown      1x3
        group.partitions_uncommitted  0x3
        group.complete                0.5x3
    a commit on an empty log may not be read
        end                       10 +5x2
        commit                    10
        start.1                   20
        end.1                     20
        commit.1                  denied
        group.lag                 ?x3
        group.partitions_unknown  1x3
    one has no commit
        end                           10 +5x2
        commit                        10
        end.1                         20
        commit.1                      -
        group.lag                     0 5 10
        group.partitions_unknown      0x3
        group.partitions_uncommitted  1x3
        group.complete                1x3
        group.status                  OKx3
        group.produce_rate            ? 0.08333x2
        group.consume_rate            ? 0x2
        scaling_lag                   0 5 10
    none has a commit
        end                           10x3
        commit                        -
        group.lag                     ?x3
        group.partitions_uncommitted  1x3
        group.complete                ?x3
        group.status                  ?x3
        group.drain_seconds           ?x3
        group.seconds_until_loss      ?x3
        scaling_lag                   ?x3
    allowed
        end                    15x3
        commit                 10
        end.1                  20
        commit.1               12
        group.lag              13x3
        group.worst_partition  1x3
        scaling_lag            2x3
    records are lost in both
        end                  50x2
        start                20
        commit               13
        end.1                50
        start.1              30
        commit.1             26
        group.records_lost   11x2
        group.lag            50x2
        group.status_reason  records_lostx2
    both are set back
        end                    50
        commit                 50 45
        end.1                  60
        commit.1               60 40
        group.records_rewound  ? 25
    members change
        end                   10
        commit                10
        owner                 m n n - -
        end.1                 10
        commit.1              10
        owner.1               x
        group.owners_changed  0 1 0 1 0
    """
)
WORST = split_strips(
    """
    the worse status before the older record
        end                    900 +10x5
        commit                 10 +100
        end.1                  20 +0x4 +1
        commit.1               19
        owner.1                m2
        group.status           ?x4 ERRx2
        group.worst_partition  0x4 1x2
        group.worst_member     mx4 m2x2
        group.worst_leader     0x4 1x2
        group.status_reason    ?x6
    of two that stall the older
        end                    100 +10x5
        commit                 100
        end.1                  100 +1
        commit.1               99
        group.worst_partition  1x6
    of two as old the one with more lag
        end                    100 +10x5
        commit                 100
        end.1                  100 +20
        commit.1               100
        group.worst_partition  ? 1x5
    of equals the first
        end                    100x6
        commit                 100
        end.1                  100 +20
        commit.1               100
        end.2                  100 +20
        commit.2               100
        group.worst_partition  ? 1x5
    one that stalled and is not read any more
        end                    100 +10x5 timeoutx3
        commit                 100
        end.1                  100 +10
        commit.1               100 +10
        group.status           OKx4 ERRx5
        group.worst_partition  ? 0x8
        group.worst_status     ?x4 stalledx5
    one that stops beside one that is slow
        end                       100 +100x19
        commit                    100 +20
        owner                     m
        end.1                     100 +100
        commit.1                  100
        owner.1                   -
        group.status              ... ERR
        group.status_reason       ... ?
        group.worst_partition     ... 1
        group.worst_status        ... stopped
        group.worst_status_since  ... 0
    one that only loses beside one that stalls
        end                    100 +100x7
        start                  100 +100
        commit                 95 +95
        end.1                  100 +100
        commit.1               100
        group.status_reason    records_lostx4 ?x4
        group.worst_status     ?x4 stalledx4
        group.worst_partition  0x4 1x4
    one that falls behind
        end                       1000 +100x6 +200x13
        commit                    1000 +100
        group.worst_status        ?x13 falling_behindx7
        group.worst_status_since  ?x13 10x7
    one that went back
        end                       1000 +100x4
        commit                    1000x2 500
        group.worst_status        ?x2 rewoundx3
        group.worst_status_since  ?x2 2x3
    one whose reader has left
        end                       240x20
        commit                    100
        owner                     -
        group.worst_status        no_memberx4 stoppedx16
        group.worst_status_since  0x20
    """
)
LOSSES = split_strips(
    """
    at risk beside one that is safe
        end                       240 +1
        commit                    100
        cleanup_policy            delete
        retention_ms              4h
        retention_bytes           -1
        end.1                     10
        commit.1                  10
        cleanup_policy.1          delete
        retention_ms.1            4h
        retention_bytes.1         -1
        seconds_until_loss        6030 5970
        retention_risk            AT_RISKx2
        group.seconds_until_loss  6030 5970
    at risk beside one whose settings are denied
        end                       240 +1
        commit                    100
        cleanup_policy            delete
        retention_ms              4h
        retention_bytes           -1
        end.1                     240 +1
        commit.1                  100
        retention_risk.1          ?x2
        group.seconds_until_loss  6030 5970
    safe beside one whose settings are denied
        end                       240 +1
        commit                    100
        cleanup_policy            delete
        retention_ms              30d
        retention_bytes           -1
        retention_risk            SAFEx2
        end.1                     240 +1
        commit.1                  100
        group.seconds_until_loss  ?x2
    lost, and settings are denied
        end                       900x2
        start                     500
        commit                    100
        retention_risk            LOSTx2
        group.seconds_until_loss  0x2
    """
)
OLD = Log([NOON - 4 * HOUR + i * MINUTE + 30_000 for i in range(243)])
RUNS = Strips(
    {**COUNTS, **WORST, **LOSSES},
    Rules(window_ms=3 * MINUTE, allowed_lag=ByName.of([("^allowed", 6)])),
    logs=dict.fromkeys((*LOSSES, "one whose reader has left"), OLD),
)


@pytest.mark.parametrize("name", COUNTS)
def test_what_counts_in_a_group(name: str) -> None:
    RUNS.check(name)


@pytest.mark.parametrize("name", WORST)
def test_a_group_is_as_bad_as_its_worst_partition(name: str) -> None:
    RUNS.check(name)


@pytest.mark.parametrize("name", LOSSES)
def test_the_nearest_loss_is_that_of_a_partition_at_risk(name: str) -> None:
    RUNS.check(name)


@pytest.mark.parametrize(
    ("is_ignored", "expected"),
    [
        (True, [(2, 0, "OK", None), (1, None, None, "inactive")]),
        (False, [(2, 50, None, None), (1, 50, None, None)]),
    ],
)
def test_a_topic_that_a_group_has_left_counts_unless_it_is_ignored(
    is_ignored: bool, expected: list[tuple[object, ...]]
) -> None:
    before = None
    for hours in (0, 1 / 60, 24 + 1 / 60):
        at = NOON + round(hours * HOUR)
        reading = a_reading(
            {"g": {"left": [0], "read": [100]}, "h": {"left": [0]}},
            {"left": [(0, 50)], "read": [(0, 100)]},
            at=at,
            owners={("g", "read", 0): "m"},
        )
        report = a_report(reading, before, Rules(ignore_inactive=is_ignored), at)
        before = report.snapshot
    groups = table(report.snapshot.groups, "partitions", "lag", "status", "status_reason")
    assert groups == expected


def test_settings_are_those_of_the_first_expression_found_in_the_name() -> None:
    rules = Rules(
        owners=ByName.of([("^pay", "payments"), ("pay", "others")]),
        sla_seconds=ByName.of([("ments$", 60.0)]),
        objectives=ByName.of([("^pay", Objective(300.0, 99.5, 30))]),
        runbooks=ByName.of([("^others$", "https://w/b"), ("^repay", "https://w/a")]),
    )
    groups = a_report(a_reading({name: {} for name in ("payments", "repay", "g")}), rules=rules)
    names = ("owner", "sla_seconds", "slo_age_seconds", "slo_target", "slo_days", "runbook_url")
    assert table(groups.snapshot.groups, *names) == [
        ("payments", 60.0, 300.0, 99.5, 30, None),
        ("others", None, None, None, None, "https://w/a"),
        (None,) * 6,
    ]
    assert rules.runbook_of("prepay") == "https://w/b"


# Which members own no partition. Who owns one, run by run: test_status and test_rollup.


@pytest.mark.parametrize(
    ("group", "owners", "idle"),
    [
        pytest.param({}, 2, 2, id="two of four"),
        pytest.param({}, 4, 0, id="none"),
        pytest.param({}, 5, 0, id="some have left"),
        pytest.param({"protocol": "connect"}, 2, None, id="another protocol"),
        pytest.param({"protocol": "connect"}, 4, 0, id="another protocol and all own some"),
        pytest.param({"protocol": None}, 3, 1, id="a protocol that is not said"),
        pytest.param({"group_state": "PreparingRebalance"}, 1, None, id="they wait"),
        pytest.param({}, 0, None, id="nobody owns anything"),
        pytest.param({"group_type": "consumer"}, 0, 4, id="the coordinator assigns"),
    ],
)
def test_members_that_own_nothing_are_counted_where_that_is_known(
    group: dict[str, Any], owners: int, idle: int | None
) -> None:
    usual = {"members": 4, "protocol": "consumer", "group_state": "Stable", "group_type": "classic"}
    assert count_idle({**usual, **group}, owners) == idle
