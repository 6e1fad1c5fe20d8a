# SPDX-License-Identifier: Apache-2.0
"""Messages to people and machines about one change, and about many at once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.contract.ids import incident_id
from kafka_lag.notify.changes import TROUBLES, GroupChange
from kafka_lag.notify.messages import Notice, StatusMessage, build_event, build_messages
from tests.builders import MINUTE, NOON
from tests.functions.notify.builders import a_change, a_row, an_incident
from tests.golden import Golden, write_once

DOCS = Path(__file__).parents[3] / "docs"
WORST: dict[str, Any] = {
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
ROW = a_row(
    "payments",
    contract.ERR,
    **WORST,
    owner="team-payments",
    runbook_url="https://wiki.example.com/runbooks/payments",
    lag=12_345,
    max_lag=9_800,
    time_lag_seconds=760.0,
    time_lag_error_seconds=1.0,
    time_lag_method=contract.METHOD_CARRIED,
    seconds_until_loss=contract.NO_LOSS_SECONDS,
    records_lost=0,
    members=4,
    partitions=12,
    partitions_unknown=0,
    complete=1.0,
    worst_status=contract.STALLED,
    worst_status_since=NOON - 11 * MINUTE,
    unusual=False,
    sla_seconds=900.0,
    incident_id=incident_id("shop", "payments", NOON - 11 * MINUTE),
    incident_since=NOON - 11 * MINUTE,
    incident_from=NOON - 11 * MINUTE,
    incident_peak_lag=12_345,
    incident_peak_time_lag=760.0,
    incident_lost=0,
    cause=contract.STUCK_RECORD,
    cause_since=NOON - 11 * MINUTE,
    cause_evidence=json.dumps(
        {
            "topic": "orders",
            "partition": 7,
            "member": "consumer-1-5f2c",
            "offset": 98_213,
            "stuck_since": NOON - 11 * MINUTE,
            "partitions_moving": 11,
        }
    ),
)
# A group whose member hangs, on a topic that is not kept for long.
HANGING: dict[str, Any] = {
    **WORST,
    "lag": 12_345,
    "time_lag_seconds": 860.0,
    "owner": "team-payments",
    "seconds_until_loss": 18_720.0,
    "worst_status": contract.STALLED,
    "worst_status_since": NOON - 11 * MINUTE,
}
LOSING: dict[str, Any] = {
    **WORST,
    "records_lost": 1_220,
    "worst_status": contract.STOPPED,
    "worst_member": None,
    "members": 0,
    "held_loss_since": NOON,
    "seconds_until_loss": 0.0,
}
PROMISED: dict[str, Any] = {"sla_seconds": 120.0, "time_lag_seconds": 240.0, "lag": 3_000}


def notice(*changes: GroupChange) -> Notice:
    (message,) = build_messages(changes, 100)
    return message.notice


def a_trouble(kind: str, status: str = contract.OK, **more: Any) -> GroupChange:
    return a_change(kind=kind, status=status, previous_status=status, **more)


def an_end(kind: str, **more: Any) -> GroupChange:
    """The end of a trouble that lasted from 10:30 to 11:59, with its incident."""
    (held_since,) = (each.held_since for each in TROUBLES if each.ended == kind)
    before = {held_since: NOON - 90 * MINUTE}
    return a_trouble(kind, since=NOON - MINUTE, before=before, **more)


def gone(reason: str | None = contract.GONE, **row: Any) -> GroupChange:
    return a_change(
        kind=contract.GONE,
        status=contract.STATUS_GONE,
        previous_status=contract.WARN,
        row={"status_reason": reason, **row},
        before=row,
    )


DONE: dict[str, Any] = {"lag": 0, "incident_until": NOON}


def resolved(worst: str | None = contract.STOPPED, **row: Any) -> GroupChange:
    """OK at noon, 79 minutes after the consumer did something else."""
    did = {"worst_status": worst, "worst_status_since": NOON - 79 * MINUTE} if worst else {}
    return a_change(
        kind=contract.RESOLVED,
        status=contract.OK,
        previous_status=contract.ERR,
        row={**an_incident("payments", contract.OK, **did), **row},
    )


CAUGHT_UP = a_change(
    kind=contract.CAUGHT_UP,
    status=contract.OK,
    previous_status=contract.OK,
    row={
        **an_incident(
            "payments",
            contract.OK,
            until=NOON,
            worst_status=contract.FALLING_BEHIND,
            worst_status_since=NOON - 140 * MINUTE,
            peak_lag=36_000,
            peak_lag_at=NOON - 22 * MINUTE,
            peak_time_lag=3_600.0,
            lost=0,
        ),
        "lag": 20,
        "time_lag_seconds": 2.0,
        "produce_rate": 10.0,
        **WORST,
        "runbook_url": "r",
        "held_since": NOON - 20 * MINUTE,
    },
)


def cause(name: str, status: str | None, **evidence: Any) -> dict[str, Any]:
    known = {"cause": name, "cause_evidence": json.dumps(evidence)}
    return {"consumer_group": "payments", "worst_status": status, **known}


STOPPED, STALLED, SLOW = contract.STOPPED, contract.STALLED, contract.SLOW
BEYOND_END, REWOUND, FALLING = contract.BEYOND_END, contract.REWOUND, contract.FALLING_BEHIND
AT_LEAST: dict[str, Any] = {"time_lag_method": contract.METHOD_AT_LEAST}
FALLS: dict[str, Any] = {"worst_status": FALLING}
SLOWLY: dict[str, Any] = {"worst_status": SLOW, "time_lag_seconds": 900.0}
FLOODED: dict[str, Any] = {**FALLS, "unusual": True, "usual_produce_rate": 10.0}
OF_OLD: dict[str, Any] = {"lag": 20, "time_lag_seconds": 2.0, "produce_rate": 10.0}
LEFT: dict[str, Any] = {"lag": 601, "time_lag_seconds": 900.0}
LATE: dict[str, Any] = {"lag": 9_000, "drain_seconds": 7_200.0, "time_lag_seconds": 600.0}
RATES: dict[str, Any] = {"produce_rate": 10.0, "consume_rate": 5.0}
GROWS: dict[str, Any] = {"trend": contract.GROWING, "lags_lately": (1.0, 2.0, 3.0, 4.0, 5.0)}
SHRINKS: dict[str, Any] = {"trend": contract.SHRINKING, "lags_lately": (9e3, 8e3, 7e3, 6e3, 5e3)}
STEADY: dict[str, Any] = {"trend": contract.STEADY, "lags_lately": (5.0, 4.0, 5.0, 4.0, 5.0)}

# Rows of a group that is ERR since noon.
ROWS: dict[str, dict[str, Any]] = {
    "nothing is known": dict.fromkeys(contract.COLUMNS[contract.GROUPS]),
    "no loss in sight": {"seconds_until_loss": contract.NO_LOSS_SECONDS},
    "a loss in no time that is a number": {"seconds_until_loss": float("nan"), "taken_at": NOON},
    "a loss at once": {"seconds_until_loss": 0.0},
    "a loss until a moment": {"seconds_until_loss": 3_420.0, "taken_at": NOON + 2 * MINUTE},
    "a loss near of two topics": {**WORST, "seconds_until_loss": 60.0, "topics": 2},
    "lost": {"records_lost": 3},
    "lost since, and more at once": {
        "records_lost": 3,
        "incident_lost": 7,
        "held_loss_since": NOON,
        "seconds_until_loss": 0.0,
    },
    "promise broken": {"held_sla_broken_since": NOON, "sla_seconds": 60.0, **SLOWLY},
    "beyond the end, in a lag of 0": {"lag": 0, "worst_status": BEYOND_END},
    "the topic made anew": cause(contract.OFFSETS_RESET, BEYOND_END, topic_was="made_anew"),
    "the topic cut": cause(contract.OFFSETS_RESET, BEYOND_END, topic_was="cut"),
    "the topic made anew, or cut": cause(contract.OFFSETS_RESET, BEYOND_END),
    "no member": {"worst_status": contract.NO_MEMBER},
    "no run saw it keep up": {
        "worst_status": STOPPED,
        "worst_status_since": NOON,
        "kept_up_at": None,
    },
    "stopped since": {"worst_status": STOPPED, "worst_status_since": NOON},
    "slow since": {"worst_status": SLOW, "worst_status_since": NOON},
    "slow since a stop ended": {
        "worst_status": SLOW,
        "worst_status_since": NOON,
        "status_since": NOON,
    },
    "slow, with rates": {"worst_status": SLOW, "produce_rate": 10.0, "consume_rate": 10.4},
    "slow, ten times its age": {**SLOWLY, "drain_seconds": 9_000.0},
    "slow, longer": {**SLOWLY, "drain_seconds": 9_000.1},
    "falling behind since": {**FALLS, "worst_status_since": NOON},
    "falling behind, the backlog grows": {**FALLS, **RATES, **GROWS},
    "falling behind, the backlog has turned": {**FALLS, **RATES, **SHRINKS},
    "falling behind, it keeps pace": {**FALLS, **RATES, **STEADY},
    "of its members nothing is known": {**FALLS, "partitions": 12},
    "two of its members": {**FALLS, "members": 2, "partitions": 12},
    "all of its members": {**FALLS, "members": 12, "partitions": 12, "worst_member": "m-1"},
    "flooded": {**FLOODED, "produce_rate": 77.0, "members": 1, "partitions": 1},
    "written to not much more": {**FLOODED, "produce_rate": 19.9},
    "unlike": {"unusual": True},
    "unlike, with what is usual": {
        "unusual": True,
        "usual_lag": 20.0,
        "usual_time_lag": 5.0,
        "usual_produce_rate": 10.0,
        "produce_rate": 80.0,
    },
    "worked off in two hours": {**LATE, **SHRINKS},
    "of no speed yet": LATE,
    "one record": {"lag": 1, "max_lag": 1},
    "at least two hours": {"time_lag_seconds": 7_200.0, **AT_LEAST},
    "an age is rounded": {"time_lag_seconds": 299.0},
    "a bound is cut": {"time_lag_seconds": 299.0, **AT_LEAST},
    "nobody reads the worst": {**WORST, "worst_member": None, "members": 0},
    "unavailable": {
        **cause(
            contract.UNAVAILABLE,
            contract.UNAVAILABLE,
            topic="orders",
            partition=3,
            last_read_at=NOON,
            partitions_without_leader=2,
            partitions_of_group=6,
        ),
        **WORST,
    },
    "stalled as all members left": {**HANGING, "members": 0, "worst_member": None},
    "nobody is known to": {"worst_topic": "t", "worst_partition": 0},
    "a runbook": {"runbook_url": "https://wiki.example.com/r?g=1#stopped"},
    "not read": {"partitions_unknown": 1},
    "a transaction, and a promise": {**HELD_UP, "held_sla_broken_since": NOON},
    "rebalancing": {**WORST, "rebalancing_share": 0.6},
    "rebalancing, stalled": {
        "worst_status": STALLED,
        "worst_status_since": NOON,
        "rebalancing_share": 0.9,
    },
    "rebalancing, falling behind": {**FALLS, "rebalancing_share": 0.9},
    "rewound, of no speed yet": {"lag": 9, "drain_seconds": 7_200.0, "worst_status": REWOUND},
    "rewound, of several partitions": {
        **cause(contract.OFFSETS_RESET, REWOUND, committed_offset=9, rewound_from=99, partitions=2),
        "records_rewound": 70,
    },
    "rates when a cause was found": cause(
        contract.CAPACITY_FELL, None, consume_rate=3.3, consume_rate_before=10.0, kept_up_at=NOON
    ),
    "names of strangers": {
        **HANGING,
        "worst_topic": "a\nb",
        "worst_member": "<!channel> *now* [x](http://x) \u202e",
        "owner": "o\r`~",
        "runbook_url": "https://w/\nr",
    },
}


def changes_of_all_kinds() -> Iterator[tuple[str, tuple[GroupChange, ...]]]:
    """Titles, and what changed in one run."""
    for title, row in ROWS.items():
        yield title, (a_change(row=row),)
    for title, change in {
        "opened": a_change(row=HANGING),
        "better": a_change(kind=contract.BETTER, status=contract.WARN, row=LATE),
        "loss begun": a_trouble(contract.LOSS_BEGUN, contract.ERR, row=LOSING),
        "loss begun, number unknown": a_trouble(contract.LOSS_BEGUN, contract.ERR),
        "loss near": a_trouble(contract.LOSS_NEAR, "WARN", row={"seconds_until_loss": 3_420.0}),
        "loss near, at a time unknown now": a_trouble(contract.LOSS_NEAR, contract.WARN),
        "loss ended": an_end(contract.LOSS_ENDED, row={"incident_lost": 383_938}),
        "loss ended, number unknown": an_end(contract.LOSS_ENDED),
        "loss averted": an_end(contract.LOSS_AVERTED, status=contract.WARN),
        "loss averted, nothing lost": an_end(contract.LOSS_AVERTED, row={"incident_lost": 0}),
        "loss averted as it catches up": an_end(
            contract.LOSS_AVERTED, row={"lag": 9, "drain_seconds": 9.0}
        ),
        "SLA broken": a_trouble(contract.PROMISE_BROKEN, row={**PROMISED, **RATES}),
        "SLA broken by any more": a_trouble(contract.PROMISE_BROKEN, row={**PROMISED, **AT_LEAST}),
        "SLA kept": an_end(
            contract.PROMISE_KEPT,
            row={**PROMISED, **WORST, "incident_peak_time_lag": 7_200.0},
        ),
        "SLA kept, age unknown": an_end(contract.PROMISE_KEPT, row={"sla_seconds": 9.0}),
        "no SLA any more": an_end(contract.PROMISE_KEPT),
        "gone": gone(lag=1, owner="team-payments", taken_at=NOON - MINUTE),
        "gone with a member": gone(members=1),
        "gone in troubles": gone(held_loss_since=NOON, held_sla_broken_since=NOON),
        "in no run any more": gone(None, lag=7),
        "unwatched": gone(contract.UNWATCHED),
        "topic unwatched": gone(
            contract.TOPIC_UNWATCHED, worst_topic="geo", incident_worst_status="stalled"
        ),
        "a topic without a name": gone(contract.TOPIC_UNWATCHED),
        "skipped": a_trouble(
            contract.SKIPPED, row={"records_skipped": 9, "skip_reason": "set_ahead"}
        ),
        "read or skipped": a_trouble(
            contract.SKIPPED, row={"records_skipped": 9, "skip_reason": "read_or_skipped"}
        ),
        "caught up": CAUGHT_UP,
        "caught up, what it did unknown": a_change(kind="caught_up", status="OK", row=DONE),
    }.items():
        yield title, (change,)
    for title, change in ENDS.items():
        yield f"resolved, {title}", (change,)
    for kinds in (
        [a_trouble("loss_begun"), an_end(contract.LOSS_ENDED)],
        [a_trouble(kind, row={**LOSING, **PROMISED}) for kind in ("promise_broken", "loss_near")],
        [a_change(row=LOSING), a_trouble("loss_begun", "ERR", row=LOSING)],
        [
            replace(each, row={**each.row, **DONE, "incident_lost": 89_420})
            for each in (an_end(contract.LOSS_ENDED), resolved())
        ],
        [
            replace(each, group="clicks", row={**each.row, **LATE})
            for each in (an_end("loss_averted"), resolved())
        ],
    ):
        yield " and ".join(each.kind for each in kinds), tuple(kinds)


PEAK: dict[str, Any] = {"incident_peak_lag": 601, "incident_peak_lag_at": NOON - MINUTE}
ENDS = {
    "nothing left": resolved(**DONE, **WORST, runbook_url="r"),
    "a backlog left": resolved(**LATE, **SHRINKS),
    "a backlog left of a number not known": resolved(),
    **{
        f"after {worst}": resolved(worst, **DONE)
        for worst in (None, FALLING, SLOW, contract.NO_MEMBER, REWOUND)
    },
    "no run saw it keep up": resolved(**DONE, kept_up_at=None),
    "skipped": resolved(**DONE, incident_skipped=36_020),
    "skipped just now": resolved(**DONE, records_skipped=53_420, skip_reason="set_ahead"),
    "read or skipped": resolved(**DONE, records_skipped=53_420, skip_reason="read_or_skipped"),
    "cut": resolved(BEYOND_END, **DONE, records_skipped=50, skip_reason="truncated"),
    "beyond the end": resolved(BEYOND_END, **DONE),
    "beyond the end, written to": resolved(BEYOND_END, **DONE, produce_rate=10.0),
    "an SLA still broken": resolved(
        None, **PROMISED, **WORST, held_sla_broken_since=NOON, produce_rate=1.0
    ),
    "it rebalanced": resolved(**DONE, rebalancing_share=0.9),
    "at the most": resolved(**DONE, **PEAK, incident_peak_time_lag=119.0, incident_lost=0),
    "at the most, of an age not known": resolved(**DONE, **PEAK),
    "at the most, but for what was lost": resolved(**DONE, **PEAK, incident_lost=3),
    "at the most, a minute's records": resolved(**DONE, **PEAK, produce_rate=10.1),
    "at the most, read again": resolved(REWOUND, **DONE, **PEAK, incident_peak_time_lag=119.0),
}


def test_what_people_read_of_each_change(golden: Golden) -> None:
    plain = [notice(a_change()), notice(resolved(**DONE))]
    said = {line for each in plain for line in (each.subject, *each.text.splitlines())}
    cases = [(each.subject, each.text.splitlines()) for each in plain]
    for title, changes in changes_of_all_kinds():
        sent = notice(*changes)
        lines = [*([] if title in ROWS else [sent.subject]), *sent.text.splitlines()]
        cases.append((title, [line for line in lines if line not in said]))
    for title, bulk in bulk_notices():
        first, *lines = bulk.text.splitlines()
        cases.append((title, [bulk.subject, first, *lines[:3], *lines[-1:]]))

    golden.holds("messages.txt", write_once(cases))


def bulk_notices() -> Iterator[tuple[str, Notice]]:
    row: dict[str, Any] = {"lag": 9, "owner": "team-a", "worst_topic": "t", "worst_partition": 1}
    worst = changes(10, row={**row, "worst_leader": 4})
    mixed = [
        a_change("z", status=contract.WARN, row={"lag": 10**6, "worst_status": SLOW}),
        *(replace(each, kind=contract.LOSS_BEGUN) for each in worst[:1]),
        *worst,
    ]
    yield "a bulk change", bulk_message(mixed, 20).notice
    found = changes(100, kind=contract.PROMISE_BROKEN, status="OK", previous_status="OK")
    yield "a hundred broken promises", bulk_message(found, 1_000).notice
    leads = [{**row, "worst_leader": int(at > 3)} for at in range(10)]
    found = [a_change(f"g{at}", row=each) for at, each in enumerate(leads)]
    lines = bulk_message([*found[:6], *[replace(each, kind="resolved") for each in found[6:]]])
    yield "a broker that leads most of what did not end", lines.notice
    found = [
        replace(gone(contract.UNWATCHED, worst_leader=at // 5), group=f"g{at}") for at in range(10)
    ]
    yield "unwatched at once", bulk_message(found).notice


def test_the_documented_event_is_what_is_sent() -> None:
    api = (DOCS / "api.md").read_text()
    (example,) = re.findall(r"```json\n(\{.*?\})\n```", api, re.DOTALL)
    documented = json.loads(example)
    detail = json.loads(build_event(a_change(row=ROW)).detail)

    assert documented["detail"] == detail
    assert documented["source"] == contract.EVENT_SOURCE
    assert documented["detail-type"] == contract.EVENT_DETAIL_TYPE


def test_the_documented_message_is_about_the_same_group() -> None:
    (example,) = re.findall(r"```text\n(.*?)\n```", (DOCS / "views.md").read_text(), re.DOTALL)
    sent = notice(a_change(row=ROW))

    assert example == f"{sent.subject}\n\n{sent.text}"


def test_an_event_has_beginnings_and_null_for_what_is_unknown_or_no_number() -> None:
    losing = json.loads(build_event(a_change(row={**LOSING, "lag": float("inf")})).detail)
    ended = json.loads(build_event(an_end(contract.LOSS_ENDED)).detail)

    assert losing["held_loss_since"] == "2026-01-31T12:00:00.000Z"
    assert losing["held_sla_broken_since"] is losing["lag"] is losing["complete"] is None
    assert ended["ended_since"] == "2026-01-31T10:30:00.000Z"
    assert ended["since"] == "2026-01-31T11:59:00.000Z"
    assert ended["worst"] == dict.fromkeys(("topic", "partition", "leader", "member"))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_beyond_all_numbers_ends_no_message(value: float) -> None:
    names = [name for name, each in ROW.items() if type(each) is float]
    subjects = {notice(a_change(row={**ROW, name: value})).subject for name in names}

    assert subjects == {notice(a_change(row=ROW)).subject}


def test_all_changes_of_a_group_in_one_run_are_one_message_and_an_event_each() -> None:
    found = [a_change(), *(a_trouble(each, "ERR") for each in ("promise_broken", "loss_begun"))]
    (message,) = build_messages(found, 100)
    ids = [change.message_id for change in found]

    assert message.notice.attributes["kind"] == ("loss_begun", "opened", "promise_broken")
    assert sorted(event.id for event in message.events) == sorted(ids)
    # Whoever saw some of them apart has sent neither of it.
    others = {build_messages(each, 100)[0].id for each in (found[:2], found[1:])}
    assert len({message.id, *others, *ids}) == 6


def test_subscribers_filter_by_cluster_group_status_owner_and_kind() -> None:
    row = {"owner": "team-payments", "worst_status": contract.SLOW}
    assert notice(a_change("zahlung\u20ac\n", row=row)).attributes == {
        "worst_status": "slow",
        "cluster": "shop",
        "group": "zahlung%E2%82%AC%0A",
        "status": "ERR",
        "owner": "team-payments",
        "kind": "opened",
        "page_owners": ("team-payments",),
    }
    assert "owner" not in notice(a_change(row={"owner": None})).attributes
    assert notice(gone(contract.UNWATCHED)).attributes["status"] == contract.STATUS_GONE


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


def test_long_names_leave_room_for_each_other_in_a_subject_and_fit_into_an_event() -> None:
    longest = "\0" * 32_767
    row = {**ROW, "worst_member": longest, "worst_topic": longest, "owner": longest}
    long = replace(a_change("g" * 300), cluster="c" * 128)
    kinds = [contract.LOSS_BEGUN, contract.LOSS_NEAR]
    several = notice(long, *(replace(long, kind=kind) for kind in kinds)).subject

    assert len(build_event(a_change(longest, row=row)).detail.encode()) < 256_000
    assert len(notice(long).subject) == 99
    assert "g" * 30 in notice(long).subject
    assert several.endswith("(loss begun and 2 more)")
    assert "g" * 20 in several


def changes(count: int, **more: Any) -> list[GroupChange]:
    return [a_change(f"group-{number:05}", **more) for number in range(count)]


def bulk_message(found: list[GroupChange], groups: int | None = None) -> StatusMessage:
    (one,) = build_messages(found, len(found) if groups is None else groups)
    return one


@pytest.mark.parametrize(
    ("changed", "groups", "messages"),
    [(10, 20, 1), (10, 21, 10), (9, 9, 9), (99, 1_000, 99), (100, 1_000, 1), (0, 0, 0)],
)
def test_half_of_all_groups_and_ten_at_least_or_a_hundred_are_a_bulk_change(
    changed: int, groups: int, messages: int
) -> None:
    found = changes(changed)
    # Groups are counted, and not what changed in them.
    found += [replace(each, kind=contract.LOSS_BEGUN) for each in found]

    assert len(build_messages(found, groups)) == messages


def test_a_bulk_change_of_thousands_stays_readable_and_within_what_sns_takes() -> None:
    found = [a_change(f"{at:05}-{'n' * 200}", row={"owner": f"owner {at}"}) for at in range(4_000)]
    sent = bulk_message(found).notice

    assert len(sent.text.splitlines()) == 22
    assert sent.text.splitlines()[-1] == "and 3,980 more groups"
    assert len(sent.subject) < 100
    size = len(sent.text) + sum(len(json.dumps(each)) for each in sent.attributes.values())
    assert 100_000 < size < 200_000


def test_whoever_filters_by_any_attribute_hears_of_a_bulk_change() -> None:
    found = [a_change(f"g{at}", row={"owner": "ab"[at % 2], **FALLS}) for at in range(10)]
    found[0] = replace(found[0], status=contract.WARN)
    found[1] = replace(found[1], kind=contract.WORSE)

    attributes = bulk_message(found).notice.attributes

    assert {name: set(values) for name, values in attributes.items() if name != "cluster"} == {
        "owner": {"a", "b"},
        "group": {f"g{at}" for at in range(10)},
        "status": {contract.WARN, contract.ERR},
        "kind": {contract.OPENED, contract.WORSE},
        "worst_status": {contract.FALLING_BEHIND},
        "page_owners": {"a", "b"},
    }
    assert "owner" not in bulk_message(changes(12)).notice.attributes


def test_each_group_of_a_bulk_change_has_its_event_and_sent_again_it_has_the_same_id() -> None:
    found = changes(12)
    message = bulk_message(found)
    details = [json.loads(each.detail) for each in message.events]

    assert [each["incident_id"] for each in details] == [change.incident_id for change in found]
    assert {each["storm_id"] for each in details} == {message.id}
    assert bulk_message(found[::-1]).id == message.id


def test_messages_come_worst_first() -> None:
    found = [
        replace(resolved(), group="a"),
        a_change("b", status=contract.WARN),
        a_change("c", row={"lag": 1}),
        a_change("d", row={"lag": 5}),
        replace(gone(), group="e"),
    ]
    groups = [message.notice.attributes["group"] for message in build_messages(found, 100)]

    assert groups == ["d", "c", "b", "e", "a"]
