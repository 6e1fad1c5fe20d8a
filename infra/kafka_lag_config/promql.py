# SPDX-License-Identifier: Apache-2.0
"""Alarms on any group by PromQL, on metrics that CloudWatch gets by OTLP.

Each series that a query returns is a contributor, which is in ALARM once it was returned for the
pending period, and OK again once it was not for the recovery period [CloudWatch user guide,
"PromQL alarms"]: the `for` and `keep_firing_for` of Prometheus.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from kafka_lag import contract
from kafka_lag.contract.otlp import OTEL_ATTRIBUTES, name_otel_metric
from kafka_lag_config.alarm_rules import ANY_UNUSUAL, Rule, left_out, query_rules
from kafka_lag_config.expressions import split_atoms
from kafka_lag_config.facts import ClusterFacts
from kafka_lag_config.faults import Fault

# Series that a query returns, by PromQL or by Metrics Insights [CloudWatch user guide, "Limits that
# apply to alarms based on PromQL queries", "CloudWatch Metrics Insights quotas"].
MOST_SERIES = 500
# Characters of a query, and seconds of a period [botocore cloudwatch AlarmPromQLCriteria].
_LONGEST, _LONGEST_SECONDS = 10_000, 86_400

# What Python's expressions have and RE2 lacks, by which CloudWatch reads them.
_NOT_RE2 = re.compile(r"\(\?(?:[=!>(#]|<[=!]|P=|[a-zA-Z]*[auxL])|[*+?}]\+|\\(?:[1-9]|[uUN])")

_CLUSTER = json.dumps(OTEL_ATTRIBUTES[contract.DIMENSION_CLUSTER])
_GROUP = OTEL_ATTRIBUTES[contract.DIMENSION_GROUP]
_DIMENSIONS = (contract.DIMENSION_CLUSTER, contract.DIMENSION_GROUP)


def groups_apart(cluster: ClusterFacts, rule: Rule) -> tuple[str, ...]:
    """Returns the named groups that the query of a rule on any group leaves out.

    No named group has an alarm of its own on what is unusual.
    """
    named = () if rule.name == ANY_UNUSUAL.name else cluster.alarms.groups
    if not cluster.settings.by_otlp:
        return left_out(rule, cluster.settings.namespace, cluster.name, named)
    return tuple(named[: _count_fitting(_query(cluster, rule, ()), map(_is_not, named))])


def promql_query(cluster: ClusterFacts, rule: Rule) -> str:
    """Returns the query of a rule: the groups that breach, with `owner` if the group has one.

    The last value stands in for missing ones as long as the rule looks back.
    """
    query = _query(cluster, rule, groups_apart(cluster, rule))
    # An owner that is added last decides, as the first expression that matches does elsewhere.
    owners = [
        f',"owner",{_quote(owner.replace("$", "$$"))},"{_GROUP}",{_quote(_anywhere(found))})'
        for found, owner in cluster.settings.owner.items()
    ]
    kept = owners[: _count_fitting(query, (f"label_replace({each}" for each in owners))]
    return "label_replace(" * len(kept) + query + "".join(reversed(kept))


def find_periods(cluster: ClusterFacts, rule: Rule) -> tuple[int, int]:
    """Returns the minutes after its first breach at which a group pages, and after its last at
    which it is OK: `hold` runs, or what `alarms.rules` says.
    """
    changed = cluster.alarms.rules.get(rule.name)
    runs = again = cluster.settings.hold - 1
    if changed is not None and (changed.datapoints or changed.periods):
        runs, again = rule.datapoints - 1, rule.periods - rule.datapoints
    return runs * cluster.settings.interval_minutes, again * cluster.settings.interval_minutes


def find_promql_faults(cluster: ClusterFacts) -> Iterator[Fault]:
    """Yields faults of a configuration whose alarms CloudWatch would not take, or give no data."""
    settings = cluster.settings
    if not settings.by_otlp:
        return
    if any(each.sigv4 and each.names != "otel" for each in settings.otlp_endpoints):
        yield Fault(("sinks",), 'otlp with sigv4 needs names "otel", by which alarms look')
    endpoints = [each for each in settings.otlp_endpoints if each.sigv4]
    if any(each.levels is not None or each.endpoint is not None for each in endpoints):
        yield Fault(
            ("sinks",),
            "otlp with sigv4 takes the cluster's levels and region where metrics is otlp, as "
            "alarms do: leave out its levels and endpoint",
        )
    for found in settings.owner:
        if _NOT_RE2.search(found):
            yield Fault(
                ("owner", found),
                "alarms by PromQL cannot read it: write it without look-around, references back, "
                "(?x), \\u and possessive repetition",
            )
    for rule in query_rules(cluster):
        if max(find_periods(cluster, rule)) * 60 > _LONGEST_SECONDS:
            yield Fault(
                ("hold",), f"{rule.name} would wait for more than a day, the longest period"
            )
            return


def _query(cluster: ClusterFacts, rule: Rule, apart: tuple[str, ...]) -> str:
    metric = json.dumps(name_otel_metric(rule.metric, _DIMENSIONS))
    matchers = ",".join((metric, f"{_CLUSTER}={_quote(cluster.name)}", *map(_is_not, apart)))
    minutes = rule.periods * cluster.settings.interval_minutes
    return (
        f"max by ({_CLUSTER},{_GROUP}) (last_over_time({{{matchers}}}[{minutes}m])) "
        f"{rule.operator.sign} {rule.threshold or 0:.12g}"
    )


def _is_not(group: str) -> str:
    return f"{_GROUP}!={_quote(group)}"


def _anywhere(expression: str) -> str:
    """Returns RE2's expression for names in which Python finds this one; it has no `\\Z`."""
    found = "".join(r"\z" if each == r"\Z" else each for each in split_atoms(expression))
    return f"(?s:.*(?:{found}).*)"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _count_fitting(query: str, parts: Iterator[str]) -> int:
    """Returns how many of the parts fit into the query, each with a comma."""
    count, length = 0, len(query)
    for part in parts:
        length += len(part) + 1
        if length > _LONGEST:
            break
        count += 1
    return count
