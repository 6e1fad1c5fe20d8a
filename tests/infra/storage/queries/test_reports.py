# SPDX-License-Identifier: Apache-2.0
"""What the saved queries answer from the reports that the daily job really writes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from functions import contract
from infra.storage.report_columns import PARTITION_SKEW, REPORT_COLUMNS
from tests.infra.storage.queries.athena import Athena
from tests.infra.storage.queries.story import NOW, SHOP


@pytest.mark.spark
def test_an_uneven_topic_is_told_with_its_top_partition(reported: Athena) -> None:
    (row,) = reported.ask("skewed_topics")

    assert (row["cluster"], row["consumer_group"], row["topic"]) == (SHOP, "slow", "clicks")
    assert (row["lag_top_partition"], row["lag_top_share"]) == (1, 0.9)
    assert row["lag_max_to_mean"] == 2.7
    assert row["production_skewed"] is False


def test_the_worse_of_a_topics_two_ratios_gives_its_place(tmp_path: Path) -> None:
    ratios = {
        "third": (4.0, 1.0),
        "fourth": (2.0, 3.0),
        "second": (None, 5.0),
        "first": (6.0, None),
    }
    _write_skew(tmp_path, ratios)

    rows = Athena(tmp_path, NOW).ask("skewed_topics")

    assert [row["topic"] for row in rows] == ["first", "second", "third", "fourth"]


@pytest.mark.spark
def test_the_weeks_losses_are_told_from_the_reports(reported: Athena) -> None:
    (row,) = reported.ask("retention_risk_of_the_week")

    assert (row["consumer_group"], row["topic"], row["records_lost"]) == ("loser", "logs", 500)
    assert (row["days_lost"], row["days_at_risk"]) == (1, 0)
    assert row["least_margin"] == 0


def _write_skew(folder: Path, ratios: dict[str, tuple[float | None, float | None]]) -> None:
    """A day's report of one group that is uneven on each topic, by its two ratios."""
    rows = [
        dict.fromkeys(REPORT_COLUMNS[PARTITION_SKEW])
        | {"consumer_group": "g", "topic": topic, "lag_skewed": True, "production_skewed": True}
        | {"lag_max_to_mean": of_lag, "production_max_to_mean": of_production}
        for topic, (of_lag, of_production) in ratios.items()
    ]
    place = folder / contract.REPORT_PREFIX / PARTITION_SKEW / f"cluster={SHOP}" / "dt=2026-01-31"
    place.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), place / "part-0.parquet")
