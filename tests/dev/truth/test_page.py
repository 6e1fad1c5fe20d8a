# SPDX-License-Identifier: Apache-2.0
"""The page of a run, and what two runs are compared by."""

from collections import Counter
from dataclasses import replace

import pytest

from dev.benchmarks.exporters import Figures
from dev.truth.judge import Cell, Judgement, Verdict
from dev.truth.page import Cost, Result, cell_text, differences, markdown_of, seconds, verdicts
from dev.truth.planted import Expected, Range
from dev.truth.programs import OURS, RIVALS
from dev.truth.scenarios import SCENARIOS
from dev.truth.sizes import table_of

RIVAL = RIVALS[0]
SCENARIO = SCENARIOS[0]
WHERE = ("group", "topic", "0")


def cell(verdict: Verdict, value: float | None = None, *ranges: Range, looks: int = 8) -> Cell:
    return Cell(Judgement(verdict, value, Expected(bool(ranges), ranges), WHERE), looks, 8)


RESULT = Result(
    programs=[OURS, RIVAL],
    scenarios=[SCENARIO],
    lags={
        (SCENARIO.title, OURS.name): cell(Verdict.RIGHT, 6, Range(6, 6)),
        (SCENARIO.title, RIVAL.name): cell(Verdict.WRONG, -400, Range(0, 0)),
    },
    ages={(SCENARIO.title, OURS.name): cell(Verdict.LATE, 7_200, Range(0, 5), looks=2)},
    costs={RIVAL.name: Cost(1.5, 0.25, 2**25, Counter(METADATA=4, LIST_OFFSETS=12), 0.5)},
    left_out={"another": "it is not here"},
    kafka="4.3.1",
    date="2026-11-26",
    minutes=12.3,
    partitions=1_234,
    tool={
        (SCENARIO.title, "group", "topic"): ["group topic 0 500 100 -400", "group topic 1 1 1 0"]
    },
    compared="Every cell was the same in the run before.",
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (cell(Verdict.RIGHT, 6, Range(6, 6)), "right"),
        (cell(Verdict.WRONG, 9, Range(6, 6)), "**wrong**: 9 s (6 s)"),
        (cell(Verdict.WRONG, -1), "**wrong**: -1 s (none)"),
        (cell(Verdict.LATE, 9, Range(6, 8), looks=2), "late: 9 s (6 s to 8 s, 2 of 8)"),
        (cell(Verdict.ABSENT, None, Range(6, 6)), "absent"),
        (None, "-"),
        (
            cell(Verdict.WRONG, 9, Range(6, 6, "one"), Range(1, 1, "other")),
            "**wrong**: 9 s (6 s or 1 s)",
        ),
    ],
)
def test_a_cell_says_value_and_truth(value: Cell | None, text: str) -> None:
    assert cell_text(value, seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 s"), (119, "119 s"), (600, "10 min"), (14_400, "4.0 h"), (604_800, "7.0 d")],
)
def test_lengths_of_time_are_for_people(value: float, text: str) -> None:
    assert seconds(value) == text


def test_each_wrong_value_of_a_rival_stands_beside_kafkas_own_row() -> None:
    text = markdown_of(RESULT)

    assert "- kminion, steady, lag: **wrong**: -400 (0)\n  `group topic 0 500 100 -400`\n" in text
    assert "topic 1 1 1 0" not in text


def test_each_loss_of_ours_is_named() -> None:
    section = markdown_of(RESULT).partition("## Where ours is not right")[2].partition("##")[0]

    assert "steady, time lag: late: 2.0 h (0 s to 5 s, 2 of 8) `group topic 0`" in section


def test_a_run_without_a_loss_says_so() -> None:
    assert "Nowhere in this run." in markdown_of(replace(RESULT, ages={}))


def test_a_program_without_ages_has_no_column_of_them() -> None:
    ages = markdown_of(RESULT).partition("## Time lag")[2].partition("##")[0]

    assert "| scenario | planted | kafka-lag |" in ages


def test_the_page_names_versions_costs_and_who_was_left_out() -> None:
    text = markdown_of(RESULT)

    assert "Left out: another (it is not here)." in text
    assert f"| kminion | {RIVAL.version} |" in text
    assert "| kminion | 1.5 | 0.50 | 0.25 | 32 | 16 | LIST_OFFSETS 12, METADATA 4 |" in text
    assert "| kminion | 0, 0, 0, 1 | - |" in text


def test_two_runs_are_compared_cell_by_cell() -> None:
    before = verdicts(RESULT)
    now = before | {"lag, steady, kminion": "right", "lag, new, kminion": "wrong"}

    assert differences(before, before) == []
    assert differences(before, now) == ["lag, steady, kminion: wrong, then right"]


def test_a_bar_in_a_name_does_not_break_the_table() -> None:
    odd = replace(SCENARIO, planted="a | b")

    assert "a \\| b" in markdown_of(replace(RESULT, scenarios=[odd]))


def test_sizes_have_a_line_a_program() -> None:
    figures = Figures("kminion", 6, 0.25, 0.5, 0.125, 2**20, 2**25, 9_000)

    text = table_of({6_000: [figures]}, {6_000: {"kminion": 52.4}})

    assert text.splitlines()[2:] == ["| 6,000 | kminion | 0.25 | 0.50 | 0.12 | 32 | 52 |"]
