# SPDX-License-Identifier: Apache-2.0
"""All texts of the page, in `tests/golden/status-page.txt`: each view, then only differences."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from kafka_lag import contract
from kafka_lag.contract.mute_windows import Mute
from kafka_lag.snapshots.keys import object_key
from tests.fakes import MemoryStore
from tests.functions.views.page.reading import read
from tests.functions.views.page.rows import (
    DAY,
    HOUR,
    MINUTE,
    NOON,
    Row,
    a_group,
    a_log,
    a_partition,
)
from tests.functions.views.page.shop import GROUPS, NAMES, NASTY, opened, put, six_hours
from tests.golden import Golden

GROUP, TOPIC = "/cluster/shop/group/g", "/cluster/shop/topic/t"
BILLING, ORDERS = "/cluster/shop/group/billing", "/cluster/shop/topic/orders"
ERR, WARN, OK = ({"status": word, "last_status": word} for word in ("ERR", "WARN", "OK"))
UNREAD = {"status": None, "lag": None, "time_lag_seconds": None}
PROMISE = {"sla_seconds": 60.0, "time_lag_seconds": 60.1}
HELD_UP = {
    "status_reason": "open_transaction",
    "held_up_records": 1_200,
    "open_transaction_since": NOON,
    "open_transaction_topic": "<b>",
    "open_transaction_partition": 3,
}
# What a group can be said to do or to lack, by its name.
FINDINGS: dict[str, dict[str, Any]] = {
    "beyond the end": {**ERR, "status_reason": "beyond_end", "worst_status": "beyond_end"},
    "lost": {**ERR, "status_reason": "records_lost", "records_lost": 5},
    "lost and stopped": {**ERR, "worst_status": "stopped", "records_lost": 5},
    "rewound": {**ERR, "worst_status": "rewound"},
    "stuck": {**ERR, "worst_status": "stalled", "cause": "stuck_record"},
    "stopped": {**ERR, "worst_status": "stopped", "cause": "stopped"},
    "stopped and unread": {**ERR, "status": None, "unread_reason": "timeout"}
    | {"worst_status": "stopped"},
    "falling behind": {**WARN, "status_reason": "falling_behind"},
    "slow": {**WARN, "status_reason": "slow", "worst_status": "slow", "cause": "unexplained"},
    "rebalancing": {**WARN, "rebalancing_share": 0.6, "cause": "rebalances"},
    "empty": {**WARN, "status_reason": "no_member", "members": 0},
    "empty from the start": {**UNREAD, "last_status": None, "status_reason": "no_member"},
    "share": {**UNREAD, "last_status": None, "group_type": "share", "read_at": None},
    "unusual": {"unusual": True, "rebalancing_share": 0.4, "members": 0},
    "often rebalancing": {"rebalancing_share": 0.6, "group_state": "CompletingRebalance"},
    "pausing": {"status_reason": "pausing"},
    "muted": {"muted": Mute(NOON, NOON + 3 * HOUR, "<b>upgrade").to_text()},
    "held up": HELD_UP,
    "skipping": {"records_skipped": 900, "skipped_at": NOON - HOUR, "skip_reason": "set_ahead"},
    "promise kept": {"sla_seconds": 60.0, "time_lag_seconds": 60.0},
    "promise broken": PROMISE,
    "promise broken since": {**PROMISE, "sla_broken_since": NOON - HOUR},
    "promise broken for runs": {
        **PROMISE,
        "sla_broken_since": NOON - HOUR,
        "held_sla_broken_since": NOON - HOUR,
    },
    "promise broken at least": {**PROMISE, "time_lag_error_seconds": None},
    "promise kept at least": {"sla_seconds": 60.0, "time_lag_error_seconds": None},
    "promise exact": {"sla_seconds": 60.0, "time_lag_seconds": 0.0, "time_lag_error_seconds": 0.0},
    "promise unknown": {"sla_seconds": 60.0, "time_lag_seconds": None},
    "growing": {"trend": "growing"},
    "nothing that grows": {"lag": 0, "trend": "steady"},
    "loss near": {"seconds_until_loss": 7_199.0},
    "loss due": {"seconds_until_loss": 0.4},
    "loss unknown": {"seconds_until_loss": None},
    "no status held": {"held_status": None, "held_since": None},
}
LOSS = {**ERR, "status_reason": "records_lost", "records_lost": 1_300}
# The part of a group's own page that a case is about, by the heading before and behind it.
ABOVE, MEMBERS, BELOW = ("", "Topics"), ("Members", "Partitions"), ("Partitions", "")
# What it says of a group beside its row: the part of the page, the group, and its partitions.
OF_A_GROUP: dict[str, tuple[tuple[str, str], dict[str, Any], list[Row]]] = {
    "a loss and a stop with their times": (
        ABOVE,
        LOSS
        | {"worst_status": "stopped", "worst_status_since": NOON - HOUR}
        | {"loss_since": NOON - 2 * HOUR},
        [
            a_partition("g", "t", 0, records_lost=1_300, consume_rate=1.2),
            # More, of a topic of which one rate is unknown; the last has lost nothing.
            a_partition("g", "u", 0, records_lost=2_000, consume_rate=2.0),
            a_partition("g", "u", 1, records_lost=5, consume_rate=None),
            a_partition("g", "u", 2, records_lost=0, consume_rate=100.0),
        ],
    ),
    "a cause and a runbook": (
        ABOVE,
        {**ERR, "worst_status": "stopped", "cause": "stopped", "cause_evidence": "{}"}
        | {"cause_since": NOON, "runbook_url": "https://wiki.example.com/r?a=1&b=<2>"},
        [],
    ),
    "unusual": (
        ABOVE,
        {"unusual": True, "usual_lag": 7, "usual_time_lag": 3.0, "usual_produce_rate": 5.0},
        [a_partition("g", "t", 0)],
    ),
    "not described, in part not read": (
        ABOVE,
        {"group_state": None, "members": None, "partitions_unknown": 2, "partitions_uncommitted": 1}
        | {"rebalances": 4},
        [],
    ),
    "members not described": (MEMBERS, {"members": None}, []),
    "nobody reads": (MEMBERS, {"members": 0}, []),
    "nothing assigned": (MEMBERS, {"members": 2}, []),
    "members whose partitions are unknown": (
        MEMBERS,
        {"members": 4, "protocol": "connect"},
        [a_partition("g", "t", 0)],
    ),
    "members of many partitions and topics": (
        MEMBERS,
        {},
        [
            *(a_partition("g", "t", n, member_id="m1", lag=10) for n in (0, 1, 5)),
            *(a_partition("g", f"u{n}", 7, member_id="m1", lag=100) for n in range(3)),
            a_partition("g", "t", 3, member_id="m2", client_id=None, client_host=None),
        ],
    ),
    "without partitions": (("Topics", ""), {}, []),
    "partitions in each state": (
        BELOW,
        {},
        [
            a_partition("g", "t", 0, status="STOP", consumer_status="stopped"),
            a_partition("g", "t", 1, status="REWIND", consumer_status="rewound"),
            a_partition("g", "t", 2, status="ERR", consumer_status="stopped", records_lost=2)
            | {"status_reason": "records_lost", "retention_risk": "LOST"},
            a_partition("g", "t", 3, status="WARN", consumer_status="slow", status_reason="slow")
            | {"retention_risk": "AT_RISK", "seconds_until_loss": 0.4},
            a_partition("g", "t", 4, status_reason="pausing", retention_risk=None),
        ],
    ),
}


def a_store(group: dict[str, Any], partitions: list[Row]) -> MemoryStore:
    logs = [
        a_log("t", 0, retention_ms=4_000, produce_rate=14.0),
        *(
            a_log("u", n, retention_ms=None if n == 0 else 9_000, produce_rate=2.0)
            for n in (2, 0, 1)
        ),
    ]
    return put(MemoryStore(), groups=[a_group("g", **group)], partitions=partitions, logs=logs)


def lines_of(store: MemoryStore, path: str = "/", query: str = "", **more: int) -> list[str]:
    lines = read(opened(store, path, query, **more)).lines
    return [line for line in lines if line not in ("Show", "Skip to the content")]


def part_of(lines: list[str], part: tuple[str, str]) -> list[str]:
    first, last = part
    begin = lines.index(first) if first else 0
    return lines[begin : lines.index(last) if last else len(lines)]


def beside(usual: list[str], lines: list[str]) -> str:
    """What a page says that another one does not, and how many of that one's lines it lacks."""
    found = list(difflib.ndiff(usual, lines, linejunk=None, charjunk=None))
    lacking = sum(line.startswith("- ") for line in found)
    more = [line[2:] for line in found if line.startswith("+ ") and "Made anew" not in line]
    return "\n".join([*more, f"(without {lacking} lines)"])


