# SPDX-License-Identifier: Apache-2.0
"""Queries of what /metrics exposes, by the names and labels that it has there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.contract import exposition
from kafka_lag_cdk.grafana.measures import Measure
from kafka_lag_cdk.grafana.model import Json
from kafka_lag_cdk.grafana.variables import CLUSTER, GROUP, TOPIC, asked, datasource

KIND = "prometheus"
EVERY = ".*"

# More lines nobody tells apart.
_MOST_LINES = 50

_CLUSTER = {exposition.LABEL_CLUSTER: CLUSTER}
_GROUP = {**_CLUSTER, exposition.LABEL_GROUP: GROUP}
_TOPIC = {**_GROUP, exposition.LABEL_TOPIC: TOPIC}

_ERR, _WARN = (contract.GROUP_STATUS_VALUES[word] for word in (contract.ERR, contract.WARN))
_REBALANCING = "|".join(contract.REBALANCING_STATES)

# Family, labels that are chosen, and what is asked of it where that is more than its value.
_GAUGES: dict[Measure, tuple[str, dict[str, str]]] = {
    Measure.STATUS: (exposition.GROUP_STATUS_GAUGE, _GROUP),
    Measure.LAG: (exposition.GROUP_LAG, _GROUP),
    Measure.TIME_LAG: (exposition.GROUP_TIME_LAG, _GROUP),
    Measure.TIME_LAG_ERROR: ("kafka_lag_group_time_lag_error_seconds", _GROUP),
    Measure.PROMISED: ("kafka_lag_group_sla_seconds", _GROUP),
    Measure.TIME_TO_DATA_LOSS: (exposition.GROUP_TIME_TO_DATA_LOSS, _GROUP),
    Measure.DRAIN_TIME: ("kafka_lag_group_drain_seconds", _GROUP),
    Measure.PRODUCED: ("kafka_lag_group_produced_records_per_second", _GROUP),
    Measure.CONSUMED: ("kafka_lag_group_consumed_records_per_second", _GROUP),
    Measure.MEMBERS: ("kafka_lag_group_members", _GROUP),
    Measure.RECORDS_LOST: ("kafka_lag_group_records_lost", _GROUP),
    Measure.TOPIC_LAG: (exposition.TOPIC_LAG, _TOPIC),
    Measure.TOPIC_TIME_LAG: (exposition.TOPIC_TIME_LAG, _TOPIC),
    Measure.PARTITION_LAG: ("kafka_consumergroup_lag", _TOPIC),
    Measure.PARTITION_TIME_LAG: ("kafka_lag_partition_time_lag_seconds", _TOPIC),
    Measure.SNAPSHOT_AGE: (exposition.SNAPSHOT_AGE, _CLUSTER),
}
_BY_CLUSTER = f"by ({exposition.LABEL_CLUSTER})"
_DERIVED: dict[Measure, tuple[str, str, dict[str, str]]] = {
    # None is 0 only where there is something to count.
    Measure.GROUPS_IN_ERR: (
        f"sum {_BY_CLUSTER} ({{}} == bool {_ERR})",
        exposition.GROUP_HELD_STATUS,
        _GROUP,
    ),
    Measure.GROUPS_IN_WARN: (
        f"sum {_BY_CLUSTER} ({{}} == bool {_WARN})",
        exposition.GROUP_HELD_STATUS,
        _GROUP,
    ),
    Measure.GROUPS_READ: (f"count {_BY_CLUSTER} ({{}})", exposition.GROUP_INFO, _GROUP),
    Measure.PARTITIONS_UNKNOWN: (
        f"sum {_BY_CLUSTER} ({{}})",
        "kafka_lag_group_partitions_unknown",
        _GROUP,
    ),
    Measure.PARTITIONS_UNCOMMITTED: (
        f"sum {_BY_CLUSTER} ({{}})",
        "kafka_lag_group_partitions_uncommitted",
        _GROUP,
    ),
}
_BY_PARTITION = (Measure.PARTITION_LAG, Measure.PARTITION_TIME_LAG)
_BY_TOPIC = (Measure.TOPIC_LAG, Measure.TOPIC_TIME_LAG)


@dataclass(frozen=True, slots=True)
class Prometheus:
    """What a Prometheus has scraped of the views; topics and partitions at their levels."""

    kind: str = KIND
    title: str = "Prometheus"

    def queries(self, measure: Measure, *, many: bool, legend: str | None = None) -> list[Json]:
        """A line a group or what else the measure is of; of many groups the highest."""
        if measure is Measure.REBALANCING:
            states = f'{exposition.LABEL_STATE}=~"{_REBALANCING}"'
            chosen = selector(exposition.GROUP_INFO, _GROUP, many, states)
            return [target(chosen, legend or _shown(_GROUP if many else {}) or "rebalancing")]
        if measure in _DERIVED:
            shape, family, labels = _DERIVED[measure]
            chosen = shape.format(selector(family, labels, many))
            return [target(chosen, " ".join(filter(None, (legend, _shown(_CLUSTER)))))]
        if measure not in _GAUGES:
            return []
        family, labels = _GAUGES[measure]
        chosen = selector(family, labels, many)
        named = list(labels) if many else list(labels)[2:]
        named += [exposition.LABEL_PARTITION] if measure in _BY_PARTITION else []
        label = " ".join(filter(None, (legend, _shown(named))))
        return [target(_highest(chosen, measure) if many else chosen, label or family)]

    def needs(self, measure: Measure) -> str:
        """The level of a scrape."""
        if measure in _BY_TOPIC:
            return "Known from a scrape of ?level=topic."
        return "Known from a scrape of ?level=partition." if measure in _BY_PARTITION else ""

    def variables(self, *, many: bool) -> Sequence[Json]:
        """What was scraped within the time that is shown."""
        ours = (
            _values(CLUSTER, "Cluster", exposition.SNAPSHOT_AGE, _CLUSTER, many, many),
            _values(GROUP, "Group", exposition.GROUP_INFO, _GROUP, many, many),
        )
        topics = _values(TOPIC, "Topic", exposition.TOPIC_LAG, _TOPIC, False, True)
        return (datasource(KIND, "Prometheus"), *ours, *(() if many else (topics,)))

    def group_link(self, uid: str) -> Json | None:
        """By the labels of the line, whatever characters they hold."""
        chosen = "&".join(
            f"var-{variable}=${{__field.labels.{label}:percentencode}}"
            for label, variable in _GROUP.items()
        )
        source = "var-datasource=${datasource}"
        url = f"/d/{uid}?{source}&{chosen}&${{__url_time_range}}"
        return {"targetBlank": False, "title": "The group", "url": url}


def target(expression: str, legend: str) -> Json:
    """One expression over the time that is shown."""
    return {
        "editorMode": "code",
        "expr": expression,
        "legendFormat": legend,
        "range": True,
    }


def topics() -> tuple[Json, ...]:
    """One cluster, and topics whose partitions were scraped."""
    within = {exposition.LABEL_CLUSTER: CLUSTER, exposition.LABEL_TOPIC: TOPIC}
    return (
        datasource(KIND, "Prometheus"),
        _values(CLUSTER, "Cluster", exposition.SNAPSHOT_AGE, _CLUSTER, False, False),
        _values(TOPIC, "Topic", exposition.LOG_REPLICAS, within, False, True),
    )


def chosen_logs(family: str) -> str:
    """Series by topic and partition, of the one cluster and the chosen topics."""
    within = {exposition.LABEL_CLUSTER: CLUSTER, exposition.LABEL_TOPIC: TOPIC}
    return selector(family, within, many=False)


def selector(family: str, labels: dict[str, str], many: bool, more: str = "") -> str:
    """Series that fit what was chosen; one value is compared as it is, several as expressions.

    Grafana escapes the latter for an expression, and the former not.
    """
    several = set(labels.values()) if many else {TOPIC}
    matchers = [
        f'{label}{"=~" if variable in several else "="}"${variable}"'
        for label, variable in labels.items()
    ]
    return f"{family}{{{', '.join(filter(None, (*matchers, more)))}}}"


def _highest(chosen: str, measure: Measure) -> str:
    """Least is worst of a time until something; what is of clusters or a status is shown whole."""
    if measure in (Measure.STATUS, Measure.SNAPSHOT_AGE):
        return chosen
    word = "bottomk" if measure is Measure.TIME_TO_DATA_LOSS else "topk"
    return f"{word}({_MOST_LINES}, {chosen})"


def _values(
    name: str, label: str, family: str, labels: dict[str, str], many_above: bool, many: bool
) -> Json:
    """The values of the last of these labels, within those before it."""
    *before, last = labels
    within = {each: labels[each] for each in before}
    chosen = selector(family, within, many_above) if within else family
    query = {
        "qryType": 1,
        "query": f"label_values({chosen}, {last})",
        "refId": "PrometheusVariableQueryEditor-VariableQuery",
    }
    return asked(name, label, KIND, query, many=many, every=EVERY)


def _shown(labels: Sequence[str] | dict[str, str]) -> str:
    return " ".join(f"{{{{{label}}}}}" for label in labels)
