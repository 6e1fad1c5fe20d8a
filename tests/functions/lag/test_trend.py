# SPDX-License-Identifier: Apache-2.0
"""The trend of a group's lag over its last five readings."""

from __future__ import annotations

import numpy as np
import pytest

from dev.sim.run import run_minutes
from dev.sim.world import GroupState, TopicState, World
from kafka_lag import contract
from tests.functions.lag.strips import Strips, split_strips

TRENDS = split_strips(
    """
    falls behind
        end          0 +100x11
        commit       0 +50x11
        group.trend  ?x4 growingx8
    keeps up, with a lag that comes and goes
        end          0 +100x11
        commit       0 90 195 290 392 490 595 690 792 890 995 1090
        group.trend  ?x4 steadyx8
    catches up
        end          0x2 1000x10
        commit       0x3 +100x9
        group.trend  ?x4 steadyx2 shrinkingx6
    has nothing to read
        end          5x8
        commit       5
        group.trend  ?x4 steadyx4
    is behind by the same
        end          0x2 1000 +10x9
        commit       0x2 10 +10x9
        group.trend  ?x4 steadyx8
    a run that does not know
        end          0 +100x11
        commit       0 +50x11
        unread       -x7 timeout -x4
        group.trend  ?x4 growingx3 ? growingx4
    """
)
RUNS = Strips(TRENDS)


@pytest.mark.parametrize("name", TRENDS)
def test_a_lag_grows_shrinks_or_stays(name: str) -> None:
    RUNS.check(name)


def test_the_readings_start_again_as_a_hidden_topic_comes_back() -> None:
    """Nothing is read from minute 6 on, and one of two topics is hidden until minute 30."""
    topics = [TopicState(name, np.full(1, 10.0), noise=0.0) for name in ("t", "u")]
    group = GroupState("g", topics[0], {"m": 90.0}, more_topics=(topics[1],))
    cluster = World(topics, [group], np.random.default_rng(7))

    def change(world: World, minute: int) -> None:
        world.hidden = {"u": contract.DENIED} if 8 <= minute < 30 else {}
        group.speed["m"] = 90.0 if minute < 6 else 0.0

    runs = list(run_minutes(cluster, 36, change))
    trends = [each.groups.strings("trend").to_list()[0] for each in runs]
    assert trends[30:] == [None] * 4 + [contract.GROWING] * 2
