# SPDX-License-Identifier: Apache-2.0
"""Alarms of CloudFormation's properties, minute by minute, as AWS documents them.

Production decides the states of many alarms at once in `kafka_lag_config.simulation`; here one
alarm is evaluated at one moment, in AWS's words, so that tests hold one against the other. What AWS
leaves open is in `Assumptions`. Minutes count from the metrics' epoch.

Sources: Amazon CloudWatch user guide, "Configuring how CloudWatch alarms treat missing data",
"Alarm warm-up periods", "Using math expressions with CloudWatch metrics".
"""

from __future__ import annotations

import ast
import json
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Any, NamedTuple, TypeAlias

from kafka_lag_config.simulation.evaluation import (
    ALARM,
    INSUFFICIENT_DATA,
    OK,
    Assumptions,
    Counts,
)

Properties: TypeAlias = Mapping[str, Any]
# A data point: breaching or not, None if it is missing.
Point: TypeAlias = bool | None

_MINUTE_MS, _THREE_HOURS = 60_000, 180
_ASSUMED = Assumptions()
_STATISTICS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "Maximum": max,
    "Minimum": min,
    "Average": fmean,
    "Sum": sum,
    "SampleCount": len,
}
_IN_QUERIES = {"MAX": "Maximum", "MIN": "Minimum", "AVG": "Average", "SUM": "Sum"}
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "GreaterThanOrEqualToThreshold": operator.ge,
    "GreaterThanThreshold": operator.gt,
    "LessThanThreshold": operator.lt,
    "LessThanOrEqualToThreshold": operator.le,
    "GreaterThanUpperThreshold": operator.gt,
}
_OPERATORS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_AGGREGATES: Mapping[str, Callable[[list[float]], float]] = {"MAX": max, "MIN": min}
# The one shape of a query that this project writes.
_QUERY = re.compile(
    r"SELECT (?P<function>\w+)\((?P<name>\w+)\) "
    r'FROM SCHEMA\("(?P<namespace>[^"]+)",(?P<dimensions>"[^)]+")\) '
    r"WHERE \"(?P<key>[^\"]+)\"='(?P<value>[^']*)' "
    r"(?P<without>(?:AND \"[^\"]+\"!='[^']*' )*)"
    r"GROUP BY (?P<by>[^()]+) ORDER BY MAX\(\) (?:DESC|ASC)"
)
_WITHOUT = re.compile(r"AND \"([^\"]+)\"!='([^']*)' ")


class Series(NamedTuple):
    """One metric: CloudWatch knows another for every other set of dimensions."""

    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, namespace: str, name: str, dimensions: Mapping[str, str]) -> Series:
        """Returns a series by its dimensions' names and values."""
        return cls(namespace, name, frozenset(dimensions.items()))

    @classmethod
    def described(cls, metric: Properties) -> Series:
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
        """Returns the statistic of values of these minutes that arrived by `seen`, None without."""
        by_minute = self._values.get(series, {})
        found = (each for minute in minutes for each in by_minute.get(minute, ()))
        values = [value for value, arrives in found if arrives <= seen]
        return _STATISTICS[statistic](values) if values else None


def calculate(
    text: str, values: Mapping[str, float | None], empty: frozenset[str] = frozenset()
) -> float | None:
    """Returns the result of metric math for these values of the metrics, None without a result.

    It knows arithmetic, comparisons (1 or 0), IF, FILL with a number, and MAX and MIN of a list. If
    a metric has no value, the result has none, except for FILL and for the branch of IF that is not
    taken. `empty` are the metrics that FILL leaves as they are. Raises ValueError for an expression
    that is not modelled.
    """

    def find(node: ast.expr) -> float | None:
        match node:
            case ast.Constant(value=int() | float() as number):
                return float(number)
            case ast.Name(id=name) if name in values:
                return values[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = find(operand)
                return None if value is None else -value
            case ast.BinOp(left, act, right) | ast.Compare(left, [act], [right]) if (
                type(act) in _OPERATORS
            ):
                first, second = find(left), find(right)
                if first is None or second is None or (isinstance(act, ast.Div) and not second):
                    return None
                return float(_OPERATORS[type(act)](first, second))
            case ast.Call(func=ast.Name("IF"), args=[condition, chosen, other]):
                holds = find(condition)
                return None if holds is None else find(chosen if holds else other)
            case ast.Call(func=ast.Name("FILL"), args=[ast.Name(id=metric) as name, constant]):
                value = find(name)
                return find(constant) if value is None and metric not in empty else value
            case ast.Call(func=ast.Name(name), args=[ast.List(elts=each)]) if name in _AGGREGATES:
                known = [value for value in map(find, each) if value is not None]
                return _AGGREGATES[name](known) if known else None
        raise ValueError(f"an expression that is not modelled: {text}")

    return find(_parse(text))


@cache
def _parse(text: str) -> ast.expr:
    """Its tree: of the operators that are modelled the syntax is Python's."""
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"an expression that is not modelled: {text}") from error


