# SPDX-License-Identifier: Apache-2.0
"""What real traffic on a real cluster is called, run by run, and after how many runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dev.kafka import KafkaCluster
from dev.traffic.catalog import POISON
from kafka_lag.contract import OK, STALL, STOP, WARN
from tests.kafka import statuses
from tests.kafka.statuses import Recording, Seen, recorded
from tests.kafka_versions import needing_features

# A status is due after so many looks at real members: a busy machine makes looks late.
pytestmark = [pytest.mark.kafka, pytest.mark.thorough, pytest.mark.timed]

WINDOW = statuses.RULES.window_ms // statuses.RULES.interval_ms
# Members join late, and on a busy machine looks are late or left out.
EARLY, SLACK = WINDOW - 2, 6

Tell = Callable[[str, object], None]


@pytest.fixture(scope="module")
def story(shared_cluster: KafkaCluster) -> Recording:
    """Of all groups at once, as it takes most of a minute."""
    return recorded(shared_cluster)


def known(story: Recording, name: str) -> dict[int, Seen]:
    """The runs after the first two in which all the group's partitions have a commit."""
    begin = story.first(name, lambda seen: bool(seen.committed) and None not in seen.committed)
    return story.of(name, begin + 2)


def since_last_move(story: Recording, name: str, shown_at: int) -> int:
    """The runs since the first that saw the commits as they were in this one."""
    committed = story.of(name)[shown_at].committed
    return shown_at - story.first(name, lambda seen: seen.committed == committed)


@pytest.mark.parametrize("name", ["healthy", needing_features("kip848"), "commit-only"])
def test_a_healthy_busy_group_is_ok_in_every_run(story: Recording, name: str) -> None:
    seen = known(story, name)

    assert max(seen) - min(seen) > WINDOW * 2
    assert max(each.lag or 0 for each in seen.values()) > 0
    assert [run for run, each in seen.items() if not each.ok] == []


def test_a_group_on_a_topic_with_a_record_now_and_then_is_ok_in_every_run(
    story: Recording,
) -> None:
    seen = known(story, "trickle")
    unread = [run for run, each in seen.items() if each.lag == 1]

    assert max(since_last_move(story, "trickle", run) for run in unread) > WINDOW
    assert [run for run, each in seen.items() if not each.ok] == []


def test_a_group_in_endless_rebalance_keeps_its_numbers(story: Recording) -> None:
    seen = known(story, "rebalancing")

    assert {"PreparingRebalance", "Stable"} <= {each.state for each in seen.values()}
    numbers = {run: (each.lag, each.seconds, *each.statuses) for run, each in seen.items()}
    assert [
        run for run, shown_at in numbers.items() if len(shown_at) != 5 or None in shown_at
    ] == []
    assert seen.keys() == {run for run in story.runs if run >= min(seen)}


def test_a_stopped_group_is_told_a_window_after_its_last_commit(
    story: Recording, record_property: Tell
) -> None:
    shown_at = story.first("stopped", lambda seen: {*seen.statuses} == {STOP})
    runs = since_last_move(story, "stopped", shown_at)
    record_property("told_after_runs", runs)

    assert EARLY <= runs <= WINDOW + SLACK


def test_a_stuck_partition_is_told_a_window_after_its_last_commit(
    story: Recording, record_property: Tell
) -> None:
    stands = story.first("stuck", lambda seen: seen.committed[:1] == (POISON,))
    shown_at = story.first("stuck", lambda seen: STALL in seen.statuses)
    record_property("told_after_runs", shown_at - stands)

    assert EARLY <= shown_at - stands <= WINDOW + SLACK
    assert {each.statuses for each in story.of("stuck", shown_at).values()} == {(STALL, OK, OK)}


def test_a_slow_group_is_told_once_it_is_a_window_behind(
    story: Recording, record_property: Tell
) -> None:
    shown_at = story.first("slow", lambda seen: seen.statuses == (WARN,))
    record_property("told_after_runs", shown_at - story.began)

    assert shown_at - story.began >= EARLY
    assert shown_at <= WINDOW + SLACK
    assert {each.statuses for each in story.of("slow", shown_at).values()} == {(WARN,)}
