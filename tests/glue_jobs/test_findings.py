# SPDX-License-Identifier: Apache-2.0
"""The order of groups: lost records before risks, and risks before lateness."""

from typing import Any

import pytest

from kafka_lag_report.findings import (
    Findings,
    GroupRank,
    Rank,
    TopicRisk,
    cut_before_first_run,
    find_worst_topics,
    has_gap,
    has_missed_sla,
    is_actionable,
    rank_group,
    sort_worst_first,
)
from kafka_lag_report.schemas import Row
from tests.glue_jobs.page.pages import DAY, at, calm, coverage_of, group_day, skew_of


def test_groups_come_worst_first() -> None:
    days = (
        calm("calm"),
        group_day("unknown"),
        calm("gone", gone=True),
        calm("warned", warn_minutes=3.0),
        calm("late", sla_compliance=0.9),
        calm("error", err_minutes=5.0),
        calm("risky"),
        calm("soon"),
        calm("lost", records_lost=1),
    )
    risks = (TopicRisk("soon", "t", 0, 1, seconds_left=60.0), TopicRisk("risky", "t", 0, 1))

    ordered = sort_worst_first(days, find_worst_topics(risks))

    names = " ".join(day["consumer_group"] for day in ordered)
    assert names == "lost soon risky error late warned gone unknown calm"


def at_risk(name: str, seconds: float) -> TopicRisk:
    return TopicRisk(name, "t", 0, 1, seconds_left=seconds)


@pytest.mark.parametrize(
    ("days", "risks"),
    [
        ((calm("a", err_minutes=1.0), calm("b", err_minutes=9.0), calm("c", err_minutes=4.0)), ()),
        ((calm("a", records_lost=1), calm("b", records_lost=9), calm("c", records_lost=4)), ()),
        (
            (
                calm("a", time_lag_max=None),
                calm("b", time_lag_max=9.0),
                calm("c", time_lag_max=0.5),
            ),
            (),
        ),
        (
            (calm("a"), calm("b"), calm("c")),
            (at_risk("a", 7_200.0), at_risk("b", 60.0), at_risk("c", 3_600.0)),
        ),
    ],
    ids=["in error", "lost", "calm", "at risk"],
)
def test_of_equals_the_one_that_suffered_more_is_worse(
    days: tuple[Row, ...], risks: tuple[TopicRisk, ...]
) -> None:
    assert [day["consumer_group"] for day in sort_worst_first(days, find_worst_topics(risks))] == [
        "b",
        "c",
        "a",
    ]


@pytest.mark.parametrize(
    ("day", "risk", "expected"),
    [
        (calm(records_lost=7), None, GroupRank(Rank.LOST, 7)),
        (calm(records_lost=7), TopicRisk("g", "t", 1, 0, 5), GroupRank(Rank.LOST, 7)),
        (calm(), TopicRisk("g", "t", 1, 0, 5), GroupRank(Rank.LOST, 5)),
        (calm(), TopicRisk("g", "t", 1, 0, 0), GroupRank(Rank.LOST, None)),
        (
            calm(sla_compliance=0.4, sla_minutes=10.0, sla_met_minutes=4.0),
            None,
            GroupRank(Rank.SLA, 6.0),
        ),
        (calm(warn_minutes=3.0), None, GroupRank(Rank.WARNED, 3.0)),
    ],
    ids=["lost", "lost-in-all", "lost-of-a-topic", "lost-nobody-knows-how-many", "sla", "warned"],
)
def test_how_bad_it_was_is_of_the_worst_that_happened(
    day: Row, risk: TopicRisk | None, expected: GroupRank
) -> None:
    assert rank_group(day, risk) == expected


@pytest.mark.parametrize(
    ("compliance", "missed"),
    [(None, None), (0.5, True), (0.9995, True), (1.0, False), (0.9999999999, False)],
)
def test_an_sla_is_missed_by_more_than_rounding(
    compliance: float | None, missed: bool | None
) -> None:
    assert has_missed_sla(group_day("g", sla_compliance=compliance)) is missed