@dataclass(frozen=True, slots=True)
class Watched:
    """The value that an alarm compares with its bound: metric math over statistics of series.

    `stats` are series and statistic by the name in `expression`; a period has so many minutes.
    """

    stats: Mapping[str, tuple[Series, str]]
    expression: str
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
        stats, expression, periods = _read(properties, series)
        if len(periods) != 1 or periods[0] % 60:
            raise ValueError("the metrics of an alarm must have one period, of whole minutes")
        bound = band if "ThresholdMetricId" in properties else properties.get("Threshold")
        if bound is None:
            raise ValueError("the alarm has no threshold; give the band of an anomaly alarm")
        evaluated = properties["EvaluationPeriods"]
        missing = properties.get("TreatMissingData", "missing")
        counts = Counts(properties.get("DatapointsToAlarm", evaluated), evaluated, missing)
        compared = properties["ComparisonOperator"]
        return cls(stats, expression, periods[0] // 60, compared, bound, counts)

    def values(self, metrics: Metrics, now: int, assumed: Assumptions) -> list[float | None]:
        """Returns the evaluation range as it is seen at the end of minute `now`, oldest first."""
        count = self.counts.periods + assumed.extra_points
        ends = range(now - (count - 1) * self.period, now + 1, self.period)
        columns = {
            name: [metrics.point(*stat, range(e - self.period + 1, e + 1), now) for e in ends]
            for name, stat in self.stats.items()
        }
        if self.expression in columns:
            return columns[self.expression]
        empty: frozenset[str] = frozenset()
        if assumed.empty_series == "missing":
            empty = frozenset(n for n, c in columns.items() if all(v is None for v in c))
        rows = zip(*columns.values(), strict=True)
        names = list(columns)
        return [
            calculate(self.expression, dict(zip(names, row, strict=True)), empty) for row in rows
        ]

    def decide(
        self, values: Sequence[float | None], previous: str, assumed: Assumptions = _ASSUMED
    ) -> str:
        """Returns the state after these values of the evaluation range."""
        beyond = _COMPARISONS[self.operator]
        points = [None if value is None else beyond(value, self.bound) for value in values]
        return state_of(points, self.counts, previous, assumed.undecided)


_Stats: TypeAlias = dict[str, tuple[Series, str]]


def _read(properties: Properties, series: Series | None) -> tuple[_Stats, str, list[int]]:
    """Returns the statistics by name, the expression over them, and their different periods."""
    queries = properties.get("Metrics", ())
    if not queries:
        stat = Series.described(properties), properties["Statistic"]
        return {"metric": stat}, "metric", [properties["Period"]]
    if series is not None:
        function = _IN_QUERIES[_find_query(properties)["function"]]
        return {"metric": (series, function)}, "metric", [queries[0]["Period"]]
    read = {each["Id"]: each["MetricStat"] for each in queries if "MetricStat" in each}
    if "ThresholdMetricId" in properties:
        (expression,) = read
    else:
        (returned,) = [each for each in queries if each.get("ReturnData", True)]
        expression = returned.get("Expression", returned["Id"])
    nodes = list(ast.walk(_parse(expression)))
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    names = {n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in called}
    if not names <= set(read):
        raise ValueError(f"not metrics of the alarm: {', '.join(sorted(names - set(read)))}")
    stats = {n: (Series.described(read[n]["Metric"]), read[n]["Stat"]) for n in read if n in names}
    return stats, expression, list({read[name]["Period"] for name in stats})


def series_of(properties: Properties) -> Series:
    """Returns the one metric that an alarm watches. Raises ValueError if it watches several."""
    ((series, _),) = _read(properties, None)[0].values()
    return series


def state_of(
    points: Sequence[Point], counts: Counts, previous: str, undecided: str = "retain"
) -> str:
    """Returns the state after these points of the evaluation range, oldest first.

    If there are as many real points as periods, the newest of them decide. If there are fewer, all
    of them count, and missing points are filled in only up to the number of periods. If all that is
    known breaches, the oldest breach must be no younger than M points for an alarm.
    """
    real = [point for point in points if point is not None]
    missing = counts.periods - len(real)
    breaching = sum(real[-counts.periods :])
    if missing > 0 and counts.missing == "breaching":
        breaching += missing
    # All that is known breaches, and is too little.
    is_open = missing > 0 and counts.datapoints > breaching == len(real)
    if is_open and counts.missing == "ignore":
        return previous
    if is_open and counts.missing == "missing":
        if not real:
            return INSUFFICIENT_DATA
        oldest = next(index for index, point in enumerate(points) if point is not None)
        if len(points) - oldest >= counts.datapoints:
            return ALARM
        return previous if undecided == "retain" else OK
    return ALARM if breaching >= counts.datapoints else OK


def states(
    properties: Properties,
    metrics: Metrics,
    minutes: range,
    assumed: Assumptions = _ASSUMED,
    band: float | None = None,
) -> list[str]:
    """Returns an alarm's state at the end of each minute; it is created in the first of them.

    It begins in INSUFFICIENT_DATA. Raises ValueError for an alarm with contributors.
    """
    watched, warm_up = Watched.of(properties, band), properties.get("WarmUpConfiguration")
    observed: list[str] = []
    state, warming = INSUFFICIENT_DATA, warm_up is not None
    for now in minutes:
        values = watched.values(metrics, now, assumed)
        if warm_up is not None and warming:
            found = [metrics.first(series, now) for series, _ in watched.stats.values()]
            known = [minute for minute in found if minute is not None]
            window = watched.counts.periods * watched.period
            full = len(known) == len(found) and now - max(known) >= window
            # Until its time is over, it may begin once its window is full.
            waits = warm_up.get("OnlyStartEvaluatingAfterWarmUpPeriodEnds", False)
            waits = waits or not full or values[-1] is None
            warming = now - minutes.start < warm_up["WarmUpPeriodDurationInMinutes"] and waits
        if not warming:
            state = watched.decide(values, state, assumed)
        observed.append(state)
    return observed


def contributor_states(
    properties: Properties, metrics: Metrics, minutes: range, assumed: Assumptions = _ASSUMED
) -> dict[tuple[str, ...], list[str]]:
    """States by contributor of an alarm on a query with GROUP BY, by sorted dimension values.

    A contributor is in OK or ALARM only, is OK before it has data, and becomes OK when the query
    does not return it any more, whatever missing data is treated as. Raises ValueError for an alarm
    without a query of the shape that is modelled.
    """
    found = {}
    for series in _find_contributors(_find_query(properties), metrics):
        watched, observed, state = Watched.of(properties, series=series), list[str](), OK
        for now in minutes:
            values = watched.values(metrics, now, assumed)
            returned = any(value is not None for value in values)
            if not returned and assumed.series_end == "three hours":
                lately = range(now - _THREE_HOURS + 1, now + 1)
                returned = metrics.point(series, "SampleCount", lately, now) is not None
            new = watched.decide(values, state, assumed) if returned else OK
            state = state if new == INSUFFICIENT_DATA else new
            observed.append(state)
        found[tuple(value for _, value in sorted(series.dimensions))] = observed
    return found


def _find_query(properties: Properties) -> re.Match[str]:
    texts = [each.get("Expression", "") for each in properties.get("Metrics", ())]
    query = _QUERY.fullmatch("".join(texts))
    if query is None or query["dimensions"] != query["by"].replace(", ", ","):
        raise ValueError(f"not a query that is modelled: {texts}")
    return query


def _find_contributors(query: re.Match[str], metrics: Metrics) -> Iterator[Series]:
    """Yields the series that a query returns: with its dimensions exactly, no fewer and no more."""
    wanted = set(re.findall(r'"([^"]+)"', query["dimensions"]))
    without = frozenset(_WITHOUT.findall(query["without"]))
    for series in metrics.series():
        same = (series.namespace, series.name) == (query["namespace"], query["name"])
        held = (query["key"], query["value"]) in series.dimensions
        names = {name for name, _ in series.dimensions}
        if same and held and not without & series.dimensions and names == wanted:
            yield series


def transitions(observed: Sequence[str], start: int = 0) -> list[tuple[int, str]]:
    """Returns each minute in which the state changes, and the new state; `start` is the first."""
    pairs = zip(observed, [INSUFFICIENT_DATA, *observed], strict=False)
    return [(at, state) for at, (state, old) in enumerate(pairs, start) if state != old]
