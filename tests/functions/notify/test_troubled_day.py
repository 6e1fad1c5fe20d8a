# SPDX-License-Identifier: Apache-2.0
"""What people get of a day on which each group has one trouble."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_lag import contract
from kafka_lag.notify.messages import Notice
from tests.functions.notify.troubled_day import TROUBLES, Cluster, Trouble, simulate_day


@pytest.fixture(name="day", scope="module")
def _day() -> Cluster:
    return simulate_day()


def notices(day: Cluster, group: str) -> list[Notice]:
    found = [message.notice for message in day.messages]
    return [each for each in found if each.attributes[contract.ATTRIBUTE_GROUP] == group]


def kinds(found: Sequence[Notice]) -> list[str]:
    each_has = [each.attributes[contract.ATTRIBUTE_KIND] for each in found]
    return [kind for each in each_has for kind in ([each] if isinstance(each, str) else each)]


@pytest.mark.parametrize("trouble", TROUBLES, ids=[each.group for each in TROUBLES])
def test_each_trouble_is_reported_once_with_its_end(day: Cluster, trouble: Trouble) -> None:
    assert kinds(notices(day, trouble.group)) == list(trouble.kinds)


@pytest.mark.parametrize("trouble", TROUBLES, ids=[each.group for each in TROUBLES])
def test_a_message_says_what_was_planted(day: Cluster, trouble: Trouble) -> None:
    texts = [each.text for each in notices(day, trouble.group)]

    assert [say for say in trouble.says if not any(say in text for text in texts)] == []


def test_all_messages_of_an_incident_are_one_thread(day: Cluster) -> None:
    assert len({each.thread for each in notices(day, "audit")}) == 1
