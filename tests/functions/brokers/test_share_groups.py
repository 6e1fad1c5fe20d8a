# SPDX-License-Identifier: Apache-2.0
"""Share groups: their coordinator's answers, and the rows made of them."""

from __future__ import annotations

import pytest

from tests.builders import table
from tests.functions.brokers.brokers import Brokers, Runs, Topic

PARTITIONS = ("partition_id", "committed_offset", "lag", "member_id", "unread_reason")


def a_queue(members: int = 3, version: int = 1) -> Brokers:
    """Four partitions of 100 records: 10 left of 40 from the start offset on, all, none, not said;
    and one at which the group has not begun."""
    brokers = Brokers({"jobs": Topic([(0, 100)] * 5)}, {"queue": {"jobs": [60, 0, 100, 70, -1]}})
    brokers.shared = {"queue": {"jobs": [10, 100, 0, -1, -1]}}
    brokers.members, brokers.offers_share = members, version
    return brokers


def test_the_lag_of_a_share_group_is_the_one_that_the_broker_says() -> None:
    runs = Runs(a_queue())
    runs()
    newest = runs.collector.memory.newest
    assert table(newest.group_partitions, *PARTITIONS) == [
        (0, 60, 10, "shared", None),
        (1, 0, 100, "shared", None),
        (2, 100, 0, "shared", None),
        # The start offset alone does not say how many records behind it are finished.
        (3, 70, None, "shared", None),
        (4, None, None, "shared", None),
    ]
    names = ("group_type", "group_state", "members", "lag", "max_lag", "partitions_uncommitted")
    assert table(newest.groups, *names) == [("share", "Stable", 3, None, None, 1)]
    assert "OffsetFetch" not in runs.brokers.kinds


def test_brokers_without_share_groups_are_asked_nothing_about_them() -> None:
    brokers = Brokers({"jobs": Topic([(0, 9)])}, {"g": {"jobs": [4]}})
    brokers.offers_share = 1
    brokers.read()
    assert [kind for kind in brokers.kinds if "Share" in kind] == []


@pytest.mark.parametrize(("version", "members"), [(0, 3), (-1, None)])
def test_brokers_that_do_not_say_the_lag_leave_a_share_group_without_rows(
    version: int, members: int | None
) -> None:
    found = a_queue(version=version).read()
    assert len(found.group_partitions) == 0
    names = ("group_type", "members", "read_at", "unread_reason")
    assert table(found.groups, *names) == [("share", members, None, None)]


def test_a_share_group_that_is_denied_is_unread_and_one_that_is_deleted_is_gone() -> None:
    runs = Runs(a_queue())
    runs()
    runs.brokers.lasting["DescribeShareGroupOffsets", "queue"] = 30
    runs()
    newest = runs.collector.memory.newest
    assert table(newest.groups, "unread_reason") == [("denied",)]
    assert table(newest.group_partitions, "last_lag")[:2] == [(10,), (100,)]
    del runs.brokers.groups["queue"], runs.brokers.shared["queue"]
    runs()
    assert table(runs.collector.memory.newest.groups, "status_reason") == [("gone",)]


@pytest.mark.parametrize(
    ("members", "moves", "status"),
    [(3, 0, "stalled"), (0, 0, "stopped"), (3, 100, None)],
    ids=["its start offset stands", "nobody reads", "it keeps up"],
)
def test_a_share_group_is_judged_by_its_start_offset(
    members: int, moves: int, status: str | None
) -> None:
    brokers = a_queue(members)
    runs = Runs(brokers)
    for minute in range(30):
        at = 100 * minute
        brokers.topics["jobs"] = Topic([(0, 100 + at)] * 5)
        start = 60 + moves * minute
        brokers.groups["queue"] = {"jobs": [start] * 5}
        brokers.shared["queue"] = {"jobs": [90 + at - start] * 5}
        runs()
    assert table(runs.collector.memory.newest.groups, "worst_status") == [(status,)]
