# SPDX-License-Identifier: Apache-2.0
"""Which sink gets which metrics; sinks that share their levels share a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kafka_lag.lag.model import LagReport, Snapshot
from kafka_lag.sinks.budget import Levels, Plan, noted, plan
from kafka_lag.sinks.metrics import Sink


@dataclass(frozen=True, slots=True)
class Outlet:
    """A sink and the levels of what it gets; `key` is where in a document they stand."""

    sink: Sink
    levels: Levels
    key: str = "levels"


class Planner:
    """Plans by the cluster's levels and by those that outlets have of their own.

    Each keeps first what it chose before. The snapshot tells that of the cluster's; that of the
    others is remembered while warm, and before their first run it is what the snapshot tells.
    """

    def __init__(self, levels: Levels, outlets: Iterable[Outlet]) -> None:
        self._levels = levels
        self._own = dict.fromkeys(each.levels for each in outlets if each.levels != levels)
        self._noted: dict[Levels, Snapshot] = {}

    def plans(self, report: LagReport, before: Snapshot) -> dict[Levels, Plan]:
        """One for each of the levels, the cluster's whether or not a sink gets it."""
        plans = {self._levels: plan(report, before, self._levels)}
        for levels in self._own:
            plans[levels] = plan(report, self._noted.get(levels, before), levels)
            self._noted[levels] = noted(report.snapshot, plans[levels])
        return plans


def omissions(outlets: Iterable[Outlet], plans: Mapping[Levels, Plan]) -> Iterator[str]:
    """A line for a log for each place of a document whose budget leaves something out."""
    for levels, key in dict.fromkeys((each.levels, each.key) for each in outlets):
        if plans[levels].omitted:
            yield (
                f"{plans[levels].omitted} metrics over the budget of {levels.max_metrics} were "
                f"left out: raise {key}.max_metrics or narrow groups and topics"
            )
