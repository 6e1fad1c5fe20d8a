# SPDX-License-Identifier: Apache-2.0
"""A group's status on one partition, run by run, its reason, and the consumer status."""

from __future__ import annotations

import pytest

from kafka_lag import contract
from kafka_lag.lag.group_settings import EARLIEST, ByName, Rules
from tests.builders import HOUR, MINUTE, NOON
from tests.functions.lag.builders import Runs, partition
from tests.functions.lag.strips import Strips, split_strips
from tests.functions.lag.time_index_fake import Log

# The window is of ten minutes: what happened exactly ten minutes ago is within it.

RULES = Rules(
    allowed_lag=ByName.of([("allowed", 7)]), uncommitted=ByName.of([("earliest", EARLIEST)])
)
STATUSES = split_strips(
    """
    reads all in time
        end     100 +20x14
        commit  100 +20
        status  OKx15
    has read everything of an idle topic
        end     100x15
        commit  100
        status  OKx15
    lags by what is allowed
        end     107x15
        commit  100
        status  OKx15
    commits nothing
        end            10x15
        commit         -
        status         ?x15
        status_reason  ?x15
    commits nothing and counts from the earliest
        end     10 +20x12
        commit  -
        status  ?x11 STALLx2
    does not move, and has a member
        end              100 +20x13
        commit           100
        status           OKx11 STALLx3
        group.status     OKx11 ERRx3
        consumer_status  ?x11 stalledx3
    does not move, and its member has left
        end              100 +20x13
        commit           100
        owner            m -
        status           OKx11 STOPx3
        consumer_status  ?x11 stoppedx3
    was owned ten minutes ago
        end     100 +20x14
        commit  100
        owner   mx2 -
        status  OKx11 STALL STOPx3
    is young when it moves, every five minutes
        end     100 +20
        commit  100x5 200x5 300x5 400x5
        status  OKx20
    reads half of what is written
        end            100 +200x40
        commit         100 +100
        status         OKx21 WARNx20
        status_reason  ?x21 falling_behindx20
    works off too little of its backlog
        end            9000 +20x60
        commit         1000 +21
        status         ? OKx10 WARNx50
        status_reason  ?x11 slowx50
    works off its backlog
        end     9000 +20x30
        commit  1000 +400x20 9420 +20
        status  ? OKx30
    stood and commits again
        end     100 +20x15
        commit  100x13 +20x3
        status  OKx11 STALLx2 OK WARNx2
    goes on at the same distance, then a little nearer
        end     1000 +10x69
        commit  890 +10x11 (+10 +11)x29
        status  ? OKx10 WARNx40 OKx19
    is owned again after it has stopped
        end     100 +20x15
        commit  100
        owner   mx1 -x13 m
        status  OKx11 STOPx3 STALLx2
    commits in every second run without being a member
        end            6000 +20x29
        commit         1000 (+0 +42)x14 +0
        owner          -
        status         ?x2 OK ? OK ? OK ? OK ? OK ? WARNx18
        status_reason  ?x12 falling_behindx4 slowx14
    """
)


@pytest.mark.parametrize("name", STATUSES)
def test_a_group_has_the_status_of_the_first_rule_that_fits(name: str) -> None:
    RUNS.check(name)


def test_a_group_that_has_stopped_does_not_stall_because_the_window_grows() -> None:
    runs = Runs(Rules(window_ms=3 * MINUTE))
    runs.run(0, 10, 20)
    for minute in range(1, 5):
        report = runs.run(minute, 10, 20 + minute, members=0)
    assert partition(report, "status") == (contract.STOP,)

    runs.rules = Rules()
    assert partition(runs.run(5, 10, 26, members=0), "status") == (contract.STOP,)
    assert partition(runs.run(6, 10, 27), "status") == (contract.STALL,)


BACK = split_strips(
    """
    goes back and stands, with a member
        end           100 +10
        commit        100x3 40x15
        status        OKx3 REWINDx11 STALLx4
        rewound_from  ?x3 100x15
        rewound_at    ?x3 3x15
    goes back and stands, without members
        end     100 +10
        commit  100x3 40x15
        owner   -
        status  OKx3 REWINDx11 STOPx4
    goes back and reads it again
        end           100 +10
        commit        100x3 40 60 80 90 100 110x3
        status        OKx3 REWINDx4 OKx4
        rewound_from  ?x3 100x4 ?x4
    goes back twice
        end           100
        commit        90 40 60 20 85 90
        rewound_from  ? 90x4 ?
        rewound_at    ? 1x2 3x2 ?
    goes back from a later commit
        end           100 +10
        commit        90 40 90 100 30 80
        rewound_from  ? 90 ?x2 100x2
        rewound_at    ? 1 ?x2 4x2
    deletes its commit
        end           100 +10
        commit        90 - 40
        rewound_from  ?x3
        status        ?x3
    comes back from beyond the end
        end           50x2 60
        commit        30 90 40
        rewound_from  ?x3
    is beyond the end in one run
        end     100 +10
        commit  100 500 120
        status  OK ? OK
    is beyond the end in two runs
        end                 100 +10
        commit              100 500x3
        status              OK ? ERRx2
        status_reason       ?x2 beyond_endx2
        group.worst_status  ?x2 beyond_endx2
    moves on beyond the end
        end     100 +10
        commit  100 500 600 600
        status  OK ?x2 ERR
    is at the end of a log that was cut
        end     1000x2 500
        commit  500
        status  ?x2 OK
    is beyond the end of a log that was cut
        end            1000x2 500x2
        commit         1000
        status         OKx2 ERRx2
        status_reason  ?x2 beyond_endx2
    """
)


