# SPDX-License-Identifier: Apache-2.0
"""Topic settings (DescribeConfigs) that retention and time lag need, cached for minutes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from kafka.protocol.admin import DescribeConfigsRequest

from kafka_lag.brokers.connections import Connections
from kafka_lag.brokers.coordinators import chunks
from kafka_lag.brokers.errors import (
    UNKNOWN_TOPIC,
    Failure,
    UnansweredError,
    failure_of,
    failure_of_code,
    malformed_failure,
    missing_failure,
)
from kafka_lag.brokers.topics import TopicTable
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame

_TOPIC_RESOURCE = 2
_NUMBERS = ("retention.ms", "retention.bytes")
# Known to brokers since Kafka 3.6.
_TIERED = "remote.storage.enable"
_CONFIGS = (*_NUMBERS, "cleanup.policy", "message.timestamp.type", _TIERED)
_LONG = 2**63
_TOPICS_PER_REQUEST = 500

# Settings are read again after 4.5 minutes and dropped after five: runs are a minute apart, and the
# one at five minutes may come a moment early.
_CACHED_MS = 300_000
_READ_AGAIN_MS = 270_000

Values: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """Known settings by topic, and why other settings are unknown."""

    values: dict[str, Values]
    failures: dict[str, Failure]

    @property
    def unknown(self) -> frozenset[str]:
        """Returns the topics that the answering broker does not know."""
        return frozenset(n for n, f in self.failures.items() if f.code == UNKNOWN_TOPIC)


class TopicSettingsCache:
    """Settings by topic name and id, so that those of a recreated topic are read at once.

    Settings of an existing topic are read again at least every five minutes. If that fails, each
    run tries again, and settings older than five minutes are unknown.
    """

    def __init__(self) -> None:
        # The time of the run that read them, and their values. Brokers before Kafka 2.8 send no id.
        self._cached: dict[tuple[str, str | None], tuple[int, Values]] = {}

    async def read(
        self, connections: Connections, table: TopicTable, now: Collection[str], taken_at: int
    ) -> TopicSettings:
        """Returns the settings of the table's topics; those in `now` are not taken from the cache.

        Their age counts by the runs' scheduled times in ms, because a monotonic clock may stop with
        a frozen Lambda.
        """
        ids = table.frame.strings("topic_id").take(table.first).to_list()
        keys = dict(zip(table.names, zip(table.names, ids, strict=True), strict=True))
        # A run may repeat an earlier one, so the difference can be negative.
        ages = {key: abs(taken_at - at) for key, (at, _) in self._cached.items()}
        aged = {key for key, age in ages.items() if age >= _READ_AGAIN_MS}
        due = [n for n, k in keys.items() if n in now or k in aged or k not in self._cached]
        read = await _read(connections, due)
        young = {
            key: self._cached[key]
            for key in keys.values()
            if key in self._cached and ages[key] < _CACHED_MS
        }
        fresh = {keys[n]: (taken_at, v) for n, v in read.values.items() if n not in read.failures}
        self._cached = {**young, **fresh}
        known = {name: self._cached[key][1] for name, key in keys.items() if key in self._cached}
        return TopicSettings({**read.values, **known}, read.failures)

    def tiered_topics(self) -> frozenset[str]:
        """Returns the topics whose last known settings put old segments into remote storage."""
        return frozenset(n for (n, _), (_, v) in self._cached.items() if is_tiered(v))


def is_tiered(settings: Values) -> bool:
    """Returns True if a topic's old segments lie in remote storage."""
    return settings.get(_TIERED) == "true"


async def _read(connections: Connections, names: list[str]) -> TopicSettings:
    """Returns the settings in `_CONFIGS` of each topic, if they may be read."""
    parts = chunks(names, _TOPICS_PER_REQUEST)
    answers = await connections.gather(_read_part(connections, part) for part in parts)
    return TopicSettings(
        {name: values for answer in answers for name, values in answer.values.items()},
        {name: failure for answer in answers for name, failure in answer.failures.items()},
    )


async def _read_part(connections: Connections, names: list[str]) -> TopicSettings:
    resource = DescribeConfigsRequest.DescribeConfigsResource
    try:
        answer = await connections.send_to_any(
            lambda: DescribeConfigsRequest(
                resources=[
                    resource(
                        resource_type=_TOPIC_RESOURCE,
                        resource_name=name,
                        configuration_keys=list(_CONFIGS),
                    )
                    for name in names
                ]
            )
        )
    except UnansweredError as error:
        return TopicSettings({}, dict.fromkeys(names, failure_of(error)))
    results = {result.resource_name: result for result in answer.results or ()}
    settings = TopicSettings({}, {})
    for name in names:
        failure = (
            failure_of_code(results[name].error_code)
            if name in results
            else missing_failure("DescribeConfigs")
        )
        if failure is None:
            settings.values[name], failure = _values(results[name].configs or ())
        if failure is not None:
            settings.failures[name] = failure
    return settings


def _values(configs: Collection[Any]) -> tuple[Values, Failure | None]:
    """Returns the answered values of `_CONFIGS`, and the failure if a value is wrong."""
    answered = {config.name: config.value for config in configs}
    values: Values = {}
    failure = None
    for key in _CONFIGS:
        text = answered.get(key)
        value = _number(text) if key in _NUMBERS else text
        if value is None and key == _TIERED:
            continue
        if value is None:
            failure = malformed_failure(
                f"{key} is {text!r}" if key in answered else f"{key} is missing"
            )
        else:
            values[key] = value
    return values, failure


def _number(text: str | None) -> int | None:
    """Returns the text as a 64-bit integer; None if it is not one."""
    try:
        number = int(text or "")
    except ValueError:
        return None
    return number if -_LONG <= number < _LONG else None


def add_settings(table: TopicTable, configs: dict[str, Values]) -> Frame:
    """Returns the table's rows with retention_ms and _bytes, cleanup_policy, timestamp_type."""
    of_row = np.repeat(np.arange(len(table.names)), table.count)
    settings = [configs.get(name, {}) for name in table.names]

    def number(key: str) -> Column:
        return Column.optional([each.get(key) for each in settings]).take(of_row)

    def string(key: str) -> Strings:
        return Strings.of(each.get(key) for each in settings).take(of_row)

    return table.frame.with_columns(
        retention_ms=number("retention.ms"),
        retention_bytes=number("retention.bytes"),
        cleanup_policy=string("cleanup.policy"),
        timestamp_type=string("message.timestamp.type"),
    )
