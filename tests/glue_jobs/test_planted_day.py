# SPDX-License-Identifier: Apache-2.0
"""One day with planted incidents through the whole job: what its page and its message say.

What was planted is written here by hand; nothing of the report is imported but its entry and the
names of its columns.
"""

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_lag.contract import RISES
from kafka_lag_report.daily_report import main
from kafka_lag_report.schemas import SNAPSHOTS, TABLES
from tests.glue_jobs.days import Row, group_row, report_rows, topic_row, write_run
from tests.glue_jobs.page.pages import Tags
from tests.golden import Golden

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark"), pytest.mark.timeout(900)]

MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)
DAY = MIDNIGHT.date()
DATE = DAY.isoformat()
# Minutes between runs, and those of runs that never were: 4 of 144.
EVERY = 10
MISSED = range(600, 640)
HALF_HOURS = range(0, 1440, 30)
DEPLOYED = 17 * 60
RETIRED = 5 * 60
LONG = "w" * 300
DAY_MS = 86_400_000
NONE_LEFT = 30 * 86_400.0


def write_shop(root: Path) -> None:
    """A cluster with no SLA, and four runs in which nothing was collected."""
    for number in range(0, 1440, EVERY):
        if number not in MISSED:
            write_run(root, "groups", list(groups_at(number)), at=at(number), folder="shop")
    for number in HALF_HOURS:
        rows = list(partitions_at(number))
        write_run(root, "group_partitions", rows, at=at(number), folder="shop")
        topics = {(row["topic"], row["partition_id"]): row for row in rows}
        write_run(
            root,
            "topic_partitions",
            [topic_of(row) for row in topics.values()],
            at=at(number),
            folder="shop",
        )


def at(number: int) -> datetime:
    """A minute of the day."""
    return MIDNIGHT + timedelta(minutes=number)


def groups_at(number: int) -> Iterator[Row]:
    """`billing` is in ERR for 100 minutes; `etl` is never behind and lost records at noon;
    `retired` has nobody, had read most of what was left, and is deleted at 05:00.
    """
    wrong = 100 <= number < 200
    late = 5_999.0 if number == 150 else 30.0
    why = {"members": 0 if number < 150 else 1, "status_reason": "beyond_end" if wrong else None}
    why |= {"status_reason": None} if number < 150 else {}
    why |= {"tasks_needed": 2 if number < 720 else 4, "tasks_needed_reason": "backlog"}
    yield seen("billing", late, status="ERR" if wrong else "OK", **why)
    yield seen("etl", 0.0, records_lost=2_847 if number >= 720 else 0)
    for name in ("ahead", "large", "lopsided", "stopped", "odd", "restarted"):
        yield seen(name, 30.0)
    yield seen(LONG, 0.0)
    if number < RETIRED:
        yield seen("retired", 30.0, members=0, lag=900 if number < RETIRED - EVERY else 40)
    if number == RETIRED:
        yield {"consumer_group": "retired", "status_reason": "gone"}


def seen(group: str, time_lag: float, **more: Any) -> Row:
    lag = 0 if not time_lag else 100
    row = {"consumer_group": group, "lag": lag, "time_lag_seconds": time_lag, "status": "OK"}
    return {**row, **more}