@pytest.mark.parametrize("name", BACK)
def test_a_commit_that_goes_back_or_beyond_the_end(name: str) -> None:
    RUNS.check(name)


RECREATED = split_strips(
    """
    beyond the end of the new topic
        topic_id       ax3 bx5
        end            1000x3 400x2 400 500 600
        commit         1000x5 0 100 200
        status         OKx3 ERRx2 OKx3
        status_reason  ?x3 beyond_endx2 ?x3
    within the new topic
        topic_id      ax3 bx5
        end           1000x3 5000x2 5000 5100 5200
        commit        1000x5 0 100 200
        status        OKx3 ?x2 OKx3
        rewound_from  ?x8
    not read in the first run with the new topic
        topic_id  ax2 bx5
        end       1000x2 timeout 5000x4
        commit    1000x4 0x3
        status    OKx2 ?x2 OK ?x2
    not read in the second run with the new topic
        topic_id  ax2 bx5
        end       1000x2 5000 timeout 5000x3
        commit    1000x4 0x3
        status    OKx2 ?x2 OK ?x2
    has committed to the new topic
        topic_id  ax1 bx3
        end       1000 5000x3
        commit    1000x2 1500 0
        status    OK ? OK REWIND
    keeps a commit of the old topic
        topic_id  a bx13
        end       1000 5000 +1
        commit    1000x14
        status    OK ?x11 STALLx2
    """
)


@pytest.mark.parametrize("name", RECREATED)
def test_a_commit_of_a_topic_that_was_recreated(name: str) -> None:
    RUNS.check(name)


# A log of 20 minutes, 100 records a minute, of which the older ones are deleted.
LOSING = split_strips(
    """
    without members
        end                    10000 +100x33
        start                  9000x21 10100 +100
        commit                 10000
        owner                  -
        group.status           OKx11 ERRx23
        group.status_reason    ?x21 records_lostx13
        group.worst_status     ?x11 stoppedx23
        group.loss_since       ?x21 21x13
        group.held_loss_since  ?x23 21x11
        group.status_since     0x11 11x23
    stuck
        end                  10000 +100x33
        start                9000x21 10100 +100
        commit               10000
        group.status         OKx11 ERRx23
        group.status_reason  ?x21 records_lostx13
        group.worst_status   ?x11 stalledx23
    reads half of it
        end                  10000 +100x60
        start                9000x21 10100 +100
        commit               10000 +50
        group.status         OKx21 WARNx20 ERRx20
        group.status_reason  ?x21 falling_behindx20 records_lostx20
        group.worst_status   ?x21 falling_behindx40
    all of it is deleted, with a member
        end                 10000x5
        start               0x3 10000x15
        commit              9000
        group.status        ?x3 ERRx15
        group.worst_status  ?x18
    all of it is deleted, without members
        end                 10000x5
        start               0x3 10000x15
        commit              9000
        owner               -
        group.status        ?x3 ERRx15
        group.worst_status  ?x11 stoppedx7
    catches up
        end                 10000 +100x28
        start               9000x21 10100 +100
        commit              10000x25 10250 +250
        group.status        OKx11 ERRx16 WARNx2
        group.worst_status  ?x11 stalledx14 ? falling_behindx3
    is below the start in every second run
        end                    10000 +100x11
        start                  8000 +100
        commit                 8050 (+0 +200)x5 +0
        records_lost           0 50 0 50 0 50 0 50 0 50 0 50
        group.loss_since       ? 1x11
        group.held_loss_since  ?x3 1x9
    first seen
        end                  10000 +100x13
        start                8000 +100
        commit               5000
        owner                -
        group.status         ERRx14
        group.status_reason  records_lostx14
        group.worst_status   no_memberx11 stoppedx3
    """
)


@pytest.mark.parametrize("name", LOSING)
def test_a_loss_hides_nothing_of_what_the_consumer_does(name: str) -> None:
    RUNS.check(name)


