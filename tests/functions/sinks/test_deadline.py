# SPDX-License-Identifier: Apache-2.0
"""Attempts are few, further and further apart, and end with the time there is."""

from __future__ import annotations

import pytest

from kafka_lag.sinks.deadline import PublishDeadline, Timing
from tests.functions.sinks.times import Waited


@pytest.mark.parametrize(
    ("seconds", "pauses"), [(60.0, [0.2, 0.4, 0.8, 1.6]), (1.0, [0.2, 0.4]), (0.1, [])]
)
def test_pauses_double_and_none_goes_past_the_end(seconds: float, pauses: list[float]) -> None:
    waited = Waited()
    assert list(PublishDeadline(seconds, waited.timing()).attempts()) == [*range(len(pauses) + 1)]
    assert waited.pauses == pytest.approx(pauses)


def test_chance_halves_a_pause_at_most() -> None:
    pauses: list[float] = []
    timing = Timing(lambda: 0.0, pauses.append, lambda: 0.0)
    list(PublishDeadline(60.0, timing).attempts())
    assert pauses == pytest.approx([0.1, 0.2, 0.4, 0.8])


def test_requests_share_their_time_and_no_wait_that_is_too_long_is_begun() -> None:
    waited = Waited()
    deadline = PublishDeadline(1.0, waited.timing())
    assert [deadline.wait(1.0), deadline.wait(0.9), deadline.wait(0.2)] == [False, True, False]
    waited.now = 1.5
    assert list(deadline.attempts()) == []
    assert deadline.left() == 0