def overviews(whole: MemoryStore) -> Iterator[tuple[str, str]]:
    usual = lines_of(whole)
    yield "all groups", "\n".join(usual)
    groups = [a_group(name, **more) for name, more in FINDINGS.items()]
    yield "groups with each finding", beside(usual, lines_of(put(MemoryStore(), groups=groups)))
    query = "owner=nobody&status=OK&sort=-lag&period=24h&refresh=off"
    yield "all groups: filtered to nothing", beside(usual, lines_of(whole, query=query))
    yield "all groups: two hours later", beside(usual, lines_of(whole, now=NOON + 2 * HOUR))
    many = put(MemoryStore(), groups=[a_group(f"g{n:03}") for n in range(201)])
    pages = [line for line in lines_of(many, query="page=2") if line.startswith("Previous")]
    yield "all groups: many", "\n".join(pages)
    yield "nothing yet", beside(usual, lines_of(MemoryStore()))
    yield "no groups", beside(usual, lines_of(put(MemoryStore(), groups=[])))
    few = [a_group("same", owner="a team")]
    torn = put(put(MemoryStore(), NOON - MINUTE, groups=few), NOON)
    for cluster in ("shop", "broken"):
        torn.objects[object_key(contract.GROUPS, cluster, NOON)] = b"torn"
    put(put(torn, NOON - HOUR, cluster="b", groups=few), NOON - 8 * DAY, cluster="left")
    yield "several clusters, not all readable", beside(usual, lines_of(torn))
    yield "a cluster that there is not", beside(usual, lines_of(torn, query="cluster=nope"))


