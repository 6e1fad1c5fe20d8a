# SPDX-License-Identifier: Apache-2.0
"""Statuses are held to the commits of the truth, and to what each run before could see."""

from dataclasses import replace
from typing import Any

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


@pytest.mark.parametrize("status", ["OK", "WARN", None])
def test_a_commit_that_lay_still_for_longer_than_the_window_is_a_stop(status: str | None) -> None:
    planted = frames()
    planted[P][0] |= {"status": status}
    assert "status" in rules(run(frames=planted))


def test_a_stall_needs_a_group_that_ever_had_a_member() -> None:
    planted = frames()
    planted[P][0]["status"] = "STALL"
    assert "status" in rules(run(frames=planted))
    assert "status" not in rules(run(frames=planted), replace(TRUTH, memberless=frozenset()))


def test_a_stop_of_a_commit_one_second_old_is_found() -> None:
    truth = moved(Commit(5, 1_010_000, 1_010_010), Commit(6, NOW - 1_000, NOW - 990))
    saw_another = [earlier_run(t, committed_offset=5) for t in range(FIRST, NOW - 1_000, 1_000)]
    known = history(*saw_another, earlier_run(NOW - 1_000))
    assert "status" in rules(run(), truth, known)
    right = frames()
    for row in right[P]:
        row |= {"status": "OK", "commit_changed_at": NOW - 1_000}
    right[G][0]["status"] = "OK"
    assert "status" not in rules(run(frames=right), truth, known)


def test_a_commit_that_moved_within_the_window_and_was_seen_to_is_no_stop() -> None:
    truth = moved(Commit(5, 1_010_000, 1_010_010), Commit(6, NOW - 9_500, NOW - 9_490))
    saw = [earlier_run(t, committed_offset=5) for t in range(FIRST, NOW - 9_000, 1_000)]
    after = [earlier_run(t) for t in range(NOW - 9_000, NOW, 1_000)]
    assert "status" in rules(run(), truth, history(*saw, *after))


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


def test_a_stop_is_not_due_before_runs_saw_the_commit_for_the_window() -> None:
    planted = frames()
    for row in planted[P]:
        row |= {"status": "OK", "commit_changed_at": NOW - 9_000}
    planted[G][0]["status"] = "OK"
    known = history(*map(earlier_run, range(NOW - 9_000, NOW, 1_000)))
    assert "status" not in rules(run(frames=planted, metrics=[]), earlier=known)


def test_a_pause_excuses_only_where_pauses_came_before() -> None:
    planted = frames()
    for row in planted[P]:
        row |= {"status": "OK", "status_reason": "pausing"}
    assert "status" in rules(run(frames=planted))
    paused = moved(
        *(Commit(n, 950_000 + 15_000 * n, 950_010 + 15_000 * n) for n in (1, 2, 3)),
        Commit(6, 1_010_000, 1_010_010),
    )
    assert "status" not in rules(run(frames=planted), paused)


@pytest.mark.parametrize(
    ("status", "reason"), [("WARN", "falling_behind"), ("WARN", "slow"), ("OK", None)]
)
def test_what_pauses_and_is_farther_behind_than_usual_is_judged_as_one_that_moves(
    status: str, reason: str | None
) -> None:
    planted = frames()
    for row in planted[P]:
        row |= {"status": status, "status_reason": reason}
    assert "status" in rules(run(frames=planted))
    paused = moved(
        *(Commit(n, 950_000 + 15_000 * n, 950_010 + 15_000 * n) for n in (1, 2, 3)),
        Commit(6, 1_010_000, 1_010_010),
    )
    assert "status" not in rules(run(frames=planted), paused)


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
    planted = frames()
    for row in planted[P]:
        row |= {"status": "OK", "status_reason": "pausing"}
    truth = moved(*commits, Commit(6, 1_010_000, 1_010_010))
    assert "status" not in rules(run(frames=planted), truth)


def test_a_rewind_needs_a_commit_that_went_back_within_the_window() -> None:
    back = moved(Commit(9, 1_009_000, 1_009_010), Commit(6, 1_010_000, 1_010_010))
    planted = frames()
    for row in planted[P]:
        row["status"] = "REWIND"
    assert "status" in rules(run(frames=planted), back)


