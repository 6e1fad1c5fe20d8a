# SPDX-License-Identifier: Apache-2.0
"""Metrics as CloudWatch keeps them: values by series and minute, with the time each one arrived."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

_MINUTE_MS = 60_000

_STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "Maximum": max,
    "Minimum": min,
    "Average": fmean,
    "Sum": sum,
    "SampleCount": len,
}


@dataclass(frozen=True, slots=True)
class Series:
    """One metric: CloudWatch knows another for every other set of dimensions."""

    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, namespace: str, name: str, dimensions: Mapping[str, str]) -> Series:
        """Returns a series by its dimensions' names and values."""
        return cls(namespace, name, frozenset(dimensions.items()))

    @classmethod
    def described(cls, metric: Mapping[str, Any]) -> Series:
        """Returns the series that an alarm's properties, or their `Metric`, name."""
        dimensions = {each["Name"]: each["Value"] for each in metric.get("Dimensions", ())}
        return cls.of(metric["Namespace"], metric["MetricName"], dimensions)


class Metrics:
    """Values by minute since `epoch`, ms UTC; each is seen `delay` minutes after its own minute.

    A line that is fed twice counts twice, because embedded metrics are delivered at least once.
    """

    def __init__(self, epoch: int = 0, delay: int = 0) -> None:
        self._epoch, self._delay = epoch, delay
        # Pairs of a value and the minute in which it arrives.
        self._values: dict[Series, dict[int, list[tuple[float, int]]]] = defaultdict(
            lambda: defaultdict(list)
        )

    def feed(self, lines: Iterable[str], delay: int | None = None) -> None:
        """Takes lines of a log in the embedded metric format; other lines are passed by."""
        for document in map(json.loads, lines):
            about = document.get("_aws", {"CloudWatchMetrics": ()})
            for directive in about["CloudWatchMetrics"]:
                minute = (about["Timestamp"] - self._epoch) // _MINUTE_MS
                for names in directive["Dimensions"]:
                    dimensions = {name: document[name] for name in names}
                    for metric in directive["Metrics"]:
                        series = Series.of(directive["Namespace"], metric["Name"], dimensions)
                        found = document[metric["Name"]]
                        for value in found if isinstance(found, list) else [found]:
                            self.put(series, minute, value, delay)

    def put(self, series: Series, minute: int, value: float, delay: int | None = None) -> None:
        """Adds one value, as PutMetricData or a service such as Lambda publishes it."""
        arrives = minute + (self._delay if delay is None else delay)
        self._values[series][minute].append((value, arrives))

    def series(self) -> Iterator[Series]:
        """Yields all series that ever had a value."""
        yield from tuple(self._values)

    def first(self, series: Series, seen: int) -> int | None:
        """Returns the first minute with a value that is seen by the minute `seen`, else None."""
        minutes = self._values.get(series, {}).items()
        known = [minute for minute, values in minutes if any(at <= seen for _, at in values)]
        return min(known, default=None)

    def point(self, series: Series, statistic: str, minutes: range, seen: int) -> float | None:
        """Returns the statistic of the values of these minutes that arrived by the minute `seen`.

        Returns None without a value.
        """
        by_minute = self._values.get(series, {})
        found = (each for minute in minutes for each in by_minute.get(minute, ()))
        values = [value for value, arrives in found if arrives <= seen]
        return _STATISTICS[statistic](values) if values else None


def minutes_of(period_seconds: int) -> int:
    """Returns a period in whole minutes. Raises ValueError for periods of seconds."""
    minutes, rest = divmod(period_seconds, 60)
    if rest or not minutes:
        raise ValueError(
            f"a period of {period_seconds} s is not whole minutes, which is all that is modelled"
        )
    return minutes
