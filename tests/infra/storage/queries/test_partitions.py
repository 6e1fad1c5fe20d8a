# SPDX-License-Identifier: Apache-2.0
"""What the saved queries answer about partitions, topics and the reporter itself."""

from __future__ import annotations

import shutil
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
    tell_one_risk,
    tell_one_run,
    tell_one_trouble,
)

OF_NOW = ("group_wrong_now", "lag_by_broker", "lag_by_member", "losing_records_soon")
JUST_AFTER_MIDNIGHT = datetime(2026, 2, 1, 0, 1, tzinfo=UTC)
A_DAY_AGO = MIDNIGHT - 24 * 60 + 30


def test_the_partition_that_lost_records_comes_before_the_one_that_will(athena: Athena) -> None:
    rows = athena.ask("losing_records_soon")

    listed = [(row["consumer_group"], row["retention_risk"]) for row in rows]
    assert listed == [("loser", "LOST"), ("sleeper", "AT_RISK")]
    # Kept for 30 hours, unread for 23 hours and 45 minutes.
    assert rows[1]["hours_until_loss"] == pytest.approx(6.25, abs=0.01)
    assert {row["taken_at"] for row in rows} == {at(SUNDAY[-1])}


@pytest.mark.parametrize("key", OF_NOW)
def test_just_after_midnight_the_runs_before_it_are_found(tmp_path: Path, key: str) -> None:
    tell_one_trouble(tmp_path, MIDNIGHT - 1)

    rows = Athena(tmp_path, JUST_AFTER_MIDNIGHT).ask(key)

    assert {row["cluster"] for row in rows} == {OTHER}


@pytest.mark.parametrize("key", OF_NOW)
@pytest.mark.parametrize("minute", [MIDNIGHT - 61, A_DAY_AGO], ids=["an hour", "a day"])
def test_a_run_before_this_hour_and_the_last_does_not_pass_for_one_of_now(
    tmp_path: Path, key: str, minute: int
) -> None:
    tell_one_trouble(tmp_path, minute)

    assert Athena(tmp_path, JUST_AFTER_MIDNIGHT).ask(key) == []


def test_yesterdays_first_hour_is_no_part_of_a_brokers_lag_of_now(tmp_path: Path) -> None:
    tell_one_trouble(tmp_path, A_DAY_AGO)
    tell_one_run(tmp_path, MIDNIGHT - 1)

    (row,) = Athena(tmp_path, JUST_AFTER_MIDNIGHT).ask("lag_by_broker")

    assert (row["leader"], row["share_of_lag"], row["readings_unknown"]) == (0, 1.0, 0)


def test_what_is_wrong_with_a_group_now_is_listed_worst_first(tmp_path: Path) -> None:
    tell_one_trouble(tmp_path, MIDNIGHT - 1)

    rows = Athena(tmp_path, JUST_AFTER_MIDNIGHT).ask("group_wrong_now", group="troubled")

    columns = ("topic", "partition_id", "status", "last_status", "unread_reason")
    assert [tuple(row[name] for name in columns) for row in rows] == [
        ("logs", 0, "ERR", "ERR", None),
        ("late", 0, None, "ERR", "timeout"),
        ("orders", 1, None, "OK", "timeout"),
    ]
    assert (rows[0]["status_reason"], rows[0]["client_host"]) == ("records_lost", "/m-1")
    assert {row["taken_at"] for row in rows} == {at(MIDNIGHT - 1)}


def test_a_partition_that_is_ok_and_may_lose_records_is_listed_all_the_same(
    tmp_path: Path,
) -> None:
    tell_one_risk(tmp_path, MIDNIGHT - 1)

    (row,) = Athena(tmp_path, JUST_AFTER_MIDNIGHT).ask("group_wrong_now")

    assert (row["topic"], row["status"], row["retention_risk"]) == ("fleeting", "OK", "AT_RISK")
    assert row["seconds_until_loss"] == pytest.approx(4 * 60, abs=2)


def test_of_all_groups_only_those_with_trouble_are_listed_the_worst_first(
    folder: Path, tmp_path: Path
) -> None:
    both = Path(shutil.copytree(folder, tmp_path / "both"))
    tell_one_trouble(both, SUNDAY[-1])

    rows = Athena(both, NOW).ask("group_wrong_now")

    listed = [(row["consumer_group"], row["last_status"], row["consumer_status"]) for row in rows]
    assert listed == [
        ("loser", "ERR", "stopped"),
        ("sleeper", "STOP", "stopped"),
        ("troubled", "ERR", "falling_behind"),
        ("troubled", "ERR", "no_member"),
        ("slow", "WARN", "falling_behind"),
        ("troubled", "OK", None),
    ]


