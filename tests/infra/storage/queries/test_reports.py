# SPDX-License-Identifier: Apache-2.0
"""The reports of `kafka-lag report` about the story, and the saved queries' answers about them."""

from __future__ import annotations

import pytest

from tests.infra.storage.queries.athena import Athena
from tests.infra.storage.queries.conftest import Reported
from tests.infra.storage.queries.reported import SATURDAY
from tests.infra.storage.queries.story import OTHER, SHOP
from tests.infra.storage.queries.test_text import OVER_REPORTS


@pytest.mark.spark
def test_the_command_names_the_pages_that_it_wrote(saturday: Reported) -> None:
    for cluster in (SHOP, OTHER):
        page = saturday.folder / f"reports/page/cluster={cluster}/dt={SATURDAY}/report.html"
        assert f"Page of {cluster}: {page}\n" in saturday.printed
        assert "<html" in page.read_text()


@pytest.mark.spark
def test_queries_of_reports_answer_from_those_of_the_job(reported: Athena) -> None:
    answered = {key for key in OVER_REPORTS if reported.ask(key)}

    assert answered >= {"incidents_of_the_week", "sla_by_week"}


@pytest.mark.spark
def test_a_share_of_time_is_that_of_the_reports(reported: Athena) -> None:
    rows = {row["consumer_group"]: row for row in reported.ask("sla_by_week", cluster=SHOP)}

    assert rows.keys() == {"billing", "slow"}
    assert (rows["billing"]["owner"], rows["slow"]["owner"]) == ("payments", None)
    assert 0 < rows["billing"]["share_within"] < 1
