# SPDX-License-Identifier: Apache-2.0
"""Causes in words: their numbers and names, and names that cannot break them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.wording.advice import advise
from kafka_lag.wording.causes import describe_cause
from kafka_lag.wording.words import describe_skip
from tests.builders import NOON
from tests.golden import Golden, write_once

HOSTILE = "a'; rm -rf /\n#"
# All that any cause may be told with.
EVIDENCE: dict[str, Any] = {
    "topic": "orders",
    "partition": 4,
    "offset": 1234,
    "member": "m-2",
    "host": "/10.0.0.7",
    **dict.fromkeys(("kept_up_at", "last_commit_at", "last_read_at"), NOON),
    **dict.fromkeys(("stands_since", "stuck_since", "open_since", "restarts_since"), NOON),
    "produce_rate": 1_200.0,
    "produce_rate_before": 400.0,
    "produce_rate_of_others": 40.0,
    "usual_produce_rate": 10.0,
    "consume_rate": 210.0,
    "consume_rate_before": 390.0,
    "capacity": 4.0,
    "members": 2,
    "members_before": 4.9,
    "rebalancing_share": 0.8,
    "broker": 2,
    "brokers": "3, 2",
    "groups": 3,
    "partitions": 6,
    "partitions_without_leader": 5,
    "partitions_under_replicated": 7,
    "in_sync_replicas": 1,
    "replicas": 3,
    "held_up_records": 500,
    "records_lost": 77,
    "retention_ms": 90_000,
    "committed_offset": 5_000,
    "rewound_from": 10_000,
    "end_offset": 9,
    "topic_was": "cut",
}
DAY_MS = 86_400_000
SETTINGS: list[tuple[str, Any, Any, dict[str, Any]]] = [
    (contract.RETENTION, DAY_MS, DAY_MS // 24, {"records_lost": 77}),
    (contract.RETENTION, -1, DAY_MS, {}),
    (contract.PARTITIONS, 6, 8, {}),
    (contract.REPLICAS, [1, 2, 3], [2, 3, 4], {}),
]
# Without these, one after the other, each is told in other words.
UNKNOWN = {
    contract.MORE_PRODUCED: ("kept_up_at",),
    contract.CAPACITY_FELL: ("produce_rate",),
    contract.TOO_FEW_MEMBERS: ("kept_up_at", "capacity"),
    contract.HOT_PARTITION: ("produce_rate_of_others",),
    contract.SLOW_MEMBER: ("stands_since", "host"),
    contract.STOPPED: ("last_commit_at",),
    contract.MAINTENANCE: ("broker",),
    contract.REBALANCES: ("consume_rate",),
    contract.UNAVAILABLE: ("last_read_at",),
    contract.OPEN_TRANSACTION: ("held_up_records",),
    contract.RETENTION_RACE: ("retention_ms",),
    contract.OFFSETS_RESET: ("rewound_from", "topic_was"),
    contract.UNEXPLAINED: ("members",),
}


def a_row(cause: str | None, evidence: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    text = None if evidence is None else json.dumps(evidence)
    row = {"consumer_group": "billing", "cause": cause, "cause_evidence": text}
    return {**row, "cause_since": NOON, **more}


def described(row: dict[str, Any]) -> list[str]:
    """What happened, what to do and the commands, a line each."""
    text = describe_cause(row)
    assert text is not None
    repair = [] if text.repair is None else [f"To repair: {text.repair}"]
    look = f"To look: {text.command}"
    return [text.happened, f"To do: {advise(row)}", look, *repair]


def texts() -> Iterator[tuple[str, list[str]]]:
    for cause in contract.CAUSES:
        yield cause, described(a_row(cause, EVIDENCE))
        evidence = EVIDENCE
        for name in UNKNOWN.get(cause, ()):
            evidence = {each: value for each, value in evidence.items() if each != name}
            yield f"{cause} without {name}", described(a_row(cause, evidence))
        yield f"{cause} without evidence", described(a_row(cause, cause_since=None))
    for fate in ("made_anew", "of a later version"):
        evidence = {**EVIDENCE, "rewound_from": None, "topic_was": fate}
        yield f"offsets_reset, {fate}", described(a_row(contract.OFFSETS_RESET, evidence))
    for setting, was, now, more in SETTINGS:
        evidence = {"setting": setting, "was": was, "now": now, "changed_at": NOON, **more}
        row = a_row(contract.SETTINGS_CHANGED, {"topic": "audit-log", **evidence}, cause_since=None)
        yield f"{setting} changed from {was} to {now}", described(row)
    several = {"members_behind": 3, "members_read": 6, "hosts": "10.0.1.4, 10.0.1.9"}
    yield "several slow", described(a_row(contract.SLOW_MEMBERS, {**EVIDENCE, **several}))
    several |= {"produce_rate": 60.0, "consume_rate": 20.0}
    yield "several slow that move", described(a_row(contract.SLOW_MEMBERS, several))
    over = {"after": contract.CAPACITY_FELL, "over_at": NOON, "drain_seconds": 5_400.0}
    yield "over", described(a_row(contract.CATCHING_UP, {**EVIDENCE, **over}))
    yield (
        "over, nobody knows what",
        described(
            a_row(
                contract.CATCHING_UP, {"consume_rate": 70, "produce_rate": 60, "drain_seconds": 90}
            )
        ),
    )
    grown = {"topic_rate": 400.0, "topic_rate_before": 20.0}
    yield "one topic grows", described(a_row(contract.MORE_PRODUCED, {**EVIDENCE, **grown}))
    stuck = {"cause": contract.STUCK_RECORD, **EVIDENCE}
    yield "two at once", described(a_row(contract.CAPACITY_FELL, {**EVIDENCE, "also": stuck}))
    alone = {"topic": "orders", "partition": 4, "also": stuck}
    yield (
        "two, and the first without a time of its own",
        described(a_row(contract.RETENTION_RACE, alone)),
    )
    lost = {**EVIDENCE, "as_of": NOON}
    yield "numbers of an earlier run", described(a_row(contract.RETENTION_RACE, lost))
    nearly = {**EVIDENCE, "drain_seconds": 0.3}
    yield "a backlog of a moment", described(a_row(contract.CATCHING_UP, nearly))
    rewound = a_row(contract.OFFSETS_RESET, {}, worst_status=contract.REWOUND)
    yield "rewound", described(rewound)
    for members, partitions in ((1, 4), (2, 4), (4, 4), (1, 1), (None, 4)):
        row = a_row(contract.MORE_PRODUCED, {}, members=members, partitions=partitions)
        yield f"{members} for {partitions}", described(row)
    evidence = {**EVIDENCE, "topic": HOSTILE, "member": HOSTILE}
    yield "hostile", described(a_row(contract.STUCK_RECORD, evidence, consumer_group=HOSTILE))
    yield "hostile group", described(a_row(contract.STOPPED, {}, consumer_group=HOSTILE))


def test_each_cause_is_told_with_its_numbers_and_a_command(golden: Golden) -> None:
    found = list(texts())
    assert [line for _, lines in found for line in lines if "{" in line or "\n" in line] == []
    skips = [
        f"{each}: {describe_skip({'records_skipped': 1_200, 'skip_reason': each})}"
        for each in (None, *contract.SKIP_REASONS, "of_a_later_version")
    ]
    found += [("What became of skipped records", skips)]

    golden.holds("causes.txt", write_once(found))
    assert describe_skip({"records_skipped": 0}) is None


@pytest.mark.parametrize("cause", [None, "of_a_later_version"])
def test_nothing_is_told_of_no_cause_or_of_one_that_is_not_known(cause: str | None) -> None:
    assert describe_cause(a_row(cause, {})) is None


@pytest.mark.parametrize("broken", ["not json", "[1]", "{}"])
def test_evidence_that_is_no_json_object_is_as_good_as_none(broken: str) -> None:
    for cause in contract.CAUSES:
        assert describe_cause(a_row(cause, cause_evidence=broken)) == describe_cause(a_row(cause))


def test_commands_read_and_skip_the_stuck_record_whatever_its_topic_is_called() -> None:
    text = describe_cause(a_row(contract.STUCK_RECORD, {**EVIDENCE, "topic": HOSTILE}))
    assert text is not None
    assert text.repair is not None
    look, skip = shlex.split(text.command), shlex.split(text.repair.partition(": ")[2])
    topic = HOSTILE.replace("\n", "?")

    assert look[5:] == [
        *("--topic", topic, "--partition", "4"),
        *("--offset", "1234", "--max-messages", "1"),
    ]
    assert skip == [
        *("kafka-consumer-groups", "--bootstrap-server", "BROKERS", "--command-config", "FILE"),
        *("--group", "billing", "--topic", f"{topic}:4"),
        *("--reset-offsets", "--to-offset", "1235", "--execute"),
    ]
