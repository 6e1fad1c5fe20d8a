# SPDX-License-Identifier: Apache-2.0
"""What groups, brokers and the collector do in the time: an hour's plan, for any length of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka.admin import AdminClient

from dev.traffic import Behaviour
from dev.traffic.behaviour import GroupView
from dev.traffic.stage import Stage

STOPS, PAUSES, DELETED = "stops", "pauses", "deleted"
# From the catalog: who keeps up, and who is in trouble all the time.
_OTHERS = ("healthy", "slow", "stuck", "skewed", "expiring", "rebalancing")
# Minutes of an hour in which consumers are away, the collector does not run, a broker is frozen.
_AWAY = {STOPS: [(5, 25)], PAUSES: [(10, 13), (28, 31), (44, 49)], DELETED: [(15, 60)]}
_DELETED_AT = 41
_WITHOUT_RUN = [(20, 21), (34, 40)]
_FROZEN = [(51, 55)]
_HOUR = 60
_ALL = 1_000
_ANSWERS_WITHIN = 60.0

# Of the cluster's document, so that each kind of alarm on groups watches somebody.
ALARMS: dict[str, Any] = {
    "alarms": {
        "groups": [STOPS, "slow", "expiring", DELETED],
        "offset_lag": {"slow": 4_000},
    },
    "sla_seconds": {
        f"^{STOPS}$": 120,
        f"^{PAUSES}$": 60,
        f"^{DELETED}$": 120,
        "^slow$": 300,
        "^stuck$": 240,
        "^skewed$": 90,
    },
    "slo": {f"^({STOPS}|slow)$": {"age_seconds": 60, "target": 99.5}},
}


@dataclass(frozen=True, slots=True)
class Plan:
    """The hour's plan for so many minutes; what is short in an hour is shorter in less."""

    minutes: int

    def runs(self, minute: int) -> bool:
        """Whether the collector does."""
        return not self._within(_WITHOUT_RUN, minute)

    def is_frozen(self, minute: int) -> bool:
        """Whether a broker is."""
        return self._within(_FROZEN, minute)

    def behaviours(self, begin: float) -> list[str | Behaviour]:
        """Of all groups; `begin` is that of the first minute, as of `time.monotonic`."""
        acts = {name: self._act(name, begin) for name in _AWAY}
        own = [Behaviour(name, f"is away: {_AWAY[name]}", acts[name], _reads) for name in acts]
        return [*_OTHERS, *own]

    def _act(self, name: str, begin: float) -> Callable[[Stage], None]:
        def act(stage: Stage) -> None:
            consumer = stage.member()
            here, gone = True, False
            while stage.tick():
                stage.produce()
                minute = (time.monotonic() - begin) / 60
                away = self._within(_AWAY[name], minute)
                if here and away:
                    consumer.close()
                elif away and name == DELETED and not gone and minute >= self._at(_DELETED_AT):
                    _delete(stage)
                    gone = True
                elif not here and not away:
                    consumer = stage.member()
                here = not away
                if here:
                    consumer.consume(_ALL, timeout=0)

        return act

    def _at(self, minute_of_hour: float) -> float:
        return minute_of_hour * self.minutes / _HOUR

    def _within(self, spans: Sequence[tuple[int, int]], minute: float) -> bool:
        return any(self._at(first) <= minute < self._at(end) for first, end in spans)


def _reads(view: GroupView) -> bool:
    return view.members == 1 and bool(view.lags)


def _delete(stage: Stage) -> None:
    admin = AdminClient(dict(stage.config))
    admin.delete_consumer_groups([stage.group])[stage.group].result(_ANSWERS_WITHIN)
