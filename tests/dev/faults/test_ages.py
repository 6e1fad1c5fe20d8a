# SPDX-License-Identifier: Apache-2.0
"""Each wrong age is found, and each error that is larger than what runs could see explains."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest

from dev.faults.ages import WIDE
from dev.faults.run import KILLED
from dev.faults.truth import (
    LogView,
    Purge,
    TopicView,
    TruthView,
)
from kafka_lag import contract
from tests.dev.faults.builders import (
    FIRST,
    LOG,
    NOW,
    TRUTH,
    G,
    P,
    T,
    earlier_run,
    frames,
    history,
    judged,
    metrics,
    rules,
    run,
)


@pytest.mark.parametrize(
    ("dataset", "column", "value", "rule"),
    [
        (P, "time_lag_seconds", 22.5, "time_lag_seconds"),
        (P, "time_lag_seconds", 24.0, "time_lag_seconds"),
        (P, "next_record_after", 1_008_000, "next_record_after"),
        (P, "next_record_before", 1_006_500, "next_record_before"),
        (P, "seconds_until_loss", -1.0, "seconds_until_loss"),
        (G, "time_lag_seconds", 20.0, "time lag of group or topic"),
    ],
)
def test_a_wrong_age_is_found(dataset: str, column: str, value: Any, rule: str) -> None:
    planted = frames()
    planted[dataset][0][column] = value
    assert rule in rules(run(frames=planted))


def with_log(log: LogView) -> TruthView:
    """The same, but with this log in both partitions."""
    return replace(TRUTH, topics={"id-1": TopicView("orders", "id-1", (log, log), (0, 0), (1, 1))})


def log_of(markers: Sequence[int] = (), aborted: Sequence[int] = ()) -> LogView:
    """The log with no record at some offsets, and aborted ones at others."""
    at = ~np.isin(LOG.offset, markers)
    log = replace(LOG, offset=LOG.offset[at], low=LOG.low[at], high=LOG.high[at])
    return replace(log, aborted=frozenset(aborted))


def at_markers(error: float = 0.0, since: int = 1_000, **more: Any) -> dict[str, Any]:
    """A row that says that nothing but markers is unread of a commit made so long ago."""
    return {
        "time_lag_seconds": 0.0,
        "time_lag_error_seconds": error,
        "time_lag_method": contract.METHOD_MARKER,
        "next_record_after": None,
        "next_record_before": None,
        "commit_changed_at": NOW - since,
        **more,
    }


def dated(age: float, error: float | None, **more: Any) -> dict[str, Any]:
    """A row of this age, in the middle of a bracket of 0.1 s."""
    at = NOW - 20 - round(1_000 * age)
    bracket = {"next_record_after": at - 50, "next_record_before": at + 50}
    return {"time_lag_seconds": age, "time_lag_error_seconds": error, **bracket, **more}


def behind_rest(
    age: float, error: float | None, since: int = 1_000, rest: int = 2, **more: Any
) -> dict[str, Any]:
    """The same behind a rest that ends at 8, of a partition that rested so many records before."""
    known = {"rest_end": 8, "rests_seen": 2, "rest_records": rest}
    return dated(age, error, commit_changed_at=NOW - since, **known, **more)


def rested(error: float) -> dict[str, Any]:
    """Markers at the end of a rest, with a loss as far away as a retention lasts."""
    known = {"rest_end": 10, "rests_seen": 2, "rest_records": 4}
    return at_markers(error, seconds_until_loss=604_800.0, **known)


BEHIND, AHEAD, CALM = {"clock_ahead": -5_000}, {"clock_ahead": 5_000}, {"calm": True}
Case: TypeAlias = tuple[
    dict[str, Any], Sequence[int], Sequence[int], dict[str, Any], set[str], set[str]
]
LOSS = {WIDE, "seconds_until_loss"}
AGE, AFTER = "time_lag_seconds", "next_record_after"
DATE = {AGE, AFTER, "error of the bracket"}
BOUND = {AGE, WIDE}
# What a row says, the log's markers and aborted records, more of the run, the rules looked at, and
# those of them that it breaks. Records 6 to 9 are unread; 9 goes where a marker stands there.
CASES: dict[str, Case] = {
    "markers behind aborted records": (at_markers(), [9], [6, 7, 8], {}, {"markers"}, set()),
    "of which one was committed": (at_markers(), [9], [6, 7], {}, {"markers"}, {"markers"}),
    "behind committed records": (at_markers(), [7], [], {}, {"markers"}, {"markers"}),
    "of an open transaction": (at_markers(), [], [6, 7], {}, {"markers"}, set()),
    "about to be read": (at_markers(0.0), [9], [], {}, {"markers"}, {"markers"}),
    "younger than it is": (at_markers(22.9), [9], [], {}, {"markers"}, {"markers"}),
    "as old as it is": (at_markers(23.1), [9], [], {}, {"markers"}, set()),
    "not left for long enough": (at_markers(0.0, 2_000), [9], [], {}, {"markers"}, {"markers"}),
    "left as long as a rest lasts": (at_markers(0.0, 3_000), [9], [], {}, {"markers"}, set()),
    "too young, clock behind": (at_markers(22.9), [9], [], BEHIND, {"markers"}, {"markers"}),
    "as old, clock behind": (at_markers(23.1), [9], [], BEHIND, {"markers"}, set()),
    "too young, clock ahead": (at_markers(17.9), [9], [], AHEAD, {"markers"}, {"markers"}),
    "as old, clock ahead": (at_markers(18.1), [9], [], AHEAD, {"markers"}, set()),
    "an error that runs explain": (rested(25.0), [], [6, 7, 8, 9], CALM, LOSS, set()),
    "an error larger than that": (rested(30.0), [], [6, 7, 8, 9], CALM, LOSS, {WIDE}),
    "rest: about to be read": (behind_rest(20.98, 0.07), [], [], {}, DATE, {AGE}),
    "rest: the error says so": (behind_rest(20.98, 2.1), [], [], {}, DATE, set()),
    "rest: left for long": (behind_rest(20.98, 0.05, 3_000), [], [], {}, DATE, set()),
    "rest: longer than the last": (behind_rest(20.98, 2.1, 3_000), [], [], {}, DATE, set()),
    "rest: longer than any": (behind_rest(20.98, 2.1, 3_000, 1), [], [], {}, {AFTER}, {AFTER}),
    "short rest before markers": (behind_rest(20.98, 4.0), [6, 7], [], {}, DATE, set()),
    "before aborted records": (behind_rest(20.98, 4.0), [], [8, 9], {}, DATE, set()),
    "before one aborted": (behind_rest(19.98, 4.0), [], [8], {}, DATE, set()),
    "a bound, no end read below": (behind_rest(19.98, None), [], [], CALM, BOUND, set()),
    "a bound, a longer rest": (behind_rest(19.98, None, rest=1), [], [], CALM, BOUND, {WIDE}),
    "a bound older than all": (behind_rest(23.98, None), [], [], CALM, BOUND, {AGE}),
    "aborted: too old": (behind_rest(21.98, 0.05, 3_000, 3), [], [6, 7, 8], {}, {AGE}, {AGE}),
    "aborted: of the rest": (behind_rest(20.98, 0.05, 3_000, 3), [], [6, 7, 8], {}, {AGE}, set()),
    "aborted: of the next": (behind_rest(19.98, 0.05, 3_000, 3), [], [6, 7, 8], {}, {AGE}, set()),
    "aborted: too young": (behind_rest(18.98, 0.05, 3_000, 3), [], [6, 7, 8], {}, {AGE}, {AGE}),
    "one known marker of two": (dated(20.98, 0.1, rest_records=1), [], [6, 7], {}, {AGE}, {AGE}),
    "two known markers": (dated(20.98, 0.1, rest_records=2), [], [6, 7], {}, {AGE}, set()),
    "no known marker": (dated(20.98, 0.1, rest_records=None), [], [6, 7], {}, {AGE}, {AGE}),
}


@pytest.mark.parametrize("case", CASES)
def test_what_rests_before_markers_is_judged_by_what_may_be_unread(case: str) -> None:
    columns, markers, aborted, changes, watched, broken = CASES[case]
    planted = frames()
    planted[P][0] |= columns
    found = rules(run(frames=planted, **changes), with_log(log_of(markers, aborted)))
    assert found & watched == broken


@pytest.mark.parametrize(("seen_at", "is_wrong"), [(FIRST, False), (None, True)])
def test_rests_count_only_where_a_transaction_was_seen(
    seen_at: int | None, *, is_wrong: bool
) -> None:
    planted = frames()
    for row in planted[T]:
        row["transaction_seen_at"] = seen_at
    planted[P][0] |= behind_rest(20.98, 0.05, 3_000)
    assert (AGE in rules(run(frames=planted))) is is_wrong


def test_an_age_that_claims_to_be_exact_must_be() -> None:
    planted = frames()
    planted[P][0] |= {"time_lag_seconds": 22.9, "time_lag_error_seconds": 0.0}
    assert "time_lag_seconds" in rules(run(frames=planted))
    planted[P][0] |= {"time_lag_error_seconds": 0.2}
    assert "time_lag_seconds" not in rules(run(frames=planted))


def test_a_least_age_may_be_small_and_not_large() -> None:
    planted = frames()
    planted[P][0] |= {"time_lag_seconds": 5.0, "time_lag_error_seconds": None}
    assert "time_lag_seconds" not in rules(run(frames=planted))
    planted[P][0] |= {"time_lag_seconds": 25.0}
    assert "time_lag_seconds" in rules(run(frames=planted))


def test_lost_records_make_an_error_at_no_distance() -> None:
    log = replace(LOG, purges=(Purge(8, NOW - 9_000, NOW - 8_000),))
    truth = replace(TRUTH, topics={"id-1": TopicView("orders", "id-1", (log, log), (0, 0), (1, 1))})
    planted = frames()
    for row in planted[T]:
        row["start_offset"] = 8
    for row in planted[P]:
        row |= {"start_offset": 8, "lag": 2, "records_lost": 2, "retention_margin": 0}
        row |= {"status": "ERR", "status_reason": "records_lost", "retention_risk": "LOST"}
        row |= {"time_lag_seconds": 20.98, "next_record_before": 1_009_100}
        row |= {"seconds_until_loss": 604_779.0}
    planted[G][0] |= {"lag": 4, "max_lag": 2, "records_lost": 4, "time_lag_seconds": 20.98}
    assert rules(run(frames=planted, metrics=[]), truth) & {
        "seconds_until_loss of group",
        "status of lost records",
        "lag",
        "time_lag_seconds",
    } == {"seconds_until_loss of group"}
    planted[G][0]["seconds_until_loss"] = 0.0
    assert "seconds_until_loss of group" not in rules(run(frames=planted, metrics=[]), truth)


def test_no_risk_is_told_only_where_every_risk_is_known() -> None:
    planted = frames()
    planted[P][1] |= {"seconds_until_loss": None, "retention_risk": None}
    planted[T][1]["retention_ms"] = None
    assert rules(run(frames=planted)) == {"seconds_until_loss of group"}


@pytest.mark.parametrize("seconds", [22.98, 9_999.0])
def test_an_error_that_explains_everything_is_found(seconds: float) -> None:
    planted = frames()
    planted[P][0] |= {"time_lag_seconds": seconds, "time_lag_error_seconds": 1e6}
    assert "time_lag_error_seconds" in rules(run(frames=planted))
    planted[P][0] |= {"time_lag_error_seconds": 5.0}
    assert "time_lag_error_seconds" in rules(run(frames=planted, calm=True))


def test_an_error_is_that_of_its_bracket() -> None:
    planted = frames()
    planted[P][0] |= {"time_lag_error_seconds": 0.2}
    assert "error of the bracket" in rules(run(frames=planted))


def test_a_least_age_is_not_enough_when_calm() -> None:
    planted = frames()
    planted[P][0] |= {"time_lag_error_seconds": None}
    assert "time_lag_error_seconds" in rules(run(frames=planted))
    planted[P][0] |= {"next_record_after": None}
    assert "time_lag_error_seconds" not in rules(run(frames=planted))
    assert "time_lag_error_seconds" in rules(run(frames=planted, calm=True))


def test_an_age_may_be_unbounded_beside_a_clock_that_was_a_little_wrong() -> None:
    slight = replace(earlier_run(1_008_000), clock_ahead=-700)
    known = history(slight, *map(earlier_run, range(FIRST, NOW, 1_000)))
    planted = frames()
    planted[P][0] |= {"time_lag_error_seconds": None, "next_record_after": None}
    assert "time_lag_error_seconds" in rules(run(frames=planted, calm=True))
    assert "time_lag_error_seconds" not in rules(run(frames=planted, calm=True), earlier=known)


def test_an_error_may_be_as_long_as_no_run_read_the_end() -> None:
    before = earlier_run(1_001_000, committed_offset=None)
    known = history(before, *map(earlier_run, range(FIRST, NOW, 1_000)))
    planted = frames()
    planted[P][0] |= {"time_lag_error_seconds": 9.0}
    assert "time_lag_error_seconds" not in rules(run(frames=planted, calm=True), earlier=known)
    assert "time_lag_error_seconds" in rules(run(frames=planted, calm=True))


@pytest.mark.parametrize(("calm", "wrong"), [(False, False), (True, True)])
def test_an_error_may_hold_all_that_a_high_watermark_may_be_held_back(
    calm: bool, wrong: bool
) -> None:
    # A run read the log's end after the record was sent, and before it could be read.
    late = LogView.of([(n, 1_001_000 + 1_000 * n, 1_004_500 + 1_000 * n) for n in range(10)])
    topics = {"id-1": replace(TRUTH.topics["id-1"], logs=(late, late))}
    known = history(*map(earlier_run, range(1_001_000, NOW, 1_000)))
    planted = frames()
    planted[P][0] |= {"time_lag_error_seconds": 40.0}
    found = rules(run(frames=planted, calm=calm), replace(TRUTH, topics=topics), known)
    assert ("time_lag_error_seconds" in found) == wrong


@pytest.mark.parametrize(("left", "wrong"), [(True, False), (False, True)])
def test_a_run_that_was_killed_may_have_left_its_reading(left: bool, wrong: bool) -> None:
    # Readable a moment late: none but the run that was killed read the log's end in between.
    late = LogView.of([(n, 1_001_650 + 1_000 * n, 1_001_800 + 1_000 * n) for n in range(10)])
    topics = {"id-1": replace(TRUTH.topics["id-1"], logs=(late, late))}
    killed = earlier_run(1_007_750)
    topics_left = killed.rows_of(T) if left else ()
    killed = replace(killed, frames={}, error=KILLED, topics_left=topics_left)
    before, after = range(1_001_000, 1_004_000, 1_000), range(1_008_000, NOW, 1_000)
    known = history(*map(earlier_run, before), killed, *map(earlier_run, after))
    planted = frames()
    planted[P][0] |= {"time_lag_error_seconds": 40.0}
    found = rules(run(frames=planted), replace(TRUTH, topics=topics), known)
    assert ("time_lag_error_seconds" in found) == wrong


@pytest.mark.parametrize(("error", "wrong"), [(4.1, False), (4.3, True)])
def test_an_error_may_be_as_long_as_the_kept_readings_are_apart(error: float, wrong: bool) -> None:
    # Of runs 16 to 32 intervals ago every fourth is kept, and the record came 23 s ago.
    known = history(*map(earlier_run, range(1_001_000, NOW, 1_000)))
    planted = frames()
    planted[P][0] |= {"time_lag_error_seconds": error}
    found = rules(run(frames=planted, calm=True), earlier=known)
    assert ("time_lag_error_seconds" in found) == wrong


def test_readings_by_a_clock_that_jumped_bound_nothing() -> None:
    jumped = earlier_run(1_005_000)
    for row in [*jumped.rows_of(T), *jumped.rows_of(P)]:
        row |= {name: row[name] + 5_000 for name in ("asked_at", "read_at") if name in row}
    known = history(
        *map(earlier_run, range(1_001_000, 1_005_000, 1_000)),
        replace(jumped, clock_ahead=5_000),
        *map(earlier_run, range(1_006_000, NOW, 1_000)),
    )
    begins = [each.begin for each in known.readings(("orders", 0), 1_013_000, 1_000)]
    # What came within 5 s after it may seem to come before it.
    assert [at for at in begins if 1_004_500 < at < 1_012_500] == [1_010_990, 1_011_990]
    planted = frames()
    planted[P][0] |= {"time_lag_error_seconds": 5.5, "next_record_after": 1_001_600}
    assert "time_lag_error_seconds" not in rules(run(frames=planted, calm=True), earlier=known)


def test_how_exact_ages_are_is_counted() -> None:
    planted = frames()
    planted[P][0]["time_lag_error_seconds"] = None
    assert judged(run(frames=planted)).ages == {"at least": 1, "± 0.1 s": 1}


def test_an_age_of_a_group_or_topic_that_is_left_out_is_found() -> None:
    planted, lines = frames(), metrics()
    planted[G][0]["time_lag_seconds"] = None
    del lines[1][contract.ESTIMATED_TIME_LAG]
    found = rules(run(frames=planted, metrics=lines))
    assert {"time lag of group", "metric EstimatedTimeLag"} <= found
    for row in planted[P]:
        row["time_lag_seconds"] = None
    found = rules(run(frames=planted, metrics=[], calm=True))
    assert "recovery" in found


@pytest.mark.parametrize("age", [23.2, 1e6, 0.0])
def test_an_age_of_a_topic_is_its_oldest_partitions(age: float) -> None:
    planted, lines = frames(), metrics()
    planted[P][0] |= {"time_lag_error_seconds": None, "time_lag_seconds": 22.0}
    lines[1][contract.ESTIMATED_TIME_LAG] = age
    assert "metric EstimatedTimeLag" in rules(run(frames=planted, metrics=lines))


@pytest.mark.parametrize(
    ("ahead", "before", "method", "seconds", "wrong"),
    [
        # The clock was 5 s ahead, so what was dated by it looks 5 s younger now, not older.
        (0, (5_000,), "carried", 17.98, False),
        (0, (5_000,), "carried", 27.98, True),
        (0, (-5_000,), "carried", 27.98, False),
        (0, (-5_000,), "carried", 17.98, True),
        (0, (5_000,), "record_time", 17.98, True),
        (0, (), "carried", 17.98, True),
        # The clock is 5 s ahead: what the brokers dated looks older.
        (5_000, (), "record_time", 27.98, False),
        (5_000, (), "record_time", 17.98, True),
    ],
)
def test_a_clock_that_jumped_makes_ages_wrong_on_one_side_only(
    ahead: int, before: tuple[int, ...], method: str, seconds: float, wrong: bool
) -> None:
    planted = frames()
    for row in planted[T]:
        row |= {"asked_at": row["asked_at"] + ahead, "read_at": row["read_at"] + ahead}
    for row in planted[P]:
        row |= {"read_at": row["read_at"] + ahead, "time_lag_method": method}
        row |= {"time_lag_seconds": seconds}
    found = rules(run(frames=planted, clock_ahead=ahead, clocks_before=before))
    assert ("time_lag_seconds" in found) == wrong


@pytest.mark.parametrize(
    ("jump", "at", "wrong"),
    [(0, 1_008_000, True), (-700, 1_008_000, False), (-700, 990_000, True)],
)
def test_what_a_clock_said_that_was_a_little_wrong_holds(jump: int, at: int, wrong: bool) -> None:
    slight = replace(earlier_run(at), clock_ahead=jump)
    known = history(slight, *map(earlier_run, range(FIRST, NOW, 1_000)))
    planted = frames()
    planted[P][0] |= {"next_record_before": 1_006_400, "time_lag_seconds": 23.6}
    found = rules(run(frames=planted), earlier=known)
    assert ({"next_record_before", "time_lag_seconds"} <= found) == wrong
    assert bool({"next_record_before", "time_lag_seconds"} & found) == wrong


@pytest.mark.parametrize(
    ("seconds", "risk"),
    [(5.0, "SAFE"), (5.0, "AT_RISK"), (604_777.0, "AT_RISK"), (604_777.0, "LOST"), (None, None)],
)
def test_a_wrong_time_until_a_loss_is_found(seconds: float | None, risk: str | None) -> None:
    planted = frames()
    planted[P][0] |= {"seconds_until_loss": seconds, "retention_risk": risk}
    assert {"seconds_until_loss", "retention_risk"} & rules(run(frames=planted))


@pytest.mark.parametrize("seconds", [5.0, 604_777.0, 0.0, None])
def test_a_groups_time_until_a_loss_is_the_least_of_what_is_at_risk(seconds: float | None) -> None:
    planted, lines = frames(), metrics()
    planted[G][0]["seconds_until_loss"] = seconds
    lines[0][contract.TIME_TO_DATA_LOSS] = seconds
    assert "seconds_until_loss of group" in rules(run(frames=planted, metrics=lines))
