# SPDX-License-Identifier: Apache-2.0
"""What acknowledgements prove of log ends, log starts, append times and commits."""

import pytest

from dev.faults.truth import (
    COORDINATORS,
    NEVER,
    Commit,
    LogView,
    Purge,
    Stale,
    Truth,
    TruthView,
    possible,
)

# Offset, sent, acknowledged.
LOG = LogView.of([(0, 100, 110), (1, 200, 230), (2, 300, 310)])


@pytest.mark.parametrize(
    ("sent", "read", "ends"),
    [
        (50, 60, (0, 0)),
        (50, 105, (0, 1)),
        (111, 150, (1, 1)),
        (210, 220, (1, 2)),
        (400, 410, (3, 3)),
    ],
)
def test_an_end_lies_between_what_was_acknowledged_and_what_was_sent(
    sent: int, read: int, ends: tuple[int, int]
) -> None:
    assert LOG.ends(sent, read) == ends


def test_a_record_nobody_heard_of_again_may_be_at_the_end() -> None:
    assert LogView.of([(0, 100, 110)], loose=[200]).ends(150, 180) == (1, 1)
    assert LogView.of([(0, 100, 110)], loose=[200]).ends(150, 210) == (1, 2)


def test_a_lost_record_before_a_known_one_is_not_counted_again() -> None:
    assert LogView.of([(0, 100, 110), (2, 300, 310)], loose=[200]).ends(320, 330) == (3, 3)


def test_a_record_was_readable_between_sending_and_acknowledgement() -> None:
    assert LOG.readable(1) == (200, 230)


def test_a_marker_between_two_records_lies_between_their_times() -> None:
    assert LogView.of([(0, 100, 110), (2, 300, 310)]).readable(1) == (100, 310)
    assert LOG.readable(3) == (300, NEVER)


def test_a_late_acknowledgement_is_bounded_by_that_of_the_record_behind() -> None:
    assert LogView.of([(0, 100, 900), (1, 200, 230)]).readable(0) == (100, 230)


def test_a_log_start_lies_between_purges_done_and_purges_begun() -> None:
    log = LogView.of([], purges=[Purge(5, 100, 200), Purge(9, 300)])
    assert [log.starts(a, r) for a, r in ((50, 60), (50, 150), (250, 260), (400, 410))] == [
        (0, 0),
        (0, 5),
        (5, 5),
        (5, 9),
    ]


@pytest.mark.parametrize(("killed_at", "least"), [(60_199, 5), (60_200, 5), (60_201, 9)])
def test_a_broker_that_is_killed_may_forget_what_was_deleted_in_the_last_minute(
    killed_at: int, least: int
) -> None:
    truth = Truth()
    topic = truth.created("orders", "id", 1, 0, 1)
    topic.purged(0, 5, 50, 100)
    topic.purged(0, 9, 150, 200)
    truth.killed(killed_at)
    assert topic.logs[0].view().starts(killed_at, killed_at + 1) == (least, 9)


@pytest.mark.parametrize(
    ("begin", "end", "offsets"),
    [
        (50, 60, {None}),
        (50, 105, {None, 3}),
        (120, 130, {3}),
        (190, 210, {3, 7}),
        (260, 270, {7}),
    ],
)
def test_a_commit_holds_until_the_next_one_is_acknowledged(
    begin: int, end: int, offsets: set[int | None]
) -> None:
    assert possible([Commit(3, 100, 110), Commit(7, 200, 250)], begin, end) == offsets


def test_a_commit_without_an_answer_may_hold_or_not() -> None:
    assert possible([Commit(3, 100, 110), Commit(7, 200)], 300, 310) == {3, 7}
    late = [Commit(3, 100, 110), Commit(7, 200), Commit(9, 70_000, 70_001)]
    assert possible(late, 80_000, 80_001) == {9}


def test_a_deleted_group_has_no_commit() -> None:
    assert possible([Commit(3, 100, 110), Commit(None, 200, 210)], 300, 310) == {None}


