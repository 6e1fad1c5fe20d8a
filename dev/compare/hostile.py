# SPDX-License-Identifier: Apache-2.0
"""Names that strangers choose for groups, topics and clients, and a cluster that is full of them.

Any client may invent a group: its name is data in metrics, files, pages and messages, and never
markup, a formula, a path or a statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dev.compare.readings import COMMITS, GROUPS, TOPICS, Numbers, Reading, Run, names_of
from dev.compare.readings import numbers_of as numbers

# 2026-06-01T00:00:00Z
BEGIN, MINUTE_MS, RUNS = 1_780_272_000_000, 60_000, 16
LONGEST = 249

NAMES = (
    "plain",
    "p" * LONGEST,
    "ü" * LONGEST,
    "a/b",
    "a%2Fb",
    "a%252Fb",
    "a b",
    "a+b",
    "a%20b",
    " leading and trailing ",
    "..",
    "../../etc/passwd",
    "",
    "%",
    ":colon",
    "line\nbreak\r\n",
    "nul\0byte",
    "bell\x07 escape\x1b[2J tab\t",
    "\u202ereversed\u2066",
    "שלום-عليكم",
    "zero\u200bwidth\ufeff",
    "\u2028\u2029",
    "日本語-🦄-e\u0301",
    "\u00e9",
    "e\u0301",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "]]><!--",
    "&lt;&amp;",
    "\"quoted\" 'twice' `thrice` \\",
    "{{ 7*7 }} {% raw %} ${jndi:ldap://x}",
    "'; DROP TABLE groups; --",
    "1 OR 1=1",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(1+1)",
    "consumer=x,partition=y",
    "a,b;c\td=e&f?g#h",
    "null",
    "None",
    "NaN",
    "true",
    "0",
    "-1",
    "lag",
    "status",
    "__consumer_offsets_like",
)


class Hostile:
    """A topic and a group of each name; every third falls behind, every fifth stops."""

    document: Mapping[str, Any] = {
        "cluster": "hostile",
        "bootstrap_servers": ["hostile:9096"],
        "secret_id": "AmazonMSK_hostile",
        "levels": {"members": True, "max_metrics": 300},
        "owner": {"^a": "Team <b>A</b>"},
    }

    def __len__(self) -> int:
        return RUNS

    def runs(self) -> Iterator[Run]:
        """A run a minute; in the middle every seventh group cannot be read."""
        for number in range(RUNS):
            at = BEGIN + number * MINUTE_MS
            yield Run(at, a_reading(NAMES, number, at), cold=number == RUNS // 2)


def a_reading(names: tuple[str, ...], number: int, at: int) -> Reading:
    """The run of this number: one topic of one partition and one group a name."""
    count = len(names)
    every, all_of = np.arange(count), np.ones(count, bool)
    end = 1_000 + every + number * (10 + every % 7)
    moved = np.where(every % 5 == 0, 0, np.where(every % 3 == 0, number // 2, number))
    committed = 1_000 + every + moved * (10 + every % 7) - every % 2
    unread = (every % 7 == 1) & (RUNS // 3 <= number < RUNS // 2)
    reason = names_of("denied" if each else None for each in unread)
    rows = np.flatnonzero(~unread)
    named = [names[row] for row in rows]
    ids = [f"id-{number}" for number in range(count)]
    return Reading(
        {
            TOPICS: {
                "topic": names_of(names),
                "topic_id": names_of(ids),
                "partition_id": numbers([0] * count, np.int32),
                "leader": numbers([1 + row % 3 for row in range(count)], np.int32),
                "leader_rack": names_of(f"az{1 + row % 3}" for row in range(count)),
                "replicas": names_of((1 + row % 3,) for row in range(count)),
                "in_sync_replicas": names_of((1 + row % 3,) for row in range(count)),
                "asked_at": Numbers(np.full(count, at + 400), all_of),
                "read_at": Numbers(np.full(count, at + 450), all_of),
                "unread_reason": names_of([None] * count),
                "start_offset": Numbers(np.zeros(count, np.int64), all_of),
                "end_offset": Numbers(end.astype(np.int64), all_of),
                "retention_ms": numbers([604_800_000] * count),
                "retention_bytes": numbers([-1] * count),
                "cleanup_policy": names_of(["delete"] * count),
                "timestamp_type": names_of(["CreateTime"] * count),
            },
            COMMITS: {
                "read_at": Numbers(np.full(len(rows), at + 150), all_of[rows]),
                "unread_reason": names_of([None] * len(rows)),
                "consumer_group": names_of(named),
                "topic": names_of(named),
                "topic_id": names_of(ids[row] for row in rows),
                "partition_id": numbers([0] * len(rows), np.int32),
                "client_id": names_of(named),
                "client_host": names_of(f"/{name}" for name in named),
                "member_id": names_of(f"{name}-member" for name in named),
                "committed_offset": Numbers(committed[rows].astype(np.int64), all_of[rows]),
            },
            GROUPS: {
                "consumer_group": names_of(names),
                "read_at": Numbers(np.full(count, at + 150), ~unread),
                "unread_reason": reason,
                "group_state": names_of(None if each else "Stable" for each in unread),
                "group_type": names_of(["classic"] * count),
                "protocol": names_of(None if each else "range" for each in unread),
                "members": Numbers(np.ones(count, np.int32), ~unread),
            },
        },
        problems=tuple(
            ("group", names[row], "denied", "it is not allowed") for row in np.flatnonzero(unread)
        ),
    )
