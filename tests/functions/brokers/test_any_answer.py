# SPDX-License-Identifier: Apache-2.0
"""A reading ends whatever brokers answer, and reads all well-formed parts."""

from __future__ import annotations

import random
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.errors import SourceError
from kafka_lag.lag.frame import Frame
from tests.builders import table
from tests.functions.brokers.brokers import Brokers, Runs, Topic

_WORDS = [None, "", "b", "h", "zz", "Dead", "retention.ms", "9" * 30]
_NUMBERS = [*range(-3, 4), -(2**31), 2**31 - 1, 14, 16, 6, 69]


def _nodes(answer: Any) -> list[Any]:
    """All parts of an answer that have fields, the whole first."""
    parts = [value for value in vars(answer).values() if isinstance(value, list)]
    below = [item for part in parts for item in part if isinstance(item, SimpleNamespace)]
    return [answer, *(node for item in below for node in _nodes(item))]


def _spoil(answer: Any, chance: random.Random, rate: float, whole: bool) -> None:
    """Changes some fields of what an answer says of topic b and group h, or of all of it."""
    names = ("name", "group_id", "key", "resource_name")
    for node in _nodes(answer):
        mine = any(getattr(node, name, None) in ("b", "h") for name in names)
        for part in _nodes(node) if mine or whole else ():
            for field, value in vars(part).items():
                if chance.random() < rate:
                    setattr(part, field, _other(value, chance))


def _other(value: Any, chance: random.Random) -> Any:
    if isinstance(value, int):
        return chance.choice(_NUMBERS)
    if isinstance(value, str):
        return chance.choice(_WORDS)
    if isinstance(value, list):
        some = [item for item in value for _ in range(chance.choice([0, 1, 1, 2]))]
        return chance.choice([some, some, None])
    return value


def _spoilt(brokers: Brokers, seed: int, whole: bool) -> None:
    chance = random.Random(seed)  # noqa: S311  # not for secrets
    rate = chance.choice([0.01, 0.05, 0.3])

    def changed(_: Any, answer: Any) -> Any:
        _spoil(answer, chance, rate, whole)
        return answer

    brokers.change = changed


def _of(frame: Frame, column: str, name: str) -> list[tuple[Any, ...]]:
    rows = table(frame, column, *frame.columns)
    return [row for row in rows if row[0] == name]


def _brokers() -> Brokers:
    topics = {"a": Topic([(0, 10), (2, 20)]), "b": Topic([(0, 30), (3, 40), (0, 50)])}
    return Brokers(topics, {"g": {"a": [10, 15]}, "h": {"b": [30, 35, 50]}})


_KNOWN = ReadRequest(known_groups=frozenset("gh"), known_topics=frozenset("ab"))


@given(seed=st.integers(0, 2**32))
def test_whatever_is_answered_about_one_topic_and_group_the_others_are_read(seed: int) -> None:
    brokers = _brokers()
    expected = brokers.read(_KNOWN)
    _spoilt(brokers, seed, whole=False)
    found = brokers.read(_KNOWN)
    for name, column, item in (
        ("topic_partitions", "topic", "a"),
        ("group_partitions", "consumer_group", "g"),
        ("groups", "consumer_group", "g"),
    ):
        assert _of(getattr(found, name), column, item) == _of(getattr(expected, name), column, item)
    assert not {p.name for p in found.problems} & {"a", "a-0", "a-1", "g"}


@given(seed=st.integers(0, 2**32))
def test_whatever_is_answered_a_reading_ends_without_an_error_and_a_run_with_a_snapshot(
    seed: int,
) -> None:
    runs = Runs(_brokers())
    runs()
    _spoilt(runs.brokers, seed, whole=True)
    with suppress(SourceError):
        reading = runs.brokers.read(_KNOWN)
        unread = reading.topic_partitions.strings("unread_reason").known.sum()
        assert len(reading.problems) >= unread
    runs()
    assert len(runs.collector.memory.newest.groups) >= 2