# Records of a group that stopped hours ago: the time index dates them in the first run.
OLD = Log([NOON - 5 * HOUR + i * MINUTE for i in range(240)])
FIRST = split_strips(
    """
    old, without members
        end                   240x13
        commit                100
        owner                 -
        state                 Empty
        status                ? WARNx10 STOPx2
        status_reason         no_memberx11 ?x2
        group.status          ? WARNx10 ERRx2
        group.status_reason   no_memberx11 ?x2
        group.held_status     ?x3 WARNx10
        group.last_status     ? WARNx10 ERRx2
        group.incident_since  ?x3 0x10
    old, in a rebalance of nobody
        end            240
        commit         100
        owner          -
        state          PreparingRebalance
        status_reason  no_member
    old, in a rebalance
        end            240
        commit         100
        owner          -
        members        3
        state          PreparingRebalance
        status_reason  ?
    old, with a member
        end            240
        commit         100
        status         ?
        status_reason  ?
    young
        end            240
        commit         239
        owner          -
        status         ?
        status_reason  ?
    of unknown age
        end     240 +1
        commit  100x4 101x13
        status  ?x4 OK ?x10 STALLx2
    """
)


@pytest.mark.parametrize("name", FIRST)
def test_what_the_first_readings_say(name: str) -> None:
    RUNS.check(name)


LEFT = Strips(
    split_strips(
        """
        nobody has touched it for a day
            end            100x5
            commit         100
            owner          m -
            status         OKx5
            status_reason  ?x2 inactivex3
        lags
            end            100 110x4
            commit         100
            owner          m -
            status         OKx2 STOPx3
            status_reason  ?x2 inactivex3
        another partition is read
            end              100x5
            commit           100
            owner            m -
            end.1            100 +10
            commit.1         100 +10
            owner.1          -
            status_reason    ?x5
            status_reason.1  ?x5
        another partition is owned
            end            100x5
            commit         100
            owner          m -
            end.1          100
            commit.1       100
            owner.1        m
            status_reason  ?x5
        beside one that is left and uncommitted
            end              100x5
            commit           100
            owner            m -
            end.1            0
            commit.1         -
            owner.1          -
            status_reason.1  ?x2 inactivex3
        committed nothing
            end            0x5
            commit         -
            owner          m -
            status_reason  ?x5
        loses records
            end            100x5
            commit         50
            start          0x3 60
            owner          m -
            status         ?x2 STOP ERRx2
            status_reason  ?x2 inactivex3
        """
    ),
    minutes=(0, 1, 24 * 60, 24 * 60 + 1, 24 * 60 + 2),
)


@pytest.mark.parametrize("name", LEFT.names)
def test_a_topic_is_inactive_once_the_group_has_not_touched_it_for_a_day(name: str) -> None:
    LEFT.check(name)


UNREAD = split_strips(
    """
    the log
        end                 100 +10x12 timeoutx3
        commit              100
        status              OKx11 STALLx2 ?x3
        last_status         OKx11 STALLx5
        group.status        OKx11 ERRx2 ?x3
        group.worst_status  ?x11 stalledx5
        lag                 0 10 20 30 40 50 60 70 80 90 100 110 120 ?x3
        last_lag            ?x13 120x3
    the group
        end                 100 +10x15
        commit              100
        unread              -x13 timeoutx3
        status              OKx11 STALLx2 ?x3
        last_status         OKx11 STALLx5
        group.status        OKx11 ERRx2 ?x3
        group.last_status   OKx11 ERRx5
        group.worst_status  ?x11 stalledx5
    one of two partitions
        end                 100 +10x12 timeoutx3
        commit              100
        owner               -
        end.1               100 +10
        commit.1            100 +10
        owner.1             -
        group.status        OKx11 ERRx5
        group.worst_status  ?x11 stoppedx5
    """
)


UNAVAILABLE = split_strips(
    """
    no leader for one run
        end                 100x3 no_leader 100x3
        commit              100
        group.status        OKx3 ? OKx3
    no leader for longer, with all read
        end                 100x3 no_leaderx4 100x2
        commit              100
        status              OKx3 ? WARNx3 OKx2
        status_reason       ?x4 unavailablex3 ?x2
        last_status         OKx9
        group.status        OKx3 ? WARNx3 OKx2
        group.worst_status  ?x4 unavailablex3 ?x2
        group.worst_status_since ?x4 2x3 ?x2
    one of two partitions has no leader
        end                 100x3 no_leaderx13
        commit              100
        end.1               100 +10
        commit.1            100 +10
        group.status        OKx4 WARNx12
        group.status_reason ?x4 unavailablex12
    a worse status stays
        end                 100 +10x11 no_leaderx3
        commit              100
        status              OKx11 STALL ?x3
        group.status        OKx11 ERR ?x3
        group.worst_status  ?x11 stalledx4
    """
)


@pytest.mark.parametrize("name", UNAVAILABLE)
def test_a_partition_without_a_leader_for_a_second_run_is_a_warning(name: str) -> None:
    RUNS.check(name)


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_not_read_keeps_its_last_status(name: str) -> None:
    RUNS.check(name)


RUNS = Strips(
    {**STATUSES, **BACK, **RECREATED, **LOSING, **FIRST, **UNREAD, **UNAVAILABLE},
    rules=RULES,
    logs={
        **dict.fromkeys(("old, without members", "old, in a rebalance of nobody"), OLD),
        **dict.fromkeys(("old, in a rebalance", "old, with a member"), OLD),
        "young": Log([NOON - HOUR] * 239 + [NOON - MINUTE]),
        "of unknown age": Log([0] * 260),
    },
)
