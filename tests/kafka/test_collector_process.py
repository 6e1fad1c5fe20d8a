# SPDX-License-Identifier: Apache-2.0
"""The process that benchmarks measure: it collects and writes its figures."""

import pytest

from dev.benchmarks.collector_process import RUNS, command, options_of, read_figures
from dev.benchmarks.soak import samples_of
from dev.kafka import KafkaCluster

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]


def test_a_soak_has_figures_of_the_collecting_process(shared_cluster: KafkaCluster) -> None:
    # A run has the interval's time: far more than it takes.
    samples = list(samples_of(shared_cluster, 20.0, 10))
    assert samples[-1]["seconds"] >= 20
    assert samples[-1]["runs"] >= 1
    assert samples[-1]["errors"] == 0
    assert all(each["resident_mb"] > 20 and each["descriptors"] > 3 for each in samples)


def test_a_cold_run_and_warm_ones_are_timed(shared_cluster: KafkaCluster) -> None:
    options = options_of(shared_cluster, runs=2, interval_ms=60_000)
    (figures,) = read_figures(command(RUNS), options)
    assert figures["group_partitions"] >= 0
    assert 0 < figures["least"] <= figures["warm"] <= figures["most"]
    assert figures["cold"] > 0
    assert figures["peak_mb"] > 20
