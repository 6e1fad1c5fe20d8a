# SPDX-License-Identifier: Apache-2.0
"""Reports computed, published, and read again on later days."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafka_lag_report.errors import DataError
from kafka_lag_report.queries import Queries
from kafka_lag_report.read_snapshots import naming_corrupt_files
from kafka_lag_report.report_files import collect, compute, is_first_day, read_stored
from kafka_lag_report.schemas import REPORTS, STRING
from kafka_lag_report.storage import Storage
from tests.glue_jobs.days import ARROW, NOON, a_day

ODD = "blå & 1/2"
FOLDERS = {"demo": "cluster=demo", ODD: f"cluster={quote(ODD, safe='')}"}
NAME = "lag_hourly"
BEFORE = [date(2026, 1, number) for number in range(17, 31)]
_TYPED = "name string, at timestamp, numbers array<int>"
USUAL = "consumer_group string, hour int, measure string, usual double, spread double, days int"
FAILS = "cast(raise_error('on purpose') AS double)"


def hours(spark: SparkSession, *rows: tuple[str, int]) -> DataFrame:
    """The report with the most telling columns: group, hour."""
    others = [f"cast(null AS {f.dataType.simpleString()}) {f.name}" for f in REPORTS[NAME]][2:]
    frame = spark.createDataFrame(list(rows), "consumer_group string, hour int")
    return frame.selectExpr("consumer_group", "hour", *others)


def write_report(root: Path, folder: str, number: int, group: str, hour: int) -> None:
    """One row of an earlier run's report."""
    place = root / "reports" / NAME / folder / f"dt=2026-01-{number}"
    place.mkdir(parents=True)
    row = {"consumer_group": group, "hour": hour}
    kinds = [(f.name, ARROW[f.dataType.simpleString()]) for f in REPORTS[NAME]]
    pq.write_table(pa.Table.from_pylist([row], schema=pa.schema(kinds)), place / "part-0.parquet")


def test_collected_times_are_utc_and_null_comes_first(spark: SparkSession) -> None:
    at = datetime(2026, 1, 31, 23, 59, 59, 5_000, tzinfo=UTC)
    frame = spark.createDataFrame([("b", at, [1, 2]), (None, None, None), ("a", at, [])], _TYPED)
    schema = pa.schema(
        [
            ("name", pa.string()),
            ("at", pa.timestamp("ms", tz="UTC")),
            ("numbers", pa.list_(pa.int32())),
        ]
    )

    assert collect(frame, schema, ["name"]).to_pylist() == [
        {"name": None, "at": None, "numbers": None},
        {"name": "a", "at": at, "numbers": []},
        {"name": "b", "at": at, "numbers": [1, 2]},
    ]


def test_a_table_that_fails_leaves_none(spark: SparkSession) -> None:
    fails = hours(spark, ("new", 1)).withColumn("lag", sf.expr(FAILS))
    queries = Queries(spark)
    queries.view("usual_hours", spark.createDataFrame([], USUAL))
    queries.view("lag_hourly", fails)

    with pytest.raises((Py4JJavaError, PySparkException), match="on purpose"):
        compute(queries, ["anomalies"])


@pytest.mark.parametrize(("cluster", "hour"), [("demo", 0), (ODD, 1)])
def test_published_reports_are_read_for_the_dates_asked(
    cluster: str, hour: int, spark: SparkSession, tmp_path: Path
) -> None:
    for number in (16, 17, 30, 31):
        for place, folder in enumerate(FOLDERS.values()):
            write_report(tmp_path, folder, number, f"g{number}", place)

    rows = read_stored(spark, Storage(), str(tmp_path), NAME, a_day(cluster), BEFORE)

    assert rows.schema["dt"].dataType == STRING
    assert rows.columns == [*REPORTS[NAME].names, "dt"]
    reported = rows.select("dt", "consumer_group", "hour").collect()
    assert sorted(tuple(row) for row in reported) == [
        ("2026-01-17", "g17", hour),
        ("2026-01-30", "g30", hour),
    ]


def test_a_broken_earlier_report_is_named(spark: SparkSession, tmp_path: Path) -> None:
    yesterday = NOON - timedelta(days=1)
    broken = tmp_path / "reports" / NAME / "cluster=demo" / f"dt={yesterday:%Y-%m-%d}/p.parquet"
    broken.parent.mkdir(parents=True)
    broken.write_text("no")
    rows = read_stored(spark, Storage(), str(tmp_path), NAME, a_day(), BEFORE)

    folder = str(broken.parent)
    with (
        pytest.raises(DataError, match=f"{broken}.*restore or remove"),
        naming_corrupt_files(Storage(), lambda: [folder]),
    ):
        rows.collect()


@pytest.mark.parametrize(
    "earlier", ["snapshots/groups", "history/topic_partitions", "reports/coverage", None]
)
def test_a_day_is_the_first_if_nothing_is_older(earlier: str | None, tmp_path: Path) -> None:
    day = a_day(root=tmp_path)
    for place in ("snapshots/groups", "history/groups", "reports/coverage"):
        (tmp_path / place / FOLDERS["demo"] / "dt=2026-01-31").mkdir(parents=True)
    if earlier:
        (tmp_path / earlier / FOLDERS["demo"] / "dt=2026-01-30").mkdir(parents=True)

    assert is_first_day(Storage(), str(tmp_path), day) == (earlier is None)
