# SPDX-License-Identifier: Apache-2.0
"""What a person on call reads first."""

from typing import Any

import pytest

from kafka_lag_report.findings import (
    Broker,
    Consumer,
    Coverage,
    Listed,
    TopicRisk,
    TopicSkew,
    UnusualHour,
)
from kafka_lag_report.page.attention import MOST, NOTICE, SERIOUS, attention
from kafka_lag_report.page.drawn import Curve, Peak, Spell
from kafka_lag_report.page.sections import Page
from kafka_lag_report.sentences import plain
from tests.glue_jobs.page.pages import at, calm, of, page


def said(shown: Page) -> list[str]:
    """Each finding as its tag and plain sentence."""
    return [
        f"{found.tag}: {plain(found.sentence)}".replace("\u00a0", " ")
        for found in attention(shown.findings, shown.curves)
    ]


def skewed(cause: str | None = None, **more: Any) -> Page:
    """A page on which orders is skewed in lag for billing."""
    shares: dict[str, Any] = {"top_partition": 4, "top_share": 0.6, "even_share": 0.25}
    row = TopicSkew("billing", "orders", True, False, cause=cause, **shares, **more)
    return page(skews=Listed((row,), 1))


def risks(*rows: TopicRisk) -> Page:
    """A page with these topics at risk."""
    return page(risks=Listed(rows, len(rows)))


def test_a_calm_day_needs_no_attention() -> None:
    assert said(page(groups=of(calm()), coverage=(Coverage("groups", 1440, 1440),))) == []


def test_lost_records_come_with_the_retention_that_would_have_kept_them() -> None:
    kept: dict[str, Any] = {"retention": 86400.0, "retention_needed": 111600.0, "unlimited": False}
    lost = TopicRisk("billing", "orders", 3, 0, 1204, **kept)

    assert said(risks(lost)) == [
        "Lost: billing lost at least 1,204 records of orders on 3 partitions: deleted before they"
        " were committed. Retention was 1 d; 1 d 7 h would have been enough."
    ]


def test_what_is_at_risk_says_how_long_and_until_when() -> None:
    risk = TopicRisk("etl", "users", 0, 12, 0, 7, 18720.0, at(20))

    assert said(risks(risk)) == [
        "At risk: etl may lose records of users (12 partitions, 7 first): 5 h 12 min were left at"
        " 20:00, so deletion arrives at 01:12 on 1 February."
    ]


def test_a_risk_without_a_known_time_still_counts() -> None:
    assert said(risks(TopicRisk("etl", "users", 0, 1, worst_partition=3))) == [
        "At risk: etl may lose records of users (partition 3)."
    ]


def test_a_loss_that_no_listed_topic_tells_of_is_told_of_the_group() -> None:
    assert said(page(groups=of(calm(records_lost=7)))) == ["Lost: geo lost at least 7 records."]


def test_error_and_sla_are_one_sentence_a_group() -> None:
    day = calm(
        err_minutes=192.0,
        sla_seconds=300.0,
        sla_minutes=1440.0,
        sla_met_minutes=1152.0,
        sla_compliance=0.8,
    )

    assert said(page(groups=of(day))) == [
        "Error: geo was in error for 3 h 12 min"
        " and missed its SLA of 5 min for 4 h 48 min (met 80%)."
    ]


@pytest.mark.parametrize(
    ("spell", "when"),
    [
        (Spell(190, 200, "ERR", ("no_member", "slow")), "03:10 to 06:30: no member, too slow"),
        (Spell(190, 110, "ERR"), "the longest 03:10 to 05:00"),
    ],
)  # fmt: skip
def test_an_error_says_from_when_to_when_and_why(spell: Spell, when: str) -> None:
    shown = page(groups=of(calm(err_minutes=200.0)), curves={"geo": Curve(spell=spell)})

    assert said(shown) == [f"Error: geo was in error for 3 h 20 min ({when})."]


def test_a_group_that_was_long_in_warn_says_when_why_and_how_old_its_records_were() -> None:
    day = calm(warn_minutes=94.0, time_lag_max=2880.0)
    curve = Curve(spell=Spell(867, 94, "WARN", ("falling_behind", "slow")), peak=Peak(960, 2880.0))

    assert said(page(groups=of(day), curves={"geo": curve})) == [
        "Warned: geo was in WARN for 1 h 34 min (14:27 to 16:01: falling behind, too slow);"
        " its oldest unread record was 48 min old at most, at 16:00."
    ]


