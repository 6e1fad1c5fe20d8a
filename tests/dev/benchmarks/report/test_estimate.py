# SPDX-License-Identifier: Apache-2.0
"""From what runs took here to what runs on Glue should take and cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dev.benchmarks.report.estimate import Speed, assumptions, estimated, estimates, speed

# 1 s a million rows on two cores, 20 s whatever the rows, 3 ms an object that is far away.
HERE = Speed(fixed=20.0, per_row=1e-6, cores=2, wait_per_object=0.003)
seconds = st.floats(0, 1_000)


@given(fixed=seconds, per_million=st.floats(0.01, 100))
def test_the_line_through_runs_is_found(fixed: float, per_million: float) -> None:
    runs = [(rows, fixed + rows * per_million / 1e6) for rows in (10**6, 4 * 10**6, 10**7)]

    found = speed(runs, cores=2)
    assert found.fixed == pytest.approx(fixed, abs=1e-3)
    assert found.per_row == pytest.approx(per_million / 1e6, rel=1e-3)


@given(runs=st.lists(st.tuples(st.integers(1, 10**8), seconds), min_size=1, max_size=4))
def test_no_part_is_ever_below_0(runs: list[tuple[int, float]]) -> None:
    found = speed(runs, cores=2)

    assert found.per_row >= 0
    assert found.fixed >= -1e-6


def test_of_one_run_all_grows_with_the_rows() -> None:
    assert speed([(2_000_000, 10.0)], cores=2) == Speed(fixed=0.0, per_row=5e-6, cores=2)


def test_twice_the_cores_halve_the_work_and_objects_are_waited_for() -> None:
    one = estimated(HERE, "", partitions=10_000, clusters=1, runs=1)

    assert (one.rows, one.objects) == (14_400_000, 4_320)
    # To start, fixed, rows, objects.
    assert one.seconds == pytest.approx(60 + 20 + 14.4 / 2 + 4_320 * 0.003)
    assert one.dollars == pytest.approx(one.seconds / 3_600 * 2 * 0.44)


def test_a_run_each_repeats_the_start() -> None:
    each = estimated(HERE, "", partitions=10_000, clusters=20, runs=20)
    one = estimated(HERE, "", partitions=10_000, clusters=20, runs=1)

    assert (each.rows, each.objects) == (one.rows, one.objects) == (288_000_000, 86_400)
    assert each.seconds - one.seconds == pytest.approx(19 * 60)


def test_a_large_cluster_has_more_rows_in_as_many_objects() -> None:
    large = estimated(HERE, "", partitions=100_000, clusters=1, runs=1)

    assert (large.rows, large.objects) == (144_000_000, 4_320)


def test_a_minute_is_billed_at_least() -> None:
    quick = Speed(fixed=1.0, per_row=0.0, cores=2)
    one = estimated(quick, "", partitions=1, clusters=2, runs=2, start_up=0.0)

    assert one.seconds == 2.0
    assert one.dollars == pytest.approx(2 * 60 / 3_600 * 2 * 0.44)


def test_the_promised_installations_and_all_assumptions_are_told() -> None:
    assert [(one.rows, one.runs) for one in estimates(HERE)] == [
        (14_400_000, 1),
        (144_000_000, 1),
        (288_000_000, 1),
        (288_000_000, 20),
        (288_000_000, 1),
    ]
    text = "\n".join(assumptions(HERE))
    for said in (
        "20.0 s a cluster",
        "1.00 s a million rows",
        "4 vCPU",
        "3.0 ms",
        "0.1 s",
        "$0.44",
        "60 s",
    ):
        assert said in text