def details(whole: MemoryStore) -> Iterator[tuple[str, str]]:
    billing, orders = (lines_of(whole, path) for path in (BILLING, ORDERS))
    yield "a group", "\n".join(billing[1:-3])
    later, long_after = (
        lines_of(whole, BILLING, now=now) for now in (NOON + 2 * HOUR, NOON + 40 * DAY)
    )
    yield "a group: two hours later", beside(billing, later)
    yield "a group: 40 days later, beside that", beside(later, long_after)
    curves = [lines_of(whole, BILLING, f"period={period}") for period in ("1h", "24h", "7d")]
    periods = [line for lines in curves for line in lines if line.startswith("Last")]
    yield "a group: other periods", ", ".join(periods)
    query = "q=nothing&sort=-lag&status=STALL"
    yield "a group: filtered to nothing", beside(billing, lines_of(whole, BILLING, query))
    calm = lines_of(a_store({}, [a_partition("g", "t", 0)]), GROUP)
    for title, (part, group, partitions) in OF_A_GROUP.items():
        lines = lines_of(a_store(group, partitions), GROUP)
        yield f"a group: {title}", beside(part_of(calm, part), part_of(lines, part))
    wide: list[Row] = [a_partition("g", f"t{n}", n, member_id=f"m{n}") for n in range(70)]
    crowd = lines_of(a_store({"members": 70}, wide), GROUP)
    yield "a group of many", "\n".join(line for line in crowd if "the 50 worst" in line)
    yield "a topic", "\n".join(orders[1:-3])
    yield "a topic: sorted", beside(orders, lines_of(whole, ORDERS, "sort=-kept"))
    unlimited = {"retention_ms": -1, "retention_bytes": 1_536, "in_sync_replicas": None}
    unknown = dict.fromkeys(
        [
            *("retention_ms", "retention_bytes", "cleanup_policy", "timestamp_type", "leader"),
            *("leader_rack", "replicas", "start_offset", "produce_rate"),
        ]
    )
    for title, more in (("kept for ever", unlimited), ("unknown", unknown)):
        store = put(MemoryStore(), logs=[a_log("t", 0, **more)], partitions=[])
        yield f"a topic: {title}", beside(orders, lines_of(store, TOPIC))
    unlisted = put(MemoryStore(), logs=[], partitions=[a_partition("g", "t", 0)])
    yield "a topic of which only groups are known", "\n".join(lines_of(unlisted, TOPIC)[-4:-3])


def errors(whole: MemoryStore) -> Iterator[tuple[str, str]]:
    usual = lines_of(whole, "/nothing")
    yield "no page", "\n".join(usual)
    for path in (f"/cluster/shop/group/{NASTY[:8]}x", "/cluster/nope/topic/x"):
        yield path, beside(usual, lines_of(whole, path))
    whole.down.add("read")
    yield "no store", beside(usual, lines_of(whole))


def test_the_page_says_of_each_finding_what_was_reviewed(golden: Golden) -> None:
    groups = [group for group in GROUPS if group["consumer_group"] not in {*NAMES} - {NASTY}]
    whole = put(six_hours(MemoryStore()), groups=groups)

    cases = [*overviews(whole), *details(whole), *errors(whole)]
    golden.holds("status-page.txt", "\n".join(f"## {title}\n{text}" for title, text in cases))
