# SPDX-License-Identifier: Apache-2.0
"""Client quotas: how long brokers mute this login's connections, and how that is reported.

A broker answers at once and says in the answer for how long it mutes the connection from then on.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any

from kafka_lag.brokers.access import CLIENT_ID
from kafka_lag.lag.model import Throttled
from kafka_lag.wording.formatting import format_duration

# The only client quota that can delay the collector: producer_byte_rate and consumer_byte_rate
# delay Produce and Fetch, controller_mutation_rate delays changes, and it sends none of these.
QUOTA = "request_percentage"

GIVEN_UP = f"a client quota ({QUOTA}) mutes the connection for longer than this run may take"

# Seconds; a shorter delay is too small to notice and is not reported.
_REPORTED_SECONDS = 1.0


class Throttling:
    """The times for which each broker mutes its connection, by time.monotonic."""

    def __init__(self) -> None:
        self._until: dict[Any, float] = {}
        self._seconds: dict[Any, float] = defaultdict(float)

    def begin_run(self) -> None:
        """Counts from 0 again; a connection that is muted stays muted."""
        self._seconds.clear()

    def note(self, node: Any, answer: Any) -> None:
        """Counts the time for which an answer says that its connection is muted."""
        milliseconds = getattr(answer, "throttle_time_ms", 0)
        if milliseconds > 0:
            now = time.monotonic()
            muted_until = max(now, self.until(node))
            self._until[node] = max(muted_until, now + milliseconds / 1000)
            self._seconds[node] += self._until[node] - muted_until

    def until(self, node: Any) -> float:
        """Returns when a broker stops muting its connection; minus infinity if it does not mute."""
        return self._until.get(node, float("-inf"))

    def seconds(self) -> dict[Any, float]:
        """Returns for how long each broker muted its connection in this run; others are absent."""
        return dict(self._seconds)


def summarize(seconds: dict[Any, float], users: set[str]) -> Throttled | None:
    """Returns the delay that a run reports; None if there was none or a short one."""
    longest = max(seconds.values(), default=0.0)
    if longest < _REPORTED_SECONDS:
        return None
    return Throttled(longest, min(users) if len(users) == 1 else None)


def describe_throttling(throttled: Throttled) -> str:
    """Returns one line for the log: how long, by which quota, and whose quota it is."""
    return (
        f"brokers throttle this login by the client quota {QUOTA}: they held requests back for up "
        f"to {format_duration(throttled.seconds)} in this run. {describe_owner(throttled.user)}"
    )


def describe_owner(user: str | None) -> str:
    """Returns a sentence on whose quota it may be, because an answer does not say."""
    name = "this user" if user is None else f"the user {user!r}"
    return (
        f"The quota is that of {name}, of the client id {CLIENT_ID!r}, of both together, or a "
        "default."
    )
