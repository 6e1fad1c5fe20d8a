# SPDX-License-Identifier: Apache-2.0
"""What programs answer, and the page's cells of it."""

import math
from dataclasses import replace

import pytest

from dev.sim.live.logs import LAG, Expected
from dev.sim.live.planting import read_scenarios
from dev.truth.judge import Cell, Verdict
from dev.truth.page import cell_text, replace_part
from dev.truth.programs import PINNED, read_lags_and_ages, read_programs, read_tool
from dev.truth.scenarios import SCENARIOS

PROGRAMS = {each.name: each for each in read_programs(PINNED.read_text())}
PROGRAM = replace(
    PROGRAMS["klag"], lag=("lag", "group", "topic", "partition"), age=("age", "group", "topic", "")
)
TEXT = """\
# TYPE lag gauge
lag{group="g",topic="t",partition="0"} 5
lag{group="odd \\"name\\" {y}=1, z",topic="t",partition="1"} -1
# TYPE age gauge
age{group="g",topic="t"} 4000
# TYPE other gauge
other{group="g",topic="t",partition="0"} 7
"""


def test_lags_are_by_partition_and_ages_in_seconds() -> None:
    lags = {("g", "t", 0): 5, ('odd "name" {y}=1, z', "t", 1): -1}
    assert read_lags_and_ages(TEXT, PROGRAM) == (lags, {("g", "t"): 4})


@pytest.mark.parametrize("order", [1, -1])
def test_nan_is_not_lost_in_a_maximum(order: int) -> None:
    values = ["5", "NaN"][::order]
    text = "".join(f'age{{group="g",topic="t",n="{n}"}} {v}\n' for n, v in enumerate(values))

    assert math.isnan(read_lags_and_ages(text, PROGRAM)[1]["g", "t"])


def test_a_text_that_is_none_is_an_error() -> None:
    with pytest.raises(ValueError, match="html"):
        read_lags_and_ages("<html>not a metric</html>", PROGRAM)


def test_kafkas_own_tool_names_groups_with_spaces_and_shows_no_lag_as_a_dash() -> None:
    text = """
GROUP    TOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG   CONSUMER-ID  HOST  CLIENT-ID
für "x"  t      0          50              100             50    -            -     -
für "x"  t      1          -               100             -     -            -     -
g        t      0          500             100             -400  g-1-4f       /127  g-1
"""
    assert read_tool(text) == {('für "x"', "t", 0): 50, ("g", "t", 0): -400}


def test_a_mode_of_a_program_has_all_else_of_it() -> None:
    by_rate, by_messages = PROGRAMS["klag-exporter"], PROGRAMS["klag-exporter (messages)"]

    assert by_messages.files == by_rate.files
    assert by_messages.executable == by_rate.executable
    assert (by_rate.mode, by_messages.mode) == ("rate", "message")


def test_each_scenario_has_a_name_of_its_own_and_something_planted() -> None:
    scenarios = read_scenarios(SCENARIOS)

    assert len({each.case.name for each in scenarios}) == len(scenarios)
    assert all(each.before or each.case.groups for each in scenarios)


def test_a_wrong_cell_says_what_would_have_been_right_and_how_often_it_was_so() -> None:
    truth = Expected(True, ((0, 0), (90, 100)))

    assert cell_text(Cell(Verdict.WRONG, -400, truth, 2, 8), LAG) == (
        "**wrong**: -400 (0 or 90 to 100, 2 of 8)"
    )
    assert cell_text(Cell(Verdict.ABSENT, None, truth, 8, 8), LAG) == "absent"


def test_a_run_takes_the_place_of_the_one_before() -> None:
    page = "Why.\n<!-- begin of run -->\nold\n<!-- end of run -->\nHow.\n"

    assert replace_part(page, "run", "new\n") == page.replace("old", "new")
