# SPDX-License-Identifier: Apache-2.0
"""The page of a run, and what two runs are compared by."""

from collections import Counter
from dataclasses import replace

import pytest

from dev.truth.judge import Cell, Judgement, Verdict
from dev.truth.page import (
    SIZES_BEGIN,
    SIZES_END,
    Cost,
    Result,
    cell_text,
    differences,
    markdown_of,
    seconds,
    sizes_in,
    verdicts,
    with_sizes,
)
from dev.truth.planted import Expected, Range
from dev.truth.programs import OURS, RIVALS
from dev.truth.scenarios import SCENARIOS
from dev.truth.sizes import Small, Taken, table_of, table_of_small

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
    truths={("lag", SCENARIO.title): Expected(True, (Range(0, 100),))},
    beside={(SCENARIO.title, "lag", WHERE): ["`group topic 0 500 100 -400`"]},
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


def test_each_wrong_value_stands_beside_what_kafkas_own_tools_say() -> None:
    text = markdown_of(RESULT)

    assert "- steady, lag: kminion **wrong**: -400 (0)\n  `group topic 0 500 100 -400`\n" in text


def test_programs_that_are_wrong_of_the_same_partition_stand_together() -> None:
    both = {**RESULT.lags, (SCENARIO.title, OURS.name): cell(Verdict.WRONG, 7, Range(0, 0))}

    text = markdown_of(replace(RESULT, lags=both))

    assert "kafka-lag **wrong**: 7 (0); kminion **wrong**: -400 (0)\n  `group" in text


def test_a_wrong_value_of_which_the_tool_lists_nothing_says_so() -> None:
    text = markdown_of(replace(RESULT, beside={}))

    assert "The tool lists no such row: `group topic 0`" in text


def test_each_loss_of_ours_is_named() -> None:
    section = markdown_of(RESULT).partition("## Where ours is not right")[2].partition("##")[0]

    assert "steady, time lag: late: 2.0 h (0 s to 5 s, 2 of 8) `group topic 0`." in section


def test_a_loss_of_ours_says_why_where_that_is_known() -> None:
    limited = replace(SCENARIO, limit="Nobody can know.")

    assert "`group topic 0`. Nobody can know." in markdown_of(replace(RESULT, scenarios=[limited]))


def test_a_run_without_a_loss_says_so() -> None:
    assert "Nowhere in this run." in markdown_of(replace(RESULT, ages={}))


def test_a_program_without_ages_has_no_column_of_them() -> None:
    ages = markdown_of(RESULT).partition("## Time lag")[2].partition("##")[0]

    assert "| scenario | truth | kafka-lag |" in ages


def test_the_page_names_versions_costs_and_who_was_left_out() -> None:
    text = markdown_of(RESULT)

    assert "Left out: another (it is not here)." in text
    assert f"| kminion | {RIVAL.version} |" in text
    assert "| kminion | 1.5 | 0.50 | 0.25 | 32 | 16 | LIST_OFFSETS 12, METADATA 4 |" in text


def test_the_counts_are_on_the_first_screen() -> None:
    lines = markdown_of(RESULT).splitlines()

    assert "| kminion | 0 | 0 | 0 | 1 | - | - | - | - |" in lines[:16]


def test_a_table_has_what_was_planted_and_the_truth() -> None:
    assert f"| steady | {SCENARIO.planted} | 0 to 100 | right |" in markdown_of(RESULT)


def test_what_was_measured_by_size_stays_in_the_page() -> None:
    page = markdown_of(replace(RESULT, sizes=f"{SIZES_BEGIN}\nlast year\n{SIZES_END}"))

    written = with_sizes(page, "## By size\n\nnew\n")

    assert f"{SIZES_BEGIN}\n## By size\n\nnew\n{SIZES_END}" in written
    assert "last year" not in written
    assert sizes_in(written) in markdown_of(replace(RESULT, sizes=sizes_in(written)))


def test_a_page_without_sizes_has_none() -> None:
    page = markdown_of(RESULT)

    assert sizes_in(page) == ""
    assert sizes_in(with_sizes(page, "new")) == f"{SIZES_BEGIN}\nnew\n{SIZES_END}"


def test_two_runs_are_compared_cell_by_cell() -> None:
    before = verdicts(RESULT)
    now = before | {"lag, steady, kminion": "right", "lag, new, kminion": "wrong"}

    assert differences(before, before) == []
    assert differences(before, now) == ["lag, steady, kminion: wrong, then right"]


def test_a_bar_in_a_name_does_not_break_the_table() -> None:
    odd = replace(SCENARIO, planted="a | b")

    assert "a \\| b" in markdown_of(replace(RESULT, scenarios=[odd]))


def test_sizes_have_a_line_a_program() -> None:
    taken = [Taken("kminion", 0.25, 0.5, 0.125, 2**25), Taken("a run", 1, 2, 3, 2**20)]

    text = table_of({6_000: taken}, {6_000: {"kminion": 52.4}})

    assert text.splitlines()[2:] == [
        "| 6,000 | kminion | 0.25 | 0.50 | 0.12 | 32 | 52 |",
        "| 6,000 | a run | 1.00 | 2.00 | 3.00 | 1 | - |",
    ]


def test_a_small_cluster_has_a_line_a_program() -> None:
    text = table_of_small([Small("kminion", 0.25, 1.25, 0.5, 0.75, 2**25)])

    assert text.splitlines()[2:] == ["| kminion | 0.2 | 1.2 | 0.50 | 0.75 | 32 |"]