def partitions_at(number: int) -> Iterator[Row]:
    run = number // 30
    # 2,847 records that etl had not read are deleted by request: nothing expires.
    start, committed = (2_947, 2_947 + run) if number > 720 else (0, 100)
    start = 2_947 if number >= 720 else start
    lost = 2_847 if number == 720 else 0
    fate: Row = {"retention_risk": "LOST" if lost else "SAFE", "seconds_until_loss": NONE_LEFT}
    end = committed if number != 720 else 2_947
    yield row_of("etl", "purged", 0, committed, end, start=start, records_lost=lost, **fate)
    near = number == 14 * 60
    risk: Row = {
        "retention_risk": "AT_RISK" if near else "SAFE",
        "seconds_until_loss": 5_999.0 if near else NONE_LEFT,
    }
    # Another member owns it from 10:00 on: the least time left is not that of its first owner.
    risk["member_id"] = "billing-0" if number < 600 else "billing-1"
    yield row_of("billing", "orders", 0, 1_000 * run, 1_000 * run + 100, **risk)
    # More is produced to partition 0 of both; `big` has more records beyond an even share,
    # `small` is further from even.
    for partition, (lag, made) in enumerate([(3_000, 300), (1_000, 100)]):
        yield row_of("large", "big", partition, made * run, made * run + lag)
    for partition, (lag, made) in enumerate([(900, 300), (100, 10), (100, 10), (100, 10)]):
        yield row_of("lopsided", "small", partition, made * run, made * run + lag)
    # Partition 3 is behind as `big` is under the same broker, and its member owns another.
    for partition, (leader, member, lag) in enumerate(
        [(2, "m", 10), (2, "m", 10), (3, "n", 10), (1, "n", 700)]
    ):
        row = row_of("ahead", "led", partition, 50 * run, 50 * run + lag)
        yield {**row, "leader": leader, "member_id": member}
    # Nobody owns these, and the commits stand.
    for partition, made in enumerate((100, 1)):
        yield row_of("stopped", "left-behind", partition, 0, 500 + made * run, owner=False)
    # Each partition has an owner and a leader of its own, and all are written to alike.
    for partition, lag in enumerate((2_000, 100, 100)):
        yield row_of("odd", "curious", partition, 50 * run, 50 * run + lag)
    # One member until noon, and another one since.
    lag, member = (800, "old") if number < 720 else (10, "new")
    end = 50 * run + 800
    row = row_of("restarted", "resumed", 0, end - lag, end, member_id=member)
    yield {**row, "leader": 4}


def row_of(
    group: str,
    topic: str,
    partition: int,
    committed: int,
    end: int,
    *,
    start: int = 0,
    owner: bool = True,
    **more: Any,
) -> Row:
    owned = {"member_id": f"{group}-{partition}", "client_id": group, "client_host": "/10.0.0.1"}
    row = group_row(partition, committed, start, end, consumer_group=group, topic=topic)
    return {
        **row,
        "topic_id": topic,
        "leader": partition + 1,
        "time_lag_seconds": 30.0,
        **(owned if owner else {}),
        **more,
    }


def topic_of(row: Row) -> Row:
    unlimited = row["topic"] == "purged"
    return topic_row(
        row["partition_id"],
        row["end_offset"],
        topic=row["topic"],
        topic_id=row["topic_id"],
        leader=row["leader"],
        retention_ms=-1 if unlimited else DAY_MS,
        cleanup_policy="delete",
    )


def write_fresh(root: Path) -> None:
    """A cluster whose collector was deployed at 17:00 and has missed nothing since."""
    for number in range(DEPLOYED, 1440, EVERY):
        row = row_of("newcomer", "first", 0, number, number)
        write_run(root, "groups", [seen("newcomer", 0.0)], at=at(number), folder="fresh")
        write_run(root, "group_partitions", [row], at=at(number), folder="fresh")
        write_run(root, "topic_partitions", [topic_of(row)], at=at(number), folder="fresh")


@dataclass(frozen=True, slots=True)
class Said:
    """What a person reads: pages, and the job's log."""

    root: Path
    log: str

    def html(self, cluster: str) -> str:
        place = self.root / f"reports/page/cluster={cluster}/dt={DATE}/report.html"
        return place.read_text("utf-8")


