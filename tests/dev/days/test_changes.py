# SPDX-License-Identifier: Apache-2.0
"""What comes, goes and changes in the scenarios."""

from kafka_lag import contract
from tests.dev.days.conftest import Ask


def test_a_third_partition_is_there_from_noon(ask: Ask) -> None:
    rows = ask(
        "SELECT min(hour(taken_at)), min(start_offset) FROM group_partitions "
        "WHERE topic = 'grown' GROUP BY partition_id ORDER BY partition_id"
    )

    assert [hour for hour, _ in rows] == [0, 0, 12]
    assert rows[2][1] == 0


def test_a_topic_made_anew_at_noon_has_another_id_and_starts_at_0(ask: Ask) -> None:
    rows = ask(
        "SELECT topic_id, min(hour(taken_at)), max(hour(taken_at)), min(end_offset) < 10000 "
        "FROM topic_partitions WHERE topic = 'again' GROUP BY topic_id ORDER BY 2"
    )

    assert rows == [("id-again", 0, 11, False), ("id-again-2", 12, 23, True)]


def test_a_visitor_has_rows_in_its_hour_and_one_last_word(ask: Ask) -> None:
    rows = ask(
        "SELECT hour(taken_at), count(*), max(status_reason) FROM groups "
        "WHERE consumer_group = 'visits' GROUP BY ALL ORDER BY 1"
    )

    assert rows == [(9, 6, None), (10, 1, contract.GONE)]


def test_a_group_that_is_deleted_while_it_lags_has_a_last_row_without_status(ask: Ask) -> None:
    rows = ask(
        "SELECT status, last_status IS NULL, lag, status_reason FROM groups "
        "WHERE consumer_group = 'goes' ORDER BY taken_at DESC LIMIT 1"
    )

    assert rows == [(None, False, None, contract.GONE)]


def test_each_rebalance_gives_partitions_to_other_members(ask: Ask) -> None:
    owners = ask(
        "SELECT count(DISTINCT member_id) FROM group_partitions "
        "WHERE consumer_group = 'restless' GROUP BY partition_id"
    )
    states = ask("SELECT DISTINCT group_state FROM groups WHERE consumer_group = 'restless'")
    ((changes,),) = ask("SELECT sum(owners_changed) FROM groups WHERE consumer_group = 'restless'")

    assert owners == [(3,)] * 4
    assert {state for (state,) in states} == {"Stable", "PreparingRebalance", "CompletingRebalance"}
    # Four partitions each lose an owner and get another, twice.
    assert changes == 16


def test_a_leader_moves_and_comes_back(ask: Ask) -> None:
    rows = ask(
        "SELECT leader, min(hour(taken_at)), max(hour(taken_at)) FROM group_partitions "
        "WHERE topic = 'moved' AND partition_id = 0 GROUP BY leader ORDER BY leader"
    )

    assert rows == [(1, 0, 23), (3, 10, 12)]
