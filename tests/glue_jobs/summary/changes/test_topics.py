# SPDX-License-Identifier: Apache-2.0
"""Records lost or near it, and skew, one finding a case."""

import pytest

from kafka_lag_report.summary.cause import Cause
from kafka_lag_report.summary.changes import Kind
from kafka_lag_report.summary.findings import Risk, Skew, Topic
from tests.glue_jobs.summary.changes.days import (
    AT_RISK,
    BY_BROKER,
    LOST,
    LOST_MORE,
    SAFE,
    TOPIC,
    day,
    lone,
    told_of,
)


@pytest.mark.parametrize(
    ("today", "before", "told"),
    [
        (
            LOST,
            None,
            (Kind.LOST, "1,200 records of 1 partition lost before they were read"),
        ),
        (Risk(lost=1), None, (Kind.LOST, "records of 1 partition lost before they were read")),
        (LOST, AT_RISK, (Kind.LOST, "1,200 records of 1 partition lost before they were read")),
        (
            LOST_MORE,
            LOST,
            (
                Kind.LOST,
                "1,500 records of 2 partitions lost before they were read, 1,200 the day before",
            ),
        ),
        (LOST, LOST, None),
        (LOST, LOST_MORE, None),
        (AT_RISK, None, (Kind.AT_RISK, "2 partitions at risk, 5 h left at the least")),
        (Risk(at_risk=1), SAFE, (Kind.AT_RISK, "1 partition at risk")),
        (AT_RISK, AT_RISK, None),
        (AT_RISK, LOST, (Kind.SAFE, "no records lost any more, still at risk")),
        (SAFE, LOST, (Kind.SAFE, "no records lost any more")),
        (SAFE, AT_RISK, (Kind.SAFE, "no longer at risk")),
        (SAFE, SAFE, None),
        # nobody saw it today: nothing is known to be over
        (None, LOST, None),
        (None, AT_RISK, None),
    ],
)
def test_records_lost_or_near_it_are_told_when_new_and_when_over(
    today: Risk | None, before: Risk | None, told: tuple[Kind, str] | None
) -> None:
    expected = [] if told is None else [(told[0], f"billing on orders: {told[1]}")]

    assert lone("risks", TOPIC, today, before) == expected


@pytest.mark.parametrize(
    ("today", "before", "told"),
    [
        (
            BY_BROKER,
            None,
            (Kind.SKEWED, "lag is skewed, 3.4 times the mean; cause: broker 3 (partitions 0, 1)"),
        ),
        (
            BY_BROKER,
            Skew(False),
            (Kind.SKEWED, "lag is skewed, 3.4 times the mean; cause: broker 3 (partitions 0, 1)"),
        ),
        (BY_BROKER, BY_BROKER, None),
        (Skew(False), BY_BROKER, (Kind.EVEN, "lag is even again")),
        (None, BY_BROKER, None),
    ],
)
def test_skew_is_told_with_its_cause_when_new_and_when_over(
    today: Skew | None, before: Skew | None, told: tuple[Kind, str] | None
) -> None:
    expected = [] if told is None else [(told[0], f"billing on orders: {told[1]}")]

    assert lone("skews", TOPIC, today, before) == expected


def test_groups_that_a_topics_keys_skew_alike_are_told_once() -> None:
    by_keys = Cause("production", (0,))
    skews = {Topic("demo", f"g{n}", "orders"): Skew(True, 2.0 + n, by_keys) for n in range(3)}
    skews[TOPIC] = BY_BROKER

    told = told_of(day(skews=skews), day())

    assert [text for _, text in told] == [
        "g2 on orders and 2 more groups: lag is skewed, 4.0 times the mean; "
        "cause: production (partition 0)",
        "billing on orders: lag is skewed, 3.4 times the mean; cause: broker 3 (partitions 0, 1)",
    ]


def test_names_are_cut_and_made_safe() -> None:
    topic = Topic("demo", "g\n" + "x" * 300, "t" * 249)

    ((_, text),) = lone("risks", topic, LOST, None)

    assert text.startswith(f"g?{'x' * 57}… on {'t' * 59}…: ")
