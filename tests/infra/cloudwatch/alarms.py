# SPDX-License-Identifier: Apache-2.0
"""An alarm as CloudFormation has it, read into what its evaluation needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.infra.cloudwatch.evaluation import Assumptions, Counts, Point
from tests.infra.cloudwatch.metrics import Metrics, Series, minutes_of

Properties = Mapping[str, Any]

_OPERATORS = {
    "GreaterThanOrEqualToThreshold": lambda value, bound: value >= bound,
    "GreaterThanThreshold": lambda value, bound: value > bound,
    "LessThanThreshold": lambda value, bound: value < bound,
    "LessThanOrEqualToThreshold": lambda value, bound: value <= bound,
    "GreaterThanUpperThreshold": lambda value, bound: value > bound,
}
_STATISTICS = {"MAX": "Maximum", "MIN": "Minimum", "AVG": "Average", "SUM": "Sum"}
_QUERY = re.compile(
    r"SELECT (?P<function>\w+)\((?P<name>\w+)\) "
    r'FROM SCHEMA\("(?P<namespace>[^"]+)",(?P<dimensions>"[^)]+")\) '
    r"WHERE \"(?P<key>[^\"]+)\"='(?P<value>[^']*)' "
    r"GROUP BY (?P<by>[^()]+) ORDER BY MAX\(\) (?:DESC|ASC)"
)


@dataclass(frozen=True, slots=True)
class Watched:
    """What an alarm looks at, minute by minute: a statistic over periods of so many minutes."""

    statistic: str
    period: int
    operator: str
    bound: float
    counts: Counts

    @classmethod
    def of(cls, properties: Properties, band: float | None = None) -> Watched:
        """From CloudFormation properties; `band` is the upper edge an anomaly alarm has learnt.

        Raises ValueError for what the model does not know, such as metric math.
        """
        statistic, period = _statistic_and_period(properties)
        bound = band if "ThresholdMetricId" in properties else properties.get("Threshold")
        if bound is None:
            raise ValueError("the alarm has no threshold; give the band of an anomaly alarm")
        periods = properties["EvaluationPeriods"]
        counts = Counts(
            datapoints=properties.get("DatapointsToAlarm", periods),
            periods=periods,
            missing=properties.get("TreatMissingData", "missing"),
        )
        return cls(statistic, minutes_of(period), properties["ComparisonOperator"], bound, counts)

    def points(
        self, series: Series, metrics: Metrics, now: int, assumed: Assumptions
    ) -> list[Point]:
        """The evaluation range as it is seen at the end of minute `now`, oldest first."""
        count = self.counts.periods + assumed.extra_points
        ends = range(now - (count - 1) * self.period, now + 1, self.period)
        return [self._point(series, metrics, end, now) for end in ends]

    def _point(self, series: Series, metrics: Metrics, end: int, now: int) -> Point:
        minutes = range(end - self.period + 1, end + 1)
        value = metrics.point(series, self.statistic, minutes, now)
        return None if value is None else bool(_OPERATORS[self.operator](value, self.bound))


@dataclass(frozen=True, slots=True)
class Query:
    """A Metrics Insights query of the one shape that this project writes."""

    namespace: str
    name: str
    dimensions: frozenset[str]
    where: tuple[str, str]
    function: str

    @classmethod
    def parsed(cls, text: str) -> Query:
        """From its text. Raises ValueError for another shape."""
        found = _QUERY.fullmatch(text)
        if found is None or found["dimensions"] != found["by"].replace(", ", ","):
            raise ValueError(f"not a query that the model knows: {text}")
        names = frozenset(re.findall(r'"([^"]+)"', found["dimensions"]))
        where = (found["key"], found["value"])
        return cls(found["namespace"], found["name"], names, where, found["function"])

    def matches(self, metrics: Metrics) -> Iterator[Series]:
        """Series with exactly the schema's dimensions: no coarser and no finer level."""
        for series in metrics.series():
            names = frozenset(name for name, _ in series.dimensions)
            same = (series.namespace, series.name) == (self.namespace, self.name)
            if same and names == self.dimensions and self.where in series.dimensions:
                yield series


def series_of(properties: Properties) -> Series:
    """The one metric that an alarm watches."""
    return Series.described(_metric(properties))


def query_of(properties: Properties) -> Query | None:
    """The query of a Metrics Insights alarm, None for other alarms."""
    texts = [each["Expression"] for each in _queries(properties) if "Expression" in each]
    selects = [text for text in texts if text.startswith("SELECT ")]
    return Query.parsed(selects[0]) if selects else None


def _queries(properties: Properties) -> list[Mapping[str, Any]]:
    return list(properties.get("Metrics", ()))


def _metric(properties: Properties) -> Properties:
    if "MetricName" in properties:
        return properties
    stats = [each["MetricStat"] for each in _queries(properties) if "MetricStat" in each]
    if len(stats) != 1:
        raise ValueError("the model knows alarms on one metric, not on math over several")
    return {**stats[0]["Metric"], "Statistic": stats[0]["Stat"], "Period": stats[0]["Period"]}


def _statistic_and_period(properties: Properties) -> tuple[str, int]:
    query = query_of(properties)
    if query is None:
        metric = _metric(properties)
        return metric["Statistic"], metric["Period"]
    (period,) = [each["Period"] for each in _queries(properties)]
    return _STATISTICS[query.function], period