def test_a_broker_that_was_stopped_may_answer_as_of_then() -> None:
    truth = TruthView({}, {}, (Stale(2, since=100, begin=500, end=600),))
    assert truth.as_of(550, 560, 2) == truth.as_of(550, 560) == 100
    assert truth.as_of(550, 560, 1) == 550
    assert truth.as_of(700, 710, 2) == 700
    assert truth.as_of(90, 560, 2) == 90


def test_a_broker_that_was_stopped_may_answer_for_the_groups_it_coordinated() -> None:
    stale = Stale(2, since=100, begin=5_000, end=6_000, groups=frozenset({"ours"}))
    truth = TruthView({}, {}, (stale,))
    assert truth.commits_as_of("ours", 5_500, 5_600) == 100
    assert truth.commits_as_of("other", 5_500, 5_600) == 5_500
    assert truth.commits_as_of("ours", 7_000, 7_100) == 7_000


def test_a_new_coordinator_may_answer_with_commits_of_a_moment_before_and_nothing_else() -> None:
    commits = {"any": {("orders", 0): [Commit(3, 10, 20), Commit(4, 2_900, 3_000)]}}
    truth = TruthView({}, commits, (Stale(COORDINATORS, since=100, begin=5_000, end=90_000),))
    assert truth.commits_as_of("any", 5_500, 5_600) == 3_500
    assert truth.commits_as_of("any", 66_000, 66_100) == 64_000
    assert truth.commits_as_of("any", 99_000, 99_100) == 99_000
    assert [truth.as_of(5_500, 5_600, broker) for broker in (1, 2, 3, None)] == [5_500] * 4


@pytest.mark.parametrize(("acked", "as_of"), [(13_000, 58_000), (11_999, 8_000), (58_001, 8_000)])
def test_a_new_coordinator_lacks_the_last_moment_until_it_has_taken_a_commit(
    acked: int, as_of: int
) -> None:
    commits = {"any": {("orders", 0): [Commit(3, 9_000, 9_990), Commit(4, acked - 9, acked)]}}
    truth = TruthView({}, commits, (Stale(COORDINATORS, since=10_000, begin=10_000, end=90_000),))
    assert truth.commits_as_of("any", 60_000, 60_100) == as_of


def test_a_broker_is_in_trouble_while_a_fault_lasts() -> None:
    truth = Truth()
    trouble = truth.troubled(2)
    begun = trouble.begin
    assert truth.view().troubled(2, begun + 90_000, begun + 91_000)
    truth.relieved(trouble)
    view = truth.view()
    assert not view.troubled(2, begun + 90_000, begun + 91_000)
    assert view.troubled(2, begun - 10, begun)
    assert not view.troubled(1, begun - 10, begun)


def test_the_record_of_many_threads_becomes_a_view() -> None:
    truth = Truth()
    topic = truth.created("orders", "id-1", 1, sent=10, acked=20)
    token = topic.sending(0, at=100)
    assert not truth.settled(100)
    topic.acknowledged(0, token, 0, at=110)
    assert truth.settled(100)
    commit = truth.committing("group", {("orders", 0): 1})
    truth.committed("group", commit, {("orders", 0): 1})
    view = truth.view()
    assert view.topics["id-1"].logs[0].ends(120, 130) == (1, 1)
    (event,) = view.commits["group"]["orders", 0]
    assert event.offset == 1
    assert event.sent < event.acked < NEVER


def test_a_deleted_topic_takes_commits_with_it_perhaps() -> None:
    truth = Truth()
    topic = truth.created("orders", "id-1", 1, sent=10, acked=20)
    offsets: dict[tuple[str, int], int | None] = {("orders", 0): 1}
    truth.committed("group", truth.committing("group", offsets), offsets)
    truth.deleted(topic, sent=NEVER - 2, acked=NEVER - 1)
    view = truth.view()
    assert possible(view.commits["group"]["orders", 0], NEVER - 1, NEVER) == {None, 1}
    assert view.living("orders", 30, 40) is not None
    assert view.living("orders", NEVER - 2, NEVER - 1) is None
