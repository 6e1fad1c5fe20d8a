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
