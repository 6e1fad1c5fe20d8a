# SPDX-License-Identifier: Apache-2.0
"""What people and machines read of a change, and of many at once."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.notify.backlog import Backlog, CatchingUp, Peak, Skip
from kafka_lag.notify.group_change import GroupChange
from kafka_lag.notify.messages import Notice, StatusMessage, build_event, build_messages
from kafka_lag.notify.troubles import TROUBLES, OpenTrouble
from tests.builders import MINUTE, NOON
from tests.functions.notify.builders import a_change, a_row, vary

DOCUMENT = Path(__file__).parents[3] / "docs" / "notifications.md"
WORST = {
    "topics": 1,
    "worst_topic": "orders",
    "worst_partition": 7,
    "worst_leader": 3,
    "worst_member": "consumer-1-5f2c",
}
HELD_UP: dict[str, Any] = {
    "held_up_records": 1_200,
    "open_transaction_since": NOON,
    "open_transaction_topic": "t",
    "open_transaction_partition": 3,
}
BEHIND = {"lag": 12_345, "time_lag_seconds": 860.0, "owner": "team-payments"}
ROW = a_row(
    "payments",
    contract.ERR,
    owner="team-payments",
    runbook_url="https://wiki.example.com/runbooks/billing",
    lag=12_345,
    max_lag=9_800,
    time_lag_seconds=860.0,
    time_lag_error_seconds=1.0,
    time_lag_method=contract.METHOD_RECORD_TIME,
    drain_seconds=None,
    seconds_until_loss=18_720.0,
    records_lost=0,
    members=4,
    partitions=12,
    partitions_unknown=0,
    complete=1.0,
    status_reason=None,
    worst_status=contract.STALLED,
    worst_status_since=NOON - 11 * MINUTE,
    unusual=False,
    sla_seconds=300.0,
    held_loss_since=None,
    held_at_risk_since=NOON,
    held_sla_broken_since=NOON - 5 * MINUTE,
    worst_topic="orders",
    worst_partition=7,
    worst_leader=3,
    worst_member="consumer-1-5f2c",
)


def notice(change: GroupChange) -> Notice:
    (message,) = build_messages([change], 100)
    return message.notice


def lines_of(change: GroupChange) -> list[str]:
    return notice(change).text.splitlines()


def lines(**more: Any) -> list[str]:
    return lines_of(a_change(**more))


# A group whose member hangs, on a topic that is not kept for long.
HANGING = {
    **BEHIND,
    **WORST,
    "seconds_until_loss": 18_720.0,
    "worst_status": contract.STALLED,
    "worst_status_since": NOON - 11 * MINUTE,
}


def test_a_group_that_fails_is_reported_with_what_it_does_its_worst_partition_and_owner() -> None:
    change = a_change(row=HANGING)
    sent = notice(change)

    assert sent.subject == "Kafka lag ERR: payments on shop: stalled (opened)"
    assert sent.text.splitlines() == [
        "payments on shop is ERR since 2026-01-31 12:00 UTC.",
        "Now: 12,345 records behind, the oldest unread for 14 min.",
        "Stalled since 2026-01-31 11:49 UTC: a member owns the partition, and its commit does not "
        "move.",
        "Worst: orders partition 7, led by broker 3, read by consumer-1-5f2c.",
        "At risk: retention may delete unread records in 5.2 h.",
        "To do: raise retention.ms or retention.bytes of orders; then see the member's log: "
        "usually one record fails again and again, or a call hangs.",
        "Owner: team-payments.",
        f"Incident {change.incident_id} opened 2026-01-31 12:00 UTC, read at 2026-01-31 12:02 UTC.",
    ]


def test_the_documented_message_is_what_is_sent() -> None:
    sent = notice(a_change(row=HANGING))

    assert f"```text\n{sent.subject}\n\n{sent.text}\n```" in DOCUMENT.read_text()


def test_the_documented_end_is_what_is_sent() -> None:
    end = NOON + 90 * MINUTE
    change = a_change(
        kind=contract.RESOLVED,
        status=contract.OK,
        previous_status=contract.ERR,
        since=end,
        worst_status=contract.STALLED,
        worst_since=NOON - 11 * MINUTE,
        backlog=Backlog(53_420, end - MINUTE),
        peak=Peak(53_420, end - MINUTE, 6_000.0, False, 0),
        row={"lag": 20, "time_lag_seconds": 2.0, "produce_rate": 10.0},
    )
    sent = notice(change)
    text = "\n".join(sent.text.splitlines()[:-1])

    assert f"```text\n{sent.subject}\n\n{text}\n```" in DOCUMENT.read_text()


def test_a_group_that_is_well_again_blames_nobody() -> None:
    change = a_change(
        kind=contract.RESOLVED,
        status=contract.OK,
        previous_status=contract.ERR,
        since=NOON + MINUTE,
        row={"lag": 0, "time_lag_seconds": 0.0, **WORST},
    )

    assert notice(change).subject == "Kafka lag OK: payments on shop (resolved)"
    assert notice(change).text.splitlines() == [
        "payments on shop is OK since 2026-01-31 12:01 UTC, after ERR.",
        "Now: 0 records behind.",
        f"Incident {change.incident_id} opened 2026-01-31 12:00 UTC, read at 2026-01-31 12:02 UTC.",
    ]


def test_a_group_that_is_well_again_needs_no_runbook() -> None:
    change = a_change(
        kind=contract.RESOLVED, status=contract.OK, row={"lag": 0, "runbook_url": "https://w/r"}
    )

    assert "Runbook" not in notice(change).text


def test_a_group_that_is_gone_is_not_said_to_have_recovered() -> None:
    change = a_change(
        kind=contract.GONE,
        status=contract.STATUS_GONE,
        previous_status=contract.WARN,
        row={
            "lag": 1,
            "status_reason": contract.GONE,
            "owner": "team-payments",
            "taken_at": NOON - MINUTE,
        },
    )

    assert notice(change).subject == "Kafka lag GONE: payments on shop (gone)"
    assert notice(change).text.splitlines() == [
        "payments on shop is gone since 2026-01-31 12:00 UTC (last seen 2026-01-31 11:59 UTC): "
        "somebody deleted it, or its offsets expired. This is no recovery. It was WARN.",
        "When last seen: 1 record behind.",
        "Cost: 1 record not read yet; should it come back, it reads them only with "
        "auto.offset.reset=earliest.",
        "Its last offsets, of 2026-01-31 11:59 UTC: in the reporter's bucket, snapshots/"
        "group_partitions/cluster=shop/dt=2026-01-31/hour=11/20260131T115900Z-0of1.parquet",
        "To do: ask team-payments whether it was meant.",
        "Owner: team-payments.",
        f"Incident {change.incident_id} read at 2026-01-31 12:02 UTC.",
    ]


@pytest.mark.parametrize(
    ("row", "line"),
    [
        (
            {"records_lost": 3},
            "Lost so far: 3 records that retention deleted before it had committed them.",
        ),
        (
            {"records_lost": 3, "held_loss_since": NOON},
            "Lost so far: 3 records that retention deleted since 2026-01-31 12:00 UTC before it "
            "had committed them.",
        ),
        (
            {"held_sla_broken_since": NOON, "sla_seconds": 60.0, "time_lag_seconds": 600.0},
            "Promise broken since 2026-01-31 12:00 UTC: the oldest unread has waited 10 min, "
            "promised are 60 s at most.",
        ),
        *(
            ({"worst_status": each}, text)
            for each, text in (
                (
                    contract.STOPPED,
                    "Stopped: no member owns the partition, and its commit does not move.",
                ),
                (
                    contract.BEYOND_END,
                    "Beyond the end: its commit lies beyond the end of the log; "
                    "was the topic made anew?",
                ),
                (contract.FALLING_BEHIND, "Falling behind: the backlog does not shrink."),
                (
                    contract.SLOW,
                    "Too slow: the backlog shrinks, but working it off would take "
                    "more than 10 times the age of its oldest record.",
                ),
            )
        ),
        (
            {"worst_status": contract.SLOW, "produce_rate": 10.0, "consume_rate": 10.4},
            "Rates, averaged over the last minutes: 10.0/s written to its topics, 10.4/s read.",
        ),
        (
            {"held_sla_broken_since": NOON},
            "To do: add consumers, as many as there are partitions at most, or find the slow step.",
        ),
        (
            {"worst_status": contract.NO_MEMBER},
            "To do: start its consumers; or, if its owner says that nobody needs it, name the "
            "group in groups.deny of the reporter's configuration.",
        ),
        (
            {"worst_status": contract.STALLED, "rebalancing_share": 0.6},
            "To do: find out why members come and go: crashes, session.timeout.ms, "
            "max.poll.interval.ms.",
        ),
        (
            {"seconds_until_loss": 60.0, "topics": 2, "worst_topic": "t", "worst_partition": 0},
            "To do: raise retention.ms or retention.bytes of the topic.",
        ),
        (
            {
                "unusual": True,
                "usual_lag": 20.0,
                "usual_time_lag": 5.0,
                "usual_produce_rate": 10.0,
                "produce_rate": 80.0,
            },
            "Unusual: at this hour it is usually 20 records behind, the oldest 5 s old, with 10/s "
            "written to its topics (now 80/s).",
        ),
        (
            {"lag": 9, "time_lag_seconds": 5.0, "drain_seconds": 7_200.0},
            "Now: 9 records behind, the oldest unread for 5 s, worked off in 2 h at this speed.",
        ),
        (
            {"worst_topic": "t", "worst_partition": 0, "worst_leader": 4, "members": 0},
            "Worst: t partition 0, led by broker 4, read by nobody.",
        ),
        (
            {"runbook_url": "https://wiki.example.com/r?g=1#stopped"},
            "Runbook: https://wiki.example.com/r?g=1#stopped",
        ),
        ({"partitions_unknown": 1}, "Not read: 1 partition, counted as last seen."),
        (
            HELD_UP,
            "Open transaction: in t partition 3, since 2026-01-31 12:00 UTC; it holds up 1,200 "
            "records.",
        ),
        (
            {**HELD_UP, "held_sla_broken_since": NOON},
            "To do: find the producer whose transaction is open (kafka-transactions.sh "
            "find-hanging).",
        ),
        (
            {"unusual": True},
            "Unusual: the group is not like that at this hour of other weeks.",
        ),
        (
            {"rebalancing_share": 0.6},
            "Rebalancing all the time: it reads little meanwhile.",
        ),
        (
            {"max_lag": 1},
            "Hint: if the topic is written in transactions, set its allowed_lag to 1.",
        ),
        (
            {"time_lag_seconds": 7_200.0, "time_lag_method": contract.METHOD_AT_LEAST},
            "Now: the oldest unread for at least 2 h.",
        ),
        ({"lag": 1}, "Now: 1 record behind."),
        (
            {"worst_topic": "t", "worst_partition": 0},
            "Worst: t partition 0, no leader known, no member known.",
        ),
        ({"seconds_until_loss": 0.0}, "At risk: retention may delete unread records in 0 s."),
    ],
)
def test_what_matters_is_said(row: dict[str, Any], line: str) -> None:
    assert line in lines(row=row)


def test_what_is_unknown_is_not_mentioned() -> None:
    assert len(lines(row=dict.fromkeys(contract.COLUMNS[contract.GROUPS]))) == 2


def test_a_commit_beyond_the_end_lags_by_nothing_that_is_known() -> None:
    row = {"lag": 0, "worst_status": contract.BEYOND_END}

    assert not any(line.startswith("Now:") for line in lines(row=row))


def test_no_loss_in_sight_is_not_mentioned() -> None:
    assert len(lines(row={"seconds_until_loss": contract.NO_LOSS_SECONDS})) == 2


# What is worse than the status, and how it ends.

LOSING = {
    **WORST,
    "records_lost": 1_220,
    "worst_status": contract.STOPPED,
    "worst_member": None,
    "members": 0,
    "held_loss_since": NOON,
    "seconds_until_loss": 0.0,
}
PROMISED = {"sla_seconds": 120.0, "time_lag_seconds": 240.0, "lag": 3_000}


def a_trouble(kind: str, status: str = contract.OK, **more: Any) -> GroupChange:
    return a_change(kind=kind, status=status, previous_status=status, **more)


def an_end(kind: str, most: float | None, **more: Any) -> GroupChange:
    ended = OpenTrouble(NOON - 90 * MINUTE, NOON - MINUTE, most)
    (name,) = (each.name for each in TROUBLES if each.ended == kind)
    return a_trouble(kind, since=ended.seen_at, troubles={name: ended}, **more)


def test_a_loss_says_how_much_and_what_the_consumer_does() -> None:
    sent = notice(a_trouble(contract.LOSS_BEGUN, contract.ERR, row=LOSING))

    assert sent.subject == "Kafka lag ERR: payments on shop: stopped (loss begun)"
    assert sent.text.splitlines()[:-1] == [
        "payments on shop loses records since 2026-01-31 12:00 UTC: retention deletes what it had "
        "not committed.",
        "Stopped: no member owns the partition, and its commit does not move.",
        "Worst: orders partition 7, led by broker 3, read by nobody.",
        "Lost so far: 1,220 records that retention deleted before it had committed them.",
        "To do: raise retention.ms or retention.bytes of orders; then start its consumers; "
        "or, if its owner says that nobody needs it, name the group in groups.deny of the "
        "reporter's configuration.",
    ]


@pytest.mark.parametrize(
    ("change", "subject", "line"),
    [
        (
            a_trouble(contract.LOSS_NEAR, contract.WARN, row={"seconds_until_loss": 3_420.0}),
            "Kafka lag WARN: payments on shop (loss near)",
            "payments on shop is near a loss since 2026-01-31 12:00 UTC: retention may delete "
            "unread records in 57 min.",
        ),
        (
            a_trouble(contract.PROMISE_BROKEN, row=PROMISED),
            "Kafka lag: payments on shop: promise broken",
            "payments on shop breaks its promise of 2 min (sla_seconds) since 2026-01-31 12:00 "
            "UTC: the oldest unread has waited 4 min; its status is OK.",
        ),
        (
            an_end(contract.LOSS_ENDED, 383_938),
            "Kafka lag: payments on shop: at least 383,938 records lost: loss ended",
            "payments on shop loses no more records: from 2026-01-31 10:30 UTC to "
            "2026-01-31 11:59 UTC retention deleted at least 383,938 records that it had not "
            "committed.",
        ),
        (
            an_end(contract.LOSS_AVERTED, None, status=contract.WARN),
            "Kafka lag WARN: payments on shop (loss averted)",
            "payments on shop is no longer near a loss. It was near one from 2026-01-31 10:30 UTC "
            "to 2026-01-31 11:59 UTC.",
        ),
        (
            an_end(contract.PROMISE_KEPT, 7_200.0, row={"sla_seconds": 120.0}),
            "Kafka lag: payments on shop: promise kept",
            "payments on shop keeps its promise of 2 min again: it was broken from 2026-01-31 "
            "10:30 UTC to 2026-01-31 11:59 UTC; the longest wait was 2 h.",
        ),
        (
            an_end(contract.PROMISE_KEPT, 7_200.0),
            "Kafka lag: payments on shop: promise kept",
            "payments on shop has no promise any more: it was broken from 2026-01-31 10:30 UTC to "
            "2026-01-31 11:59 UTC.",
        ),
        (
            an_end(contract.PROMISE_KEPT, None, row={"sla_seconds": 120.0}),
            "Kafka lag: payments on shop: promise kept",
            "payments on shop keeps its promise of 2 min again: it was broken from 2026-01-31 "
            "10:30 UTC to 2026-01-31 11:59 UTC.",
        ),
        (
            an_end(contract.LOSS_ENDED, None),
            "Kafka lag: payments on shop: loss ended",
            "payments on shop loses no more records: from 2026-01-31 10:30 UTC to "
            "2026-01-31 11:59 UTC retention deleted some that it had not committed.",
        ),
    ],
    ids=[
        *("near", "broken", "loss ended", "averted", "kept", "no promise any more"),
        *("kept, age unknown", "loss ended, number unknown"),
    ],
)
def test_each_trouble_and_its_end_has_a_sentence(
    change: GroupChange, subject: str, line: str
) -> None:
    assert notice(change).subject == subject
    assert notice(change).text.splitlines()[0] == line


def test_a_near_loss_whose_time_is_unknown_now_is_near_all_the_same() -> None:
    change = a_trouble(contract.LOSS_NEAR, contract.WARN, row={"seconds_until_loss": None})

    assert lines_of(change)[0] == "payments on shop is near a loss since 2026-01-31 12:00 UTC."


def test_a_promise_that_may_be_broken_by_any_more_says_so() -> None:
    row = {**PROMISED, "time_lag_method": contract.METHOD_AT_LEAST}

    assert lines_of(a_trouble(contract.PROMISE_BROKEN, row=row))[0].endswith(
        "the oldest unread has waited at least 4 min; its status is OK."
    )


def test_a_group_whose_status_is_ok_again_says_what_is_not() -> None:
    change = a_change(
        kind=contract.RESOLVED,
        status=contract.OK,
        previous_status=contract.WARN,
        row={**PROMISED, **WORST, "held_sla_broken_since": NOON},
    )

    assert lines_of(change)[2] == (
        "Promise broken since 2026-01-31 12:00 UTC: the oldest unread has waited 4 min, promised "
        "are 2 min at most."
    )
    assert len(lines_of(change)) == 4


def test_what_ended_blames_nobody() -> None:
    text = notice(an_end(contract.PROMISE_KEPT, 60.0, row={**PROMISED, **WORST})).text

    assert "Worst:" not in text


def test_what_a_headline_says_is_not_said_again() -> None:
    row = {**PROMISED, "held_sla_broken_since": NOON, "seconds_until_loss": 60.0}
    kinds = [contract.PROMISE_BROKEN, contract.LOSS_NEAR]
    (message,) = build_messages([a_trouble(kind, row=row) for kind in kinds], 100)

    assert "Promise broken" not in message.notice.text
    assert "At risk" not in message.notice.text


def test_all_changes_of_a_group_in_one_run_are_one_message_and_an_event_each() -> None:
    found = [
        a_change(row=LOSING),
        a_trouble(contract.PROMISE_BROKEN, contract.ERR, row=LOSING),
        a_trouble(contract.LOSS_BEGUN, contract.ERR, row=LOSING),
    ]
    (message,) = build_messages(found, 100)
    ids = [change.message_id for change in found]

    assert message.notice.attributes["kind"] == ("loss_begun", "opened", "promise_broken")
    assert message.notice.subject == (
        "Kafka lag ERR: payments on shop: stopped (loss begun, opened, promise broken)"
    )
    assert len([line for line in message.notice.text.splitlines() if "since 2026" in line]) == 3
    assert sorted(event.id for event in message.events) == sorted(ids)
    assert message.id not in ids


def test_a_message_about_one_change_more_is_another_one() -> None:
    """Whoever saw both apart has sent neither of it."""
    both = [a_change(), a_trouble(contract.LOSS_BEGUN, contract.ERR)]
    ids = [build_messages(found, 100)[0].id for found in (both, both[:1], both[1:])]

    assert len(set(ids)) == 3


def test_of_many_changes_with_long_names_the_subject_says_how_many_more() -> None:
    found = [
        a_change("g" * 300),
        *(a_trouble(kind, contract.ERR, group="g" * 300) for kind in ("loss_begun", "loss_near")),
    ]
    (message,) = build_messages([replace(each, cluster="c" * 128) for each in found], 100)

    assert message.notice.subject.endswith("(loss begun and 2 more)")
    assert "g" * 20 in message.notice.subject


def test_what_ended_is_said_before_what_began_anew() -> None:
    found = [a_trouble(contract.LOSS_BEGUN), an_end(contract.LOSS_ENDED, 5)]
    (message,) = build_messages(found, 100)

    assert [json.loads(event.detail)["kind"] for event in message.events] == [
        *("loss_ended", "loss_begun")
    ]


def test_a_group_that_is_gone_says_what_it_was_in() -> None:
    troubles = {"loss": OpenTrouble(NOON, NOON), "sla_broken": OpenTrouble(NOON, NOON)}
    change = a_change(
        kind=contract.GONE,
        status=contract.STATUS_GONE,
        previous_status=contract.ERR,
        troubles=troubles,
        row={"status_reason": contract.GONE},
    )

    assert (
        notice(change)
        .text.splitlines()[0]
        .endswith(
            "This is no recovery. It was ERR and lost records since 2026-01-31 12:00 UTC and broke "
            "its promise since 2026-01-31 12:00 UTC."
        )
    )


def test_events_say_what_the_consumer_does_and_which_troubles_are_open() -> None:
    detail = json.loads(build_event(a_change(row={**LOSING, **PROMISED})).detail)

    assert (detail["worst_status"], detail["sla_seconds"]) == ("stopped", 120.0)
    assert detail["held_loss_since"] == "2026-01-31T12:00:00.000Z"
    assert detail["held_sla_broken_since"] is None


def test_the_event_of_an_end_has_its_beginning() -> None:
    detail = json.loads(build_event(an_end(contract.LOSS_ENDED, 5)).detail)

    assert detail["ended_since"] == "2026-01-31T10:30:00.000Z"
    assert detail["since"] == "2026-01-31T11:59:00.000Z"


def test_a_broken_promise_of_many_groups_is_one_message() -> None:
    found = changes(100, kind=contract.PROMISE_BROKEN, status="OK", previous_status="OK")
    sent = bulk_message(found, groups=1_000).notice

    assert sent.subject == "Kafka lag storm on shop: 100 of 1000 groups (100 promise broken)"
    assert sent.text.splitlines()[1].startswith("- group-00000 promise broken; ")


def test_a_bulk_change_counts_groups_and_not_what_changed_in_them() -> None:
    groups = [f"g{number}" for number in range(9)]
    found = [
        *(a_change(group) for group in groups),
        *(a_trouble(contract.LOSS_BEGUN, contract.ERR, group=group) for group in groups),
    ]

    assert len(build_messages(found, 9)) == 9
    (one,) = build_messages([*found, a_change("g9")], 10)
    assert len(one.events) == 19
    assert "10 of 10 groups on shop changed" in one.notice.text
    assert "- g0 loss begun and opened, ERR after OK; incident" in one.notice.text


def test_subscribers_filter_by_cluster_group_status_owner_and_kind() -> None:
    row = {**BEHIND, "worst_status": contract.SLOW}
    assert notice(a_change(row=row)).attributes == {
        "worst_status": "slow",
        "cluster": "shop",
        "group": "payments",
        "status": "ERR",
        "owner": "team-payments",
        "kind": "opened",
        "page_owners": ("team-payments",),
    }


def test_a_group_that_nobody_owns_has_no_owner() -> None:
    assert "owner" not in notice(a_change(row={"owner": None})).attributes


def test_a_strangers_name_is_a_filter_value_as_it_is_a_dimension() -> None:
    attributes = notice(a_change("zahlung\u20ac\n")).attributes

    assert attributes["group"] == "zahlung%E2%82%AC%0A"


@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=300))
def test_no_name_breaks_subject_or_text(group: str, topic: str, member: str) -> None:
    row = {**WORST, "worst_topic": topic, "worst_member": member}
    sent = notice(a_change(group, row=row))

    assert sent.subject.isascii()
    assert sent.subject.isprintable()
    assert len(sent.subject) < 100
    assert sent.subject.endswith("on shop (opened)")
    assert len(sent.text.splitlines()) == 3
    assert all(line.isprintable() for line in sent.text.splitlines())


def test_a_cluster_with_a_long_name_leaves_room_for_the_group() -> None:
    sent = notice(replace(a_change("g" * 300), cluster="c" * 128))

    assert len(sent.subject) == 99
    assert "g" * 30 in sent.subject


def test_the_documented_example_is_what_is_sent() -> None:
    (example,) = re.findall(r"```json\n(\{.*?\})\n```", DOCUMENT.read_text(), re.DOTALL)
    documented = json.loads(example)

    assert documented["detail"] == json.loads(build_event(a_change(row=ROW)).detail)
    assert documented["source"] == contract.EVENT_SOURCE
    assert documented["detail-type"] == contract.EVENT_DETAIL_TYPE


def test_every_field_is_documented() -> None:
    text = DOCUMENT.read_text()
    detail = json.loads(build_event(a_change(row=ROW)).detail)

    assert [name for name in detail if f"`{name}`" not in text] == []


def test_what_is_unknown_is_null() -> None:
    detail = json.loads(build_event(a_change(row={})).detail)

    assert detail["lag"] is None
    assert detail["worst"] == dict.fromkeys(("topic", "partition", "leader", "member"))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_has_no_word_for_is_null(value: float) -> None:
    detail = json.loads(build_event(a_change(row={"time_lag_seconds": value})).detail)

    assert detail["time_lag_seconds"] is None


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", [name for name, value in ROW.items() if type(value) is float])
def test_a_number_beyond_all_numbers_ends_no_message(name: str, value: float) -> None:
    change = a_change(row={**ROW, name: value})

    assert notice(change).subject == notice(a_change(row=ROW)).subject


def test_a_loss_in_no_time_that_is_a_number_is_not_near() -> None:
    row = {**ROW, "seconds_until_loss": float("nan"), "taken_at": NOON}

    assert not [line for line in lines(row=row) if line.startswith("At risk")]


def test_the_longest_names_that_kafka_takes_fit_into_an_event() -> None:
    longest = "\0" * 32_767
    row = {**ROW, "worst_member": longest, "worst_topic": longest, "owner": longest}

    assert len(build_event(a_change(longest, row=row)).detail.encode()) < 256_000


def changes(count: int, **more: Any) -> list[GroupChange]:
    return [a_change(f"group-{number:05}", **more) for number in range(count)]


def bulk_message(found: list[GroupChange], groups: int | None = None) -> StatusMessage:
    (one,) = build_messages(found, len(found) if groups is None else groups)
    return one


@pytest.mark.parametrize(
    ("changed", "groups", "messages"),
    [
        (10, 20, 1),
        (10, 21, 10),
        (9, 9, 9),
        (11, 22, 1),
        (99, 1_000, 99),
        (100, 1_000, 1),
        (0, 0, 0),
    ],
)
def test_half_of_all_groups_and_ten_at_least_or_a_hundred_are_a_bulk_change(
    changed: int, groups: int, messages: int
) -> None:
    assert len(build_messages(changes(changed), groups)) == messages


def test_a_bulk_change_says_how_many_and_names_the_worst_first() -> None:
    leader = {"worst_topic": "t", "worst_partition": 1, "worst_leader": 4}
    row = {"lag": 9, "owner": "team-a", **leader}
    warned = [a_change("z", status=contract.WARN, row={"lag": 10**6})]
    sent = bulk_message(warned + changes(11, row=row), groups=20).notice

    assert sent.subject == "Kafka lag storm on shop: 12 of 20 groups (11 ERR, 1 WARN)"
    lines = sent.text.splitlines()
    assert lines[0] == (
        "12 of 20 groups on shop changed in the run of 2026-01-31 12:02 UTC: 12 opened."
    )
    assert lines[1] == "Broker 4 leads the worst partition of 11 of them."
    assert lines[2] == (
        "- group-00000 opened, ERR after OK; 9 records behind; t partition 1, led by broker 4, "
        f"no member known; owner team-a; incident {changes(1, row=row)[0].incident_id}"
    )
    assert lines[-1].startswith("- z opened, WARN after OK; 1,000,000 records")


def test_a_broker_that_leads_the_worst_of_few_is_not_named() -> None:
    rows = [{"worst_topic": "t", "worst_partition": 1, "worst_leader": at // 6} for at in range(12)]
    found = [a_change(f"g{at}", row=row) for at, row in enumerate(rows)]

    assert "leads the worst partition of" not in bulk_message(found).notice.text


def test_groups_that_are_well_again_name_no_broker() -> None:
    row = {"worst_topic": "t", "worst_partition": 1, "worst_leader": 4}
    found = changes(
        12, kind=contract.RESOLVED, status=contract.OK, previous_status=contract.ERR, row=row
    )

    assert "roker 4" not in bulk_message(found).notice.text


def test_a_bulk_change_of_thousands_stays_readable_and_within_what_sns_takes() -> None:
    found = [a_change(f"{at:05}-{'n' * 200}", row={"owner": f"owner {at}"}) for at in range(10_000)]
    sent = bulk_message(found).notice

    lines = sent.text.splitlines()
    assert len(lines) == 22
    assert lines[-1] == "and 9,980 more groups"
    assert len(sent.subject) < 100
    size = len(sent.text) + sum(len(json.dumps(each)) for each in sent.attributes.values())
    assert size < 200_000


def test_whoever_filters_by_group_or_owner_hears_of_a_bulk_change() -> None:
    found = [a_change(f"g{at}", row={"owner": "ab"[at % 2]}) for at in range(12)]
    attributes = bulk_message(found).notice.attributes

    assert attributes["owner"] == ("a", "b")
    assert len(attributes["group"]) == 12
    assert (attributes["kind"], attributes["status"]) == (("opened",), ("ERR",))


def test_whoever_filters_by_status_or_kind_hears_of_a_bulk_change() -> None:
    warned = [replace(change, status=contract.WARN) for change in changes(6)]
    failed = [a_change(f"h{at}", kind=contract.WORSE) for at in range(6)]
    found = warned + failed

    attributes = bulk_message(found).notice.attributes

    assert set(attributes["status"]) == {contract.WARN, contract.ERR}
    assert set(attributes["kind"]) == {contract.OPENED, contract.WORSE}


def test_each_line_of_a_bulk_change_has_its_incident() -> None:
    found = changes(12)

    text = bulk_message(found).notice.text

    assert [
        change.incident_id for change in found if f"incident {change.incident_id}" not in text
    ] == []


def test_a_bulk_change_of_groups_that_nobody_owns_has_no_owner() -> None:
    assert "owner" not in bulk_message(changes(12)).notice.attributes


def test_each_group_of_a_bulk_change_has_its_event() -> None:
    found = changes(12)
    message = bulk_message(found)
    details = [json.loads(each.detail) for each in message.events]

    assert [each["incident_id"] for each in details] == [change.incident_id for change in found]
    assert {each["storm_id"] for each in details} == {message.id}


def test_a_bulk_change_sent_again_has_the_same_id() -> None:
    assert bulk_message(changes(12)).id == bulk_message(changes(12)[::-1]).id


def test_messages_come_worst_first() -> None:
    found = [
        a_change("a", kind=contract.RESOLVED, status=contract.OK, previous_status=contract.ERR),
        a_change("b", status=contract.WARN),
        a_change("c", row={"lag": 1}),
        a_change("d", row={"lag": 5}),
        a_change("e", kind=contract.GONE, status=contract.STATUS_GONE),
    ]
    groups = [message.notice.attributes["group"] for message in build_messages(found, 100)]

    assert groups == ["d", "c", "b", "e", "a"]


# Since when, how sure, and what can be done.


@pytest.mark.parametrize(
    ("worst", "more", "says"),
    [
        (contract.FALLING_BEHIND, {}, "Falling behind since about 2026-01-31 12:00 UTC:"),
        (contract.SLOW, {}, "Too slow since 2026-01-31 12:00 UTC or earlier:"),
        (contract.STOPPED, {}, "Stopped since 2026-01-31 12:00 UTC:"),
        (
            contract.STOPPED,
            {"first_seen_ill": True},
            "Stopped since 2026-01-31 12:00 UTC or earlier:",
        ),
    ],
    ids=["estimated", "its oldest record", "seen to begin", "so at first sight"],
)
def test_a_beginning_says_how_sure_it_is(worst: str, more: dict[str, Any], says: str) -> None:
    row = {"worst_status": worst, "worst_status_since": NOON}

    assert any(line.startswith(says) for line in lines(row=row, **more))


def test_a_group_that_was_never_seen_well_is_not_said_to_have_been() -> None:
    assert lines(first_seen_ill=True)[0] == (
        "payments on shop is ERR since 2026-01-31 12:00 UTC, and was never seen OK."
    )


def a_resolved(backlog: Backlog | None = None, **row: Any) -> GroupChange:
    return a_change(
        backlog=backlog,
        kind=contract.RESOLVED,
        status=contract.OK,
        previous_status=contract.ERR,
        since=NOON,
        status_since=NOON - 79 * MINUTE,
        worst_status=contract.STOPPED,
        row=row,
    )


@pytest.mark.parametrize(
    ("row", "catches_up"),
    [
        ({"lag": 600, "time_lag_seconds": 60.0, "drain_seconds": 9.0}, False),
        ({"lag": 601, "time_lag_seconds": 60.1, "drain_seconds": 9.0}, True),
        ({"lag": 600, "produce_rate": 10.0, "drain_seconds": 9.0}, False),
        ({"lag": 601, "produce_rate": 10.0, "drain_seconds": 9.0}, True),
        ({"lag": 601, "time_lag_seconds": 900.0}, False),
    ],
    ids=["a minute old", "older", "a minute's records", "more", "does not shrink"],
)
def test_a_group_that_is_ok_and_far_behind_catches_up(
    row: dict[str, Any], catches_up: bool
) -> None:
    sent = notice(a_resolved(**row))

    again, left = "", ""
    if catches_up:
        again = " again"
        left = ", as it reads faster than is written, with 601 records left to catch up"
    assert sent.text.splitlines()[0] == (
        f"payments on shop is OK{again} since 2026-01-31 12:00 UTC{left}, after ERR for 79 min "
        "(stopped)."
    )
    end = ": 601 records still to read (catching up)" if catches_up else " (resolved)"
    assert sent.subject == f"Kafka lag OK: payments on shop{end}"
    assert ("still to read" in sent.text) is catches_up


@pytest.mark.parametrize(
    ("worst", "records", "catches_up"),
    [
        (contract.STOPPED, 602, True),
        (contract.STALLED, 602, True),
        (contract.STALLED, 601, False),
    ],
)
def test_after_a_stop_a_backlog_that_became_smaller_is_worked_off_whatever_the_rates_say(
    worst: str, records: int, catches_up: bool
) -> None:
    was = Backlog(records, NOON - MINUTE)
    change = vary(a_resolved(was, lag=601, time_lag_seconds=900.0), worst_status=worst)

    assert ("(catching up)" in notice(change).subject) is catches_up


@pytest.mark.parametrize(
    ("skipped", "drain", "catches_up"),
    [(36_020, None, False), (36_020, 9.0, False), (100, None, True), (0, 9.0, True)],
    ids=["all of it", "all, whatever the rates say", "a part", "none"],
)
def test_what_was_skipped_nobody_works_off(
    skipped: int, drain: float | None, catches_up: bool
) -> None:
    row: dict[str, Any] = {"lag": 1_200, "time_lag_seconds": 120.0, "records_skipped": skipped}
    change = a_resolved(Backlog(35_420, NOON - MINUTE), drain_seconds=drain, **row)

    assert ("catching up" in notice(change).subject) is catches_up


def test_a_slowness_that_began_as_a_stop_ended_began_no_earlier() -> None:
    row = {"worst_status": contract.SLOW, "worst_status_since": NOON}

    seen = notice(a_change(status=contract.WARN, since=NOON, row={**row, "status_since": NOON}))
    estimated = notice(a_change(status=contract.WARN, since=NOON, row=row))

    assert "Too slow since 2026-01-31 12:00 UTC: " in seen.text
    assert "Too slow since 2026-01-31 12:00 UTC or earlier: " in estimated.text


@pytest.mark.parametrize(
    ("worst", "first_seen_ill", "was"),
    [
        (contract.STOPPED, False, "it was stopped since 2026-01-31 10:30 UTC, for 90 min"),
        (
            contract.STOPPED,
            True,
            "it was stopped since 2026-01-31 10:30 UTC or earlier, for at least 90 min",
        ),
        (
            contract.FALLING_BEHIND,
            False,
            "it was falling behind since about 2026-01-31 10:30 UTC, for about 90 min",
        ),
        (
            contract.SLOW,
            False,
            "it was too slow since 2026-01-31 10:30 UTC or earlier, for at least 90 min",
        ),
        (contract.NO_MEMBER, False, "it had no member since 2026-01-31 10:30 UTC, for 90 min"),
        (contract.REWOUND, False, "it was rewound since 2026-01-31 10:30 UTC, for 90 min"),
    ],
)
def test_an_end_says_how_long_the_trouble_was_and_not_its_status(
    worst: str, first_seen_ill: bool, was: str
) -> None:
    change = vary(
        a_resolved(lag=0),
        worst_status=worst,
        worst_since=NOON - 90 * MINUTE,
        first_seen_ill=first_seen_ill,
    )

    assert lines_of(change)[0] == f"payments on shop is OK since 2026-01-31 12:00 UTC: {was}."


@pytest.mark.parametrize(("before", "catches_up"), [(602, True), (601, False), (None, False)])
def test_what_was_read_since_shows_that_it_catches_up_before_the_rates_do(
    before: int | None, catches_up: bool
) -> None:
    change = vary(
        a_resolved(lag=601, time_lag_seconds=900.0),
        backlog=None if before is None else Backlog(before, NOON - MINUTE),
    )

    assert ("catching up" in notice(change).subject) is catches_up


def test_a_rewound_group_that_catches_up_was_set_back() -> None:
    change = vary(
        a_resolved(lag=601, time_lag_seconds=61.0, drain_seconds=9.0),
        worst_status=contract.REWOUND,
        worst_since=NOON - 11 * MINUTE,
    )

    assert lines_of(change)[0] == (
        "payments on shop is OK again since 2026-01-31 12:00 UTC, as it reads faster than is "
        "written, with 601 records left to catch up: it was set back at 2026-01-31 11:49 UTC."
    )


PASSED = (
    "Not known: whether the 53,420 records that were unread at 2026-01-31 11:59 UTC were read or "
    "skipped. Its commit passed them within 60 s, at 890/s or faster; compare its results with the "
    "topic."
)
SKIPPED = "Skipped: 53,420 records that it never read, as its offsets were set ahead."
NOT_KNOWN = "Not known: whether it read what was written while its commit was beyond the end."


@pytest.mark.parametrize(
    ("records", "row", "worst", "says"),
    [
        (53_420, {}, contract.STOPPED, [PASSED]),
        (53_420, {"records_skipped": 53_420}, contract.STOPPED, [SKIPPED]),
        (600, {"produce_rate": 10.0}, contract.STOPPED, []),
        (53_420, {"lag": 40_000, "drain_seconds": 9.0}, contract.STOPPED, []),
        (None, {}, contract.STOPPED, []),
        (None, {}, contract.BEYOND_END, [NOT_KNOWN]),
    ],
    ids=[
        *("read or skipped", "seen to skip", "a minute's records", "still there", "not known"),
        "beyond the end",
    ],
)
def test_an_end_says_what_became_of_the_backlog(
    records: int | None, row: dict[str, Any], worst: str, says: list[str]
) -> None:
    change = vary(
        a_resolved(**{"lag": 20, "time_lag_seconds": 2.0, "produce_rate": 10.0, **row}),
        worst_status=worst,
        backlog=None if records is None else Backlog(records, NOON - MINUTE),
    )

    assert lines_of(change)[2:-1] == says


@pytest.mark.parametrize(
    ("consumed", "says"),
    [(9.4, "the backlog grows."), (9.6, "the backlog does not shrink."), (None, "not shrink.")],
    ids=["less is read", "nearly as much", "not known"],
)
def test_a_backlog_grows_where_less_is_read_than_written(consumed: float | None, says: str) -> None:
    row = {"worst_status": contract.FALLING_BEHIND, "produce_rate": 10.0, "consume_rate": consumed}

    assert lines(row=row)[1].endswith(says)


@pytest.mark.parametrize(
    ("drain", "says"),
    [
        (9_000.1, "the backlog shrinks, but working it off would take more than 10 times"),
        (9_000.0, "the backlog shrinks, but only lately fast enough."),
        (None, "more than 10 times"),
    ],
    ids=["longer", "ten times its age", "not known"],
)
def test_a_group_that_is_still_called_slow_is_said_to_be_fast_enough_once_it_is(
    drain: float | None, says: str
) -> None:
    row = {"worst_status": contract.SLOW, "time_lag_seconds": 900.0, "drain_seconds": drain}

    assert says in "\n".join(lines(row=row))


def test_a_time_left_is_until_a_moment() -> None:
    row = {"seconds_until_loss": 3_420.0, "taken_at": NOON + 2 * MINUTE}

    assert (
        "At risk: retention may delete unread records in 57 min, at 2026-01-31 12:59 UTC."
        in lines(row=row)
    )


@pytest.mark.parametrize(("members", "says"), [(1, False), (0, True), (None, True)])
def test_offsets_expire_only_where_no_member_is_left(members: int | None, says: bool) -> None:
    change = a_change(
        kind=contract.GONE,
        status=contract.STATUS_GONE,
        row={"status_reason": contract.GONE, "members": members},
    )

    assert ("or its offsets expired" in lines_of(change)[0]) is says


@pytest.mark.parametrize(
    ("row", "says"),
    [({"lag": 9, "drain_seconds": 9.0}, ", if it keeps its speed. It was"), ({}, ". It was")],
    ids=["catches up", "all is read"],
)
def test_a_loss_that_is_far_only_while_the_group_catches_up_says_so(
    row: dict[str, Any], says: str
) -> None:
    headline = lines_of(an_end(contract.LOSS_AVERTED, None, row=row))[0]

    assert headline.startswith(f"payments on shop is no longer near a loss{says}")


def test_a_broken_promise_has_the_rates_where_nothing_else_is_wrong() -> None:
    row = {**PROMISED, "produce_rate": 10.0, "consume_rate": 5.0}
    change = a_trouble(contract.PROMISE_BROKEN, row=row)

    assert (
        "Rates, averaged over the last minutes: 10/s written to its topics, 5.0/s read."
        in lines_of(change)
    )


def test_the_owner_of_a_partition_of_a_group_that_rebalances_is_one_of_a_moment() -> None:
    row = {**WORST, "rebalancing_share": 0.9}

    assert (
        "Worst: orders partition 7, led by broker 3, owned just then by consumer-1-5f2c."
        in lines(row=row)
    )


@pytest.mark.parametrize(
    ("row", "to_do"),
    [
        (
            {"members": 2, "partitions": 12},
            "add consumers: 2 read 12 partitions; or find the slow step.",
        ),
        (
            {"members": 12, "partitions": 12, "worst_member": "m-1"},
            "more consumers do not help, as each of its 12 partitions has one already; find the "
            "slow step in m-1.",
        ),
        (
            {
                "members": 1,
                "partitions": 1,
                "unusual": True,
                "produce_rate": 77.0,
                "usual_produce_rate": 10.0,
            },
            "ask the producers of its topics why they write 8 times as much; more consumers do not "
            "help, as its only partition has one already; make it faster.",
        ),
        (
            {"unusual": True, "produce_rate": 19.9, "usual_produce_rate": 10.0},
            "add consumers, as many as there are partitions at most, or find the slow step.",
        ),
    ],
    ids=["too few", "enough", "producers first", "not much more"],
)
def test_what_to_do_is_what_can_be_done(row: dict[str, Any], to_do: str) -> None:
    row = {"worst_status": contract.FALLING_BEHIND, **row}

    assert f"To do: {to_do}" in lines(row=row)


def test_the_speed_of_a_rewound_group_is_not_known_yet() -> None:
    row = {"lag": 9, "drain_seconds": 7_200.0, "worst_status": contract.REWOUND}

    assert "Now: 9 records behind." in lines(row=row)


def test_nor_is_it_when_the_group_is_ok_again() -> None:
    change = vary(
        a_resolved(lag=9_000, drain_seconds=7_200.0, time_lag_seconds=600.0),
        worst_status=contract.REWOUND,
    )

    assert lines_of(change)[1] == (
        "Now: 9,000 records still to read, the oldest written 10 min ago."
    )


def readings(*records: int) -> tuple[Backlog, ...]:
    """The backlog in runs a minute apart, the last one two minutes after noon."""
    return tuple(
        Backlog(each, NOON + (3 - len(records) + number) * MINUTE)
        for number, each in enumerate(records)
    )


@pytest.mark.parametrize(
    ("lately", "takes"),
    [
        (readings(15_000, 12_000, 9_000), ", worked off in 3 min at this speed"),
        (readings(60_000, 15_000, 12_000, 9_000), ", worked off in 3 min at this speed"),
        (readings(12_600, 10_800, 9_000), ", worked off in 5 min at this speed"),
        (readings(12_000, 9_000), ""),
        (readings(10_000, 11_000, 9_000), ""),
        (readings(14_000, 10_000, 9_000), ""),
        ((), ""),
    ],
    ids=[
        *("alike", "the last ones", "another speed", "once", "not each time", "unlike"),
        "not known before",
    ],
)
@pytest.mark.parametrize("worst", [contract.REWOUND, contract.FALLING_BEHIND, contract.STOPPED])
def test_a_group_that_is_ok_again_catches_up_at_the_speed_that_was_seen_or_at_none(
    worst: str, lately: tuple[Backlog, ...], takes: str
) -> None:
    change = vary(
        a_resolved(lag=9_000, drain_seconds=7_200.0, time_lag_seconds=600.0),
        worst_status=worst,
        lately=lately,
    )

    assert lines_of(change)[1].removesuffix(".").endswith(f" 10 min{takes}") or (
        lines_of(change)[1].removesuffix(".").endswith(f" 10 min ago{takes}")
    )


@pytest.mark.parametrize(
    ("lately", "says", "to_do"),
    [
        (readings(1_800, 2_100, 2_400), "Rates, averaged", "add consumers"),
        (
            readings(1_800, 2_400, 3_000),
            "Lately: the backlog grew from 1,800 to 3,000 records in 2 min; 10/s are written to "
            "its topics, and nothing was read.",
            "see the member's log",
        ),
        (
            readings(3_000, 2_990, 3_000),
            "Lately: it keeps pace, 3,000 records behind for 2 min; 10/s are written to its "
            "topics.",
            "it reads as fast as is written, and that late",
        ),
        (
            readings(6_000, 4_500, 3_000),
            "Lately: the backlog went from 6,000 to 3,000 records in 2 min; 10/s are written to "
            "its topics.",
            "add consumers",
        ),
        (readings(1_800, 3_000), "Rates, averaged", "add consumers"),
    ],
    ids=["as the rates", "stands still", "keeps pace", "shrinks", "not known"],
)
def test_of_a_group_that_turned_lately_no_averages_are_said(
    lately: tuple[Backlog, ...], says: str, to_do: str
) -> None:
    held = {"held_sla_broken_since": NOON, "produce_rate": 10.0, "consume_rate": 5.0, "members": 1}
    change = a_trouble(contract.PROMISE_BROKEN, row={**PROMISED, **held}, lately=lately)
    found = lines_of(change)

    assert any(line.startswith(says) for line in found)
    assert any(line.startswith(f"To do: {to_do}") for line in found)
    assert any(line.startswith("Rates") for line in found) is says.startswith("Rates")


def test_what_keeps_pace_and_broke_no_promise_is_told_nothing_to_do() -> None:
    row = {"lag": 20, "produce_rate": 10.0, "sla_seconds": 120.0}
    change = an_end(contract.PROMISE_KEPT, 300.0, row=row, lately=readings(20, 20, 20))

    assert "To do" not in notice(change).text


def test_an_end_after_losses_names_them_in_its_subject() -> None:
    row: dict[str, Any] = {"lag": 20, "produce_rate": 10.0}
    resolved = vary(a_resolved(**row), peak=Peak(18_000, NOON, None, False, 89_420))
    lost = an_end(contract.LOSS_ENDED, 89_420, status=contract.OK, row=row)
    both = build_messages([vary(lost, peak=resolved.incident.peak), resolved], 100)[0]

    assert both.notice.subject == (
        "Kafka lag OK: payments on shop: at least 89,420 records lost (loss ended, resolved)"
    )
    assert notice(resolved).subject == (
        "Kafka lag OK: payments on shop: at least 89,420 records lost (resolved)"
    )


SKIP = Skip(36_020, Backlog(35_420, NOON - 21 * MINUTE), Backlog(0, NOON - 20 * MINUTE))


@pytest.mark.parametrize(
    ("backlog", "row", "catches_up"),
    [
        (Backlog(11_400, NOON - MINUTE), {"lag": 20, "produce_rate": 10.0}, False),
        (SKIP.before, {"lag": 1_200, "time_lag_seconds": 120.0}, False),
        (Backlog(11_400, NOON - MINUTE), {"lag": 9_000, "time_lag_seconds": 900.0}, True),
    ],
    ids=["read later", "nothing was unread since", "works off what came since"],
)
def test_a_skip_that_ended_nothing_is_told_with_the_end(
    backlog: Backlog, row: dict[str, Any], catches_up: bool
) -> None:
    change = vary(a_resolved(backlog, **row), skip=SKIP)

    assert [line for line in lines_of(change) if line.startswith("Skipped")] == [
        "Skipped: 36,020 records that it never read, as its offsets were set ahead: 35,420 behind "
        "at 2026-01-31 11:39 UTC, 0 at 2026-01-31 11:40 UTC, and nobody read on then."
    ]
    assert ("Not known: whether the 35,420" in notice(change).text) is False
    assert ("still to read" in notice(change).subject) is catches_up


@pytest.mark.parametrize(
    ("lately", "takes"),
    [((), True), (readings(9_010, 9_040, 9_000), True), (readings(8_000, 9_000), False)],
    ids=["not known", "less than it was", "more than it was"],
)
def test_rates_say_how_long_a_backlog_takes_unless_it_grew(
    lately: tuple[Backlog, ...], takes: bool
) -> None:
    row = {"lag": 9_000, "drain_seconds": 7_200.0}

    assert ("worked off in 2 h" in lines(row=row, lately=lately)[1]) is takes


def test_after_a_turn_for_the_better_no_rates_say_how_long_it_takes() -> None:
    row = {"lag": 9_000, "drain_seconds": 7_200.0}
    change = a_change(
        kind=contract.BETTER, status=contract.WARN, previous_status=contract.ERR, row=row
    )

    assert lines_of(change)[1] == "Now: 9,000 records behind."


CAUGHT_UP = a_change(
    kind=contract.CAUGHT_UP,
    status=contract.OK,
    previous_status=contract.OK,
    since=NOON,
    catching_up=CatchingUp(NOON - 20 * MINUTE, Backlog(20, NOON)),
    worst_status=contract.FALLING_BEHIND,
    worst_since=NOON - 140 * MINUTE,
    peak=Peak(36_000, NOON - 22 * MINUTE, 3_600.0, False, 0),
    row={"lag": 20, "time_lag_seconds": 2.0, "produce_rate": 10.0, **WORST, "runbook_url": "r"},
    lately=readings(3_000, 1_500, 20),
)


def test_a_group_that_caught_up_says_what_it_was_and_how_bad_at_the_most() -> None:
    sent = notice(CAUGHT_UP)

    assert sent.subject == "Kafka lag: payments on shop: caught up"
    assert sent.text.splitlines()[:-1] == [
        "payments on shop has caught up at 2026-01-31 12:00 UTC, OK again since 2026-01-31 11:40 "
        "UTC: it was falling behind since about 2026-01-31 09:40 UTC, for about 2 h.",
        "Now: 20 records behind, the oldest unread for 2 s.",
        "At the most: 36,000 records behind, at 2026-01-31 11:38 UTC; the oldest had waited 60 "
        "min; retention deleted none of them.",
    ]


@pytest.mark.parametrize(
    ("lately", "says"),
    [
        (readings(41_000, 40_000, 20), True),
        (readings(60_000, 40_000, 20), False),
        (readings(40_000, 20), False),
    ],
    ids=["all at once", "as fast as before", "not known"],
)
def test_a_backlog_that_is_gone_all_at_once_was_read_or_skipped(
    lately: tuple[Backlog, ...], says: bool
) -> None:
    change = vary(CAUGHT_UP, lately=lately, since=NOON + 2 * MINUTE)
    line = (
        "Not known: whether the 40,000 records that were unread at 2026-01-31 12:01 UTC were read "
        "or skipped. Its commit passed them within 60 s, at 667/s or faster; compare its results "
        "with the topic."
    )

    assert (line in lines_of(change)) is says


def test_a_backlog_that_stays_is_said_to_stay() -> None:
    row = {"lag": 3_000, "time_lag_seconds": 300.0}

    assert lines_of(replace(CAUGHT_UP, row=row))[0] == (
        "payments on shop no longer catches up: what is left has not become less for half an hour, "
        "and its status is OK since 2026-01-31 11:40 UTC: it was falling behind since about "
        "2026-01-31 09:40 UTC, for about 2 h."
    )


@pytest.mark.parametrize(
    ("peak", "worst", "says"),
    [
        (Peak(601, NOON), contract.STOPPED, "601 records behind, at 2026-01-31 12:00 UTC"),
        (
            Peak(601, NOON, 119.0, True),
            contract.STOPPED,
            "601 records behind, at 2026-01-31 12:00 UTC; the oldest had waited at least 119 s",
        ),
        (
            Peak(601, NOON, 119.0, False, seconds_at=NOON),
            contract.STOPPED,
            "601 records behind, at 2026-01-31 12:00 UTC; the oldest had waited 119 s",
        ),
        (
            Peak(601, NOON, 119.0, False, seconds_at=NOON + MINUTE),
            contract.STOPPED,
            "601 records behind, at 2026-01-31 12:00 UTC; the longest wait was 119 s, at "
            "2026-01-31 12:01 UTC",
        ),
        (
            Peak(601, NOON, 119.0, True, seconds_at=NOON + MINUTE),
            contract.STOPPED,
            "601 records behind, at 2026-01-31 12:00 UTC",
        ),
        (
            Peak(601, NOON, 119.0, False),
            contract.REWOUND,
            "601 records behind, at 2026-01-31 12:00 UTC",
        ),
        (
            Peak(601, NOON, None, False, 3),
            contract.STOPPED,
            "601 records behind, at 2026-01-31 12:00 UTC; not counting at least 3 records that "
            "retention deleted unread",
        ),
        (Peak(600, NOON), contract.STOPPED, None),
        (None, contract.STOPPED, None),
    ],
    ids=[
        *("age not known", "a least age", "an age then", "an age later", "a least age later"),
        *("read again", "more were lost", "a minute's records", "not known"),
    ],
)
def test_an_end_says_how_bad_it_was_at_the_most(
    peak: Peak | None, worst: str, says: str | None
) -> None:
    change = vary(a_resolved(lag=0, produce_rate=10.0), peak=peak, worst_status=worst)
    found = [line for line in lines_of(change) if line.startswith("At the most")]

    assert found == ([] if says is None else [f"At the most: {says}."])


def test_what_is_not_over_is_not_yet_said_to_have_been_so_at_the_most() -> None:
    peak = Peak(9_000, NOON)

    assert "At the most" not in notice(a_change(peak=peak)).text
    assert "At the most" in notice(an_end(contract.PROMISE_KEPT, 60.0, peak=peak)).text


@pytest.mark.parametrize(
    ("before", "row", "says"),
    [
        (7, {"members": 2, "members_hash": 7}, "Passed by its own members: the 53,420 records"),
        (7, {"members": 2, "group_epoch": 7}, "Passed by its own members: the 53,420 records"),
        (7, {"members": 2, "members_hash": 8}, "Not known: whether the 53,420 records"),
        (7, {"members": 0, "members_hash": 7}, "Not known: whether the 53,420 records"),
        (
            7,
            {"members": 2, "members_hash": 7, "group_state": "PreparingRebalance"},
            "Not known: whether the 53,420 records",
        ),
        (None, {"members": 2}, "Not known: whether the 53,420 records"),
    ],
    ids=["the same", "the same epoch", "others", "none now", "rebalances", "not known"],
)
def test_members_that_were_there_all_the_time_have_read_the_backlog_themselves(
    before: int | None, row: dict[str, Any], says: str
) -> None:
    change = a_resolved(Backlog(53_420, NOON - MINUTE, 10.0, before), lag=20, **row)

    assert [line for line in lines_of(change) if line.startswith(says)] != []


@pytest.mark.parametrize(
    ("consume_rate", "says"),
    [
        (10.0, "passed them within 60 s, at 890/s or faster, 89 times as fast as it read before;"),
        (400.0, "passed them within 60 s, at 890/s or faster;"),
        (1e-6, "passed them within 60 s, at 890/s or faster;"),
        (None, "passed them within 60 s, at 890/s or faster;"),
    ],
    ids=["far faster", "not much", "it stood still", "not known"],
)
def test_a_speed_that_nobody_saw_of_it_before_is_said_to_be_that(
    consume_rate: float | None, says: str
) -> None:
    change = a_resolved(Backlog(53_420, NOON - MINUTE, consume_rate), lag=20, produce_rate=10.0)

    assert says in notice(change).text


@pytest.mark.parametrize("worst", [contract.STOPPED, contract.NO_MEMBER, contract.SLOW])
def test_what_was_so_at_first_sight_says_when_that_was(worst: str) -> None:
    row = {"worst_status": worst, "worst_status_since": NOON + 10_000}
    change = a_change(row=row, first_seen_at=NOON, first_seen_ill=True)
    word = {"no_member": "No member", "slow": "Too slow"}.get(worst, "Stopped")

    assert lines_of(change)[1].startswith(
        f"{word} since before 2026-01-31 12:00 UTC, when the group was first seen: "
    )


def test_a_commit_that_nobody_saw_move_is_not_said_to_have_been_seen() -> None:
    evidence = {"last_commit_at": NOON}
    row = {"cause": contract.STOPPED, "cause_evidence": json.dumps(evidence)}

    assert (
        "Cause: Nobody reads: no commit was seen since 2026-01-31 12:00 UTC, when the group was "
        "first seen, and no member owns what is behind."
    ) in lines(row=row, first_seen_at=NOON)


def test_a_cause_with_rates_says_that_they_are_of_when_it_was_found() -> None:
    evidence = {"consume_rate": 3.3, "consume_rate_before": 10.0, "kept_up_at": NOON}
    row = {"cause": contract.CAPACITY_FELL, "cause_evidence": json.dumps(evidence)}

    assert (
        "Cause, with the rates of when it was found: Less is read than before: it reads 3.3/s, and "
        "read 10/s until 2026-01-31 12:00 UTC."
    ) in lines(row=row)


@pytest.mark.parametrize(
    ("evidence", "says"),
    [
        ({"topic_was": "made_anew"}, "To do: stop the group and set its offsets anew"),
        ({"topic_was": "cut"}, "To do: ask whether the topic was deleted and made anew; if so,"),
        ({}, "To do: ask whether the topic was deleted and made anew; if so,"),
    ],
)
def test_of_a_topic_that_was_made_anew_nobody_need_ask(evidence: dict[str, Any], says: str) -> None:
    row = {
        "worst_status": contract.BEYOND_END,
        "cause": contract.OFFSETS_RESET,
        "cause_evidence": json.dumps(evidence),
    }

    assert any(line.startswith(says) for line in lines(row=row))
    asks = "was the topic made anew?" in notice(a_change(row=row)).text
    assert asks is (evidence == {})


def test_all_that_was_written_while_a_commit_was_beyond_the_end_is_a_number() -> None:
    change = vary(
        a_resolved(lag=20, produce_rate=10.0),
        worst_status=contract.BEYOND_END,
        worst_since=NOON - 55 * MINUTE,
    )

    assert (
        "Not known: whether it read the records (about 33,000, at 10/s) that were written while "
        "its commit was beyond the end."
    ) in lines_of(change)


def test_a_group_that_rebalanced_all_the_time_says_so_in_the_end() -> None:
    change = a_resolved(lag=0, rebalancing_share=0.9)

    assert lines_of(change)[0].endswith("; it rebalanced all the time.")


@pytest.mark.parametrize(
    ("partitions", "says"),
    [
        (1, "399,380 records are read a second time; of these 368,180 are still to come."),
        (2, "368,180 records to read again, up to where it was before."),
    ],
    ids=["one partition", "of others the evidence says nothing"],
)
def test_a_rewind_costs_all_that_it_went_back_over(partitions: int, says: str) -> None:
    evidence = {
        "committed_offset": 9_927_000,
        "rewound_from": 10_326_380,
        "partitions": partitions,
    }
    row = {
        "worst_status": contract.REWOUND,
        "records_rewound": 368_180,
        "cause": contract.OFFSETS_RESET,
        "cause_evidence": json.dumps(evidence),
    }

    assert f"Cost: {says}" in lines(row=row)


def test_two_changes_are_both_in_the_subject_of_a_group_with_a_short_name() -> None:
    row: dict[str, Any] = {"lag": 40_800, "time_lag_seconds": 4_080.0, "drain_seconds": 2_460.0}
    found = [
        an_end(contract.LOSS_AVERTED, 0, group="clicks", row=row),
        replace(a_resolved(**row), group="clicks"),
    ]
    (message,) = build_messages(found, 100)

    assert message.notice.subject == (
        "Kafka lag OK: clicks on shop: 40,800 records still to read (loss averted, catching up)"
    )


@pytest.mark.parametrize(("records", "says"), [(370_000, True), (None, False)])
def test_a_rewind_costs_the_records_that_are_read_again(records: int | None, says: bool) -> None:
    row = {"worst_status": contract.REWOUND, "records_rewound": records}
    cost = "Cost: 370,000 records to read again, up to where it was before."

    assert (cost in lines(row=row)) == says


def test_a_commit_beyond_the_end_costs_all_that_is_written() -> None:
    assert "Cost: it reads nothing of what is written now." in lines(
        row={"worst_status": contract.BEYOND_END}
    )


def test_a_group_that_rebalances_and_moves_says_what_else_it_does() -> None:
    row = {"worst_status": contract.FALLING_BEHIND, "rebalancing_share": 0.9}

    assert lines(row=row)[1] == (
        "Rebalancing all the time. Falling behind: the backlog does not shrink."
    )


def test_a_group_that_rebalances_says_so_before_what_follows_from_it() -> None:
    row = {
        "worst_status": contract.STALLED,
        "worst_status_since": NOON,
        "worst_member": "m-673",
        "rebalancing_share": 0.9,
    }

    assert lines(row=row)[1] == (
        "Rebalancing all the time: it commits nothing since 2026-01-31 12:00 UTC (stalled)."
    )
    assert not any(line.startswith("Stalled") for line in lines(row=row))


@pytest.mark.parametrize(("most", "says"), [(0, True), (5, False), (None, False)])
def test_a_loss_that_did_not_come_is_said_only_where_it_is_known(
    most: int | None, says: bool
) -> None:
    headline = lines_of(an_end(contract.LOSS_AVERTED, most))[0]

    assert headline.endswith("Nothing was lost.") == says


@pytest.mark.parametrize(
    ("method", "age"),
    [(contract.METHOD_RECORD_TIME, "5 min"), (contract.METHOD_AT_LEAST, "at least 4 min")],
    ids=["rounded", "a bound is cut"],
)
def test_an_age_is_rounded_unless_it_may_be_longer(method: str, age: str) -> None:
    row = {"time_lag_seconds": 299.0, "time_lag_method": method}

    assert f"Now: the oldest unread for {age}." in lines(row=row)


UNWATCHED = a_change(
    kind=contract.GONE,
    status=contract.STATUS_GONE,
    previous_status=contract.ERR,
    worst_status=contract.STALLED,
    row={"status_reason": contract.TOPIC_UNWATCHED, "worst_topic": "geo"},
)


@pytest.mark.parametrize("reason", [contract.UNWATCHED, contract.TOPIC_UNWATCHED])
def test_what_is_no_longer_watched_is_not_called_gone(reason: str) -> None:
    change = replace(UNWATCHED, row={"status_reason": reason})
    each = [replace(change, group=f"g{at}") for at in range(12)]
    bulk = bulk_message(each).notice

    assert notice(change).subject == "Kafka lag: payments on shop: no longer watched"
    assert bulk.subject == "Kafka lag storm on shop: 12 of 12 groups (12 no longer watched)"
    assert bulk.text.splitlines()[0].endswith(": 12 no longer watched.")
    assert "- g0 no longer watched, last known ERR; " in bulk.text
    assert notice(change).attributes["status"] == contract.STATUS_GONE


def test_who_is_no_longer_watched_says_what_is_not_known() -> None:
    assert lines_of(UNWATCHED)[0] == (
        "payments on shop is no longer watched: brokers have shown the reporter nothing of topic "
        "geo since 2026-01-01 12:00 UTC (30 days). Last known: ERR, stalled; whether it recovered "
        "is unknown."
    )
    assert lines_of(UNWATCHED)[1:] == [
        "To do: see whether the reporter may Describe topic geo, and allow it; or name it in "
        "topics.deny of the configuration.",
        f"Incident {UNWATCHED.incident_id} given up at 2026-01-31 12:02 UTC.",
    ]


@pytest.mark.parametrize(
    ("row", "to_do"),
    [
        (
            {"status_reason": contract.UNWATCHED},
            "the group, and allow it; or name it in groups.deny",
        ),
        (
            {"status_reason": contract.TOPIC_UNWATCHED},
            "one of its topics, and allow it; or name it in topics.deny",
        ),
    ],
    ids=["group", "a topic without a name"],
)
def test_who_is_no_longer_watched_says_how_it_is_again(row: dict[str, Any], to_do: str) -> None:
    (line,) = [line for line in lines_of(replace(UNWATCHED, row=row)) if line.startswith("To do: ")]

    assert line == f"To do: see whether the reporter may Describe {to_do} of the configuration."
