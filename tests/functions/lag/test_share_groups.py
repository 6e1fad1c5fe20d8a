# SPDX-License-Identifier: Apache-2.0
"""Share groups: their lag is the broker's, and their start offset is not a consumer's commit."""

from __future__ import annotations

import pytest

from kafka_lag.lag.group_settings import Rules
from tests.builders import MINUTE, NOON
from tests.functions.lag.strips import Strips, split_strips
from tests.functions.lag.time_index_fake import Log

# Ten records an hour old, and ten a minute old.
LOG = Log([NOON - 60 * MINUTE] * 10 + [NOON - MINUTE] * 10)
STRIPS = split_strips(
    """
    finished records that retention deletes are not lost
        end           10
        start         0 10x3
        commit        0
        shared        0
        records_lost  0x4
        lag           0x4
    unfinished ones are
        end             20
        start           0 15x3
        commit          0
        shared          10
        records_lost    0 5x3
        lag             10 5x3
        retention_risk  ? LOSTx3
    a start offset just below the end is no rest
        end            2x6 3x6 4x6 5x30 6
        commit         1x6 2x6 3x6 4
        shared         0x48 1
        status_reason  ?x49
        lag            ... 0 1
    the start offset trails
        end               20
        commit            0
        shared            10
        lag               10x3
        time_lag_seconds  60 120 180
        time_lag_error_seconds  ?x3
    others are finished while the start offset stands
        end               20
        commit            0
        shared            10 8 7
        lag               10 8 7
        time_lag_seconds  60 3660 3720
    what the broker does not say is unknown
        end               20
        commit            10
        shared            ?
        lag               ?x3
        time_lag_seconds  ?x3
        uncounted         unknownx3
    a parallel consumer finishes others while the commit stands
        end               20
        commit            0
        unfinished        10 8 ?
        unread            ?x2 timeoutx2
        lag               10 8 ?x2
        last_lag          ?x2 8x2
        time_lag_seconds  3600 3660
    """
)
RUNS = Strips(STRIPS, Rules(), dict.fromkeys(STRIPS, LOG))
STATUSES = split_strips(
    """
    finishes nothing, and has members
        end      100 +20x13
        commit   100
        shared   0 +20
        owner    shared
        members  12
        status   OKx11 STALLx3
    finishes nothing, and its members have left
        end      100 +20x13
        commit   100
        shared   0 +20
        owner    shared -
        members  12 0
        status   OKx11 STOPx3
    finishes others while the record at its start offset is held
        end     100 +20x13
        commit  100
        shared  1
        owner   shared
        members  12
        status  ? OKx10 STALLx3
    finishes all while its start offset trails
        end      100 +20x14
        commit   50 +20
        shared   0
        owner    shared
        members  12
        status   OKx15
    finishes half of what is written
        end            100 +200x40
        commit         100 +100
        shared         0 +100
        owner          shared
        members        12
        status         OKx21 WARNx20
        status_reason  ?x21 falling_behindx20
    """
)


@pytest.mark.parametrize("name", STRIPS)
def test_a_share_group_is_read_by_what_is_finished(name: str) -> None:
    RUNS.check(name)


@pytest.mark.parametrize("name", STATUSES)
def test_its_status_goes_by_the_start_offset_and_the_lag(name: str) -> None:
    Strips(STATUSES).check(name)