def test_an_hour_in_warn_is_long() -> None:
    assert said(page(groups=of(calm(warn_minutes=59.9)))) == []
    assert said(page(groups=of(calm(warn_minutes=60.0, time_lag_max=None)))) == [
        "Warned: geo was in WARN for 1 h."
    ]


def test_a_long_warning_says_what_the_partitions_behind_have_in_common() -> None:
    led = TopicSkew(
        "geo", "orders", True, False, cause="unexplained", cause_leader=3, cause_partitions=(2, 5)
    )
    shown = page(groups=of(calm(warn_minutes=60.0, time_lag_max=None)), skews=Listed((led,), 1))

    assert said(shown) == [
        "Warned: geo was in WARN for 1 h. Of orders partitions 2, 5 are all led by broker 3,"
        " under which no other group lags: no cause is known."
    ]


@pytest.mark.parametrize(
    ("shown", "why"),
    [
        (
            skewed("broker", cause_leader=2, cause_partitions=(1, 4)),
            "broker 2 leads partitions 1, 4.",
        ),
        (
            skewed("production", cause_partitions=(4,)),
            "partition 4 is behind by more records as more are produced to it.",
        ),
        (
            skewed("production", cause_partitions=(1, 4)),
            "partitions 1, 4 are behind by more records as more are produced to them.",
        ),
        (
            skewed("consumer", cause_client="app", cause_host="10.0.0.1", cause_partitions=(4,)),
            "consumer app on 10.0.0.1 owns partition 4.",
        ),
        (
            skewed("stalled", cause_client="app", cause_host="10.0.0.1", cause_partitions=(1, 4)),
            "consumer app on 10.0.0.1 owns partitions 1, 4 and did not move.",
        ),
        (
            skewed("stalled", cause_partitions=(1, 4)),
            "the owner of partitions 1, 4 did not move.",
        ),
        (skewed("cosmic rays", cause_partitions=(4,)), "cosmic rays (partition 4)."),
        (skewed("broker"), "broker (its partitions)."),
        (skewed("stopped", cause_partitions=(4,)), "nobody owned partition 4."),
    ],
    ids=[
        "broker",
        "production",
        "production-of-two",
        "consumer",
        "stalled",
        "stalled-by-whom",
        "later",
        "no-number",
        "one-stopped",
    ],
)
def test_skew_names_its_cause(shown: Page, why: str) -> None:
    assert said(shown) == [
        "Skew: orders is skewed in lag for billing"
        f" (partition 4 holds 60%, even would be 25%): {why}"
    ]


@pytest.mark.parametrize(
    ("cause", "group_stopped"), [("unexplained", False), ("stopped", True), (None, False)]
)
def test_skew_that_nobody_can_act_on_needs_no_attention(
    cause: str | None, group_stopped: bool
) -> None:
    assert said(skewed(cause, cause_partitions=(4,), group_stopped=group_stopped)) == []


def test_uneven_production_is_told_once_a_topic() -> None:
    shares: dict[str, Any] = {
        "made_top_partition": 0,
        "made_top_share": 0.667,
        "made_even_share": 0.25,
    }
    rows = tuple(TopicSkew(name, "orders", False, True, **shares) for name in ("a", "b"))

    assert said(page(skews=Listed(rows, 2))) == [
        "Skew: orders is produced unevenly: partition 0 gets 66.7% (even: 25%)."
    ]


def test_hot_brokers_and_consumers_are_named_with_their_shares() -> None:
    broker = Broker(2, None, partitions_share=0.33, lag_share=0.71, hot=True)
    cool = Broker(1, None, partitions_share=0.33, lag_share=0.1, hot=False)
    owner = Consumer("etl", "10.0.0.1", "app", "app-1", partitions_share=0.1, lag_share=0.5)

    assert said(page(brokers=Listed((broker, cool), 2), consumers=Listed((owner,), 1))) == [
        "Hot broker: Broker 2 leads 33% of the partitions but holds 71% of the lag.",
        "Hot consumer: Consumer app owns 10% of the partitions of etl but holds 50% of its lag.",
    ]


def test_time_without_an_owner_is_no_share_of_the_partitions() -> None:
    nobody = Consumer("etl", None, None, None, partitions_share=0.146, lag_share=0.838)

    assert said(page(consumers=Listed((nobody,), 1))) == [
        "No owner: Partitions of etl had no owner for 14.6% of their time, in which 83.8% of its"
        " lag stood."
    ]


