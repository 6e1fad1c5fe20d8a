# SPDX-License-Identifier: Apache-2.0
"""The logs reveal planted mistakes of the collector, and right rows are not called wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dev.faults.judge import Fault, Verdict, judge
from dev.faults.subject import Row, Run
from dev.sim.live.logs import History, Log

AT = ("faulty-ends-0", "faulty-steady.orders", 0)
BEGAN = 1_000.0
# A record each second was sent at 900, 901, ..., and acknowledged half a second later.
SENT, ACKNOWLEDGED = 900.0, 0.5
READ_AT = 1_000_200
# The record at 40 was sent at 940.
RIGHT = Row(
    *AT,
    read_at=READ_AT,
    unread_reason=None,
    committed_offset=40,
    start_offset=0,
    end_offset=100,
    lag=60,
    last_lag=60,
    records_lost=0,
    time_lag_seconds=60.0,
    time_lag_error_seconds=0.5,
    status="OK",
)
RUN = Run(1, 1_000.0, BEGAN, 1_000.5, [RIGHT])
KILL = Fault("kill", 990.0, 998.0)


def history(**changes: Any) -> History:
    """A log of 200 records, and a group that committed 40 at 920, after 10 at 910."""
    log = Log(890.0, **changes)
    for number in range(200):
        log.append(SENT + number + ACKNOWLEDGED, number, SENT + number)
    found = History()
    found.logs[AT[1:]] = [log]
    found.commits[AT] = [(910.0, 10), (920.0, 40)]
    return found


def rules(run: Run, *before: Run, faults: Any = (), **changes: Any) -> set[str]:
    """The rules that the run breaks."""
    return {each.rule for each in judge([*before, run], history(**changes), faults).wrong}


def with_row(run: Run = RUN, **changes: Any) -> Run:
    return replace(run, rows=[RIGHT._replace(**changes)])


def test_a_right_run_breaks_no_rule_and_is_counted() -> None:
    verdict = judge([replace(RUN, calm=True)], history(), ())
    assert (verdict.wrong, verdict.whole, dict(verdict.missing)) == ([], 1, {})
    assert verdict.checked == {"rows": 1, "ages": 1}


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"committed_offset": 10, "lag": 90, "time_lag_seconds": 90.0}, "committed_offset"),
        ({"committed_offset": None, "lag": None, "time_lag_seconds": None}, "committed_offset"),
        ({"end_offset": 96, "lag": 56}, "end_offset"),
        ({"end_offset": 105, "lag": 65}, "end_offset"),
        ({"start_offset": 5}, "start_offset"),
        ({"lag": 61}, "lag"),
        ({"lag": None, "time_lag_seconds": None}, "lag"),
        ({"records_lost": 3, "status": "ERR"}, "records_lost"),
        ({"time_lag_seconds": 59.0}, "age"),
        ({"time_lag_seconds": 61.5}, "age"),
        ({"time_lag_seconds": 61.5, "time_lag_error_seconds": None}, "age"),
        ({"topic": "faulty-none.orders"}, "log"),
    ],
)
def test_a_planted_mistake_is_found(changes: dict[str, Any], rule: str) -> None:
    assert rule in rules(with_row(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"end_offset": 98, "lag": 58},
        {"time_lag_seconds": 40.0, "time_lag_error_seconds": None},
        {"time_lag_seconds": 70.0, "time_lag_error_seconds": 10.0},
        {"time_lag_seconds": None, "time_lag_error_seconds": None},
    ],
)
def test_what_may_be_so_by_the_stated_error_or_the_time_between_is_right(
    changes: dict[str, Any],
) -> None:
    assert rules(with_row(**changes)) == set()


def test_deleted_records_are_lost_and_make_an_error() -> None:
    lost: dict[str, Any] = {
        "start_offset": 50,
        "lag": 50,
        "time_lag_seconds": 50.0,
        "records_lost": 10,
    }
    purged: dict[str, Any] = {"starts": [(950.0, 50)]}
    assert rules(with_row(**lost, status="ERR"), **purged) == set()
    assert rules(with_row(**lost), **purged) == {"status"}
    assert rules(RUN, **purged) == {"start_offset"}
    # A broker that was killed may have forgotten it.
    assert rules(RUN, faults=[KILL], **purged) == set()


def test_during_a_fault_brokers_answer_as_of_before_it() -> None:
    old = with_row(end_offset=88, lag=48)
    assert rules(old) == {"end_offset"}
    assert rules(old, faults=[KILL]) == set()
    assert rules(old, faults=[Fault("kill", 900.0, 950.0)]) == {"end_offset"}


@pytest.mark.parametrize("status", ["STOP", "STALL"])
def test_a_commit_that_moves_is_neither_stop_nor_stall(status: str) -> None:
    found = history()
    found.commits[AT] = [(910.0, 10), (993.0, 40)]
    run = with_row(status=status)
    long_ago = replace(RUN, taken_at=989.0, began=992.0, ended=993.5)
    assert [each.rule for each in judge([run], found, ()).wrong] == ["status"]
    # A commit that went and came back between two runs was not seen to move.
    found.commits[AT] = [(910.0, 10), (920.0, 40), (995.1, 41), (995.2, 40)]
    early = replace(RUN, taken_at=980.0, began=980.0, ended=980.5)
    assert [each for each in judge([early, run], found, ()).wrong if each.run == run] == []
    found.commits[AT] = [(910.0, 10), (993.0, 40)]
    # A run of more than a window ago, which began late, saw the commit.
    assert [each.rule for each in judge([long_ago, run], found, ()).wrong if each.run == run] == []


def test_what_was_not_read_is_unknown_and_named() -> None:
    gone, named = replace(RUN, rows=[]), ["topic 'faulty-steady.orders' not read: ..."]
    assert rules(gone) == {"missing"}
    assert rules(replace(gone, log=named)) == set()
    assert rules(replace(gone, log=["and 3 more not read"])) == set()
    unread: dict[str, Any] = {"unread_reason": "x", "time_lag_seconds": None, "status": None}
    assert rules(with_row(**unread, lag=None)) == set()
    assert rules(with_row(**unread)) == {"unread lag"}
    verdict = judge([replace(with_row(**unread, lag=None), calm=True)], history(), ())
    assert (verdict.whole, verdict.missing) == (0, {"row: x": 1})


def test_an_unread_row_has_what_was_true_when_it_was_read() -> None:
    unread = RIGHT._replace(unread_reason="x", time_lag_seconds=None, status=None, lag=None)
    later = replace(RUN, taken_at=1_030.0, began=1_030.0, ended=1_030.5, rows=[unread])
    assert rules(later, RUN) == set()
    # A later end beside the time of the last reading.
    mixed = replace(later, rows=[unread._replace(end_offset=130, last_lag=90)])
    assert rules(mixed, RUN) == {"end_offset"}
    never = replace(later, rows=[unread._replace(read_at=1_010_000)])
    assert rules(never, RUN) == {"read_at of an unread row"}


def test_a_clock_that_jumped_shifts_ages_by_as_much() -> None:
    behind = replace(with_row(read_at=READ_AT - 20_000, time_lag_seconds=40.0), ahead=-20.0)
    assert rules(behind) == set()
    assert rules(with_row(time_lag_seconds=40.0)) == {"age"}
    assert rules(replace(behind, rows=[RIGHT._replace(time_lag_seconds=10.0)])) == {"age"}


def test_a_record_whose_offset_is_not_known_lies_between_its_neighbours() -> None:
    found = history()
    (log,) = found.logs[AT[1:]]
    for column in (log.offsets, log.stamps, log.ends):
        del column[40]

    def judged(age: float) -> Verdict:
        return judge([with_row(time_lag_seconds=age, time_lag_error_seconds=0.0)], found, ())

    assert not judged(60.5).wrong
    assert judged(62.0).wrong
    assert judged(58.0).wrong


def test_late_runs_and_secrets_are_found_without_numbers() -> None:
    assert rules(replace(RUN, rows=None)) == set()
    assert rules(replace(RUN, rows=None, ended=BEGAN + 7.0)) == {"late"}
    assert rules(replace(RUN, rows=None, leaked=True)) == {"secret"}
