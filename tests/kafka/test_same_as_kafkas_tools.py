# SPDX-License-Identifier: Apache-2.0
"""Every kind of traffic has the lag of Kafka's own tool, where the tool is right."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from dev.kafka import KafkaCluster
from dev.traffic import GROUPS, Traffic, possible
from kafka_lag.lag.model import LagReport
from tests.kafka.looking import (
    ANSWERED_WITHIN,
    Looker,
    Row,
    looker,
    only,
    partitions,
    tool_says,
)
from tests.kafka_versions import needing_features

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

Said = dict[tuple[str, str, int], Row]


@dataclass(frozen=True, slots=True)
class Looks:
    """The tool, then us, then the tool, at one kind of moment."""

    earlier: Said
    report: LagReport
    later: Said


@dataclass(frozen=True, slots=True)
class Story:
    """All traffic at work, and the same groups once nobody writes, reads or commits."""

    live: Looks
    at_rest: Looks


def _looks(cluster: KafkaCluster, eyes: Looker) -> Looks:
    return Looks(tool_says(cluster), eyes.look(), tool_says(cluster))


def _is_overtaken(report: LagReport) -> bool:
    """Whether retention has deleted what the slow group has not read."""
    (row,) = partitions(report, "expiring").values()
    overtaken: bool = row["committed_offset"] < row["start_offset"]
    return overtaken


@pytest.fixture(scope="module")
def story(shared_cluster: KafkaCluster) -> Iterator[Story]:
    names = "^(orders-)?(" + "|".join(possible()) + ")$"
    with looker(shared_cluster, only(names)) as eyes:
        with Traffic(shared_cluster) as traffic:
            traffic.wait_until_ready(ANSWERED_WITHIN)
            deadline = time.monotonic() + ANSWERED_WITHIN
            live = _looks(shared_cluster, eyes)
            # A consumer that retention has overtaken goes on at the log start for a moment.
            while not _is_overtaken(live.report) and time.monotonic() < deadline:
                live = _looks(shared_cluster, eyes)
        deadline = time.monotonic() + ANSWERED_WITHIN
        at_rest = _looks(shared_cluster, eyes)
        while at_rest.earlier != at_rest.later and time.monotonic() < deadline:
            at_rest = _looks(shared_cluster, eyes)
        yield Story(live, at_rest)


@pytest.fixture(name="live")
def _live(story: Story) -> LagReport:
    return story.live.report


@pytest.mark.parametrize("name", [*map(needing_features, GROUPS)])
def test_our_offsets_lie_between_two_looks_of_the_tool(name: str, story: Story) -> None:
    ours = partitions(story.live.report, name)
    assert len(ours) == len(GROUPS[name].case.topics["orders"].rates)
    for (topic, number), row in ours.items():
        low, high = (said[name, topic, number] for said in (story.live.earlier, story.live.later))
        assert low["committed"] <= row["committed_offset"] <= high["committed"]
        assert low["end"] <= row["end_offset"] <= high["end"]
        position = max(row["committed_offset"], row["start_offset"])
        assert row["lag"] == row["end_offset"] - position


def test_below_log_start_we_count_what_can_still_be_read_and_name_the_loss(
    live: LagReport,
) -> None:
    (row,) = partitions(live, "expiring").values()
    assert _is_overtaken(live)
    assert row["records_lost"] == row["start_offset"] - row["committed_offset"]
    assert row["lag"] < row["end_offset"] - row["committed_offset"]


@pytest.mark.parametrize("name", [needing_features(n) for n in GROUPS if n != "expiring"])
def test_at_rest_our_lag_is_the_lag_of_kafkas_tool(name: str, story: Story) -> None:
    assert story.at_rest.earlier == story.at_rest.later
    for (topic, number), row in partitions(story.at_rest.report, name).items():
        assert row["lag"] == story.at_rest.later[name, topic, number]["lag"]
