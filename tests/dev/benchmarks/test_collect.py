# SPDX-License-Identifier: Apache-2.0
"""The limit of memory that the benchmark of a run holds it to."""

from __future__ import annotations

import pytest

from dev.benchmarks.collect import find_excess


@pytest.mark.parametrize(
    ("size", "peak_mb", "expected"),
    [
        (200_000, 300.0, []),
        (200_000, 301.0, ["200,000 group-partitions took 301 MB of at most 300."]),
        (6_000, 145.0, ["6,000 group-partitions took 145 MB of at most 145."]),
    ],
)
def test_a_run_may_take_300_mb_for_200_000_group_partitions(
    size: int, peak_mb: float, expected: list[str]
) -> None:
    assert find_excess(size, peak_mb) == expected
