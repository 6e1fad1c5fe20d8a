# SPDX-License-Identifier: Apache-2.0
"""What `kafka-lag report` makes of the story, and what saved queries answer of that."""

from __future__ import annotations

import pytest

from tests.infra.storage.queries.athena import Athena
from tests.infra.storage.queries.conftest import Reported
from tests.infra.storage.queries.reported import SATURDAY
from tests.infra.storage.queries.story import OTHER, SHOP, STOPPED
from tests.infra.storage.queries.story import SATURDAY as RUNS


@pytest.mark.spark
def test_the_command_names_the_pages_that_it_wrote(saturday: Reported) -> None:
    for cluster in (SHOP, OTHER):
        page = saturday.folder / f"reports/page/cluster={cluster}/dt={SATURDAY}/report.html"
        assert f"Page of {cluster}: {page}\n" in saturday.printed
        assert "<html" in page.read_text()


@pytest.mark.spark
def test_an_uneven_topic_is_listed_with_its_top_partition(reported: Athena) -> None:
    (row,) = reported.ask("skewed_topics")

    assert (row["cluster"], row["consumer_group"], row["topic"]) == (SHOP, "slow", "clicks")
    assert (row["lag_top_partition"], row["lag_top_share"]) == (1, 0.9)
    assert row["lag_max_to_mean"] == 2.7
    assert row["production_skewed"] is False


@pytest.mark.spark
def test_the_weeks_losses_are_listed_from_the_reports(reported: Athena) -> None:
    (row,) = reported.ask("retention_risk_of_the_week")

    assert (row["consumer_group"], row["topic"], row["records_lost"]) == ("loser", "logs", 500)
    assert (row["days_lost"], row["days_at_risk"]) == (1, 0)
    assert row["least_margin"] == 0


@pytest.mark.spark
def test_the_group_that_lagged_most_is_listed_from_the_reports(reported: Athena) -> None:
    rows = reported.ask("groups_lagging_most_yesterday")

    assert [row["consumer_group"] for row in rows][:2] == ["loser", "billing"]
    assert rows[1]["most_seconds"] == pytest.approx((59 - STOPPED) * 60, abs=2)
    assert rows[1]["most_records"] == 2 * 60 * (59 - STOPPED)
    assert (rows[1]["owner"], rows[1]["worst_topic"]) == ("payments", "orders")


@pytest.mark.spark
def test_a_time_lag_that_nobody_knows_is_not_zero(reported: Athena) -> None:
    (row,) = reported.ask("groups_lagging_most_yesterday", cluster=OTHER)

    assert (row["consumer_group"], row["most_seconds"]) == ("billing", None)


@pytest.mark.spark
def test_minutes_within_a_service_level_are_listed_from_the_reports(reported: Athena) -> None:
    (row,) = reported.ask("sla_by_week", cluster=SHOP, group="billing")

    # A run is a minute; the one before the gap stands for two.
    assert row["minutes_within"] == len([m for m in RUNS if m <= STOPPED + 5])
    assert row["minutes_known"] == len(RUNS) + 1
    assert (row["owner"], row["sla_seconds"]) == ("payments", 330.0)
