# SPDX-License-Identifier: Apache-2.0
"""Statuses are held to the commits of the truth, and to what each run before could see."""

from dataclasses import replace
from typing import Any, TypeAlias

import pytest

from dev.faults.run import KILLED
from dev.faults.truth import (
    NEVER,
    Commit,
    LogView,
    Stale,
    TopicView,
)
from tests.dev.faults.builders import (
    FIRST,
    NOW,
    TRUTH,
    G,
    P,
    T,
    earlier_run,
    frames,
    frames_with,
    history,
    judged,
    moved,
    rules,
    run,
)


@pytest.mark.parametrize(
    ("dataset", "column", "value", "rule"),
    [
        (P, "status_reason", "records_lost", "status"),
        (P, "status_reason", "beyond_end", "status"),
        (P, "status", "REWIND", "status"),
        (G, "status", "OK", "status of group"),
        (G, "status", None, "status of group"),
    ],
)
def test_a_wrong_status_is_found(dataset: str, column: str, value: Any, rule: str) -> None:
    planted = frames()
    planted[dataset][0][column] = value
    assert rule in rules(run(frames=planted))


# Offsets and when they were committed; offsets that runs saw, from when on and until when.
Moves: TypeAlias = tuple[tuple[int, int], ...]
Strip: TypeAlias = tuple[tuple[int, int, int], ...]

LAY_STILL, BACK_LONG_AGO = ((6, 1_010_000),), ((9, 1_009_000), (6, 1_010_000))
PAUSES = ((1, 965_000), (2, 980_000), (3, 995_000), *LAY_STILL)
NOTHING_WRITTEN = ((1, 925_000), (2, 940_000), (3, 955_000), (6, 970_000))
A_SECOND_AGO, WITHIN = ((5, 1_010_000), (6, NOW - 1_000)), ((5, 1_010_000), (6, NOW - 9_500))
BACK, BACK_BEFORE = ((9, 1_009_000), (6, NOW - 5_500)), ((9, 1_009_000), (6, NOW - 11_500))
BACK_AND_ON = ((9, 1_009_000), (6, FIRST + 1_500), (2, NOW - 5_500), (6, NOW - 3_500))
STOOD = ((6, FIRST, NOW),)
SAW_BACK = ((9, FIRST, NOW - 5_000), (6, NOW - 5_000, NOW))
SAW_TWICE = ((9, FIRST, NOW - 11_000), (6, NOW - 11_000, NOW - 10_000), (6, NOW - 11_000, NOW))
SAW_BACK_AND_ON = (
    *((9, FIRST, FIRST + 2_000), (6, FIRST + 2_000, NOW - 5_000)),
    *((2, NOW - 5_000, NOW - 3_000), (6, NOW - 3_000, NOW)),
)
SAW_A_SECOND_AGO = ((5, FIRST, NOW - 1_000), (6, NOW - 1_000, NOW))
SAW_WITHIN, SAW_LATE = ((5, FIRST, NOW - 9_000), (6, NOW - 9_000, NOW)), ((6, NOW - 9_000, NOW),)
# Commits, what the runs before saw, status, its reason, when it changed, whether that is wrong.
STRIPS: list[tuple[Moves, Strip, str | None, str | None, int, bool]] = [
    (LAY_STILL, STOOD, "STOP", None, FIRST, False),
    (LAY_STILL, STOOD, "OK", None, FIRST, True),
    (LAY_STILL, STOOD, "WARN", None, FIRST, True),
    (LAY_STILL, STOOD, None, None, FIRST, True),
    (A_SECOND_AGO, SAW_A_SECOND_AGO, "STOP", None, FIRST, True),
    (A_SECOND_AGO, SAW_A_SECOND_AGO, "OK", None, NOW - 1_000, False),
    (WITHIN, SAW_WITHIN, "STOP", None, FIRST, True),
    (LAY_STILL, SAW_LATE, "OK", None, NOW - 9_000, False),
    (LAY_STILL, STOOD, "OK", "pausing", FIRST, True),
    (PAUSES, STOOD, "OK", "pausing", FIRST, False),
    (LAY_STILL, STOOD, "WARN", "falling_behind", FIRST, True),
    (PAUSES, STOOD, "WARN", "falling_behind", FIRST, False),
    (LAY_STILL, STOOD, "WARN", "slow", FIRST, True),
    (PAUSES, STOOD, "WARN", "slow", FIRST, False),
    (PAUSES, STOOD, "OK", None, FIRST, False),
    (BACK_LONG_AGO, STOOD, "REWIND", None, FIRST, True),
    (BACK, SAW_BACK, "WARN", None, NOW - 5_000, True),
    (BACK, SAW_BACK, "REWIND", None, NOW - 5_000, False),
    (BACK_AND_ON, SAW_BACK_AND_ON, "OK", None, NOW - 3_000, True),
    (BACK_AND_ON, SAW_BACK_AND_ON, "REWIND", None, NOW - 3_000, False),
    (BACK_BEFORE, SAW_TWICE, "STOP", None, NOW - 11_000, False),
]


