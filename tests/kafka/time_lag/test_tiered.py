# SPDX-License-Identifier: Apache-2.0
"""A topic whose old segments lie in remote storage alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dev.kafka import KafkaCluster
from dev.kafka.jars import DELAYED_UPLOAD, TIERED_TOPIC, tiered_settings
from kafka_lag.lag.model import LagReport
from tests.dev.cluster_fixture import STEADY
from tests.kafka.time_lag.watched import HOUR, MINUTE, Watched, dated, every, stated, watched
from tests.kafka_versions import needs

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

TIMES = every(10 * MINUTE, 100)
# A segment ends with a batch of another hour, by the records' own times.
HOURLY = {"segment.ms": str(HOUR)}
BATCHES = [TIMES[first : first + 5] for first in range(0, len(TIMES), 5)]


def is_remote(report: LagReport) -> bool:
    """Whether the newest segment alone is on the broker's own disk."""
    (start,) = report.snapshot.topic_partitions.numbers("local_start_offset").to_list()
    return start is not None and start > len(TIMES) * 0.9


@pytest.fixture(scope="module")
def tiered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    settings = STEADY | tiered_settings(tmp_path_factory.mktemp("remote"), brokers=1)
    with KafkaCluster(brokers=1, settings=settings) as cluster:
        topic = watched(cluster, "old", [], config={**HOURLY, **TIERED_TOPIC})
        topic.write(*BATCHES)
        topic.commit(0)
        with topic.looker() as eyes:
            eyes.look_until(is_remote)
        yield topic


@pytest.mark.parametrize("committed", [0, 41, 77, 99])
def test_records_in_remote_storage_are_dated(tiered: Watched, committed: int) -> None:
    tiered.commit(committed)
    row = tiered.row(tiered.first_look())
    assert abs(dated(row) - TIMES[committed]) <= stated(row) <= 2 * MINUTE
    assert row["reads_remote"] is True


@needs(DELAYED_UPLOAD)
def test_records_are_remote_only_after_the_delay_of_their_upload(tiered: Watched) -> None:
    delay = dict.fromkeys(("remote.copy.lag.ms", "local.retention.ms"), str(8 * HOUR))
    topic = watched(tiered.cluster, "late", [], config={**HOURLY, **TIERED_TOPIC, **delay})
    topic.write(*BATCHES)
    topic.commit(0)
    with topic.looker() as eyes:
        eyes.look_until(lambda report: topic.row(report)["reads_remote"])
    for committed, is_remote_record in ((0, True), (41, True), (77, False), (99, False)):
        topic.commit(committed)
        row = topic.row(topic.first_look())
        assert (row["lag"], row["reads_remote"]) == (100 - committed, is_remote_record)
        assert abs(dated(row) - TIMES[committed]) <= stated(row) <= 2 * MINUTE
