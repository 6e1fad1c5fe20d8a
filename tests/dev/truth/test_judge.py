# SPDX-License-Identifier: Apache-2.0
"""Verdicts on a program's values, as strips: a column is 20 s, and a value holds from its start.

Record `n` is `10 - n` minutes old in the first column. The program is asked 15 s after the start of
a column, and reads at that moment. `-` means no value; an end of `-` is a deleted topic.
"""

from __future__ import annotations

import math
from textwrap import dedent

import pytest

from dev.sim.live.logs import AGE, LAG, Expected, History, Log
from dev.truth.judge import Look, Verdict, judge, widen

AT = ("group", "topic", 0)
NOW, COLUMN, ASKED_AFTER = 1_000_000.0, 20.0, 15.0
STRIPS = {
    "a lag is from the commit to the end, and what was true before is late": """
        end      10     10     10     12
        commit   4      4      9      9
        lag      6      7      6      3
        verdict  RIGHT  WRONG  LATE   RIGHT
    """,
    "a value that was true too long ago is wrong": """
        end      10     10     10     10     10     10     10     10
        commit   4      9      9      9      9      9      9      9
        lag      6      6      6      6      6      6      6      6
        verdict  RIGHT  LATE   LATE   LATE   LATE   LATE   LATE   WRONG
    """,
    "a lag must be shown if there is a commit, and must not without one": """
        end      10     10     10      10
        commit   -      -      4       4
        lag      -      -1     -       nan
        verdict  RIGHT  WRONG  ABSENT  WRONG
    """,
    "deleted records count, or do not": """
        end      10     10     10     10
        start    0      6      6      6
        commit   4      4      4      4
        lag      6      6      4      5
        verdict  RIGHT  RIGHT  RIGHT  WRONG
    """,
    "a commit beyond the end has nothing unread, or all": """
        end      10     10     10
        commit   50     50     50
        lag      0      10     -40
        verdict  RIGHT  RIGHT  WRONG
    """,
    "records that nobody is given count, or do not": """
        end         10     10     10
        commit      4      4      4
        unreadable  4,5
        lag         6      4      5
        verdict     RIGHT  RIGHT  WRONG
    """,
    "a deleted topic has no lag": """
        end      10     -      -
        commit   4      -      -
        lag      6      -      6
        verdict  RIGHT  RIGHT  LATE
    """,
    "an age is that of the record at the commit, within a tenth": """
        end      10     10     10     10
        commit   4      4      4      4
        age      375    410    440    490
        verdict  RIGHT  RIGHT  RIGHT  WRONG
    """,
    "a group that has read all has no age": """
        end      10     10     10
        commit   10     10     50
        age      0      30     0
        verdict  RIGHT  WRONG  RIGHT
    """,
    "the next record that somebody is given may date the group": """
        end         10     10     10
        commit      4      4      4
        unreadable  4,5
        age         375    275    60
        verdict     RIGHT  RIGHT  WRONG
    """,
    "deleted records have an age, or do not": """
        end      10     10     10
        start    6      6      6
        commit   4      4      4
        age      375    275    60
        verdict  RIGHT  RIGHT  WRONG
    """,
}


def read_strip(text: str) -> dict[str, list[str]]:
    lines = (line.split() for line in dedent(text).strip().splitlines())
    return {name: values for name, *values in lines}


def changes_of(values: list[str]) -> list[tuple[float, int | None]]:
    return [
        (NOW + COLUMN * column, None if value == "-" else int(value))
        for column, value in enumerate(values)
    ]


def history_of(strip: dict[str, list[str]]) -> History:
    history = History()
    log = Log(NOW - 1_000)
    for offset in range(10):
        log.append(NOW - 1_000, offset, NOW - 60 * (10 - offset))
    for at, end in changes_of(strip["end"]):
        if end is None:
            log.over = min(log.over, at)
        else:
            log.ends.append((at, end))
    log.starts += [(at, start or 0) for at, start in changes_of(strip.get("start", []))]
    log.unreadable |= {int(each) for each in strip.get("unreadable", [""])[0].split(",") if each}
    history.logs["topic", 0].append(log)
    history.commits[AT] = changes_of(strip["commit"])
    return history


@pytest.mark.parametrize("text", STRIPS.values(), ids=STRIPS)
def test_verdicts_of_strips(text: str) -> None:
    strip = read_strip(text)
    history, number = history_of(strip), AGE if "age" in strip else LAG
    found = []
    for column, value in enumerate(strip["age" if number == AGE else "lag"]):
        asked = NOW + COLUMN * column + ASKED_AFTER
        values: dict[tuple[object, ...], float] = {}
        if value != "-":
            values[AT if number == LAG else AT[:2]] = float(value)
        look = Look("p", asked, asked, (values, values))
        found.append(judge(number, history, [AT], [look], interval=0).verdict.name)
    assert found == strip["verdict"]


def test_what_was_true_within_the_programs_interval_is_right() -> None:
    history = history_of(read_strip("end 10 10 10\ncommit 4 9 9"))
    look = Look("p", NOW + 50, NOW + 50, ({AT: 6.0}, {}))

    assert judge(LAG, history, [AT], [look], interval=0).verdict == Verdict.LATE
    assert judge(LAG, history, [AT], [look], interval=30).verdict == Verdict.RIGHT


def test_a_cell_has_the_worst_look_and_counts_those_as_bad() -> None:
    history = history_of(read_strip("end 10\ncommit 4"))
    shown: list[dict[tuple[object, ...], float]] = [{AT: 6}, {}, {AT: 5}, {AT: math.nan}]
    looks = [Look("p", NOW + 50, NOW + 50, (each, {})) for each in shown]

    cell = judge(LAG, history, [AT], looks, interval=0)

    assert (cell.verdict, cell.looks, cell.of) == (Verdict.WRONG, 2, 4)


def test_the_worst_partition_of_a_topic_counts() -> None:
    history = history_of(read_strip("end 10\ncommit 4"))
    history.logs["topic", 1] = history.logs["topic", 0]
    history.commits["group", "topic", 1] = [(NOW, 10)]
    keys = [AT, ("group", "topic", 1)]

    assert history.expect(AGE, keys, NOW + 1, NOW + 1) == Expected(True, ((361, 361),))


def test_nobody_can_know_what_only_a_hung_broker_has() -> None:
    history = history_of(read_strip("end 10\ncommit 4"))
    history.hidden.add("topic")

    assert judge(LAG, history, [AT], [Look("p", NOW + 50, NOW + 50)], 0).verdict == Verdict.RIGHT


@pytest.mark.parametrize(("age", "low", "high"), [(10, 5, 15), (50, 45, 55), (1_000, 900, 1_100)])
def test_ages_are_allowed_the_larger_of_seconds_and_share(
    age: float, low: float, high: float
) -> None:
    assert widen(Expected(True, ((age, age),))).ranges == ((low, high),)
