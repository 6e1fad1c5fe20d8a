# SPDX-License-Identifier: Apache-2.0
"""Counts at the head of the page and the cards below it."""

from typing import Any

import pytest

from kafka_lag_report.findings import GroupRank, Listed, Rank
from kafka_lag_report.incident import SERIOUS, Incident, Kind
from kafka_lag_report.page.sections import (
    COLUMNS,
    count_levels,
    make_cards,
    word_calm_day,
    word_rank,
)
from tests.glue_jobs.page.pages import calm, curve, of, page


def test_the_tally_counts_groups_too_many_to_list_as_calm() -> None:
    days = (calm("a", err_minutes=1.0), calm("b"))

    counts = {
        part["level"]: part["count"]
        for part in count_levels(page(groups=Listed(days, 10)).findings)
    }

    assert counts == {"urgent": 0, "serious": 1, "warned": 0, "notice": 0, "unknown": 0, "calm": 9}


@pytest.mark.parametrize(
    ("kind", "word"), [(Kind.UNKNOWN, "unknown"), (Kind.REBALANCING, "warned"), (Kind.GONE, "calm")]
)
def test_who_was_unread_or_rebalanced_for_long_is_not_counted_as_calm(
    kind: Kind, word: str
) -> None:
    one = Incident(kind=kind, level=SERIOUS, group="a", others=("b",))

    counts = {
        part["word"]: part["count"]
        for part in count_levels(
            page(groups=of(calm("a"), calm("b"), calm("c")), incidents=(one,)).findings
        )
    }

    assert counts[word] == (3 if word == "calm" else 2)


LEAST = {"time_lag_max_is_least": True, "time_lag_least_minutes": 11.0}


@pytest.mark.parametrize(
    ("least", "percentile", "oldest"),
    [
        ({}, "2 min", "2 min 9 s"),
        (LEAST, "at least 2 min", "at least 2 min 9 s"),
        # a run or two move no percentile
        ({**LEAST, "time_lag_least_minutes": 10.0}, "2 min", "at least 2 min 9 s"),
        ({**LEAST, "time_lag_max_is_least": False}, "at least 2 min", "2 min 9 s"),
    ],
)
def test_ages_without_an_upper_bound_are_said_to_be_least_ones(
    least: dict[str, Any], percentile: str, oldest: str
) -> None:
    levels = dict.fromkeys(("time_lag_p50", "time_lag_p95", "time_lag_p99"), 120.0)
    day = calm("a", **levels, **{"time_lag_max": 129.0, **least})
    (card,) = make_cards(page(groups=of(day), curves={"a": curve()}))
    row = [column.text(day) for column in COLUMNS[:2]]

    said = [text for term, text in card["numbers"] if term in ("Time lag p50", "p95", "p99", "max")]
    plain = [text.replace("\u00a0", " ") for text in (*said, *row)]
    assert plain == [percentile, percentile, percentile, oldest, percentile, oldest]


def test_a_day_is_not_called_calm_for_a_group_of_which_nothing_is_known() -> None:
    days = of(calm("a"), calm("b", known_minutes=0.0))

    assert word_calm_day(page(groups=days).findings) == (
        "Nothing is known to need any, but the lag of 1 group was unknown all day. None of 2 "
        "groups lost or risked records or was in error, as far as is known."
    )
    assert word_calm_day(page(groups=of(calm("a"))).findings).startswith("Nothing does. ")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "neither lost nor risked records and was never in error."),
        (
            {"sla_compliance": 1.0},
            "neither lost nor risked records, was never in error and missed no SLA.",
        ),
    ],
)
def test_a_calm_day_of_one_group_is_one_sentence(more: dict[str, float], said: str) -> None:
    days = of(calm("a", **more))

    assert word_calm_day(page(groups=days).findings) == f"Nothing does. The one group {said}"


@pytest.mark.parametrize(
    ("decided", "text"),
    [(1440.0, "0%"), (1430.0, "0%"), (1429.0, "0% of 23 h 49 min"), (2.0, "0% of 2 min")],
)
def test_an_sla_says_of_how_much_it_is_known(decided: float, text: str) -> None:
    day = calm("a", sla_compliance=0.0, sla_minutes=decided)
    column = next(each for each in COLUMNS if each.title == "SLA met")

    assert column.text(day).replace("\u00a0", " ") == text


@pytest.mark.parametrize(
    ("stands", "word"),
    [
        (GroupRank(Rank.LOST, 1_204), "lost at least 1,204"),
        (GroupRank(Rank.LOST), "lost records"),
        (GroupRank(Rank.AT_RISK, 7_259.0), "2 h to loss"),
        (GroupRank(Rank.AT_RISK), "at risk"),
        (GroupRank(Rank.ERROR, 61.0), "error 1 h 1 min"),
        (GroupRank(Rank.SLA, 9.0), "SLA missed"),
        (GroupRank(Rank.WARNED, 61.0), "warned 1 h 1 min"),
        (GroupRank(Rank.CALM), "calm"),
    ],
)
def test_a_group_stands_by_its_worst_in_a_word(stands: GroupRank, word: str) -> None:
    assert word_rank(stands).replace("\u00a0", " ") == word
