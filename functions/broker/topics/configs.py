# SPDX-License-Identifier: Apache-2.0
"""The topic settings that decide about loss and dating, kept for a few minutes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import numpy as np
from kafka.protocol.admin import DescribeConfigsRequest

from functions.broker.groups.census import chunks
from functions.broker.topics.table import TopicTable
from functions.broker.wire.connection import Wire
from functions.broker.wire.refusals import UnansweredError
from functions.lag.columns import Column, Words
from functions.lag.frame import Frame

_TOPIC_RESOURCE = 2
_CONFIGS = ("retention.ms", "retention.bytes", "cleanup.policy", "message.timestamp.type")
_TOPICS_PER_REQUEST = 500
_KEPT_SECONDS = 300.0


class ConfigCache:
    """Settings by topic, read again after five minutes; a topic that is new is read at once.

    What may not be read (DescribeConfigs on Topic) stays unknown and is tried again.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._settings: dict[str, dict[str, str]] = {}
        self._read_at = float("-inf")

    async def of(self, wire: Wire, topics: Iterable[str]) -> dict[str, dict[str, str]]:
        """The settings of these topics as far as they are known."""
        names = list(topics)
        if self._clock() - self._read_at >= _KEPT_SECONDS:
            self._settings, self._read_at = await _read(wire, names), self._clock()
        else:
            new = [name for name in names if name not in self._settings]
            self._settings.update(await _read(wire, new))
        return self._settings


async def _read(wire: Wire, names: list[str]) -> dict[str, dict[str, str]]:
    """The settings in `_CONFIGS` of each topic that may be read; denied ones are left out."""
    parts = chunks(names, _TOPICS_PER_REQUEST)
    answers = await wire.together(_asked(wire, part) for part in parts)
    return {name: values for answer in answers for name, values in answer.items()}


async def _asked(wire: Wire, names: list[str]) -> dict[str, dict[str, str]]:
    resource = DescribeConfigsRequest.DescribeConfigsResource
    try:
        answer = await wire.ask_any(
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
    except UnansweredError:
        return {}
    return {
        result.resource_name: {config.name: config.value for config in result.configs}
        for result in answer.results
        if result.error_code == 0
    }


def with_configs(table: TopicTable, configs: dict[str, dict[str, str]]) -> Frame:
    """The table's rows with retention_ms, retention_bytes, cleanup_policy, timestamp_type."""
    of_row = np.repeat(np.arange(len(table.names)), table.count)
    mine = [configs.get(name, {}) for name in table.names]

    def number(key: str) -> Column:
        return Column.optional([int(c[key]) if c.get(key) else None for c in mine]).take(of_row)

    def word(key: str) -> Words:
        return Words.of(c.get(key) for c in mine).take(of_row)

    return table.frame.with_columns(
        retention_ms=number("retention.ms"),
        retention_bytes=number("retention.bytes"),
        cleanup_policy=word("cleanup.policy"),
        timestamp_type=word("message.timestamp.type"),
    )
