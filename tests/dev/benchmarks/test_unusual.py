# SPDX-License-Identifier: Apache-2.0
"""Some groups for five weeks; `python -m dev.benchmarks.unusual` looks at all for 60 days."""

from __future__ import annotations

import numpy as np
import pytest
from pyspark.sql import SparkSession

from dev.benchmarks.unusual import LEARNT, MEASURES, Groups, Verdict, healthy, judge_groups, main

# Of each way to work one; before the rule knew groups that follow no hour, the bursts had a
# hundred marks a month.
GROUPS = (
    "steady",
    "a burst every 3 hours",
    "office hours",
    "daily, 10 minutes of jitter",
    "random bursts, 70%, every 10 min",
    "random bursts, 90%, every 40 min",
)
DAYS, PLANTED = LEARNT + 2, 4


def only(groups: Groups, names: tuple[str, ...]) -> Groups:
    at = [groups.names.index(name) for name in names]
    return Groups(names, *(groups.of(measure)[:, at] for measure in MEASURES))


@pytest.fixture(name="verdicts", scope="module")
def _verdicts(spark: SparkSession) -> dict[str, Verdict]:
    groups = only(healthy(DAYS, seed=0), GROUPS)
    found = judge_groups(spark, groups, PLANTED, 0, lambda _: None)
    return {one.name: one for one in found}


@pytest.mark.parametrize("name", GROUPS)
def test_a_healthy_group_is_hardly_ever_called_unusual(
    verdicts: dict[str, Verdict], name: str
) -> None:
    assert verdicts[name].marks_a_month == 0


@pytest.mark.parametrize("name", GROUPS)
def test_what_is_planted_is_seen_in_the_third_run(verdicts: dict[str, Verdict], name: str) -> None:
    seen = verdicts[name].seen
    assert seen.keys() == {*MEASURES}
    assert all(found == planted >= PLANTED for found, planted in seen.values())


@pytest.mark.parametrize(
    ("marks", "seen", "missed"),
    [(1.0, (9, 10), False), (1.1, (10, 10), True), (0.0, (8, 10), True)],
)
def test_a_limit_that_is_missed_is_reported(
    marks: float, seen: tuple[int, int], missed: bool
) -> None:
    assert Verdict("any", False, marks, {"lag": seen}).missed == missed


def test_the_rate_of_a_run_is_known_from_the_moving_average() -> None:
    groups = only(healthy(10, seed=0), ("steady",))
    assert groups.written()[2:].mean() == pytest.approx(10.0, abs=0.1)
    assert np.ptp(groups.written()) > np.ptp(groups.produce_rate)


def test_the_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert "held out" in capsys.readouterr().out