@pytest.mark.parametrize(("moves", "strip", "status", "reason", "changed_at", "wrong"), STRIPS)
def test_a_status_is_held_to_commits_and_to_what_runs_saw_of_them(
    moves: Moves, strip: Strip, status: str | None, reason: str | None, changed_at: int, wrong: bool
) -> None:
    seen = [
        earlier_run(at, committed_offset=offset)
        for offset, since, until in strip
        for at in range(since, until, 1_000)
    ]
    truth = moved(*(Commit(offset, at, at + 10) for offset, at in moves))
    planted = frames_with(status=status, status_reason=reason, commit_changed_at=changed_at)
    assert ("status" in rules(run(frames=planted), truth, history(*seen))) is wrong


@pytest.mark.parametrize(("age", "wrong"), [(22.98, False), (60.0, True)])
def test_a_pause_is_no_longer_than_its_oldest_unread_record(age: float, wrong: bool) -> None:
    # Nothing was written for longer than the usual pauses last, and so the commit did not move.
    truth = moved(*(Commit(offset, at, at + 10) for offset, at in NOTHING_WRITTEN))
    planted = frames_with(status="OK", status_reason="pausing", time_lag_seconds=age)
    assert ("status" in rules(run(frames=planted), truth)) == wrong


def test_a_stall_needs_a_group_that_ever_had_a_member() -> None:
    planted = frames()
    planted[P][0]["status"] = "STALL"
    assert "status" in rules(run(frames=planted))
    assert "status" not in rules(run(frames=planted), replace(TRUTH, memberless=frozenset()))


@pytest.mark.parametrize(
    ("overtaken", "wrong"), [(False, False), (True, True)], ids=["the second of two", "too late"]
)
def test_a_commit_may_have_been_seen_first_by_the_second_run_of_one_time(
    overtaken: bool, wrong: bool
) -> None:
    truth = moved(Commit(5, 1_010_000, 1_010_010), Commit(6, FIRST + 200, FIRST + 210))
    second = replace(earlier_run(FIRST), began=FIRST + 500, ended=FIRST + 700)
    later = replace(earlier_run(FIRST + 400, committed_offset=5), began=FIRST, ended=FIRST + 100)
    between = [later] if overtaken else []
    late = [earlier_run(t) for t in range(NOW - 9_000, NOW, 1_000)]
    known = history(earlier_run(FIRST, committed_offset=5), *between, second, *late)
    assert ("status" in rules(run(), truth, known)) is wrong


@pytest.mark.parametrize(
    "between",
    [
        pytest.param([(at, 0, 10) for at in range(1_000, 15_000, 1_000)], id="the-same-again"),
        pytest.param([(7_000, 1, None)], id="one-that-nobody-answered"),
    ],
)
def test_a_pause_lasts_from_one_offset_that_was_taken_to_the_next(
    between: list[tuple[int, int, int | None]],
) -> None:
    commits = []
    for n in (1, 2, 3):
        at = 950_000 + 15_000 * n
        commits.append(Commit(n, at, at + 10))
        for later, more, answered in between:
            acked = NEVER if answered is None else at + later + answered
            commits.append(Commit(n + more, at + later, acked))
    planted = frames_with(status="OK", status_reason="pausing")
    truth = moved(*commits, Commit(6, 1_010_000, 1_010_010))
    assert "status" not in rules(run(frames=planted), truth)


@pytest.mark.parametrize(("begin", "wrong"), [(NOW - 9_000, False), (NOW + 5_000, True)])
def test_a_coordinator_that_lost_its_place_may_show_a_rewind(begin: int, wrong: bool) -> None:
    stale = Stale(1, since=NOW - 12_000, begin=begin, groups=frozenset({"billing"}))
    planted = frames_with(status="REWIND")
    found = judged(run(frames=planted), replace(TRUTH, stale=(stale,))).wrong
    assert any("did not go back" in each.truth for each in found) == wrong


