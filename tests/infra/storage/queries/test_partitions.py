# SPDX-License-Identifier: Apache-2.0
"""What the saved queries answer about partitions, topics and the reporter itself."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.infra.storage.queries.athena import Athena
from tests.infra.storage.queries.story import (
    HALF_SEEN,
    MIDNIGHT,
    NOW,
    OTHER,
    SATURDAY,
    SHOP,
    SUNDAY,
    TIMED_OUT,
    at,
    tell_one_run,
)


def test_the_partition_that_lost_records_comes_before_the_one_that_will(athena: Athena) -> None:
    rows = athena.ask("losing_records_soon")

    told = [(row["consumer_group"], row["retention_risk"]) for row in rows]
    assert told == [("loser", "LOST"), ("sleeper", "AT_RISK")]
    # Kept for 30 hours, unread for 23 hours and 45 minutes.
    assert rows[1]["hours_until_loss"] == pytest.approx(6.25, abs=0.01)
    assert {row["taken_at"] for row in rows} == {at(SUNDAY[-1])}


def test_just_after_midnight_the_runs_before_it_are_found(tmp_path: Path) -> None:
    tell_one_run(tmp_path, MIDNIGHT - 1)
    just_after = Athena(tmp_path, datetime(2026, 2, 1, 0, 1, tzinfo=UTC))

    (row,) = just_after.ask("lag_by_member")

    assert (row["cluster"], row["lag"]) == (OTHER, 5)


def test_a_cluster_whose_last_run_is_hours_old_has_no_newest_one(tmp_path: Path) -> None:
    tell_one_run(tmp_path, MIDNIGHT - 61)
    after = Athena(tmp_path, datetime(2026, 2, 1, 0, 1, tzinfo=UTC))

    assert after.ask("lag_by_member") == []


def test_the_broker_that_holds_a_group_up_has_more_of_the_lag_than_of_the_partitions(
    athena: Athena,
) -> None:
    rows = athena.ask("lag_by_broker", consumer_group="slow")

    first = rows[0]
    assert (first["leader"], first["share_of_lag"]) == (1, 0.9)
    assert first["share_of_partitions"] == pytest.approx(1 / 3, abs=1e-4)
    assert first["ratio"] == 2.7
    assert sum(row["share_of_lag"] for row in rows) == pytest.approx(1)


def test_the_member_that_lags_is_told_with_its_host(athena: Athena) -> None:
    rows = athena.ask("lag_by_member", consumer_group="slow")

    told = [(row["client_host"], row["partitions"], row["lag"]) for row in rows]
    assert told == [("/m-2", 1, 900), ("/m-1", 2, 100)]
    assert [row["share_of_group"] for row in rows] == [0.9, 0.1]


def test_each_clusters_own_newest_run_is_taken(athena: Athena) -> None:
    rows = athena.ask("lag_by_member", consumer_group="billing")

    assert {row["cluster"]: row["lag"] for row in rows} == {SHOP: 0, OTHER: 5}


def test_a_topics_lag_is_told_hour_by_hour(athena: Athena) -> None:
    (row,) = athena.ask("lag_by_topic_and_hour", consumer_group="slow")

    assert (row["topic"], row["hour"]) == ("clicks", "10")
    assert (row["mean_records"], row["most_records"]) == (1000.0, 1000)


def test_a_run_that_read_a_part_of_a_topic_knows_no_sum(athena: Athena) -> None:
    (row,) = athena.ask("lag_by_topic_and_hour", consumer_group="audit")

    assert row["runs_unknown"] == len(TIMED_OUT) + 1


def test_a_topic_whose_producers_stopped_is_told_with_its_last_record(athena: Athena) -> None:
    (row,) = athena.ask("topics_gone_quiet")

    assert (row["topic"], row["records"]) == ("stopped", 600)
    assert row["last_append_at"] == at(10)
    assert row["quiet_minutes"] == SUNDAY[-1] - 10


def test_what_was_not_read_is_told_with_reason_and_times(athena: Athena) -> None:
    (row,) = athena.ask("unread_partitions")

    assert (row["consumer_group"], row["unread_reason"]) == ("audit", "timeout")
    assert (row["partitions"], row["runs"]) == (2, len(TIMED_OUT) + 1)
    assert (row["first_at"], row["last_at"]) == (at(TIMED_OUT[0]), at(HALF_SEEN))


def test_what_was_seen_of_a_group_is_told_by_day(athena: Athena) -> None:
    rows = athena.ask("coverage_by_day", consumer_group="audit")

    saturday = next(row for row in rows if row["dt"] == "2026-01-31")
    whole = len(SATURDAY) - len(TIMED_OUT) - 1
    told = [saturday[f"runs_{word}"] for word in ("whole", "in_part", "unread")]
    assert told == [whole, 1, len(TIMED_OUT)]
    seen = (whole + 0.5) / len(SATURDAY)
    assert saturday["mean_share"] == pytest.approx(seen, abs=1e-4)


def test_gaps_between_runs_are_told_and_the_one_that_lasts(athena: Athena) -> None:
    rows = athena.ask("missing_runs", cluster=SHOP)

    told = [(row["last_before"], row["first_after"], row["runs_missing"]) for row in rows]
    assert told == [
        (at(SUNDAY[-1]), None, 4),
        (at(59), at(SUNDAY[0]), SUNDAY[0] - 60),
        (at(39), at(45), 5),
    ]
    assert rows[0]["minutes"] == 5.0


def test_runs_without_a_gap_are_not_told(folder: Path) -> None:
    still_running = Athena(folder, NOW.replace(minute=6))

    rows = still_running.ask("missing_runs", cluster=SHOP)

    assert [row["first_after"] for row in rows] == [at(SUNDAY[0]), at(45)]
