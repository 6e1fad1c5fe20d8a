# SPDX-License-Identifier: Apache-2.0
"""Two readings of a cluster: groups without progress, unknown statuses, and the exit code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.errors import SourceError
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import PreviousRuns, Snapshot
from kafka_lag_cli.show import exit_code, idle_notes
from kafka_lag_cli.terminal.group_rows import Selection, select_groups, status_word
from kafka_lag_cli.terminal.selection_options import check_group
from kafka_lag_cli.two_readings import TwoReadings, compare_readings
from tests.builders import HOUR, MINUTE, NOON, a_reading, cell, table
from tests.cli.snapshots import a_group, a_partition, a_snapshot_of
from tests.functions.lag.time_index_fake import Broker, Log

GAP = 10
RULES = Rules(window_ms=10 * MINUTE)
SHARE = {"group_type": "share", "status": None, "lag": None, "time_lag_seconds": None}
BEFORE_WINDOW = NOON + GAP * 1000 - 10 * MINUTE
OLD = {"time_lag_seconds": 3_600.0, "status": "OK", "lag": 5}


def seen(*groups: dict[str, Any]) -> TwoReadings:
    return TwoReadings("shop", a_snapshot_of(*groups), 0, {})


def readings(*partitions: tuple[dict[str, Any], dict[str, Any]]) -> tuple[Snapshot, Snapshot]:
    """Partitions of one group as they were, and as they are."""
    first, second = zip(*partitions, strict=True)
    return (
        a_snapshot_of(a_group("g"), partitions=first),
        a_snapshot_of(a_group("g", lag=5), partitions=second, at=NOON + GAP * 1000),
    )


def a_pair(number: int = 0, before: int | None = 5, now: int | None = 5, **columns: Any) -> Any:
    """A partition in both readings: its commits, and what the second says of it."""
    return (
        a_partition("g", "t", number, committed_offset=before),
        a_partition("g", "t", number, committed_offset=now, **{**OLD, **columns}),
    )


def compared(*partitions: Any) -> TwoReadings:
    return compare_readings("shop", *readings(*partitions), RULES, GAP)


# What the second reading says beside five commits, all as in the first, and an hour of time lag;
# then whether the partition stood still, and its status.
@pytest.mark.parametrize(
    ("columns", "is_idle", "status"),
    [
        pytest.param({}, True, None, id="old"),
        pytest.param({"now": 6}, False, "OK", id="it moved"),
        pytest.param({"before": None}, False, "OK", id="it has its first commit"),
        pytest.param({"lag": 0, "time_lag_seconds": 0.0}, False, "OK", id="it is caught up"),
        pytest.param({"lag": None, "time_lag_seconds": None}, False, "OK", id="lag not known"),
        pytest.param({"time_lag_seconds": 600.0}, True, "OK", id="its lag is young"),
        pytest.param({"time_lag_seconds": 600.1}, True, None, id="older than the window"),
        pytest.param({"time_lag_seconds": None}, True, None, id="of an age that is not known"),
        pytest.param({"commit_changed_at": BEFORE_WINDOW}, True, "OK", id="seen for a window"),
        pytest.param({"commit_changed_at": BEFORE_WINDOW + 1}, True, None, id="seen for less"),
        pytest.param({"status": "WARN"}, True, "WARN", id="only an OK is doubted"),
        pytest.param({"status": "STALL"}, True, "STALL", id="a stall stays"),
    ],
)
def test_an_old_lag_that_stands_still_proves_nothing_until_a_window_is_over(
    columns: dict[str, Any], is_idle: bool, status: str | None
) -> None:
    found = compared(a_pair(**columns))
    assert found.idle == ({"g": (1, 1)} if is_idle else {})
    assert table(found.snapshot.group_partitions, "status") == [(status,)]
    of_group = cell(found.snapshot.groups, "status", consumer_group="g")
    assert of_group == (None if status is None else "OK")


def test_partitions_that_stand_still_are_counted_beside_all_that_lag() -> None:
    found = compared(a_pair(0), a_pair(1, now=9))
    assert found.idle == {"g": (1, 2)}
    assert table(found.snapshot.group_partitions, "status") == [(None,), ("OK",)]


def test_a_group_that_is_worse_for_another_partition_keeps_its_status() -> None:
    first, _ = readings(a_pair())
    second = a_snapshot_of(
        a_group("g", status="ERR", lag=9),
        a_group("other", lag=1),
        partitions=(a_pair()[1], a_partition("g", "t", 1, status="STALL", lag=4)),
    )
    found = compare_readings("shop", first, second, RULES, GAP)
    assert table(found.snapshot.groups, "consumer_group", "status") == [
        *(("g", "ERR"), ("other", "OK"))
    ]


def test_a_partition_that_the_first_reading_lacks_is_not_idle() -> None:
    first = a_snapshot_of(a_group("g"))
    _, second = readings(a_pair())
    assert compare_readings("shop", first, second, RULES, GAP).idle == {}


def test_a_first_show_knows_what_is_fresh_what_is_late_and_what_is_lost() -> None:
    topics = {"fresh": [(0, 50)], "late": [(0, 50)], "brief": [(20, 50)]}
    groups = {"new": {"fresh": [40]}, "old": {"late": [40]}, "losing": {"brief": [10]}}
    records = Broker(
        {
            ("fresh", 0): Log([NOON - MINUTE] * 50),
            ("late", 0): Log([NOON - HOUR] * 50),
            ("brief", 0): Log([NOON - MINUTE] * 50, start=20),
        }
    )
    newest = Snapshot.empty()
    words = []
    for at in (NOON, NOON + GAP * 1000):
        reading = a_reading(groups, topics, at=at)
        newest = evaluate(reading, PreviousRuns(newest), RULES, at, records).snapshot
        rows = select_groups(newest, Selection()).rows
        words.append({row["consumer_group"]: status_word(row) for row in rows})

    assert words == [
        {"losing": "ERR", "new": "?", "old": "?"},
        {"losing": "ERR", "old": "WARN", "new": "OK"},
    ]


@pytest.mark.parametrize(
    ("idle", "gap", "note"),
    [((3, 3), 10, "idle 10 s"), ((1, 1), 3600, "idle 60 min"), ((1, 3), 10, "1 of 3 idle")],
)
def test_the_remark_says_how_many_stood_still_for_how_long(
    idle: tuple[int, int], gap: int, note: str
) -> None:
    found = TwoReadings("shop", a_snapshot_of(a_group("g")), gap, {"g": idle})
    assert idle_notes(found) == {"g": note}


LATE = {"sla_seconds": 60.0, "time_lag_seconds": 61.0}
KEPT = {"sla_seconds": 60.0, "time_lag_seconds": 60.0}
UNSURE = {**KEPT, "time_lag_error_seconds": None}


@pytest.mark.parametrize(
    ("groups", "on_err", "on_warn", "on_sla"),
    [
        ([], 0, 0, 0),
        ([{}], 0, 0, 0),
        ([{"status": "ERR"}], 3, 3, 0),
        ([{"status": "WARN"}], 0, 3, 0),
        ([{"status": None, "lag": 5}], 4, 4, 0),
        ([{"status": None, "lag": None, "unread_reason": "timeout"}], 4, 4, 0),
        ([{"status": None, "lag": 5}, {"status": "ERR"}], 3, 3, 0),
        ([{"status": None, "lag": 5}, {"status": "WARN"}], 4, 3, 0),
        ([{"status": None, "last_status": "ERR", "unread_reason": "denied"}], 4, 4, 0),
        ([{"status": None, "lag": None, "partitions_unknown": 3}], 4, 4, 0),
        ([{"partitions_unknown": 1}], 4, 4, 0),
        ([SHARE], 0, 0, 0),
        # A commit beyond the end, read once.
        ([{"status": None, "lag": 0}], 4, 4, 0),
        ([KEPT], 0, 0, 0),
        ([LATE], 0, 0, 3),
        ([{"status": "ERR", **KEPT}], 3, 3, 0),
        ([{"time_lag_seconds": 9e9}], 0, 0, 0),
        ([{**LATE, "time_lag_error_seconds": None}], 0, 0, 3),
        ([UNSURE], 0, 0, 4),
        ([{**UNSURE, "time_lag_seconds": None}], 0, 0, 4),
        ([{**KEPT, "status": None, "lag": 5}], 4, 4, 0),
    ],
    ids=str,
)
def test_the_exit_code_says_how_bad_it_is_or_that_nobody_knows(
    groups: list[dict[str, Any]], on_err: int, on_warn: int, on_sla: int
) -> None:
    found = seen(*(a_group(f"g{n}", **columns) for n, columns in enumerate(groups)))
    everything = Selection()
    assert exit_code(found, everything, [contract.ERR]) == on_err
    assert exit_code(found, everything, [contract.WARN]) == on_warn
    assert exit_code(found, everything, ["sla"]) == on_sla
    assert exit_code(found, everything, []) == 0


@pytest.mark.parametrize(("status", "expected"), [("OK", 4), ("ERR", 3)])
def test_a_broker_that_was_not_read_may_hold_worse_groups(status: str, expected: int) -> None:
    found = replace(seen(a_group("g", status=status)), unread_brokers=("3",))
    assert exit_code(found, Selection(), [contract.ERR]) == expected


def test_a_choice_of_statuses_does_not_hide_a_group_of_which_none_is_known() -> None:
    found = seen(a_group("a", status=None, lag=5), a_group("b"))
    assert exit_code(found, Selection(statuses=frozenset({"ERR"})), [contract.ERR]) == 4


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(top=1, sort="name"), 3),
        (Selection(owner="payments"), 0),
        (Selection(group="b"), 3),
        (Selection(group="a"), 0),
    ],
    ids=["the first alone", "of an owner", "the one", "another one"],
)
def test_the_exit_code_is_of_the_groups_that_were_chosen_and_none_of_them_is_hidden(
    selection: Selection, expected: int
) -> None:
    found = seen(a_group("a", owner="payments"), a_group("b", status="ERR"))
    assert exit_code(found, selection, [contract.ERR]) == expected


@pytest.mark.parametrize(
    ("unread_brokers", "sentence"),
    [
        ((), r"There is no group g that this login may see: leave --group out to see all 1 group"),
        (("3", "4"), r"none of those that were listed, .* did not answer: 3, 4\."),
    ],
)
def test_a_group_that_an_unread_broker_may_hold_is_not_denied(
    unread_brokers: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(SourceError, match=sentence):
        check_group(a_snapshot_of(a_group("other")), "g", unread_brokers)
