# SPDX-License-Identifier: Apache-2.0
"""The order of groups: what was lost before what may be, before what was late."""

from kafka_lag_report.page.model import GroupDay, TopicRisk
from kafka_lag_report.page.standing import standing, worst_first, worst_topics
from tests.glue_jobs.page.pages import calm


def test_groups_come_worst_first() -> None:
    days = (
        calm("calm"),
        GroupDay("unknown"),
        calm("gone", gone=True),
        calm("warned", warn_minutes=3.0),
        calm("late", sla_minutes=10.0, sla_met_minutes=9.0),
        calm("error", err_minutes=5.0),
        calm("risky"),
        calm("soon"),
        calm("lost", records_lost=1),
    )
    risks = (TopicRisk("soon", "t", 0, 1, seconds_left=60.0), TopicRisk("risky", "t", 0, 1))

    ordered = worst_first(days, worst_topics(risks))

    names = " ".join(day.group for day in ordered)
    assert names == "lost soon risky error late warned gone unknown calm"


def test_of_equals_the_one_that_suffered_more_is_worse() -> None:
    days = (calm("a", err_minutes=1.0), calm("b", err_minutes=9.0), calm("c", err_minutes=4.0))

    assert [day.group for day in worst_first(days, {})] == ["b", "c", "a"]


def test_calm_groups_come_by_their_time_lag() -> None:
    days = (calm("a", time_lag_max=None), calm("b", time_lag_max=1.0), calm("c", time_lag_max=9.0))

    assert [day.group for day in worst_first(days, {})] == ["c", "b", "a"]


def test_the_word_of_a_group_is_its_worst() -> None:
    risk = TopicRisk("geo", "t", 0, 2, seconds_left=7200.0)

    assert standing(calm(err_minutes=9.0), risk).word == "2\u00a0h to loss"


def test_the_worst_topic_of_a_group_speaks_for_it() -> None:
    first, second = TopicRisk("geo", "a", 1, 0), TopicRisk("geo", "b", 0, 1)

    assert worst_topics((first, second)) == {"geo": first}
