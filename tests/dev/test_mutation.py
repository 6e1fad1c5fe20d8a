# SPDX-License-Identifier: Apache-2.0
"""What is mutated is there, and a score of nothing is no score."""

from __future__ import annotations

import pytest

from dev import mutation
from dev.mutation import TARGETS, MutationError, Target, outcomes_of, score_of

SOURCE = "src/kafka_lag/lag/rates.py"
# What the copy that is mutated calls src.
SOURCE_ROOTS = ("functions", "cli", "infra", "glue_jobs")


def is_there(name: str) -> bool:
    names = [name.replace("src/", f"{root}/", 1) for root in SOURCE_ROOTS]
    return any(any(mutation.ROOT.glob(each)) for each in names)


@pytest.mark.parametrize("name", TARGETS)
def test_each_target_has_its_sources_and_its_tests(name: str) -> None:
    target = TARGETS[name]
    assert target.sources
    assert target.tests
    assert [each for each in (*target.sources, *target.tests) if not is_there(each)] == []


@pytest.mark.parametrize(
    ("target", "missing"),
    [
        (Target(("src/kafka_lag/moved.py",), ("tests/dev",)), "src/kafka_lag/moved.py"),
        (Target((SOURCE, "src/kafka_lag/moved/*"), ("tests/dev",)), r"src/kafka_lag/moved/\*"),
        (Target((SOURCE,), ("tests/moved.py",)), "tests/moved.py"),
    ],
)
def test_a_target_whose_files_have_moved_has_no_score(target: Target, missing: str) -> None:
    with pytest.raises(MutationError, match=f"a-rule: there is no {missing}: correct"):
        score_of("a-rule", target)


@pytest.mark.parametrize("results", ["", "    kafka_lag.x_one__mutmut_1: not checked\n"])
def test_a_target_without_a_mutant_has_no_score(results: str) -> None:
    with pytest.raises(MutationError, match="a-rule: no mutant was run"):
        outcomes_of("a-rule", results)


def test_what_survives_and_what_no_test_reaches_counts_against_the_score() -> None:
    outcomes = ("killed", "survived", "no tests", "timeout", "skipped")
    results = "".join(f"    kafka_lag.x_{n}: {each}\n" for n, each in enumerate(outcomes))
    tested, survivors = outcomes_of("a-rule", results)
    assert (tested, survivors) == (4, ["kafka_lag.x_1", "kafka_lag.x_2"])