def test_the_broker_that_holds_a_group_up_has_more_of_the_lag_than_of_the_partitions(
    athena: Athena,
) -> None:
    rows = athena.ask("lag_by_broker", group="slow")

    first = rows[0]
    assert (first["leader"], first["share_of_lag"]) == (1, 0.9)
    assert first["share_of_partitions"] == pytest.approx(1 / 3, abs=1e-4)
    assert first["ratio"] == 2.7
    assert sum(row["share_of_lag"] for row in rows) == pytest.approx(1)


def test_the_member_that_lags_is_listed_with_its_host(athena: Athena) -> None:
    rows = athena.ask("lag_by_member", group="slow")

    listed = [(row["client_host"], row["partitions_known"], row["lag"]) for row in rows]
    assert listed == [("/m-2", 1, 900), ("/m-1", 2, 100)]
    assert [row["share_of_group"] for row in rows] == [0.9, 0.1]


def test_a_members_partitions_are_counted_with_and_without_a_known_lag(tmp_path: Path) -> None:
    tell_one_trouble(tmp_path, MIDNIGHT - 1)

    rows = Athena(tmp_path, JUST_AFTER_MIDNIGHT).ask("lag_by_member")

    counts = ("partitions", "partitions_known", "partitions_unknown")
    listed = {row["member_id"]: tuple(row[name] for name in counts) for row in rows}
    # Of what nobody owns, `empty` has no commit: nothing to be known, and nothing unread.
    assert listed == {"m-1": (1, 1, 0), None: (4, 1, 2)}
    assert {row["taken_at"] for row in rows} == {at(MIDNIGHT - 1)}


def test_each_clusters_own_newest_run_is_taken(athena: Athena) -> None:
    rows = athena.ask("lag_by_member", group="billing")

    assert {row["cluster"]: row["lag"] for row in rows} == {SHOP: 0, OTHER: 5}


def test_a_topics_lag_is_listed_hour_by_hour(athena: Athena) -> None:
    (row,) = athena.ask("lag_by_topic_and_hour", group="slow")

    assert (row["topic"], row["hour"]) == ("clicks", "10")
    assert (row["mean_records"], row["most_records"]) == (1000.0, 1000)


def test_a_run_that_read_a_part_of_a_topic_knows_no_sum(athena: Athena) -> None:
    (row,) = athena.ask("lag_by_topic_and_hour", group="audit")

    assert row["runs_unknown"] == len(TIMED_OUT) + 1


def test_a_topic_whose_producers_stopped_is_listed_with_its_last_record(athena: Athena) -> None:
    (row,) = athena.ask("topics_gone_quiet")

    assert (row["topic"], row["records"]) == ("stopped", 600)
    assert row["last_append_at"] == at(10)
    assert row["quiet_minutes"] == SUNDAY[-1] - 10


def test_what_was_not_read_is_listed_with_reason_and_times(athena: Athena) -> None:
    (row,) = athena.ask("unread_partitions")

    assert (row["consumer_group"], row["unread_reason"]) == ("audit", "timeout")
    assert (row["partitions"], row["runs"]) == (2, len(TIMED_OUT) + 1)
    assert (row["first_at"], row["last_at"]) == (at(TIMED_OUT[0]), at(HALF_SEEN))


def test_what_was_seen_of_a_group_is_listed_by_day(athena: Athena) -> None:
    rows = athena.ask("coverage_by_day", group="audit")

    saturday = next(row for row in rows if row["dt"] == "2026-01-31")
    whole = len(SATURDAY) - len(TIMED_OUT) - 1
    listed = [saturday[f"runs_{word}"] for word in ("whole", "in_part", "unread")]
    assert listed == [whole, 1, len(TIMED_OUT)]
    seen = (whole + 0.5) / len(SATURDAY)
    assert saturday["mean_share"] == pytest.approx(seen, abs=1e-4)


def test_gaps_between_runs_are_listed_and_the_one_that_lasts(athena: Athena) -> None:
    rows = athena.ask("missing_runs", cluster=SHOP)

    listed = [(row["last_before"], row["first_after"], row["runs_missing"]) for row in rows]
    assert listed == [
        (at(SUNDAY[-1]), None, 4),
        (at(59), at(SUNDAY[0]), SUNDAY[0] - 60),
        (at(39), at(45), 5),
    ]
    assert rows[0]["minutes"] == 5.0


def test_runs_without_a_gap_are_not_listed(folder: Path) -> None:
    still_running = Athena(folder, NOW.replace(minute=6))

    rows = still_running.ask("missing_runs", cluster=SHOP)

    assert [row["first_after"] for row in rows] == [at(SUNDAY[0]), at(45)]