@pytest.mark.parametrize(("begin", "wrong"), [(NOW - 9_000, False), (NOW + 5_000, True)])
def test_a_coordinator_that_lost_its_place_may_show_a_rewind(begin: int, wrong: bool) -> None:
    stale = Stale(1, since=NOW - 12_000, begin=begin, groups=frozenset({"billing"}))
    planted = frames()
    for row in planted[P]:
        row["status"] = "REWIND"
    found = judged(run(frames=planted), replace(TRUTH, stale=(stale,))).wrong
    assert any("did not go back" in each.truth for each in found) == wrong


def test_a_commit_that_went_back_within_the_window_is_a_rewind() -> None:
    back = moved(Commit(9, 1_009_000, 1_009_010), Commit(6, NOW - 5_500, NOW - 5_490))
    saw = [earlier_run(t, committed_offset=9) for t in range(FIRST, NOW - 5_000, 1_000)]
    known = history(*saw, *map(earlier_run, range(NOW - 5_000, NOW, 1_000)))
    planted = frames()
    for row in planted[P]:
        row |= {"status": "WARN", "commit_changed_at": NOW - 5_000}
    assert "status" in rules(run(frames=planted), back, known)
    for row in planted[P]:
        row["status"] = "REWIND"
    assert "status" not in rules(run(frames=planted), back, known)


def test_a_commit_on_its_way_back_to_where_it_was_is_still_a_rewind() -> None:
    back = moved(
        Commit(9, 1_009_000, 1_009_010),
        Commit(6, FIRST + 1_500, FIRST + 1_510),
        Commit(2, NOW - 5_500, NOW - 5_490),
        Commit(6, NOW - 3_500, NOW - 3_490),
    )
    known = history(
        *(earlier_run(t, committed_offset=9) for t in (FIRST, FIRST + 1_000)),
        *map(earlier_run, range(FIRST + 2_000, NOW - 5_000, 1_000)),
        *(earlier_run(t, committed_offset=2) for t in (NOW - 5_000, NOW - 4_000)),
        *map(earlier_run, range(NOW - 3_000, NOW, 1_000)),
    )
    planted = frames()
    for row in planted[P]:
        row |= {"status": "OK", "commit_changed_at": NOW - 3_000}
    assert "status" in rules(run(frames=planted), back, known)
    for row in planted[P]:
        row["status"] = "REWIND"
    assert "status" not in rules(run(frames=planted), back, known)


def test_a_rewind_may_have_been_seen_first_by_a_run_that_was_repeated() -> None:
    seen_at = NOW - 11_000
    back = moved(Commit(9, 1_009_000, 1_009_010), Commit(6, seen_at - 500, seen_at - 490))
    before = [earlier_run(t, committed_offset=9) for t in range(FIRST, seen_at, 1_000)]
    after = [earlier_run(t) for t in range(seen_at, NOW, 1_000)]
    known = history(*before, after[0], *after)
    planted = frames()
    for row in planted[P]:
        row["commit_changed_at"] = seen_at
    assert "status" not in rules(run(frames=planted), back, known)


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
    planted = frames()
    for row in planted[P]:
        row["commit_changed_at"] = NOW
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


@pytest.mark.parametrize(("age", "wrong"), [(22.98, False), (60.0, True)])
def test_a_pause_is_no_longer_than_its_oldest_unread_record(age: float, wrong: bool) -> None:
    # Nothing was written for longer than the usual pauses last, and so the commit did not move.
    commits = (Commit(n, 910_000 + 15_000 * n, 910_010 + 15_000 * n) for n in (1, 2, 3))
    truth = moved(*commits, Commit(6, 970_000, 970_010))
    planted = frames()
    for row in planted[P]:
        row |= {"status": "OK", "status_reason": "pausing", "time_lag_seconds": age}
    assert ("status" in rules(run(frames=planted), truth)) == wrong


@pytest.mark.parametrize("deleted", [True, False])
def test_a_group_that_was_deleted_while_the_store_hung_has_no_status(deleted: bool) -> None:
    hung = [replace(earlier_run(at), frames={}) for at in range(NOW - 5_000, NOW, 1_000)]
    known = history(*map(earlier_run, range(FIRST, NOW - 5_000, 1_000)), *hung)
    gone = [Commit(None, NOW - 3_050, NOW - 3_040), Commit(6, NOW - 2_500, NOW - 2_490)]
    truth = moved(Commit(6, 1_010_000, 1_010_010), *(gone if deleted else []))
    planted = frames()
    for row in planted[P]:
        row |= {"status": None, "commit_changed_at": None}
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
