# SPDX-License-Identifier: Apache-2.0
"""Brokers that restart one after another, proven by the in-sync replicas of all partitions.

A broker that is down is missing from the in-sync replicas of nearly all partitions that it holds.
If one broker alone is, and later another one alone, the first must have come back: somebody
restarts them in turn. Two at once, or one that stays away, are a failure.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np

from kafka_lag.lag.cause_case import NEARLY_ALL
from kafka_lag.lag.columns import Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.run import Run

# Maintenance is over if no broker was down for so long, and failed if one is down for longer. MSK
# takes up to a quarter of an hour for a broker.
LONGEST_RESTART_MS = 30 * 60_000
# Fewer partitions may lose a replica for a reason of their own.
_FEWEST = 3


def add_restarts(groups: Frame, before: Frame, topics: Frame, run: Run) -> Frame:
    """Returns the groups with `brokers_restarted`, the same in all rows, as JSON.

    `before`: all groups' rows of the previous run. It holds the `brokers` that were down alone
    lately, in order, the runs that saw the first one down (`since`, ms) and the last one (`at`),
    and since when one is down now (`down_since`). It is unknown if none was.
    """
    known = before.strings("brokers_restarted").pruned().categories
    last = json.loads(str(known[0])) if known else None
    found = _follow(last, _find_down(topics), run.taken_at)
    text = None if found is None else json.dumps(found)
    return groups.with_columns(brokers_restarted=Strings.of([text] * len(groups)))


def _follow(last: dict[str, Any] | None, down: set[int], now: int) -> dict[str, Any] | None:
    if len(down) > 1 or (last and now - last["at"] > LONGEST_RESTART_MS):
        last = None
    if last and last["brokers"][-1] not in down and has_failed(last):
        last = None
    if len(down) != 1:
        return last and {**last, "down_since": None}
    (broker,) = down
    if last is None:
        return {"brokers": [broker], "since": now, "at": now, "down_since": now}
    same = last["brokers"][-1] == broker and last["down_since"] is not None
    brokers = [each for each in last["brokers"] if each != broker]
    since = last["down_since"] if same else now
    return {**last, "brokers": [*brokers, broker], "at": now, "down_since": since}


def has_failed(restarts: dict[str, Any]) -> bool:
    """Returns True if the broker that is down has been so for longer than a restart takes."""
    since = restarts["down_since"]
    return since is not None and restarts["at"] - since > LONGEST_RESTART_MS


def _find_down(topics: Frame) -> set[int]:
    """Returns the brokers that are missing from nearly all partitions that they hold."""
    replicas, in_sync = topics.strings("replicas"), topics.strings("in_sync_replicas")
    led, many = topics.numbers("leader").known, len(in_sync.categories)
    codes = (replicas.codes * many + in_sync.codes) * 2 + led.astype(np.int64)
    held, missing = Counter[int](), Counter[int]()
    for code, count in zip(*np.unique(codes.values[codes.known], return_counts=True), strict=True):
        pair, has_leader = divmod(int(code), 2)
        own = set(replicas.categories[pair // many])
        held.update(dict.fromkeys(own, int(count)))
        # The last replica stays in sync though it is down, and the partition has no leader then.
        alive = set(in_sync.categories[pair % many]) if has_leader else set()
        missing.update(dict.fromkeys(own - alive, int(count)))
    return {
        broker
        for broker, count in missing.items()
        if count >= max(_FEWEST, NEARLY_ALL * held[broker])
    }
