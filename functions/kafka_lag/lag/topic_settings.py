# SPDX-License-Identifier: Apache-2.0
"""Settings of topics that changed from one run to the next, which may explain a later trouble."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Mask, Rows, Strings
from kafka_lag.lag.evaluation import Evaluation
from kafka_lag.lag.frame import Frame, locate
from kafka_lag.lag.run import Run

# How long a change is remembered.
_REMEMBERED_MS = 24 * 3_600_000


def add_changed_settings(e: Evaluation) -> Frame:
    """Returns the groups with `settings_changed`, as JSON, for a day.

    It is the last change of a setting of a topic that the group reads: topic, setting, the values
    before and after, and the run that saw it. A setting that either run does not know has not
    changed.
    """
    groups, run, last = e.groups, e.run, e.old_groups.strings("settings_changed")
    if last.known.any():
        last = Strings.of(_forget(text, run.taken_at) for text in last.to_list())
    changes = {
        each["topic"]: each for each in _find_changes(e.topics, e.newest.topic_partitions, run)
    }
    if not changes:
        return groups.with_columns(settings_changed=last)
    names, found = e.rows.strings("topic"), last.to_list()
    # The first of several topics by name, whatever the order of rows.
    first: dict[int, str] = {}
    for at in np.flatnonzero(names.is_in(changes)).tolist():
        group, topic = int(e.at_group[at]), names.categories[names.codes.values[at]]
        first[group] = min(first.get(group, topic), topic)
    for group, topic in first.items():
        found[group] = json.dumps(changes[topic], ensure_ascii=False)
    return groups.with_columns(settings_changed=Strings.of(found))


def _forget(text: str | None, now: int) -> str | None:
    is_old = text is None or now - json.loads(text)["changed_at"] > _REMEMBERED_MS
    return None if is_old else text


def _find_changes(topics: Frame, before: Frame, run: Run) -> Iterator[dict[str, Any]]:
    """Yields a change of each topic that has one; a later one replaces an earlier one."""
    at = locate(topics, before, contract.PARTITION_KEY)
    then = {name: before.columns[name].take(at) for name in ("topic_id", *_COMPARED)}
    old = Frame.of(then)
    same = (at >= 0) & ~(topics.strings("topic_id") != old.strings("topic_id"))
    names = topics.strings("topic")
    yield from _compare(topics, old, same, run, contract.REPLICAS)
    if len(topics) != len(before):
        counts = [Counter(each.strings("topic").to_list()) for each in (before, topics)]
        for name in {names.to_list()[row] for row in np.flatnonzero(same).tolist()}:
            was, now = (count[name] for count in counts)
            if was < now:
                yield _describe(name, contract.PARTITIONS, was, now, run)
    yield from _compare(topics, old, same, run, contract.RETENTION)


_COMPARED = (contract.REPLICAS, contract.RETENTION)


def _compare(
    topics: Frame, old: Frame, same: Mask, run: Run, setting: str
) -> Iterator[dict[str, Any]]:
    now, then = topics.columns[setting], old.columns[setting]
    changed = same & (now != then) & now.known & then.known
    number = topics.numbers("partition_id").values
    # The lowest partition of a topic comes last, and so replaces the others.
    for at in sorted(np.flatnonzero(changed).tolist(), key=lambda row: -number[row]):
        values = then.take(_only(at)).to_list()[0], now.take(_only(at)).to_list()[0]
        if setting == contract.REPLICAS:
            if set(values[0]) == set(values[1]):
                continue
            values = sorted(values[0]), sorted(values[1])
        yield _describe(topics.strings("topic").take(_only(at)).to_list()[0], setting, *values, run)


def _only(row: int) -> Rows:
    return np.array([row], np.int64)


def _describe(topic: str | None, setting: str, was: Any, now: Any, run: Run) -> dict[str, Any]:
    return {
        "topic": topic,
        "setting": setting,
        "was": was,
        "now": now,
        "changed_at": run.taken_at,
    }