@pytest.mark.parametrize(("left", "wrong"), [(True, False), (False, True)])
def test_a_commit_may_be_that_of_a_run_that_was_killed_before_it_was_repeated(
    left: bool, wrong: bool
) -> None:
    killed = earlier_run(NOW - 1_000, committed_offset=5)
    topics_left = killed.rows_of(T) if left else ()
    killed = replace(killed, frames={}, error=KILLED, topics_left=topics_left)
    moves = moved(Commit(5, FIRST, FIRST + 10), Commit(6, NOW - 990, NOW - 980))
    before = [earlier_run(t, committed_offset=5) for t in range(FIRST, NOW - 1_000, 1_000)]
    repeated = replace(earlier_run(NOW - 1_000), began=NOW - 500, ended=NOW - 300)
    planted = frames_with(commit_changed_at=NOW)
    known = history(*before, killed, repeated)
    assert ("commit_changed_at" in rules(run(frames=planted), moves, known)) == wrong


@pytest.mark.parametrize("status", ["STOP", "WARN"])
def test_a_bad_status_needs_a_record_older_than_the_window(status: str) -> None:
    log = LogView.of([(n, NOW - 11_000 + 1_000 * n, NOW - 10_990 + 1_000 * n) for n in range(10)])
    topics = {"id-1": TopicView("orders", "id-1", (log, log), (0, 0), (1, 1))}
    planted = frames()
    for row in planted[P]:
        row |= {"status": status, "time_lag_seconds": 4.98, "time_lag_error_seconds": 0.0}
        row |= {"next_record_after": NOW - 5_000, "next_record_before": NOW - 5_000}
        row |= {"status_reason": "falling_behind" if status == "WARN" else None}
        row |= {"seconds_until_loss": 604_795.0}
    assert "status" in rules(run(frames=planted), replace(TRUTH, topics=topics))


@pytest.mark.parametrize(
    ("status", "oldest", "wrong"),
    [("STOP", 1.0, True), ("STOP", 1.01, False), ("WARN", 0.9, True), ("WARN", 0.91, False)],
)
def test_a_bad_status_may_go_by_an_age_that_is_not_proven(
    status: str, oldest: float, wrong: bool
) -> None:
    planted = frames()
    row = planted[P][0]
    row |= {"status": status, "status_reason": "falling_behind" if status == "WARN" else None}
    row["next_record_after"] = row["read_at"] - round(oldest * run().window_ms)
    found = judged(run(frames=planted)).wrong
    assert any("surely not over" in each.truth for each in found) == wrong


@pytest.mark.parametrize(
    ("last", "age", "wrong"),
    [
        pytest.param("WARN", None, False, id="it stays"),
        pytest.param("OK", None, True, id="it is new"),
        pytest.param("WARN", 5.0, True, id="an age that ends it"),
    ],
)
def test_a_warning_stays_where_no_age_is_known(last: str, age: float | None, wrong: bool) -> None:
    planted = frames()
    row = planted[P][0]
    row |= {"status": "WARN", "status_reason": "falling_behind", "last_status": last}
    row |= {"time_lag_seconds": age, "next_record_after": row["read_at"] - run().window_ms // 2}
    found = judged(run(frames=planted)).wrong
    assert any("surely not over" in each.truth for each in found) == wrong


@pytest.mark.parametrize(("clock_ahead", "wrong"), [(-120_000, False), (0, True)])
def test_a_clock_that_goes_back_ends_no_stop(clock_ahead: int, wrong: bool) -> None:
    planted = frames()
    row = planted[P][0]
    row["status"], row["next_record_after"] = "STOP", row["read_at"] - run().window_ms // 2
    found = judged(run(frames=planted, clock_ahead=clock_ahead)).wrong
    assert any("surely not over" in each.truth for each in found) == wrong


@pytest.mark.parametrize("deleted", [True, False])
def test_a_group_that_was_deleted_while_the_store_hung_has_no_status(deleted: bool) -> None:
    hung = [replace(earlier_run(at), frames={}) for at in range(NOW - 5_000, NOW, 1_000)]
    known = history(*map(earlier_run, range(FIRST, NOW - 5_000, 1_000)), *hung)
    gone = [Commit(None, NOW - 3_050, NOW - 3_040), Commit(6, NOW - 2_500, NOW - 2_490)]
    truth = moved(Commit(6, 1_010_000, 1_010_010), *(gone if deleted else []))
    planted = frames_with(status=None, commit_changed_at=None)
    assert ("status" in rules(run(frames=planted), truth, known)) != deleted


@pytest.mark.parametrize(("status", "wrong"), [(None, False), ("OK", True)])
def test_a_group_with_a_partition_that_nobody_ever_judged_has_no_status(
    status: str | None, wrong: bool
) -> None:
    planted = frames()
    good, unread = planted[P]
    good |= {"status": "OK", "last_status": "OK"}
    unread |= {"unread_reason": "timeout", "read_at": None, "lag": None, "last_lag": None}
    unread |= {"status": None, "last_status": None, "end_offset": None}
    planted[G][0]["status"] = status
    assert ("status of group" in rules(run(frames=planted))) == wrong
