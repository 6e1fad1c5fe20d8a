# SPDX-License-Identifier: Apache-2.0
"""What the saved queries answer from the reports that the daily job really writes."""

from __future__ import annotations

import pytest

from tests.infra.storage.queries.athena import Athena
from tests.infra.storage.queries.story import SHOP

pytestmark = pytest.mark.spark


def test_an_uneven_topic_is_told_with_its_top_partition(reported: Athena) -> None:
    (row,) = reported.ask("skewed_topics")

    assert (row["cluster"], row["consumer_group"], row["topic"]) == (SHOP, "slow", "clicks")
    assert (row["lag_top_partition"], row["lag_top_share"]) == (1, 0.9)
    assert row["lag_max_to_mean"] == 2.7
    assert row["production_skewed"] is False


def test_the_weeks_losses_are_told_from_the_reports(reported: Athena) -> None:
    (row,) = reported.ask("retention_risk_of_the_week")

    assert (row["consumer_group"], row["topic"], row["records_lost"]) == ("loser", "logs", 500)
    assert (row["days_lost"], row["days_at_risk"]) == (1, 0)
    assert row["least_margin"] == 0
