# SPDX-License-Identifier: Apache-2.0
"""One group on a terminal: its partitions, offsets and members."""

from __future__ import annotations

import re
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import Snapshot
from kafka_lag_cli.terminal.group_details import draw_run, group_details
from kafka_lag_cli.terminal.group_rows import Selection
from tests.builders import HOUR, NOON
from tests.cli.snapshots import a_group, a_partition, a_snapshot_of
from tests.golden import Golden

KNOWN = {
    "committed_offset": 1_234_500,
    "start_offset": 1_000,
    "end_offset": 1_234_567,
    "lag": 67,
    "time_lag_seconds": 90.0,
    "time_lag_error_seconds": 0.0,
    "seconds_until_loss": 3 * 86_400.0,
    "status": "OK",
    "leader": 2,
}
ANN = {"member_id": "ann-1", "client_id": "ann", "client_host": "/10.0.0.1"}
BOB = {"member_id": "bob-1", "client_id": "bob", "client_host": "/10.0.0.2"}
ILL: dict[str, Any] = {
    "status": "ERR",
    "worst_status": "stalled",
    "worst_status_since": NOON - 2 * HOUR,
    "loss_since": NOON - HOUR // 2,
    "sla_broken_since": NOON - 2 * HOUR,
    "status_since": NOON - HOUR,
    "lag": 67,
    "time_lag_seconds": 7_800.0,
    "time_lag_error_seconds": 30.0,
    "seconds_until_loss": 7_200.0,
    "worst_topic": "orders",
    "worst_partition": 3,
    "protocol": "consumer",
    "owner": "payments",
    "sla_seconds": 300.0,
    "records_lost": 2_700,
    "members": 4,
}
UNKNOWN: dict[str, Any] = dict.fromkeys(
    ("status", "lag", "time_lag_seconds", "seconds_until_loss", "group_state", "members")
)
BRIEF = {"retention_ms": 4_000, "retention_bytes": -1}


def a_part(number: int, group: str = "g", **columns: Any) -> dict[str, Any]:
    return a_partition(group, columns.pop("topic", "orders"), number, **{**KNOWN, **columns})


def a_log(topic: str, number: int, **columns: Any) -> dict[str, Any]:
    return {"topic": topic, "partition_id": number, "produce_rate": 22.0, **columns}


def text_of(snapshot: Snapshot, name: str = "g", width: int = 200, **more: Any) -> str:
    out = StringIO()
    Console(file=out, width=width).print(group_details(snapshot, name, width, **more))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def details(*partitions: dict[str, Any], width: int = 200, **group: Any) -> str:
    return text_of(a_snapshot_of(a_group("g", **group), partitions=partitions), width=width)


# Each thing that a partition, a member and a loss can say, once.
PARTS = (
    a_part(10, **ANN, lag=1_000, time_lag_seconds=7_200.0, records_lost=600, consume_rate=0.6),
    a_part(2, **BOB, lag=1, records_lost=600, consume_rate=0.6, observations=2),
    a_part(3, **ANN, committed_offset=None, lag=None, time_lag_seconds=None, status=None),
    a_part(4, **{**ANN, "member_id": "ann-2"}, committed_offset=0, lag=0, status="STALL"),
    a_part(5, committed_offset=None, lag=None, unread_reason="timeout", status=None),
    a_part(6, status=None, last_status="STALL", unread_reason="no_leader"),
    a_part(0, topic="big", records_lost=1_500, seconds_until_loss=0.0, retention_risk="LOST"),
    a_part(1, topic="big", retention_risk="SAFE", seconds_until_loss=19 * 86_400.0),
    a_part(2, topic="big", retention_risk="AT_RISK", seconds_until_loss=50_000.0),
)
LOGS = (
    *(a_log("orders", number, **BRIEF) for number in (2, 3, 10)),
    a_log("big", 0, retention_ms=-1, retention_bytes=1_048_576),
)


