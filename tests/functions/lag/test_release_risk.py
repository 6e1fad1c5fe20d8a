# SPDX-License-Identifier: Apache-2.0
"""Release risk: what is worse since the members changed, unless it was bad before they did."""

from __future__ import annotations

import pytest

from tests.functions.lag.strips import Strips, split_strips

# Twenty runs with a record a second, after which members change.
RELEASES = Strips(
    split_strips(
        """
        stands
            end                  0 +60
            commit               0 (+60)x19 +0
            hash                 1x20 2
            group.release_since  ?x20 20x6
            group.release_risk   ?x10 0x11 1x5
        reads a third of what is written
            end                  0 +60
            commit               0 (+60)x19 +20
            hash                 1x20 2
            group.release_risk   ?x10 0x11 1x5
        falls back and reads again
            end                  0 +60
            commit               0 (+60)x19 600 +60
            hash                 1x20 2
            group.release_risk   ?x10 0x10 1 1x5
        falls back and reads three times as much
            end                  0 +60
            commit               0 (+60)x19 0 +180
            hash                 1x20 2
            group.release_risk   ?x10 0x10 1x5 0
        falls back and reads three times as much before its members are replaced
            end                  0 +60
            commit               0 (+60)x15 0 +180
            hash                 1x18 2
            group.release_risk   ?x10 0x14
        reads again what was written in two minutes
            end                  0 +60
            commit               0 (+60)x19 1020 +90
            hash                 1x20 2
            group.release_risk   ?x10 0x10 1 0x5
        one partition of two stands
            end.0                0 +60
            commit.0             0 +60
            end.1                0 +60
            commit.1             0 (+60)x19 +0
            hash                 1x20 2
            group.release_risk   ?x10 0x11 1x5
        skips, seen once nobody is a member
            end                  0 +60
            commit               0 (+60)x19 +0 +0 1320 +60
            commit_epoch         1x22 - 1
            cleanup_policy       delete
            owner                mx20 -x3 m
            members              1x20 0x3 1
            hash                 1x20 2x3 3
            group.release_risk   ?x10 0x11 1 1x5 0
        rolls out in two runs
            end                  0 +60
            commit               0 (+60)x19 +0 +0 +120 +120 +60
            hash                 1x20 2
            group.release_risk   ?x10 0x11 1 0x5
        reads as much of twice as much
            end                  0 (+60)x19 +120
            commit               0 +60
            hash                 1x20 2
            group.release_risk   ?x10 0x16
        members stay
            end                  0 +60
            commit               0 (+60)x19 +0
            hash                 1
            group.release_since  ?x26
            group.release_risk   ?x10 0x16
        stood before they changed
            end                  0 +60
            commit               0 (+60)x17 +0
            hash                 1x20 2
            group.release_since  ?x26
            group.release_risk   ?x10 0x16
        members come and go all the time
            end                  0 +60
            commit               0 (+60)x19 +0
            hash                 1 +1
            group.release_since  ?x26
            group.release_risk   ?x10 0x16
        commits by the clock
            end                  0 (+60)x26
            commit               0x5 240x5 540x5 840x5 1140x5 1200
            hash                 1x20 2
            group.release_risk   ?x10 0x16
        members are replaced one by one
            end.0                0 +60
            commit.0             0 (+60)x19 +0
            owner.0              ax20 d
            end.1                0 +60
            commit.1             0 (+60)x19 +0
            owner.1              bx21 -x2 e
            end.2                0 +60
            commit.2             0 (+60)x19 +0
            owner.2              cx21 -x2 cx2 f
            state                Stablex21 PreparingRebalancex2 Stable
            members              3
            hash                 1x20 2 ?x2 3x2 4
            group.release_risk   ?x10 0x15 3
        one is replaced, and the rest of the rollout hangs
            end.0                0 +60
            commit.0             0 (+60)x19 +0
            owner.0              ax20 d
            end.1                0 +60
            commit.1             0 (+60)x19 +0
            owner.1              b
            hash                 1x20 2
            group.release_risk   ?x10 0x13 2
        new members come and go beside old ones
            end.0                0 +60
            commit.0             0 (+60)x19 +0
            owner.0              ax20 d e f g h i
            end.1                0 +60
            commit.1             0 (+60)x19 +0
            owner.1              a
            hash                 1x20 2 3 4 5 6 7
            group.release_risk   ?x10 0x11 2
        moves to the consumer protocol within a minute
            end                  0 +60
            commit               0 (+60)x19 +0
            hash                 1x20 ?
            epoch                classicx20 5
            group.release_since  ?x20 20x6
            group.release_risk   ?x10 0x11 1x5
        nothing is known of members
            end                  0 +60
            commit               0 (+60)x19 +0
            group.release_risk   ?x26
        """
    )
)


@pytest.mark.parametrize("name", RELEASES.names)
def test_what_members_made_worse_is_counted(name: str) -> None:
    RELEASES.check(name)


def test_a_release_is_over_after_an_hour() -> None:
    text = "runs 90\nend 0 +60\ncommit 0 (+60)x19 +0 +0 +120 (+60)x60 +0\nhash 1x20 2"
    strips = Strips({"late": text})

    risks = strips.said("late", "group.release_risk")
    assert risks[21] == 1
    assert not any(risks[24:])


def test_a_release_between_rare_batches_is_compared_with_the_hour_before_it() -> None:
    # The job's first three pauses are reported as stops.
    commits = "0x5 240x75 4740x75 9240x75 13740x75 18240x75"
    strips = Strips({"rare": f"runs 380\nend 0 (+60)x379\ncommit {commits}\nhash 1x330 2"})

    assert not any(strips.said("rare", "group.release_risk"))
    assert strips.said("rare", "group.release_since")[379] == 330


def test_a_batch_after_a_long_silence_is_not_compared_with_its_own_rate() -> None:
    ends = "0 (+1)x30 (+0)x119 (+90000)x2 +0"
    commits = "0 (+1)x30 (+0)x119 (+9000)x20"
    strips = Strips({"rare": f"runs 165\nend {ends}\ncommit {commits}\nhash 1x148 2"})

    assert strips.said("rare", "group.release_since")[160] == 148
    assert not any(strips.said("rare", "group.release_risk"))
