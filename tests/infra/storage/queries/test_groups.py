# SPDX-License-Identifier: Apache-2.0
"""What the saved queries answer about groups, on two mornings of which all is known."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_lag.snapshots.store import FolderStore, write_snapshot
from tests.builders import MINUTE, NOON
from tests.cli.snapshots import a_group, a_snapshot_of
from tests.infra.storage.queries.athena import Athena, Row
from tests.infra.storage.queries.story import (
    LOST_AT,
    MIDNIGHT,
    NOW,
    OTHER,
    SATURDAY,
    SHOP,
    STOPPED,
    SUNDAY,
    TIMED_OUT,
    at,
    tell_a_long_loss,
    tell_one_run,
)

JUST_AFTER_MIDNIGHT = datetime(2026, 2, 1, 0, 1, tzinfo=UTC)
LEFT_OK = STOPPED + 11  # unmoved, and its next record unread, for longer than ten minutes


def _of(rows: list[Row], group: str, cluster: str = SHOP, **more: object) -> Row:
    wanted = {"cluster": cluster, "consumer_group": group, **more}
    (found,) = (row for row in rows if wanted.items() <= row.items())
    return found


def test_a_group_fell_behind_when_its_oldest_unread_record_was_written(athena: Athena) -> None:
    (incident,) = athena.ask("incidents_of_a_group", group="billing")

    assert incident["incident_since"] == at(LEFT_OK)
    late = (incident["oldest_unread_then"] - at(STOPPED)).total_seconds()
    assert 0 <= late <= 2
    assert incident["last_not_ok"] == at(59)
    assert (incident["worst_topic"], incident["worst_partition"]) == ("orders", 0)


def test_the_runs_around_the_last_incident_are_listed_one_by_one(athena: Athena) -> None:
    rows = athena.ask("minutes_around_an_incident", group="billing")

    assert [row["taken_at"] for row in rows] == [at(m) for m in SATURDAY if m >= LEFT_OK - 30]
    by_time = {row["taken_at"]: row for row in rows}
    assert by_time[at(STOPPED)]["lag"] == 0
    assert by_time[at(STOPPED + 1)]["lag"] == 120
    assert [by_time[at(m)]["status"] for m in (LEFT_OK - 1, LEFT_OK)] == ["OK", "ERR"]


@pytest.mark.parametrize(("last", "shown"), [(100, 100), (20, 60), (1_000, 720)])
def test_an_incident_is_listed_to_its_end_an_hour_at_least_and_twelve_at_most(
    tmp_path: Path, last: int, shown: int
) -> None:
    for minute in range(0, 1_010, 10):
        ill = {"incident_since": NOON if minute <= last else None}
        when = NOON + minute * MINUTE
        run = a_snapshot_of(a_group("billing", taken_at=when, **ill), at=when)
        write_snapshot(FolderStore(tmp_path), SHOP, run)

    rows = Athena(tmp_path, NOW).ask("minutes_around_an_incident", group="billing")

    assert [row["taken_at"] for row in rows] == [at(120 + m) for m in range(0, shown + 1, 10)]


def test_runs_are_counted_by_status_and_day(athena: Athena) -> None:
    rows = athena.ask("status_by_day")

    billing = _of(rows, "billing", dt="2026-01-31")
    ill = len([m for m in SATURDAY if m >= LEFT_OK])
    assert (billing["runs_ok"], billing["runs_err"]) == (len(SATURDAY) - ill, ill)
    audit = _of(rows, "audit", dt="2026-01-31")
    assert audit["runs_unknown"] == len(TIMED_OUT)
    assert audit["runs_ok"] == len(SATURDAY) - len(TIMED_OUT)


def test_a_group_of_today_is_new_and_a_deleted_one_gone(athena: Athena) -> None:
    rows = athena.ask("groups_new_and_gone")

    listed = [(row["consumer_group"], row["change"], row["last_seen"]) for row in rows]
    assert listed == [
        ("goner", "gone", at(SUNDAY[-1])),
        ("leaver", "gone", at(SUNDAY[0])),
        ("newcomer", "new", at(SUNDAY[-1])),
    ]
    assert {row["cluster"] for row in rows} == {SHOP}


def test_no_group_of_a_cluster_that_is_watched_since_today_is_new(tmp_path: Path) -> None:
    tell_one_run(tmp_path, SUNDAY[0])

    assert Athena(tmp_path, NOW).ask("groups_new_and_gone") == []


def test_rebalances_and_moved_partitions_are_listed_by_hour(athena: Athena) -> None:
    rows = athena.ask("rebalances_by_hour")

    audit = _of(rows, "audit", hour="10")
    # one by its state, and one by its moves
    assert (audit["runs_rebalancing"], audit["runs_with_moves"]) == (2, 1)
    assert audit["partitions_moved"] == 2
    assert rows[0] == audit
    counts = ("runs_rebalancing", "runs_with_moves", "partitions_moved", "runs_unknown")
    assert all(any(row[name] != 0 for name in counts) for row in rows)


def test_what_is_asked_for_can_be_narrowed_to_one_cluster(athena: Athena) -> None:
    rows = athena.ask("status_by_day", cluster=OTHER)

    assert {row["cluster"] for row in rows} == {OTHER}


def test_records_that_were_lost_are_listed_with_their_first_sight(athena: Athena) -> None:
    (lost,) = athena.ask("records_lost")

    assert (lost["consumer_group"], lost["topic"], lost["partition_id"]) == ("loser", "logs", 0)
    assert (lost["records_lost"], lost["first_lost_offset"]) == (500, 100)
    assert (lost["first_seen_at"], lost["last_seen_at"]) == (at(LOST_AT), at(SUNDAY[-1]))
    assert lost["lost_per_second"] == 0


def test_a_loss_that_lasts_is_one_row_in_which_no_record_is_counted_twice(tmp_path: Path) -> None:
    tell_a_long_loss(tmp_path, MIDNIGHT - 1)

    (lost,) = Athena(tmp_path, JUST_AFTER_MIDNIGHT).ask("records_lost")

    # 100 to 1,799 and 2,000 to 2,299; 500 of them were lost when it was first seen.
    assert (lost["records_lost"], lost["first_lost_offset"]) == (2_000, 100)
    assert lost["lost_per_second"] == round(1_500 / 180, 1)
    assert (lost["first_seen_at"], lost["last_seen_at"]) == (at(MIDNIGHT - 4), at(MIDNIGHT - 1))


def test_a_loss_that_one_run_saw_has_no_rate(tmp_path: Path) -> None:
    tell_a_long_loss(tmp_path, MIDNIGHT - 1, runs=1)

    (lost,) = Athena(tmp_path, JUST_AFTER_MIDNIGHT).ask("records_lost")

    assert (lost["records_lost"], lost["lost_per_second"]) == (500, None)
