# SPDX-License-Identifier: Apache-2.0
"""A soak of some seconds: the process that is measured runs and tells its figures."""

import pytest

from dev.benchmarks.soak import samples_of
from dev.kafka import KafkaCluster

pytestmark = pytest.mark.kafka


def test_a_soak_tells_figures_of_the_collecting_process(shared_cluster: KafkaCluster) -> None:
    samples = list(samples_of(shared_cluster, 5.0, 1))
    assert samples[-1]["seconds"] >= 5
    assert samples[-1]["runs"] >= 1
    assert samples[-1]["errors"] == 0
    assert all(each["resident_mb"] > 20 and each["descriptors"] > 3 for each in samples)
