# SPDX-License-Identifier: Apache-2.0
"""Causes in words: which numbers and names stand in them, and what nobody can break them by."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.cause_texts import describe_cause, describe_ruled_out
from tests.builders import NOON

EVIDENCE: dict[str, dict[str, Any]] = {
    contract.MORE_PRODUCED: {
        "produce_rate": 1200.0,
        "produce_rate_before": 400.0,
        "consume_rate": 410.0,
        "kept_up_at": NOON,
    },
    contract.CAPACITY_FELL: {
        "consume_rate": 210.0,
        "consume_rate_before": 400.0,
        "produce_rate": 500.0,
        "kept_up_at": NOON,
    },
    contract.TOO_FEW_MEMBERS: {
        "members": 2,
        "members_before": 4.9,
        "kept_up_at": NOON,
        "consume_rate": 60.0,
        "produce_rate": 150.0,
    },
    contract.HOT_PARTITION: {
        "topic": "orders",
        "partition": 4,
        "produce_rate": 300.0,
        "produce_rate_of_others": 40.0,
        "consume_rate": 180.0,
        "key_skew": True,
    },
    contract.SLOW_MEMBER: {"member": "m-2", "consume_rate": 20.0, "produce_rate": 80.0},
    contract.STUCK_RECORD: {
        "topic": "orders",
        "partition": 4,
        "offset": 1234,
        "member": "m-2",
        "stuck_since": NOON,
    },
    contract.STOPPED: {"members": 0, "last_commit_at": NOON},
    contract.REBALANCES: {"rebalancing_share": 0.8, "consume_rate": 2.0, "produce_rate": 9.0},
    contract.SLOW_BROKER: {"broker": 2, "groups": 3, "partitions": 7},
    contract.UNAVAILABLE: {
        "topic": "orders",
        "partition": 1,
        "partitions_without_leader": 2,
        "partitions": 6,
        "last_read_at": NOON,
    },
    contract.OPEN_TRANSACTION: {
        "topic": "orders",
        "partition": 1,
        "held_up_records": 500,
        "open_since": NOON,
    },
    contract.RETENTION_RACE: {
        "topic": "orders",
        "partition": 1,
        "records_lost": 77,
        "retention_ms": 90_000,
        "produce_rate": 10.0,
        "consume_rate": 9.5,
    },
    contract.OFFSETS_RESET: {
        "topic": "orders",
        "partition": 1,
        "committed_offset": 5,
        "rewound_from": 1_000,
    },
    contract.UNEXPLAINED: {"members": 3, "consume_rate": 9.0, "produce_rate": 10.0},
}
# What has to stand in the text of each, beside its names.
SAID = {
    contract.MORE_PRODUCED: ("1,200/s", "400/s", "410/s"),
    contract.CAPACITY_FELL: ("reads 210/s of the 500/s written", "read 400/s until"),
    contract.TOO_FEW_MEMBERS: ("2 members", "5 until"),
    contract.HOT_PARTITION: ("Partition 4 of orders", "300/s", "40/s", "180/s"),
    contract.SLOW_MEMBER: ("m-2", "20/s of 80/s"),
    contract.STUCK_RECORD: ("partition 4 of orders", "1234", "m-2"),
    contract.STOPPED: ("Nobody reads", "12:00"),
    contract.REBALANCES: ("80%", "2.0/s of 9.0/s"),
    contract.SLOW_BROKER: ("Broker 2", "3 groups", "7 partitions"),
    contract.UNAVAILABLE: ("2 of 6 partitions", "partition 1 of orders"),
    contract.OPEN_TRANSACTION: ("partition 1 of orders", "500 records"),
    contract.RETENTION_RACE: ("90 s", "77 records"),
    contract.OFFSETS_RESET: ("from 1,000 to 5",),
    contract.UNEXPLAINED: ("Not known", "3 members"),
}


def a_row(cause: str | None, evidence: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    text = None if evidence is None else json.dumps(evidence)
    row = {"consumer_group": "billing", "cause": cause, "cause_evidence": text}
    return {**row, "cause_since": NOON, **more}


@pytest.mark.parametrize("cause", contract.CAUSES)
def test_each_cause_is_told_with_its_numbers_and_a_command(cause: str) -> None:
    text = describe_cause(a_row(cause, EVIDENCE[cause]))

    assert text is not None
    assert [each for each in SAID[cause] if each not in text.happened] == []
    assert text.happened.count("2026-01-31 12:00 UTC") == 1
    assert text.to_do
    assert text.command.startswith("kafka-")
    assert "{" not in text.happened + text.to_do + text.command


@pytest.mark.parametrize("cause", contract.CAUSES)
@pytest.mark.parametrize("evidence", [None, {}], ids=["null", "empty"])
def test_a_cause_without_evidence_is_told_all_the_same(
    cause: str, evidence: dict[str, Any] | None
) -> None:
    text = describe_cause(a_row(cause, evidence, cause_since=None))

    assert text is not None
    assert text.happened
    assert "{" not in text.happened + text.to_do + text.command


@pytest.mark.parametrize("cause", [None, "of_a_later_version"])
def test_nothing_is_told_of_no_cause_or_of_one_that_is_not_known(cause: str | None) -> None:
    assert describe_cause(a_row(cause, {})) is None


@pytest.mark.parametrize(
    ("fate", "says"),
    [
        ("made_anew", "the topic was deleted and made anew: its id is another one"),
        ("cut", "the topic was cut: its id is as it was, and its end went back"),
        (None, "the topic was made anew, or cut"),
        ("of a later version", "the topic was made anew, or cut"),
    ],
)
def test_what_became_of_a_topic_is_said_where_it_is_known(fate: str | None, says: str) -> None:
    evidence = {"topic": "t", "partition": 1, "committed_offset": 9, "end_offset": 5}
    text = describe_cause(a_row(contract.OFFSETS_RESET, {**evidence, "topic_was": fate}))

    assert text is not None
    assert f"the end of the log (5): {says}" in text.happened


@pytest.mark.parametrize(
    ("evidence", "worst_status", "says"),
    [
        ({"rewound_from": 9}, None, "ask who set its offsets back"),
        ({}, contract.REWOUND, "ask who set its offsets back"),
        ({}, contract.BEYOND_END, "ask whether the topic was deleted and made anew"),
        (
            {"topic_was": "made_anew"},
            contract.BEYOND_END,
            "stop the group and set its offsets anew",
        ),
    ],
    ids=["by-its-number", "rewound", "beyond-end", "made-anew"],
)
def test_what_is_to_be_done_of_a_reset_goes_by_what_it_was(
    evidence: dict[str, Any], worst_status: str | None, says: str
) -> None:
    text = describe_cause(a_row(contract.OFFSETS_RESET, evidence, worst_status=worst_status))

    assert text is not None
    assert text.to_do.startswith(says)


def test_a_member_that_commits_nothing_is_said_to_since_when() -> None:
    evidence = {**EVIDENCE[contract.SLOW_MEMBER], "host": "/10.0.0.7", "stands_since": NOON}
    text = describe_cause(a_row(contract.SLOW_MEMBER, evidence))

    assert text is not None
    assert text.happened == (
        "One member does not read: m-2 on /10.0.0.7 has committed nothing since "
        "2026-01-31 12:00 UTC; no other member is behind"
    )


@pytest.mark.parametrize(
    ("members", "partitions", "says"),
    [
        (1, 4, "if it lasts, add members: 1 reads 4 partitions"),
        (2, 4, "if it lasts, add members: 2 read 4 partitions"),
        (4, 4, "add partitions and members, as each of its 4 partitions has a member already"),
        (1, 1, "add partitions and members, as its only partition has a member already"),
        (None, 4, "add members, as many as there are partitions at most"),
    ],
)
def test_members_are_advised_where_they_can_help(
    members: int | None, partitions: int, says: str
) -> None:
    row = a_row(contract.MORE_PRODUCED, {}, members=members, partitions=partitions)
    text = describe_cause(row)

    assert text is not None
    assert text.to_do.endswith(says)


def test_the_command_reads_the_record_that_is_not_processed() -> None:
    text = describe_cause(a_row(contract.STUCK_RECORD, EVIDENCE[contract.STUCK_RECORD]))

    assert text is not None
    assert "--topic orders --partition 4 --offset 1234 --max-messages 1" in text.command


def test_names_break_neither_lines_nor_commands() -> None:
    hostile = "a'; rm -rf /\n#"
    evidence = {**EVIDENCE[contract.STUCK_RECORD], "topic": hostile, "member": hostile}

    text = describe_cause(a_row(contract.STUCK_RECORD, evidence, consumer_group=hostile))

    assert text is not None
    assert "\n" not in text.happened + text.to_do + text.command
    assert """'a'"'"'; rm -rf /?#'""" in text.command


def test_evidence_that_is_no_json_object_is_as_good_as_none() -> None:
    for broken in ("not json", "[1]"):
        text = describe_cause(a_row(contract.STOPPED, None, cause_evidence=broken))

        assert text is not None
        assert text.happened.startswith("Nobody reads: no member")


@pytest.mark.parametrize(
    ("cause", "evidence", "sentence"),
    [
        pytest.param(contract.OPEN_TRANSACTION, {"held_up_records": 0}, "no open", id="none"),
        pytest.param(contract.OPEN_TRANSACTION, {"held_up_records": 7}, "up 7 records", id="some"),
        pytest.param(
            contract.RETENTION_RACE,
            {"partitions_with_losses": 2, "of_these_read": 1},
            "2 partitions lost records; 1 of them",
            id="losses",
        ),
        pytest.param(contract.MORE_PRODUCED, {"kept_up": False}, "never seen", id="no-past"),
        pytest.param(
            contract.CAPACITY_FELL,
            {"rebalancing_share": 0.3, "rebalancing_share_below": 0.25},
            "30% of the last runs saw a rebalance: below 25%",
            id="rebalancing",
        ),
        pytest.param(
            contract.REBALANCES,
            {"rebalancing_share": 0.9, "same_epoch": 7},
            "its epoch is 7, as before",
            id="one-rebalance",
        ),
        pytest.param(
            contract.OFFSETS_RESET,
            {"partitions": 6, "partitions_read_again": 1},
            "of 1 a little was read again",
            id="read-again",
        ),
        pytest.param(
            contract.TOO_FEW_MEMBERS,
            {"kept_up": False, "members": 2, "capacity": None, "produce_rate": 5.0},
            "never seen",
            id="no-capacity",
        ),
        pytest.param(
            contract.TOO_FEW_MEMBERS,
            {"partitions_behind": 0, "partitions_read": 4, "produce_rate": 79.0},
            "0 of 4 are behind; 79/s",
            id="nothing-behind",
        ),
        pytest.param(contract.TOO_FEW_MEMBERS, {"members": 2}, "is not known", id="members"),
        pytest.param(
            contract.MORE_PRODUCED,
            {"produce_rate": 900.0, "produce_rate_before": 850.0, "produce_rate_from": 935.0},
            "900/s are written, 850/s before; 935/s would be more",
            id="rate-beside-its-limit",
        ),
        pytest.param(
            contract.REBALANCES,
            {"rebalancing_share": None, "rebalancing_share_from": 0.4},
            "is not known",
            id="unknown",
        ),
        pytest.param(
            contract.STOPPED,
            {"partitions_owned": 1, "partitions_behind": 2, "worst_status": "falling_behind"},
            "1 of 2 partitions behind have an owner, and the status is falling behind",
            id="status-in-words",
        ),
        pytest.param(
            contract.STOPPED,
            {"partitions_owned": 0, "partitions_behind": 0, "worst_status": "slow"},
            "no partition is behind",
            id="none-behind",
        ),
        pytest.param(
            contract.HOT_PARTITION,
            {"partitions_behind": 0, "partitions_read": 5},
            "no partition is behind",
            id="others-but-none-behind",
        ),
        pytest.param(
            contract.SLOW_BROKER,
            {"brokers_of_what_is_behind": 0},
            "no broker is known to lead",
            id="no-broker",
        ),
        pytest.param(
            contract.OPEN_TRANSACTION,
            {"held_up_records": 7, "status": "WARN"},
            "7 records, which alone makes no WARN",
            id="held-up-and-behind",
        ),
        pytest.param(
            contract.RETENTION_RACE,
            {"partitions_with_losses": 2, "of_these_read": 2, "worst_status": "stalled"},
            "2 of them are read, and the status is stalled",
            id="losses-of-a-stall",
        ),
        pytest.param(
            contract.TOO_FEW_MEMBERS,
            {"members": 2, "members_before": 3.0, "produce_rate": 9.0, "produce_rate_before": 5.0},
            "3 before, but more is written: 9.0/s, 5.0/s before",
            id="left-while-more-came",
        ),
        pytest.param(
            contract.SLOW_MEMBER,
            {"read_share": 0.5, "read_share_below": 0.9, "read_of_written": 1.2},
            "50% of what was read before of what is behind, but 120% of what is written to it",
            id="less-is-enough",
        ),
    ],
)
def test_what_rules_a_cause_out_is_a_clause_with_its_numbers(
    cause: str, evidence: dict[str, Any], sentence: str
) -> None:
    assert sentence in describe_ruled_out(cause, evidence)


def test_names_in_what_rules_a_cause_out_break_no_line() -> None:
    text = describe_ruled_out(
        contract.SLOW_BROKER, {"partitions_behind": 1, "partitions_there": 1, "broker": "1\n2"}
    )

    assert "1?2" in text
