# SPDX-License-Identifier: Apache-2.0
"""How many of an hour's runs have to see a rebalance before a group is restless."""

import pytest

from kafka_lag_report.evidence import restless_runs


@pytest.mark.parametrize(
    ("interval", "runs"), [(20, 10), (60, 10), (180, 10), (300, 6), (600, 3), (3_600, 3)]
)
def test_ten_runs_of_an_hour_are_too_many_or_half_of_fewer(interval: float, runs: float) -> None:
    assert restless_runs(interval) == runs
