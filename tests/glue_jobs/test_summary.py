# SPDX-License-Identifier: Apache-2.0
"""The printed tables."""

from datetime import date

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from glue_jobs.schemas import CLUSTER, REPORTS
from glue_jobs.summary import print_reports, table
from tests.glue_jobs.days import Row


def test_words_stand_left_and_numbers_right() -> None:
    rows = [{"topic": "a", "lag": "1,200"}, {"topic": "orders", "lag": "-"}]

    assert table(rows).splitlines() == [
        "  topic     lag",
        "  a       1,200",
        "  orders      -",
    ]


def test_no_rows_give_no_table() -> None:
    assert table([]) == ""


def printed(spark: SparkSession, limit: int = 20, **rows: list[Row]) -> str:
    frames = {
        name: spark.createDataFrame(
            rows.get(name, []), StructType([CLUSTER, *REPORTS[name].fields])
        )
        for name in REPORTS
    }
    lines: list[str] = []
    print_reports(frames, date(2026, 1, 31), limit, lines.append)
    return "\n".join(lines)


def row(**values: object) -> Row:
    return {"cluster": "demo", "consumer_group": "g", "topic": "t", "partition_id": 0, **values}


@pytest.mark.spark
def test_reports_without_rows_are_a_line_each(spark: SparkSession) -> None:
    assert printed(spark).split("\n") == [
        "",
        "Partition skew on 2026-01-31: 0 of 0 group topics skewed",
        "",
        "Retention risk on 2026-01-31: 0 of 0 group partitions lost records",
    ]


@pytest.mark.spark
def test_unknown_numbers_are_dashes_and_names_are_made_safe(spark: SparkSession) -> None:
    text = printed(spark, retention_risk=[row(consumer_group="a\x1b[2J\nb")])

    assert text.splitlines()[-1].split() == ["a?[2J?b", "t", "0", *"------"]


@pytest.mark.spark
def test_the_worst_retention_comes_first(spark: SparkSession) -> None:
    rows = [
        row(topic="unknown"),
        row(topic="caught-up", records_lost=0, least_margin=0, lag_at_least_margin=0),
        row(topic="near", records_lost=0, least_margin=5, lag_at_least_margin=9),
        row(topic="soon", records_lost=0, retention_risk="AT_RISK", least_margin=900),
        row(topic="lost", records_lost=7, retention_risk="LOST", least_margin=0),
        row(topic="lost-more", records_lost=8, retention_risk="LOST", least_margin=0),
    ]
    text = printed(spark, 5, retention_risk=rows)

    *lines, more = text.splitlines()
    topics = [line.split()[1] for line in lines[-5:]]
    assert topics == ["lost-more", "lost", "soon", "near", "caught-up"]
    assert more.strip() == "and 1 more: --show 6 shows all"


@pytest.mark.spark
def test_one_cluster_is_named_once_and_several_in_each_row(spark: SparkSession) -> None:
    alone = printed(spark, retention_risk=[row(), row(topic="u")])
    together = printed(spark, retention_risk=[row(), row(cluster="other")])

    assert (alone.count("demo"), "cluster demo;" in alone) == (1, True)
    assert [line.split()[0] for line in together.splitlines()[-2:]] == ["demo", "other"]
