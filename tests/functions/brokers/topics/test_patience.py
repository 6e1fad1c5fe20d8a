# SPDX-License-Identifier: Apache-2.0
"""When a broker is asked for less, and when for nothing more."""

from __future__ import annotations

import pytest

from kafka_lag.brokers.topics.patience import FEW, MANY, Patience


def _after(*answers: tuple[int, float]) -> int:
    """What may be asked next after answers to so many look-ups, each taking so many seconds."""
    patience, now = Patience(), 100.0
    for look_ups, seconds in answers:
        patience.took(1, look_ups, now, now + seconds)
        now += seconds
    return patience.most(1)


@pytest.mark.parametrize(
    ("answers", "most"),
    [
        ([], MANY),
        ([(10, 0.1)], MANY),
        ([(100, 1.9)], MANY),
        ([(10, 0.3)], FEW),
        ([(10, 2.1)], FEW),
        ([(10, 2.3)], 0),
        ([(1, 1.0), (1, 1.0)], FEW),
        ([(1, 1.0), (1, 1.0), (1, 1.0)], 0),
        ([(10, 1.0), (100, 0.1)], MANY),
        ([(10, 2.3), (100, 0.1)], 0),
        ([(100, 0.1)] * 100 + [(10, 2.3)], 0),
    ],
    ids=[
        "not asked yet",
        "quick",
        "many in a fair time",
        "too long for so few",
        "one long pause",
        "far too long",
        "two long ones",
        "long ones one after the other",
        "made good",
        "nothing makes good once it is left alone",
        "a quick past is no credit",
    ],
)
def test_a_broker_is_asked_as_much_as_its_answers_deserve(
    answers: list[tuple[int, float]], most: int
) -> None:
    assert _after(*answers) == most


def test_time_spent_behind_another_request_is_not_counted_twice() -> None:
    patience = Patience()
    for number in range(1, 5):
        patience.took(1, 100, 0.0, 1.5 * number)
    assert patience.most(1) == MANY


def test_one_broker_left_alone_is_no_other() -> None:
    patience = Patience()
    patience.leave(1, 3)
    assert [patience.most(node) for node in (1, 2, 3)] == [0, MANY, 0]
