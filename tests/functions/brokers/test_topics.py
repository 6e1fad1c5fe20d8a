# SPDX-License-Identifier: Apache-2.0
"""Which topics are listed, and which missing ones are requested by name."""

from __future__ import annotations

import asyncio
import re
from types import SimpleNamespace
from typing import Any

from kafka_lag.brokers.topics import TopicListing, list_topics
from kafka_lag.lag.group_settings import NameFilter
from tests.functions.brokers.fakes import FakeConnections


def _topic(name: str, error_code: int = 0) -> Any:
    part = SimpleNamespace(partition_index=0, leader_id=1, replica_nodes=[1], isr_nodes=[1])
    return SimpleNamespace(name=name, topic_id=None, error_code=error_code, partitions=[part])


def _listing(wanted: NameFilter, known: set[str]) -> tuple[TopicListing, list[Any]]:
    everything = {"orders": _topic("orders"), "secret": _topic("secret", 29)}

    def answer(request: Any) -> Any:
        names = ["orders"] if request.topics is None else [t.name for t in request.topics]
        topics = [everything.get(name, _topic(name, 3)) for name in names]
        return SimpleNamespace(brokers=[], cluster_id="c", topics=topics)

    fake = FakeConnections(answer)
    connections: Any = fake
    return asyncio.run(list_topics(connections, wanted, frozenset(known))), fake.requests


def test_a_known_topic_that_is_not_listed_is_hidden_or_gone() -> None:
    listing, _ = _listing(NameFilter(), {"orders", "secret", "deleted"})
    assert {name: failure.reason for name, failure in listing.hidden.items()} == {
        "secret": "denied"
    }
    assert listing.gone == {"deleted"}
    assert listing.table.names == ("orders",)


def test_a_topic_denied_by_the_filter_is_forgotten_however_well_known() -> None:
    listing, requests = _listing(NameFilter(deny=re.compile("orders")), {"orders"})
    assert listing.table.names == ()
    assert len(requests) == 1
