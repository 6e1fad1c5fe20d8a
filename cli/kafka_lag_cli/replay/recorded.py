# SPDX-License-Identifier: Apache-2.0
"""Published metrics of a cluster's groups, minute by minute, from snapshots or history."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from kafka_lag import contract
from kafka_lag.errors import ConfigError
from kafka_lag.lag.columns import Mask
from kafka_lag.snapshots.store import BrowsableStore
from kafka_lag.wording.formatting import format_minute
from kafka_lag_cli.state.groups_over_time import (
    MINUTE_MS,
    GroupsOverTime,
    Period,
    Progress,
    read_period,
)
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.simulation.grid import Grid

STATUS, AGE = "status", "time_lag_seconds"
_COLUMNS = {
    contract.GROUP_STATUS: STATUS,
    contract.ESTIMATED_TIME_LAG: AGE,
    contract.TIME_TO_DATA_LOSS: "seconds_until_loss",
    contract.OFFSET_LAG: "lag",
    contract.UNUSUAL: "unusual",
    contract.TASKS_NEEDED: "tasks_needed",
}
_INCIDENT = "incident_since"
# As metrics are published: milliseconds.
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Recorded:
    """Minutes from `begin`, ms UTC, and groups; a minute has the values of its first run."""

    begin: int
    has_run: Mask
    unreadable: int
    groups: tuple[str, ...]
    over_time: GroupsOverTime

    def metric(self, name: str, cluster: Cluster) -> Grid:
        """A metric's values, a row a minute and a column a group; NaN where none was published.

        `SlaUsed` is of the configuration's SLA, whatever the SLA was then.
        """
        if name == contract.SLA_USED:
            slas = [cluster.sla_of(group) for group in self.groups]
            bounds = np.array([np.nan if each is None else each for each in slas])
            return _published(self.over_time.numbers(AGE) / bounds)
        return _published(self.over_time.numbers(_COLUMNS[name]))

    @property
    def ages(self) -> Grid:
        """Time lags in seconds."""
        return self.over_time.numbers(AGE)

    @property
    def statuses(self) -> Grid:
        """Statuses as GroupStatus has them."""
        return self.over_time.numbers(STATUS)

    @property
    def incidents(self) -> Grid:
        """Since when a group has not been OK, ms UTC."""
        return self.over_time.numbers(_INCIDENT)

    def time(self, minute: int) -> int:
        """When a minute begins, ms UTC."""
        return self.begin + minute * MINUTE_MS


def read_recorded(
    store: BrowsableStore,
    cluster: str,
    metrics: Collection[str],
    since: int,
    until: int,
    progress: Progress,
) -> Recorded:
    """The runs of a cluster from `since` to `until`, ms UTC, with what these metrics need.

    Its minutes begin with the first run: before it nothing was watched, and nothing was calm.

    Raises ConfigError where there is none, StoreError.
    """
    period = Period(since, until, MINUTE_MS)
    columns = {STATUS, AGE, _INCIDENT, *(_COLUMNS.get(name, AGE) for name in metrics)}
    over_time = read_period(store, cluster, period, None, sorted(columns), progress)
    if not over_time.has_run.any():
        raise ConfigError(
            f"There is no run of {cluster} from {format_minute(since)} to {format_minute(until)}."
        )
    over_time = over_time.from_first_run()
    begin = over_time.period.slots.start * MINUTE_MS
    return Recorded(begin, over_time.has_run, over_time.unreadable, over_time.groups, over_time)


def _published(values: Grid) -> Grid:
    """Return values as sinks round them; negative values are not published."""
    rounded: Grid = np.round(values, _DIGITS)
    return np.where(rounded >= 0, rounded, np.nan)
