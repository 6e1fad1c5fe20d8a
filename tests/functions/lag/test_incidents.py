# SPDX-License-Identifier: Apache-2.0
"""Held statuses, incidents, and deleted groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import AnyColumn, Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.incidents import track_incidents
from tests.builders import MINUTE, NOON, a_reading, a_report, table
from tests.functions.lag.builders import groups_of, left_behind, of_group

# A status counts once it has lasted, and an incident ends once OK has lasted longer.

WORDS = {"O": contract.OK, "W": contract.WARN, "E": contract.ERR, "?": None}
RULES = Rules(hold=3, window_ms=6 * MINUTE)
NAMES = ("status_since", "held_status", "held_since", "incident_since")


def run(status: str | None, before: Frame, at: int, rules: Rules = RULES) -> Frame:
    """The row of g after a run at `at` that saw this status."""
    groups = groups_of("g", status=Strings.of([status]))
    return track_incidents(groups, left_behind(before, at - MINUTE), at, rules)


def after(runs: str, rules: Rules = RULES) -> Frame:
    """The row after one run a minute, a letter each; a dot is a run that never was."""
    row = Frame.empty(contract.GROUPS)
    for minute, letter in enumerate(runs):
        if letter != ".":
            row = run(WORDS[letter], row, NOON + minute * MINUTE, rules)
    return row


def minutes(row: Frame, *names: str) -> tuple[Any, ...]:
    """Values of g; times as minutes since the first run."""
    return tuple(
        (value - NOON) // MINUTE if isinstance(value, int) else value
        for value in of_group(row, *names)
    )


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        pytest.param("O", (0, None, None, None), id="once"),
        pytest.param("OO", (0, None, None, None), id="twice"),
        pytest.param("OOO", (0, "OK", 0, None), id="held"),
        pytest.param("OOOW", (3, "OK", 0, None), id="a-blip"),
        pytest.param("OOOWWO", (5, "OK", 0, None), id="a-blip-over"),
        pytest.param("OOOWWOOO", (5, "OK", 0, None), id="a-blip-that-is-long-over"),
        pytest.param("OOOWWW", (3, "WARN", 3, 3), id="an-incident"),
        pytest.param("EEE", (0, "ERR", 0, 0), id="bad-from-the-start"),
        pytest.param("OOOWWWEEE", (6, "ERR", 6, 3), id="worse"),
        pytest.param("OOOEEEWWW", (6, "WARN", 6, 3), id="better-and-not-well"),
        pytest.param("OOOWEWE", (6, "OK", 0, None), id="no-status-lasts"),
        pytest.param("W.W", (0, "WARN", 0, 0), id="a-run-was-missed"),
        pytest.param("?", (None, None, None, None), id="never-known"),
        pytest.param("?OOO", (1, "OK", 1, None), id="unknown-first"),
        pytest.param("OO?O", (0, "OK", 0, None), id="unknown-between-the-same"),
        pytest.param("OO?", (0, None, None, None), id="unknown-proves-nothing"),
        pytest.param("OOO????", (0, "OK", 0, None), id="unknown-ends-nothing"),
        pytest.param("OOO?WWW", (4, "WARN", 4, 4), id="unknown-then-another"),
    ],
)
def test_a_status_is_held_once_it_lasted(runs: str, expected: tuple[Any, ...]) -> None:
    assert minutes(after(runs), *NAMES) == expected


@pytest.mark.parametrize(
    ("runs", "since"),
    [
        pytest.param("WWWOOO", 0, id="ok-is-held"),
        pytest.param("WWWOOOOOO", 0, id="not-yet-for-the-window"),
        pytest.param("WWWOOOOOOO", None, id="for-the-window"),
        pytest.param("WWWOOOOWWW", 0, id="the-same-when-it-comes-back"),
        pytest.param("WWWOOOOOOWWW", 0, id="the-same-when-it-comes-back-as-the-window-ends"),
        pytest.param("WWWOOOOOO?????", 0, id="unknown-settles-nothing"),
        pytest.param("WWWOOOOOO?????O", None, id="ok-after-the-unknown"),
        pytest.param("WWWOOOOOOOEEE", 10, id="another-one"),
        pytest.param("WWWOWWW", 0, id="ok-was-never-held"),
        pytest.param("WWW?????", 0, id="unknown"),
    ],
)
def test_an_incident_lasts_until_ok_was_held_for_the_window(runs: str, since: int | None) -> None:
    assert minutes(after(runs), "incident_since") == (since,)


@pytest.mark.parametrize(("hold", "runs"), [(1, "W"), (2, "WW"), (5, "WWWWW")])
def test_as_many_runs_as_configured_hold_a_status(hold: int, runs: str) -> None:
    rules = Rules(hold=hold)
    assert minutes(after("OOOOO" + runs, rules), "held_status") == ("WARN",)
    assert minutes(after("OOOOO" + runs[1:], rules), "held_status") == ("OK",)


def test_runs_are_as_far_apart_as_the_interval_says() -> None:
    rules = Rules(hold=2, interval_ms=5 * MINUTE)
    assert minutes(after("W...W", rules), "held_status") == (None,)
    assert minutes(after("W....W", rules), "held_status") == ("WARN",)


@pytest.mark.parametrize(("runs", "last"), [("OW", "WARN"), ("OW?", "WARN"), ("?", None)])
def test_the_last_status_is_kept_where_none_is_known(runs: str, last: str | None) -> None:
    assert minutes(after(runs), "last_status") == (last,)


@pytest.mark.parametrize(
    ("status", "word"), [(None, contract.STOPPED), (contract.OK, None), (contract.WARN, None)]
)
def test_what_the_consumer_does_is_kept_with_the_last_status(
    status: str | None, word: str | None
) -> None:
    before = run(contract.ERR, Frame.empty(contract.GROUPS), NOON)
    before = before.with_columns(
        worst_status=Strings.of([contract.STOPPED]), worst_status_since=Column.of([NOON])
    )
    names = ("worst_status", "worst_status_since")
    expected = (word, NOON if word else None)
    assert of_group(run(status, before, NOON + MINUTE), *names) == expected


@pytest.mark.parametrize("word", [contract.FALLING_BEHIND, contract.SLOW])
def test_what_the_rates_decide_keeps_its_first_beginning(word: str) -> None:
    def of(status: str, since: int, before: Frame) -> Frame:
        groups = groups_of("g", status=Strings.of([contract.WARN])).with_columns(
            worst_status=Strings.of([status]), worst_status_since=Column.of([since])
        )
        return track_incidents(groups, left_behind(before, NOON - MINUTE), NOON, RULES)

    first = of(contract.FALLING_BEHIND, NOON - MINUTE, Frame.empty(contract.GROUPS))

    assert of_group(of(word, NOON, first), "worst_status_since") == (NOON - MINUTE,)


def test_a_commit_is_beyond_the_end_since_the_run_that_found_it_there() -> None:
    groups = groups_of("g", status=Strings.of([contract.ERR])).with_columns(
        worst_status=Strings.of([contract.BEYOND_END])
    )
    first = track_incidents(groups, left_behind(groups_of("g"), NOON - MINUTE), NOON, Rules())
    later = track_incidents(groups, left_behind(first, NOON), NOON + MINUTE, Rules())

    assert of_group(first, "worst_status_since") == (NOON,)
    assert of_group(later, "worst_status_since") == (NOON,)


# Troubles: x has them, . has not, ? is not known, a blank is a run that never was.

LOST = {"x": 5, ".": 0, "?": None}
RISK = {"x": 9.0, ".": contract.NO_LOSS_SECONDS, "?": None}
AGE = {"x": 61.0, ".": 60.0, "?": None}


def troubled(runs: str, rules: Rules = RULES) -> Frame:
    """The row after one run a minute in which all troubles were so; promised is a minute."""
    row = Frame.empty(contract.GROUPS)
    for minute, letter in enumerate(runs):
        if letter != " ":
            at = NOON + minute * MINUTE
            groups = groups_of(
                "g",
                records_lost=Column.optional([LOST[letter]]),
                seconds_until_loss=Column.optional([RISK[letter]], np.float64),
                time_lag_seconds=Column.optional([AGE[letter]], np.float64),
                time_lag_error_seconds=Column.of(np.zeros(1)),
                sla_seconds=Column.of(np.array([60.0])),
            )
            row = track_incidents(groups, left_behind(row, at - MINUTE), at, rules)
    return row


@pytest.mark.parametrize("name", ["loss", "at_risk", "sla_broken"])
@pytest.mark.parametrize(
    ("runs", "since", "held_since"),
    [
        pytest.param(".....", None, None, id="none"),
        pytest.param(".x", 1, None, id="new"),
        pytest.param(".xx", 1, None, id="not-yet-held"),
        pytest.param(".xxx", 1, 1, id="held"),
        pytest.param(".xxx..", 1, 1, id="gone-for-two-runs"),
        pytest.param(".xxx...", None, None, id="gone-for-as-many-as-hold-one"),
        pytest.param(".x..x", 1, 1, id="it-comes-and-goes"),
        pytest.param(".x...x", 5, None, id="another-one"),
        pytest.param(".xxx...x", 7, None, id="another-one-after-a-held-one"),
        pytest.param(".xxx??????", 1, 1, id="unknown-ends-nothing"),
        pytest.param(".x?x", 1, 1, id="unknown-between"),
        pytest.param(".x??", 1, None, id="unknown-proves-nothing"),
        pytest.param("?????", None, None, id="never-known"),
        pytest.param("x x", 0, 0, id="a-run-was-missed"),
    ],
)
def test_a_trouble_is_held_once_it_lasted_and_ends_once_it_stays_away(
    name: str, runs: str, since: int | None, held_since: int | None
) -> None:
    names = (f"{name}_since", f"held_{name}_since")
    assert minutes(troubled(runs), *names) == (since, held_since)


@pytest.mark.parametrize(("hold", "held_since"), [(1, 1), (2, 1), (3, None)])
def test_a_trouble_is_held_after_as_many_runs_as_configured(
    hold: int, held_since: int | None
) -> None:
    assert minutes(troubled(".xx", Rules(hold=hold)), "held_loss_since") == (held_since,)


@pytest.mark.parametrize(
    ("age", "error", "promised", "before", "since"),
    [
        pytest.param(61.0, 0.0, 60.0, False, 1, id="older-than-promised"),
        pytest.param(60.0, 0.0, 60.0, False, None, id="just-kept"),
        pytest.param(61.0, None, 60.0, False, 1, id="at-least-so-old"),
        pytest.param(9.0, None, 60.0, True, 0, id="a-least-age-ends-nothing"),
        pytest.param(9.0, 0.0, 60.0, True, None, id="kept-again"),
        pytest.param(99.0, 0.0, None, True, None, id="promised-no-more"),
        pytest.param(None, None, 60.0, True, 0, id="unknown"),
    ],
)
def test_a_promise_is_broken_by_an_age_that_is_proven(
    age: float | None, error: float | None, promised: float | None, before: bool, since: int | None
) -> None:
    rules = Rules(hold=1)
    groups = groups_of(
        "g",
        time_lag_seconds=Column.optional([age], np.float64),
        time_lag_error_seconds=Column.optional([error], np.float64),
        sla_seconds=Column.optional([promised], np.float64),
    )
    earlier = troubled("x" if before else ".", rules)
    found = track_incidents(groups, left_behind(earlier, NOON), NOON + MINUTE, rules)
    assert minutes(found, "sla_broken_since") == (since,)


def test_a_group_that_was_gone_starts_anew() -> None:
    gone = after("WWW").with_columns(status_reason=Strings.of([contract.GONE]))
    again = run(contract.OK, gone, NOON + 3 * MINUTE)
    assert minutes(again, *NAMES) == (3, None, None, None)


@given(st.text("OWE?", min_size=1, max_size=40))
def test_a_held_status_is_one_that_was_seen_since_then(runs: str) -> None:
    since, held_status, held_since, incident = minutes(after(runs), *NAMES)
    assert (held_status is None) == (held_since is None)
    if held_since is not None:
        assert WORDS[runs[held_since]] == held_status
        assert held_since <= since
    if incident is not None:
        assert WORDS[runs[incident]] in {contract.WARN, contract.ERR}
    if held_status in {contract.WARN, contract.ERR}:
        assert incident is not None
        assert incident <= held_since


# A group that is proven gone says so once, with what a message needs.

KEPT: dict[str, AnyColumn] = {
    "owner": Strings.of(["payments"]),
    "last_status": Strings.of([contract.WARN]),
    "held_status": Strings.of([contract.ERR]),
    "held_since": Column.of([NOON - MINUTE]),
    "incident_since": Column.of([NOON - 2 * MINUTE]),
}


def after_a_run(*names: str, before: Frame) -> Frame:
    """The rows of a run in which g is confirmed deleted and these groups are still there."""
    reading = a_reading({name: {} for name in names}, gone_groups=["g"])
    return a_report(reading, left_behind(before, NOON - MINUTE)).snapshot.groups


def test_a_group_that_is_gone_has_one_row_more() -> None:
    rows = after_a_run("h", before=groups_of("g", "h"))
    assert table(rows, "consumer_group", "status_reason") == [("h", None), ("g", contract.GONE)]


def test_its_row_says_what_it_was_and_no_status_or_numbers() -> None:
    old = groups_of("g", **KEPT, status=Strings.of([contract.ERR]), lag=Column.of([7]))
    row = after_a_run(before=old)
    assert of_group(row, *KEPT) == tuple(column.to_list()[0] for column in KEPT.values())
    rest = set(contract.COLUMNS[contract.GROUPS]) - {
        *KEPT,
        "consumer_group",
        "status_reason",
        "taken_at",
        "records_skipped",
        "skipped_at",
        "skip_reason",
    }
    assert of_group(row, *sorted(rest)) == (None,) * len(rest)
    assert of_group(row, "records_skipped", "skip_reason") == (7, contract.GONE)


def test_a_deleted_group_has_one_last_row_only() -> None:
    assert len(after_a_run(before=after_a_run(before=groups_of("g")))) == 0


@pytest.mark.parametrize("names", [(), ("h",)])
def test_a_group_never_known_has_no_last_row(names: tuple[str, ...]) -> None:
    assert len(after_a_run(*names, before=groups_of())) == len(names)


def test_the_time_of_the_last_reading_is_kept() -> None:
    old = groups_of("g", read_at=Column.of(np.array([NOON])))
    assert of_group(after_a_run(before=old), "read_at") == (NOON,)