def test_unusual_hours_of_a_group_are_one_sentence() -> None:
    hours = (
        UnusualHour("etl", 14, "time_lag_seconds", 600.0, 10.0, 6.0, "high"),
        UnusualHour("etl", 15, "time_lag_seconds", 900.0, 10.0, 9.0, "high"),
    )

    assert said(page(unusual=Listed(hours, 2))) == [
        "Unusual: etl: time lag 15 min from 15:00 (usually 10 s), and in 1 other hour."
    ]


def test_the_dataset_with_the_most_gaps_speaks_for_the_day() -> None:
    datasets = (
        Coverage("group_partitions", 1300, 1440, objects_skipped=1, longest_gap=9000.0),
        Coverage("groups", 1200, 1440, longest_gap=7200.0),
    )

    assert said(page(coverage=datasets)) == [
        "Coverage: 1 object of group_partitions could not be read (named below).",
        "Coverage: 1,200 of 1,440 runs were seen; the longest gap lasted 2 h (groups).",
    ]


@pytest.mark.parametrize(
    ("seen", "gap", "level"),
    [
        pytest.param(990, 60.0, None, id="99-percent"),
        pytest.param(989, 60.0, NOTICE, id="less-than-99-percent"),
        pytest.param(900, 60.0, NOTICE, id="90-percent"),
        pytest.param(899, 60.0, SERIOUS, id="less-than-90-percent"),
        pytest.param(1_000, 180.0, None, id="a-gap-of-three-intervals"),
        pytest.param(1_000, 181.0, NOTICE, id="a-longer-gap"),
    ],
)
def test_a_day_is_covered_by_99_percent_of_its_runs_without_a_gap_of_three(
    seen: int, gap: float, level: str | None
) -> None:
    shown = page(coverage=(Coverage("groups", seen, 1_000, interval=60.0, longest_gap=gap),))
    found = attention(shown.findings)
    assert [each.level for each in found] == ([level] if level else [])


def test_what_is_worse_comes_first() -> None:
    shown = page(
        groups=of(calm(err_minutes=1.0), calm("old", gone=True)),
        risks=Listed((TopicRisk("etl", "users", 1, 1),), 1),
    )

    assert [line.split(":")[0] for line in said(shown)] == ["Lost", "At risk", "Error", "Gone"]


def test_one_kind_cannot_push_the_others_out_of_sight() -> None:
    days = [calm(f"g{number}", err_minutes=1.0) for number in range(100)]

    reported = said(page(groups=of(*days)))

    assert len(reported) == MOST + 1
    assert reported[-1] == "Error: 94 more groups were in error."


def test_an_sla_is_spoken_of_where_a_group_has_one() -> None:
    days = [calm(f"g{n}", err_minutes=1.0, sla_compliance=1.0) for n in range(MOST + 1)]

    assert said(page(groups=of(*days)))[-1] == (
        "Error: 1 more groups were in error or missed their SLA."
    )


@pytest.mark.parametrize(
    ("facts", "end"),
    [
        ({"unlimited": True}, " No retention by age is set."),
        ({"retention": 60.0}, ""),
        ({"retention": 60.0, "retention_needed": 90.0}, ""),
        (
            {"unlimited": False, "retention_needed": 90.0},
            " Retention of 1 min 30 s would have been enough.",
        ),
    ],
    ids=["unlimited", "unknown", "unknown-but-needed", "limited"],
)
def test_retention_is_spoken_of_where_it_is_known_to_end(facts: dict[str, Any], end: str) -> None:
    lost = TopicRisk("billing", "orders", 1, 0, 5, **facts)

    assert said(risks(lost)) == [
        "Lost: billing lost at least 5 records of orders on 1 partition: deleted before they"
        f" were committed.{end}"
    ]


def test_partitions_without_a_leader_are_led_by_nobody() -> None:
    nobody = Broker(None, None, partitions_share=0.1, lag_share=0.9, hot=True)

    assert said(page(brokers=Listed((nobody,), 1))) == [
        "Hot broker: Partitions had no leader for 10% of their time, in which 90% of the lag stood."
    ]


@pytest.mark.parametrize(
    ("dataset", "sentence"),
    [
        (Coverage("groups", 0), "No runs of groups were seen."),
        (
            Coverage("groups", 1, longest_gap=86_340.0),
            "The longest gap lasted 23 h 59 min (groups).",
        ),
    ],
)
def test_a_day_that_hardly_anybody_saw_is_a_gap(dataset: Coverage, sentence: str) -> None:
    assert said(page(coverage=(dataset,))) == [f"Coverage: {sentence}"]
