# SPDX-License-Identifier: Apache-2.0
"""The page of a run, and what two runs are compared by."""

from collections import Counter

from dev.truth.judge import Cell, Judgement, Verdict
from dev.truth.page import (
    Cost,
    Result,
    differences,
    markdown_of,
    verdicts,
)
from dev.truth.planted import Expected, Range
from dev.truth.programs import OURS, RIVALS
from dev.truth.scenarios import SCENARIOS

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


def test_each_wrong_value_stands_beside_what_kafkas_own_tools_say() -> None:
    text = markdown_of(RESULT)

    assert "- steady, lag: kminion **wrong**: -400 (0)\n  `group topic 0 500 100 -400`\n" in text


def test_each_loss_of_ours_is_named() -> None:
    section = markdown_of(RESULT).partition("## Where ours is not right")[2].partition("##")[0]

    assert "steady, time lag: late: 2.0 h (0 s to 5 s, 2 of 8) `group topic 0`." in section


def test_two_runs_are_compared_cell_by_cell() -> None:
    before = verdicts(RESULT)
    now = before | {"lag, steady, kminion": "right", "lag, new, kminion": "wrong"}

    assert differences(before, before) == []
    assert differences(before, now) == ["lag, steady, kminion: wrong, then right"]