def test_a_group_is_shown_with_its_partitions_and_members(golden: Golden) -> None:
    ill = a_snapshot_of(a_group("g", **ILL), a_group("h"), partitions=PARTS, logs=LOGS)
    topics = [f"t{number}" for number in range(5)]
    losing = a_snapshot_of(
        a_group("g", records_lost=10),
        partitions=tuple(a_part(0, topic=t, records_lost=n + 1) for n, t in enumerate(topics)),
        logs=tuple(a_log(topic, 0, **BRIEF) for topic in topics),
    )
    kept: dict[str, Any] = {
        "sla_seconds": 60.0,
        "time_lag_seconds": 30.0,
        "seconds_until_loss": 7_200.0,
    }
    share: dict[str, Any] = {
        "group_type": "share",
        "status": None,
        "lag": None,
        "time_lag_seconds": None,
    }
    lost = a_part(0, **ANN, records_lost=4, status="ERR", status_reason="records_lost")
    # Of a group with one member that owns a partition, and of two with none.
    one, nobody = a_part(0, **ANN), a_part(0)
    owning: list[tuple[dict[str, Any], dict[str, Any]]] = [
        (one, {"members": 1}),
        (one, {"members": None}),
        (one, {"members": 2}),
        (one, {"members": 5}),
        (one, {"members": 3, "protocol": "connect"}),
        (one, {"members": 3, "group_state": "PreparingRebalance"}),
        (one, {"members": 2, "group_type": "consumer", "group_state": "Assigning"}),
        (nobody, {"members": 3}),
        (nobody, {"members": 3, "group_type": "consumer"}),
    ]
    told = [details(part, **columns).splitlines()[-1] for part, columns in owning]
    golden.holds_cases(
        "show-group.txt",
        {
            "a group that is ill": text_of(ill),
            "all columns": text_of(ill, wide=True),
            "the two with most lag, 100 columns": text_of(
                ill, width=100, selection=Selection(top=2, sort="lag")
            ).partition("Members")[0],
            "five topics with losses": text_of(losing, width=120),
            "a loss of which nothing is known, 90 columns": details(lost, width=90, records_lost=4),
            "its promise is kept": details(a_part(0, **ANN), a_part(1, **ANN), **kept),
            "it is not known": details(**UNKNOWN, group_type=None, unread_reason="timeout"),
            "a share group": details(**share, members=0),
            "nobody is in it": details(a_part(0), members=0),
            "members that own nothing": "\n".join(told),
        },
    )


@pytest.mark.parametrize(
    ("observations", "since"),
    [([2, 1], "at least since 12:00"), ([2, 3], "OK since 12:00"), ([None], "OK since 12:00")],
)
def test_a_status_that_is_as_old_as_the_first_readings_may_be_older(
    observations: list[int | None], since: str
) -> None:
    parts = [a_part(n, observations=seen) for n, seen in enumerate(observations)]
    assert since in details(*parts, status_since=NOON)


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_tables_are_no_wider_than_the_terminal_and_numbers_are_whole(width: int) -> None:
    long: dict[str, Any] = {
        "topic": "a-topic-with-a-long-name-" * 4,
        "client_id": "a-client-with-a-long-name-" * 4,
        "client_host": "/2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff",
        "member_id": "a-member-" * 20,
        "unread_reason": "no_coordinator",
    }
    text = details(*(a_part(number, **long) for number in (117, 118)), width=width, members=1)
    assert max(map(len, text.splitlines())) <= width
    lines = [line.split()[0] for line in text.splitlines() if line.split()]
    assert sum(line.startswith("a-t") for line in lines) == 2
    assert all(line.endswith("-") for line in lines if line.startswith("a-"))
    for number in ("117", "1,234,500", "1,234,567", "67", "1 min 30 s"):
        assert re.search(rf"(^| ){number}( |$)", text, re.MULTILINE)


@pytest.mark.parametrize("name", ["a\x1b[2Jb", "a\nb", "[red]x[/]", ""])
def test_a_strangers_names_are_shown_and_do_nothing(name: str) -> None:
    snapshot = a_snapshot_of(
        a_group(name, members=1, owner=f"o{name}", group_state=f"s{name}", protocol=f"p{name}"),
        partitions=(a_part(0, name, topic=name, client_id=name, client_host=name, member_id=name),),
    )
    text = text_of(snapshot, name, wide=True)
    assert all(line.isprintable() for line in text.splitlines())
    # The heading, three cells of the partition, three of the member.
    seen = {"a\x1b[2Jb": r"a\x1b[2Jb", "a\nb": r"a\nb", "": "''"}.get(name, name)
    assert len(re.findall(rf"(?<!\w){re.escape(seen)}(?!\w)", text)) >= 7


@pytest.mark.parametrize(("hours", "stands_out"), [(1, False), (3, True)])
def test_a_loss_within_the_configured_horizon_stands_out(hours: int, stands_out: bool) -> None:
    soon = a_part(0, seconds_until_loss=7_200.0)
    drawn = draw_run(
        a_snapshot_of(a_group("g"), partitions=(soon,)),
        Selection(group="g"),
        Rules(risk_horizon_ms=hours * HOUR),
        200,
        wide=True,
    )
    out = StringIO()
    Console(file=out, width=200, force_terminal=True, color_system="standard").print(drawn)
    assert ("in 2 h\x1b[0m" in out.getvalue()) is stands_out
