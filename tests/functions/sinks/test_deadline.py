# SPDX-License-Identifier: Apache-2.0
"""Attempts are few, further and further apart, and end with the time there is."""

from __future__ import annotations

import pytest

from kafka_lag.sinks.deadline import PublishDeadline, Timing
from tests.functions.sinks.times import Waited


def test_the_first_attempt_is_made_at_once() -> None:
    waited = Waited()
    assert next(PublishDeadline(1.0, waited.timing()).attempts()) == 0
    assert waited.pauses == []


def test_pauses_double() -> None:
    waited = Waited()
    assert list(PublishDeadline(60.0, waited.timing()).attempts()) == [0, 1, 2, 3, 4]
    assert waited.pauses == pytest.approx([0.2, 0.4, 0.8, 1.6])


def test_chance_halves_a_pause_at_most() -> None:
    pauses: list[float] = []
    timing = Timing(lambda: 0.0, pauses.append, lambda: 0.0)
    list(PublishDeadline(60.0, timing).attempts())
    assert pauses == pytest.approx([0.1, 0.2, 0.4, 0.8])


def test_no_pause_goes_past_the_end() -> None:
    waited = Waited()
    assert list(PublishDeadline(1.0, waited.timing()).attempts()) == [0, 1, 2]
    assert waited.now < 1.0


def test_requests_share_their_time() -> None:
    waited = Waited()
    deadline = PublishDeadline(1.0, waited.timing())
    list(deadline.attempts())
    waited.now = 1.0
    assert list(deadline.attempts()) == []
    assert deadline.left() == 0


@pytest.mark.parametrize(("seconds", "done"), [(0.9, True), (1.0, False), (1e9, False)])
def test_a_wait_that_is_too_long_is_not_begun(seconds: float, done: bool) -> None:
    waited = Waited()
    assert PublishDeadline(1.0, waited.timing()).wait(seconds) is done
    assert waited.now == (seconds if done else 0)
