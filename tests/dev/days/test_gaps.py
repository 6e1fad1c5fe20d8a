# SPDX-License-Identifier: Apache-2.0
"""What is unknown, absent or strangely named in the scenarios."""

from collections.abc import Mapping
from typing import Any

import pytest

from dev.days import scenarios
from kafka_lag import contract
from tests.dev.days.conftest import Ask

KEYS = {"taken_at", "topic", "partition_id", "consumer_group"}
# Columns that no scenario has a value for: no broker is asked by time or for stable offsets, no
# group pauses or skips, no topic is tiered, hidden or written in transactions, and nobody has an
# objective.
NEVER = {
    *("next_record_time", "commit_epoch", "usual_produce_rate", "runbook_url"),
    *("pause_seconds", "pauses_seen", "work_between_pauses", "pause_age_left"),
    *("long_pause_seconds", "long_pauses_seen", "long_pause_age_left"),
    *("work_between_long_pauses", "work_since_long_pause"),
    *("batches_seen", "batch_records", "shortest_batch_seconds", "longest_batch_seconds"),
    *("skipped_from", "skipped_to", "skipped_at", "skip_reason", "records_skipped"),
    *("open_transaction_since", "open_transaction_topic", "open_transaction_partition"),
    *("stable_offset", "transaction_seen_at", "held_up_at", "held_up_records"),
    *("rests_seen", "rest_records", "local_start_offset", "reads_remote"),
    *("shared_limit_members", "shared_limit_rate", "shared_limit_since"),
    *("slo_age_seconds", "slo_target", "slo_days", "unwatched_topic", "unwatched_partition"),
}


@pytest.mark.parametrize("dataset", contract.DATASETS)
def test_a_column_that_may_be_null_is_so_in_a_row_read_and_not_in_all(
    tables: Mapping[str, Any], dataset: str
) -> None:
    table = tables[dataset]
    read = table["unread_reason"].is_null()
    for column in set(contract.COLUMNS[dataset]) - KEYS:
        assert table[column].filter(read).null_count > 0, column
        assert table[column].null_count < len(table) or column in NEVER, column


@pytest.mark.parametrize(
    ("dataset", "reasons"),
    [
        ("topic_partitions", {"no_leader", "error", "denied"}),
        ("group_partitions", {"no_leader", "error", "denied", "timeout", "no_coordinator"}),
        ("groups", {"denied", "no_coordinator"}),
    ],
)
def test_each_reason_for_silence_is_seen(
    tables: Mapping[str, Any], dataset: str, reasons: set[str]
) -> None:
    assert set(tables[dataset]["unread_reason"].drop_null().to_pylist()) == reasons


def test_an_unread_row_carries_all_but_lag_time_lag_and_status(ask: Ask) -> None:
    rows = ask(
        "SELECT DISTINCT committed_offset IS NOT NULL, end_offset IS NOT NULL, "
        "last_status IS NOT NULL, lag, time_lag_seconds, status FROM group_partitions "
        "WHERE unread_reason = 'timeout'"
    )

    assert rows == [(True, True, True, None, None, None)]


def test_there_is_no_run_in_the_missing_hour(ask: Ask) -> None:
    rows = ask("SELECT count(*) FROM groups WHERE hour(taken_at) = 4")

    assert rows == [(0,)]


def test_partitions_without_a_commit_are_counted_apart(ask: Ask) -> None:
    rows = ask(
        "SELECT DISTINCT partition_id, committed_offset IS NULL, lag IS NULL "
        "FROM group_partitions WHERE consumer_group = 'shy' ORDER BY 1"
    )
    ((apart,),) = ask("SELECT max(partitions_uncommitted) FROM groups WHERE consumer_group = 'shy'")

    # An empty partition lags by nothing, committed or not.
    assert rows == [(0, False, False), (1, True, True), (2, True, False)]
    assert apart == 1


def test_names_come_out_as_they_went_in(ask: Ask) -> None:
    rows = ask("SELECT DISTINCT consumer_group FROM groups")

    assert set(scenarios.NAMES) <= {name for (name,) in rows}


def test_lag_is_what_is_left_from_the_commit_or_the_log_start(ask: Ask) -> None:
    ((wrong, rows),) = ask(
        "SELECT count(*) FILTER (lag <> greatest(end_offset - greatest(committed_offset, "
        "start_offset), 0)), count(*) FROM group_partitions WHERE lag IS NOT NULL"
    )

    assert wrong == 0
    assert rows > 5_000


def test_a_groups_lag_is_the_sum_of_its_partitions(ask: Ask) -> None:
    ((wrong, runs),) = ask(
        "SELECT count(*) FILTER (g.lag <> p.lag), count(*) FROM groups g JOIN ("
        "  SELECT consumer_group, taken_at, sum(lag) AS lag FROM group_partitions"
        "  GROUP BY ALL HAVING count(unread_reason) = 0) p USING (consumer_group, taken_at) "
        "WHERE g.lag IS NOT NULL"
    )

    assert wrong == 0
    assert runs > 1_000
