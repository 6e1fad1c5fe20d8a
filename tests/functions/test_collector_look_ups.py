# SPDX-License-Identifier: Apache-2.0
"""How long a run may ask the brokers for times."""

from __future__ import annotations

import numpy as np
import pytest

from kafka_lag.collector import look_up_until
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.time_index import NEWEST, TimeAnswers, TimeQuestions
from tests.builders import NOON, a_reading
from tests.fakes import FakeSource
from tests.functions.runs import GROUPS, TOPICS, Run

QUESTIONS = TimeQuestions(
    Frame.of(
        {
            "topic": Strings.of(["orders", "orders"]),
            "partition_id": Column.of(np.array([0, 1], np.int32)),
            "leader": Column.of(np.array([0, 1], np.int32)),
        }
    ),
    np.array([NOON, NEWEST]),
)


def found(questions: TimeQuestions) -> TimeAnswers:
    yes, ones = np.ones(len(questions), bool), np.ones(len(questions), np.int64)
    return TimeAnswers(yes, ~yes, ones, ones * NOON)


def test_questions_are_asked_and_answered_before_the_deadline() -> None:
    source = FakeSource(a_reading(), answers=found)
    answers = look_up_until(source, 27.0, lambda: 26.9)(QUESTIONS)
    assert answers.found.all()
    assert (source.time_questions, source.time_deadlines) == ([QUESTIONS], [27.0])


@pytest.mark.parametrize("now", [27.0, 30.0])
def test_nobody_is_asked_once_the_deadline_is_past(now: float) -> None:
    source = FakeSource(a_reading(), answers=found)
    answers = look_up_until(source, 27.0, lambda: now)(QUESTIONS)
    assert source.time_questions == []
    assert len(answers.found) == len(QUESTIONS)
    assert not (answers.found | answers.none).any()


@pytest.mark.parametrize(
    ("seconds_left", "deadline"), [(None, 127.0), (20.0, 112.0), (300.0, 127.0)]
)
def test_a_run_asks_for_times_in_the_first_three_fifths_of_its_own(
    seconds_left: float | None, deadline: float
) -> None:
    run = Run(a_reading(GROUPS, TOPICS), clock=lambda: 100.0)
    run(seconds_left=seconds_left)
    assert set(run.source.time_deadlines) == {deadline}


def test_a_run_that_has_no_time_left_asks_for_none_and_still_publishes() -> None:
    run = Run(a_reading(GROUPS, TOPICS), clock=lambda: 100.0)
    run(seconds_left=0.0)
    assert run.source.time_questions == []
    assert run.sink.published != []
