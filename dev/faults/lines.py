# SPDX-License-Identifier: Apache-2.0
"""Lines of metrics: what each is about, and what no line may be."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from kafka_lag import contract

Line: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[str, ...]

_NAMES = (contract.DIMENSION_GROUP, contract.DIMENSION_TOPIC, contract.DIMENSION_PARTITION)
_DIRECTIVE = "_aws"
_NO_VALUES = frozenset((_DIRECTIVE, contract.DIMENSION_CLUSTER, *_NAMES))


def key_of(line: Line) -> Key:
    """Group, topic and partition of a line, as far as it is about them."""
    return tuple(str(line[name]) for name in _NAMES if name in line)


def values_of(line: Line) -> dict[str, Any]:
    """The metrics of a line by name."""
    return {name: value for name, value in line.items() if name not in _NO_VALUES}


def by_key(lines: Sequence[Line]) -> dict[Key, dict[str, Any]]:
    """The metrics of all lines, those of the cluster under the empty key."""
    found: dict[Key, dict[str, Any]] = {}
    for line in lines:
        found.setdefault(key_of(line), {}).update(values_of(line))
    return found


def malformed(lines: Sequence[Line], taken_at: int) -> Iterator[tuple[str, Any, str]]:
    """What is wrong with lines whatever they are about: where, what is published, and the truth."""
    clusters = {line.get(contract.DIMENSION_CLUSTER) for line in lines}
    if len(clusters) > 1:
        yield "all lines", sorted(map(str, clusters)), "one cluster"
    times: Counter[tuple[Key, str]] = Counter()
    for line in lines:
        key = key_of(line)
        where = " ".join(key) or "the cluster"
        present = [name in line for name in _NAMES]
        if present != sorted(present, reverse=True):
            yield where, [name for name in _NAMES if name in line], "no such level"
        stamp = line.get(_DIRECTIVE, {}).get("Timestamp", taken_at)
        if stamp != taken_at:
            yield where, f"timestamp {stamp}", f"scheduled for {taken_at}"
        for name, value in values_of(line).items():
            times[key, name] += 1
            if name not in contract.METRIC_UNITS:
                yield where, name, "no such metric"
            elif not _is_number(value):
                yield where, f"{name} {value}", "a number from 0 on"
    for (key, name), count in times.items():
        if count > 1:
            yield " ".join(key) or "the cluster", f"{name} {count} times", "once"


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and value >= 0
