# SPDX-License-Identifier: Apache-2.0
"""What `kafka-lag report` makes of the story, and what saved queries answer of that."""

from __future__ import annotations

import pytest

from tests.infra.storage.queries.athena import PLACEHOLDER, TEXTS, Athena
from tests.infra.storage.queries.conftest import Reported
from tests.infra.storage.queries.reported import SATURDAY
from tests.infra.storage.queries.story import OTHER, SHOP, STOPPED
from tests.infra.storage.queries.test_text import OVER_REPORTS


@pytest.mark.spark
def test_the_command_names_the_pages_that_it_wrote(saturday: Reported) -> None:
    for cluster in (SHOP, OTHER):
        page = saturday.folder / f"reports/page/cluster={cluster}/dt={SATURDAY}/report.html"
        assert f"Page of {cluster}: {page}\n" in saturday.printed
        assert "<html" in page.read_text()


@pytest.mark.spark
def test_queries_of_reports_answer_from_those_of_the_job(reported: Athena) -> None:
    answered = {
        key
        for key in OVER_REPORTS
        if reported.ask(key, **({"group": "billing"} if PLACEHOLDER in TEXTS[key] else {}))
    }

    assert answered >= {
        "brokers_hot_this_week",
        "groups_lagging_most_yesterday",
        "incidents_of_the_week",
        "retention_risk_of_the_week",
        "skewed_topics",
        "sla_by_week",
        "tasks_needed_by_hour",
    }


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
