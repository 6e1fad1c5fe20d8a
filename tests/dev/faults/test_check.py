# SPDX-License-Identifier: Apache-2.0
"""A right run is found right, and what is said to be judged is."""

import pytest

from dev.faults.check import JUDGED_COLUMNS, check_run, not_judged, summary
from kafka_lag import contract
from tests.dev.faults.builders import (
    TRUTH,
    G,
    P,
    T,
    frames,
    judged,
    rules,
    run,
)


def test_a_right_run_is_right_and_its_numbers_are_counted() -> None:
    verdict = judged(run(calm=True))
    assert (verdict.wrong, verdict.late, +verdict.missing) == ([], False, {})
    assert verdict.checked.total() > 30
    assert verdict.consistent.total() > 30


def test_a_late_run_is_found() -> None:
    assert not check_run(TRUTH, run(seconds=5.9), margin=1.0).late
    assert check_run(TRUTH, run(seconds=6.1), margin=1.0).late


def test_a_broken_rule_is_told_once_with_its_first_case() -> None:
    planted = frames()
    planted[T][0]["retention_ms"] = planted[T][1]["retention_ms"] = 1
    ((rule, count, first),) = summary(judged(run(frames=planted)).wrong)
    assert (rule, count, first.where, first.published) == ("retention_ms", 2, "orders-0", "1")


@pytest.mark.parametrize(
    ("dataset", "column"),
    [(dataset, column) for dataset in (T, P, G) for column in sorted(JUDGED_COLUMNS[dataset])],
)
def test_every_column_that_is_said_to_be_judged_is(dataset: str, column: str) -> None:
    planted = frames()
    old = planted[dataset][0][column]
    # A value of the same kind, and of no right run.
    planted[dataset][0][column] = "other" if isinstance(old, str) else (old or 0) + 7_777_777
    assert rules(run(frames=planted))


def test_columns_that_are_not_judged_are_listed() -> None:
    text = "\n".join(not_judged())
    assert "worst_topic" in text
    assert "end_offset" not in text
    assert contract.TIME_LAG_LOOKUPS in text
