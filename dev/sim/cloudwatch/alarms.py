# SPDX-License-Identifier: Apache-2.0
"""Reads an alarm from CloudFormation's properties into the values that its evaluation needs."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dev.sim.cloudwatch.evaluation import Point
from dev.sim.cloudwatch.expressions import Expression
from dev.sim.cloudwatch.metrics import Metrics, Series, minutes_of
from kafka_lag_config.simulation.evaluation import Assumptions, Counts

Properties = Mapping[str, Any]

_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "GreaterThanOrEqualToThreshold": operator.ge,
    "GreaterThanThreshold": operator.gt,
    "LessThanThreshold": operator.lt,
    "LessThanOrEqualToThreshold": operator.le,
    "GreaterThanUpperThreshold": operator.gt,
}
_STATISTICS = {"MAX": "Maximum", "MIN": "Minimum", "AVG": "Average", "SUM": "Sum"}
_QUERY = re.compile(
    r"SELECT (?P<function>\w+)\((?P<name>\w+)\) "
    r'FROM SCHEMA\("(?P<namespace>[^"]+)",(?P<dimensions>"[^)]+")\) '
    r"WHERE \"(?P<key>[^\"]+)\"='(?P<value>[^']*)' "
    r"(?P<without>(?:AND \"[^\"]+\"!='[^']*' )*)"
    r"GROUP BY (?P<by>[^()]+) ORDER BY MAX\(\) (?:DESC|ASC)"
)
_WITHOUT = re.compile(r"AND \"([^\"]+)\"!='([^']*)' ")


@dataclass(frozen=True, slots=True)
class MetricStat:
    """A statistic of one series over periods of so many minutes."""

    series: Series
    statistic: str
    period: int

    def value(self, metrics: Metrics, end: int, seen: int) -> float | None:
        """Returns the value of the period that ends with the minute `end`, as arrived by `seen`."""
        minutes = range(end - self.period + 1, end + 1)
        return metrics.point(self.series, self.statistic, minutes, seen)


@dataclass(frozen=True, slots=True)
class Watched:
    """The value that an alarm compares with its bound: a metric, or an expression over several."""

    stats: Mapping[str, MetricStat]
    expression: Expression
    period: int
    operator: str
    bound: float
    counts: Counts

    @classmethod
    def of(
        cls, properties: Properties, band: float | None = None, series: Series | None = None
    ) -> Watched:
        """Returns the watched value of an alarm with these CloudFormation properties.

        `band` is the upper edge that an anomaly alarm has learnt, `series` the contributor of an
        alarm on a query. Raises ValueError for a property that is not modelled.
        """
        stats, expression = _read(properties, series)
        periods = {stat.period for stat in stats.values()}
        if len(periods) != 1:
            raise ValueError("the metrics of an alarm must have one period")
        bound = band if "ThresholdMetricId" in properties else properties.get("Threshold")
        if bound is None:
            raise ValueError("the alarm has no threshold; give the band of an anomaly alarm")
        evaluated = properties["EvaluationPeriods"]
        missing = properties.get("TreatMissingData", "missing")
        counts = Counts(properties.get("DatapointsToAlarm", evaluated), evaluated, missing)
        compared = properties["ComparisonOperator"]
        return cls(stats, expression, periods.pop(), compared, bound, counts)

    def values(self, metrics: Metrics, now: int, assumed: Assumptions) -> list[float | None]:
        """Returns the evaluation range as it is seen at the end of minute `now`, oldest first."""
        count = self.counts.periods + assumed.extra_points
        ends = range(now - (count - 1) * self.period, now + 1, self.period)
        columns = {
            name: [stat.value(metrics, end, now) for end in ends]
            for name, stat in self.stats.items()
        }
        if len(columns) == 1 and self.expression.text in columns:
            return columns[self.expression.text]
        empty: frozenset[str] = frozenset()
        if assumed.empty_series == "missing":
            empty = frozenset(n for n, c in columns.items() if all(v is None for v in c))
        rows = zip(*columns.values(), strict=True)
        return [self.expression.value(dict(zip(columns, row, strict=True)), empty) for row in rows]

    def points(self, values: list[float | None]) -> list[Point]:
        """Returns for each value whether it breaches; null if it is missing."""
        breaches = _OPERATORS[self.operator]
        return [None if value is None else breaches(value, self.bound) for value in values]

    def first(self, metrics: Metrics, seen: int) -> int | None:
        """Returns the first minute in which each of its metrics has had a value, None before."""
        found = [metrics.first(stat.series, seen) for stat in self.stats.values()]
        known = [minute for minute in found if minute is not None]
        return max(known) if len(known) == len(found) else None


def _read(
    properties: Properties, series: Series | None
) -> tuple[dict[str, MetricStat], Expression]:
    queries = properties.get("Metrics", ())
    if not queries:
        metric = _stat(properties, properties["Statistic"], properties["Period"])
        return {"metric": metric}, Expression("metric")
    if series is not None:
        (query,), (period,) = _find_queries(properties), [each["Period"] for each in queries]
        stat = MetricStat(series, _STATISTICS[query["function"]], minutes_of(period))
        return {"metric": stat}, Expression("metric")
    read = [(each["Id"], each["MetricStat"]) for each in queries if "MetricStat" in each]
    stats = {name: _stat(each["Metric"], each["Stat"], each["Period"]) for name, each in read}
    if "ThresholdMetricId" in properties:
        (name,) = stats
        return stats, Expression(name)
    (returned,) = [each for each in queries if each.get("ReturnData", True)]
    expression = Expression(returned.get("Expression", returned["Id"]))
    names = set(expression.names())
    if not names <= set(stats):
        raise ValueError(f"not metrics of the alarm: {', '.join(sorted(names - set(stats)))}")
    return {name: stats[name] for name in stats if name in names}, expression


def _stat(metric: Properties, statistic: str, period: int) -> MetricStat:
    return MetricStat(Series.described(metric), statistic, minutes_of(period))


def series_of(properties: Properties) -> Series:
    """Returns the one metric that an alarm watches. Raises ValueError if it watches several."""
    stats, _ = _read(properties, None)
    if len(stats) != 1:
        raise ValueError("the alarm is on math over several metrics")
    (stat,) = stats.values()
    return stat.series


def is_query(properties: Properties) -> bool:
    """Returns True for an alarm on a Metrics Insights query. Raises ValueError for other shapes."""
    return bool(_find_queries(properties))


def find_contributors(properties: Properties, metrics: Metrics) -> Iterator[Series]:
    """Yields the series that a query returns: with its dimensions exactly, no fewer and no more.

    Raises ValueError for an alarm without a query.
    """
    if not is_query(properties):
        raise ValueError("the alarm has no query")
    (query,) = _find_queries(properties)
    wanted = set(re.findall(r'"([^"]+)"', query["dimensions"]))
    without = frozenset(_WITHOUT.findall(query["without"]))
    for series in metrics.series():
        same = (series.namespace, series.name) == (query["namespace"], query["name"])
        held = (query["key"], query["value"]) in series.dimensions
        names = {name for name, _ in series.dimensions}
        if same and held and not without & series.dimensions and names == wanted:
            yield series


def _find_queries(properties: Properties) -> list[re.Match[str]]:
    """Returns the query of the one shape that this project writes, or nothing."""
    texts = [each.get("Expression", "") for each in properties.get("Metrics", ())]
    found = []
    for text in texts:
        if text.startswith("SELECT "):
            query = _QUERY.fullmatch(text)
            if query is None or query["dimensions"] != query["by"].replace(", ", ","):
                raise ValueError(f"not a query that is modelled: {text}")
            found.append(query)
    return found
