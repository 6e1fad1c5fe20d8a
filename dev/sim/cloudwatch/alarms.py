# SPDX-License-Identifier: Apache-2.0
"""An alarm as CloudFormation has it, read into what its evaluation needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dev.sim.cloudwatch.expressions import Expression
from dev.sim.cloudwatch.metrics import Metrics, Series, minutes_of
from kafka_lag_config.simulation.evaluation import Assumptions, Counts, Point

Properties = Mapping[str, Any]

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
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
        """Return the value of the period that ends with the minute `end`, as arrived by `seen`."""
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
        """From CloudFormation properties.

        `band` is the upper edge that an anomaly alarm has learnt, `series` the contributor of an
        alarm on a query. Raises ValueError for what is not modelled.
        """
        stats, expression = _watched(properties, series)
        periods = {stat.period for stat in stats.values()}
        if len(periods) != 1:
            raise ValueError("the metrics of an alarm must have one period")
        bound = band if "ThresholdMetricId" in properties else properties.get("Threshold")
        if bound is None:
            raise ValueError("the alarm has no threshold; give the band of an anomaly alarm")
        evaluated = properties["EvaluationPeriods"]
        counts = Counts(
            datapoints=properties.get("DatapointsToAlarm", evaluated),
            periods=evaluated,
            missing=properties.get("TreatMissingData", "missing"),
        )
        operator = properties["ComparisonOperator"]
        return cls(stats, expression, periods.pop(), operator, bound, counts)

    def values(self, metrics: Metrics, now: int, assumed: Assumptions) -> list[float | None]:
        """The evaluation range as it is seen at the end of minute `now`, oldest first."""
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
        return [
            self.expression.value({name: c[at] for name, c in columns.items()}, empty)
            for at in range(count)
        ]

    def points(self, values: list[float | None]) -> list[Point]:
        """Return for each value whether it breaches; null if it is missing."""
        breaches = _OPERATORS[self.operator]
        return [None if value is None else breaches(value, self.bound) for value in values]

    def first(self, metrics: Metrics, seen: int) -> int | None:
        """The first minute in which each of its metrics has had a value, None before."""
        found = [metrics.first(stat.series, seen) for stat in self.stats.values()]
        known = [minute for minute in found if minute is not None]
        return max(known) if len(known) == len(found) else None


@dataclass(frozen=True, slots=True)
class Query:
    """A Metrics Insights query of the one shape that this project writes.

    `without` are dimension values whose series it leaves out.
    """

    namespace: str
    name: str
    dimensions: frozenset[str]
    where: tuple[str, str]
    without: frozenset[tuple[str, str]]
    function: str

    @classmethod
    def parsed(cls, text: str) -> Query:
        """From its text. Raises ValueError for another shape."""
        found = _QUERY.fullmatch(text)
        if found is None or found["dimensions"] != found["by"].replace(", ", ","):
            raise ValueError(f"not a query that is modelled: {text}")
        names = frozenset(re.findall(r'"([^"]+)"', found["dimensions"]))
        where = (found["key"], found["value"])
        without = frozenset(_WITHOUT.findall(found["without"]))
        return cls(found["namespace"], found["name"], names, where, without, found["function"])

    def matches(self, metrics: Metrics) -> Iterator[Series]:
        """Series with exactly the schema's dimensions: no coarser and no finer level."""
        for series in metrics.series():
            names = frozenset(name for name, _ in series.dimensions)
            same = (series.namespace, series.name) == (self.namespace, self.name)
            held = self.where in series.dimensions and not self.without & series.dimensions
            if same and held and names == self.dimensions:
                yield series


def series_of(properties: Properties) -> Series:
    """The one metric that an alarm watches. Raises ValueError for an alarm on several."""
    stats, _ = _watched(properties, None)
    if len(stats) != 1:
        raise ValueError("the alarm is on math over several metrics")
    (stat,) = stats.values()
    return stat.series


def query_of(properties: Properties) -> Query | None:
    """The query of a Metrics Insights alarm, None for other alarms."""
    texts = [each["Expression"] for each in _queries(properties) if "Expression" in each]
    selects = [text for text in texts if text.startswith("SELECT ")]
    return Query.parsed(selects[0]) if selects else None


def _queries(properties: Properties) -> list[Mapping[str, Any]]:
    return list(properties.get("Metrics", ()))


def _watched(
    properties: Properties, series: Series | None
) -> tuple[dict[str, MetricStat], Expression]:
    queries = _queries(properties)
    if not queries:
        metric = _stat(properties, properties["Statistic"], properties["Period"])
        return {"metric": metric}, Expression("metric")
    if series is not None:
        return _contributor(properties, series)
    stats = {
        each["Id"]: _stat(each["MetricStat"]["Metric"], each["MetricStat"]["Stat"], period)
        for each in queries
        if "MetricStat" in each and (period := each["MetricStat"]["Period"])
    }
    if "ThresholdMetricId" in properties:
        (name,) = stats
        return stats, Expression(name)
    (returned,) = [each for each in queries if each.get("ReturnData", True)]
    expression = Expression(returned.get("Expression", returned["Id"]))
    names = set(expression.names())
    if not names <= set(stats):
        raise ValueError(f"not metrics of the alarm: {', '.join(sorted(names - set(stats)))}")
    return {name: stats[name] for name in stats if name in names}, expression


def _contributor(
    properties: Properties, series: Series
) -> tuple[dict[str, MetricStat], Expression]:
    query = query_of(properties)
    if query is None:
        raise ValueError("the alarm has no query")
    (period,) = [each["Period"] for each in _queries(properties)]
    stat = MetricStat(series, _STATISTICS[query.function], minutes_of(period))
    return {"metric": stat}, Expression("metric")


def _stat(metric: Properties, statistic: str, period: int) -> MetricStat:
    return MetricStat(Series.described(metric), statistic, minutes_of(period))