@pytest.fixture(name="said", scope="module")
def _said(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Said:
    assert spark
    root = tmp_path_factory.mktemp("planted")
    write_shop(root)
    return report(root)


@pytest.fixture(name="evening", scope="module")
def _evening(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Said:
    assert spark
    root = tmp_path_factory.mktemp("evening")
    write_fresh(root)
    return report(root)


def report(root: Path) -> Said:
    with redirect_stdout(io.StringIO()) as out:
        places = ["--input", str(root), "--output", str(root)]
        assert main([*places, "--date", DATE]) == 0
    return Said(root, out.getvalue())


def test_the_page_says_what_was_planted_and_nothing_else(said: Said, golden: Golden) -> None:
    golden.holds("report-page.txt", Tags(said.html("shop")).text)


def test_the_message_says_it_too_and_where_the_pages_lie(said: Said, golden: Golden) -> None:
    golden.holds("report-message.txt", said.log.replace(str(said.root), "ROOT"))


def test_a_loss_has_its_numbers(said: Said) -> None:
    (lost,) = [row for row in report_rows(said.root, "incidents", "shop") if row["kind"] == "lost"]

    assert (lost["consumer_group"], lost["records_lost"], lost["lost_of"]) == (
        "etl",
        2_847,
        "purged",
    )
    assert (lost["since"], lost["until"], lost["still"]) == (at(720), at(730), False)


@pytest.mark.thorough
def test_a_collector_that_was_deployed_in_the_evening_has_missed_nothing(evening: Said) -> None:
    html = evening.html("fresh")
    text = Tags(html).text

    assert report_rows(evening.root, "incidents", "fresh") == []
    assert "Nothing does. The one group" in text
    assert "groups | 42 | 42 | 100% | 17:00 | 23:50" in text
    ends = re.findall(r'class="axis"[^>]*text-anchor="(?:start|end)">(\d\d:\d\d)', html)
    assert ends[:2] == ["16:00", "24:00"]


def test_a_broker_has_one_colour_on_the_page(said: Said) -> None:
    legends = re.findall(r'<i class="leader(\w)"></i>broker (\d)', said.html("shop"))

    assert {broker: {c for c, b in legends if b == broker} for _, broker in legends} == {
        "1": {"0"},
        "2": {"1"},
        "3": {"2"},
        "4": {"3"},
    }
    drawn = re.findall(r'rect class="leader(\w)".*?partition \d+, broker (\d)', said.html("shop"))
    assert {c for c, broker in drawn if broker == "2"} == {"1"}


def test_one_long_name_does_not_widen_the_log(said: Said) -> None:
    assert max(len(line) for line in said.log.splitlines() if "/report.html" not in line) < 250


@pytest.mark.parametrize("report", sorted(set(TABLES) - {"anomalies", "slo"}))
def test_a_report_has_the_declared_columns_and_millisecond_times(said: Said, report: str) -> None:
    (file,) = (said.root / "reports" / report / "cluster=shop" / f"dt={DATE}").iterdir()
    schema = pq.read_schema(file)

    assert schema.names == TABLES[report].names
    times = [field.type for field in schema if pa.types.is_timestamp(field.type)]
    assert set(times) <= {pa.timestamp("ms", tz="UTC")}


@pytest.mark.parametrize("dataset", SNAPSHOTS)
def test_the_history_is_the_days_rows_in_one_file(said: Said, dataset: str) -> None:
    objects = sorted((said.root / "snapshots" / dataset / "cluster=shop").rglob("*.parquet"))
    (file,) = (said.root / "history" / dataset / "cluster=shop" / f"dt={DATE}").iterdir()
    names = SNAPSHOTS[dataset].names
    assert rows_of([file], names) == rows_of(objects, names)
    added = [RISES[dataset]] if dataset in RISES else []
    assert pq.read_schema(file).names == [*names, *added]


def rows_of(files: Sequence[Path], names: Sequence[str]) -> list[str]:
    """The rows of these files in any order, by column."""
    rows = [row for file in files for row in pq.ParquetFile(file).read(names).to_pylist()]
    return sorted(repr(sorted(row.items())) for row in rows)


def test_what_is_usual_is_written_for_the_collector(said: Said) -> None:
    (file,) = (said.root / "usual/cluster=shop").glob("*.parquet")

    assert pq.read_metadata(file).metadata[b"kafka_lag_usual_date"] == DATE.encode()


def test_nothing_but_what_is_read_later_is_left_behind(said: Said) -> None:
    # a report without rows, as nothing is unusual yet and no group has an objective, is no folder
    assert names_in(said.root / "reports") == sorted({*TABLES, "page"} - {"anomalies", "slo"})
    assert names_in(said.root) == ["history", "reports", "snapshots", "usual"]
    assert names_in(said.root / "history") == sorted(SNAPSHOTS)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