@pytest.mark.parametrize(
    ("lag", "production", "more", "actionable"),
    [
        (True, False, {"cause": "broker"}, True),
        (True, False, {"cause": "stalled"}, True),
        (True, False, {"cause": "later"}, True),
        (True, False, {"cause": "stopped"}, True),
        (True, False, {"cause": "stopped", "group_stopped": True}, False),
        (True, False, {}, False),
        (False, True, {}, True),
    ],
)
def test_skew_of_lag_without_a_cause_is_no_finding(
    lag: bool, production: bool, more: dict[str, Any], actionable: bool
) -> None:
    assert is_actionable(skew_of("g", "t", lag, production, **more)) is actionable


def evening(**more: Any) -> Row:
    """A collector that was deployed at 17:00."""
    first = {"first_run": at(17), "last_run": at(23, 59), "interval_seconds": 60.0}
    return coverage_of(**{"runs": 420, "expected_runs": 1440, **first, **more})


@pytest.mark.parametrize(
    ("runs", "gap", "longest", "is_gap"),
    [
        # all there: the last minute's run stands until midnight
        ({}, 61_200.0, 60.0, False),
        # one is missing in between, of a day that was seen to its end
        ({"runs": 419}, 61_200.0, None, False),
        # some are missing, and of the gaps only that before the first run is known
        ({"runs": 400}, 61_200.0, None, True),
        # all that is missing is missing at the end
        ({"runs": 180, "last_run": at(19, 59)}, 61_200.0, 14_460.0, True),
        # a longer gap than that before the first run
        ({"runs": 9, "first_run": at(1), "last_run": at(1, 8)}, 82_320.0, 82_320.0, True),
    ],
)
def test_a_collector_s_first_day_begins_with_its_first_run(
    runs: dict[str, Any], gap: float, longest: float | None, is_gap: bool
) -> None:
    day = cut_before_first_run(evening(longest_gap_seconds=gap, **runs), DAY)

    assert (day["longest_gap_seconds"], has_gap(day)) == (longest, is_gap)


@pytest.mark.parametrize(
    "unknown", [{"first_run": None}, {"last_run": None}, {"interval_seconds": None}], ids=str
)
def test_nothing_is_counted_from_a_run_that_nobody_knows(unknown: dict[str, Any]) -> None:
    day = evening(**unknown)

    assert cut_before_first_run(day, DAY) == day


def _gap(dataset: str, runs: int | None, expected: int | None, longest: float) -> Row:
    times = {"interval_seconds": 60.0, "longest_gap_seconds": longest}
    return coverage_of(dataset, runs, expected, **times)


def test_the_worst_gap_is_of_the_dataset_that_saw_least_and_then_the_longest() -> None:
    gaps = {
        "unknown": coverage_of(
            "unknown", None, None, interval_seconds=60.0, longest_gap_seconds=9_000.0
        ),
        "less": _gap("less", 90, 100, 600.0),
        "longer": _gap("longer", 90, 100, 1_200.0),
        "all": _gap("all", 100, 100, 60.0),
    }
    names = []
    while worst := Findings("c", DAY, coverage=tuple(gaps.values())).worst_gap:
        names.append(worst["dataset"])
        del gaps[worst["dataset"]]

    assert names == ["longer", "less", "unknown"]


def test_a_first_day_in_progress_counts_up_to_its_newest_run() -> None:
    so_far = evening(runs=60, last_run=at(17, 59), longest_gap_seconds=61_200.0, in_progress=True)

    assert cut_before_first_run(so_far, DAY)["expected_runs"] == 60


def test_the_worst_topic_of_a_group_speaks_for_it() -> None:
    first, second = TopicRisk("geo", "a", 1, 0), TopicRisk("geo", "b", 0, 1)

    assert find_worst_topics((first, second)) == {"geo": first}


@pytest.mark.parametrize(
    ("retention", "needed", "unlimited", "enough"),
    [
        (3_600.0, 7_200.0, False, 7_200.0),
        (None, 7_200.0, None, 7_200.0),
        (7_200.0, 7_200.0, False, None),
        (604_800.0, 7_200.0, False, None),
        (None, 7_200.0, True, None),
        (3_600.0, None, False, None),
    ],
)
def test_only_a_longer_retention_would_have_been_enough(
    retention: float | None, needed: float | None, unlimited: bool | None, enough: float | None
) -> None:
    risk = TopicRisk("g", "t", 1, retention=retention, retention_needed=needed, unlimited=unlimited)

    assert risk.retention_enough == enough
