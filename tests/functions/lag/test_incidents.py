# SPDX-License-Identifier: Apache-2.0
"""An incident begins in the last run that kept up, and ends when the backlog is worked off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_lag import contract
from kafka_lag.contract.ids import incident_id
from kafka_lag.lag.columns import Column
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.lag.incidents import track_incidents
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.run import Run
from tests.builders import MINUTE, NOON, table
from tests.functions.lag.strips import Strips, split_strips
from tests.functions.notify.builders import a_set

# No record was lost since the previous run.
NOTHING = Column.constant(0, 1)
RULES = Rules(hold=3, window_ms=6 * MINUTE, sla_seconds=ByName.of([("promised", 90.0)]))
# A minute's records are 100.
STRIPS = split_strips(
    """
    a stop, and a backlog after it
        end                         100 +100x32
        commit                      100 +100x5 +0x13 +300x7 +100x7
        group.held_status           ?x2 OKx12 ERRx7 OKx12
        group.incident_status       ?x14 ERRx7 OKx9 ?x3
        group.incident_since        ?x14 5x16 ?x3
        group.worst_status_since    ?x12 5x7 ?x14
        group.incident_until        ?x24 24x6 ?x3
        group.incident_peak_lag     ?x14 900 1000 1100 1200 1300x12 ?x3
        group.incident_peak_lag_at  ?x14 14 15 16 17 18x12 ?x3
        group.incident_worst_status ?x14 stalledx16 ?x3
        group.incident_cause        ?x14 hungx16 ?x3
    a backlog that stays though the group is OK
        end                         100 +100x55
        commit                      100 +100x5 +0x13 +600 +600 +100x35
        group.incident_status       ?x14 ERRx7 OKx34 ?
        group.incident_until        ?x49 49x6 ?
    set ahead while nobody reads
        end                         100 +100x32
        commit                      100 +100x5 +0x13 2000 +0x9 3000 +100x3
        cleanup_policy              delete
        commit_epoch                7x19 -
        owner                       mx6 -x23 m
        group.held_status           ?x2 OKx12 ERRx7 OKx7 ERRx3 OKx2
        group.incident_status       ?x14 ERRx17 OKx2
        group.incident_skipped      ?x19 1400x14
        group.incident_since        ?x14 5x19
    a stop after hours without records
        end                         100 +100 +0x20 +100x20
        commit                      100 +100 +0x40
        group.incident_since        ?x30 23x12
        group.worst_status_since    ?x28 23x14
    promised, and broken once more
        end                         100 +100x24
        commit                      100 +100x5 +0x4 +500 +100x3 +0x4 +500 +100x6
        group.incident_status       ?x9 OKx16
        group.incident_since        ?x9 7x16
        group.incident_until        ?x12 12x5 ?x3 20x5
        group.incident_sla_broken_since ?x9 7x16
    not read while it recovers
        end                         100 +100x26
        commit                      100 +100x5 +0x13 2000 +100x7
        unread                      -x20 timeoutx3 -
        group.incident_status       ?x14 ERRx9 OKx4
    records lost in each run
        end                         1000 +100x14
        commit                      100 +100x14
        start                       0x9 1100 +100x5
        group.records_lost          0x9 100x6
        group.incident_lost         ?x11 100 200 300 400
    records lost twice
        end                         100 +100x17
        start                       0x7 500x3 600 600 800
        commit                      100x10 700 700 700
        group.incident_lost         ?x9 400x3 500x6
    """
)
SAID = Strips(STRIPS, RULES)


@pytest.mark.parametrize("name", STRIPS)
def test_an_incident_lasts_from_the_last_run_that_kept_up_until_the_backlog_is_gone(
    name: str,
) -> None:
    SAID.check(name)


def test_a_time_without_runs_does_not_move_the_beginning() -> None:
    strip = """
        end     100 +100x5 18600 +100x11
        commit  100 +100x5 +0x12
    """
    minutes = [*range(6), *range(185, 197)]
    said = Strips({"g": strip}, RULES, minutes=minutes).said("g", "group.incident_since")
    assert said[-1] == 5


@pytest.mark.parametrize(("began", "shown"), [(6, 6), (8, 7)])
def test_a_beginning_found_later_is_shown_and_leaves_the_id(began: int, shown: int) -> None:
    """Its `worst_status_since` is of a status that the group has only later."""
    incident = {"incident_id": "a", "incident_since": NOON + 7 * MINUTE, "incident_status": "ERR"}
    row = {"consumer_group": "g", "status": "ERR", "held_status": "ERR", "held_since": NOON}
    later = {**row, "worst_status": "stalled", "worst_status_since": NOON + began * MINUTE}
    groups = track_incidents(
        a_set(later), a_run(a_set({**row, **incident})), NOTHING, Run(NOON, RULES)
    )
    said = table(groups, "incident_id", "incident_since", "incident_from")
    assert said == [("a", NOON + 7 * MINUTE, NOON + shown * MINUTE)]


@pytest.mark.parametrize(("complete", "since"), [(1.0, 0), (0.5, 60)])
def test_a_group_that_is_read_in_part_is_not_seen_to_keep_up(complete: float, since: int) -> None:
    row = {"consumer_group": "g", "status": "ERR", "held_status": "ERR", "complete": complete}
    stalled = {"worst_status": "stalled", "worst_status_since": NOON + 60 * MINUTE}
    now = NOON + 73 * MINUTE
    groups = a_set({**row, **stalled, "held_since": now, "kept_up_at": NOON})
    found = track_incidents(groups, Snapshot.empty(), NOTHING, Run(now, RULES))
    assert table(found, "incident_since") == [(NOON + since * MINUTE,)]


def test_an_id_is_of_the_cluster_the_group_and_the_beginning() -> None:
    shop = Strips({"g": STRIPS["records lost twice"]}, replace(RULES, cluster="shop"))
    assert shop.said("g", "group.incident_id")[-1] == incident_id("shop", "g", NOON)
    ids = {incident_id(*each) for each in (("a", "b", 1), ("a", "c", 1), ("b", "b", 1))}
    assert len(ids) == 3


def test_a_group_that_is_no_longer_watched_ends_its_incident_without_an_ok() -> None:
    row = {"consumer_group": "g", "held_status": "ERR", "held_since": NOON}
    incident = {"incident_id": "a", "incident_since": NOON, "incident_status": "ERR"}
    hidden = a_set({**row, "status_reason": contract.TOPIC_UNWATCHED})
    groups = track_incidents(hidden, a_run(a_set({**row, **incident})), NOTHING, Run(NOON, RULES))
    assert table(groups, "incident_until", "incident_status") == [(NOON, "ERR")]


def a_run(groups: Frame) -> Snapshot:
    return replace(Snapshot.empty(), groups=groups)
