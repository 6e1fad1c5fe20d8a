# SPDX-License-Identifier: Apache-2.0
"""One day with planted incidents through the whole job: its page and its message.

The planted facts are written here by hand. Nothing of the report is imported except its entry and
the names of its columns.
"""

import io
import re
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_lag.contract import BEYOND_END, RISES
from kafka_lag_report.daily_report import main
from kafka_lag_report.schemas import SNAPSHOTS, TABLES
from tests.glue_jobs.days import Row, report_rows
from tests.glue_jobs.page.pages import Tags
from tests.glue_jobs.strips import Part, absent, at, bad, gone, part, published, write_strips
from tests.golden import Golden

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark"), pytest.mark.timeout(900)]

DATE = "2026-01-31"
# A run each half hour, but for four that never were.
RUNS = [number for number in range(0, 1440, 30) if not 480 <= number < 600]
LONG = "w" * 300
SAFE: Row = {"retention_risk": "SAFE", "seconds_until_loss": 30 * 86_400.0}
LATE = Part("0-24", {"lag": 100, "time_lag_seconds": 30.0})


def rising(by: int, begin: int = 0) -> Callable[[int], int]:
    """An offset that is so many records higher in each run."""
    return lambda minute: begin + by * (minute // 30)


def reads(
    topic: str, *partitions: tuple[int, int], **more: Sequence[int | str | None]
) -> list[Part]:
    """Partitions with so much lag, and as many records a run; each has a member and a leader."""
    return [
        part(
            "0-24",
            number,
            topic=topic,
            topic_id=topic,
            committed_offset=rising(made),
            end_offset=rising(made, lag),
            client_host="/10.0.0.1",
            time_lag_seconds=30.0,
            **{"member_id": f"{topic}-{number}", "leader": number + 1}
            | {name: values[number] for name, values in more.items()},
        )
        for number, (lag, made) in enumerate(partitions)
    ]


# A cluster with no SLA.
SHOP: dict[str, list[Part]] = {
    # near a loss for one run, when another member has it than in the morning
    "billing": [
        LATE,
        Part("0-12", {"tasks_needed": 2, "tasks_needed_reason": "backlog"}),
        Part("12-24", {"tasks_needed": 4, "tasks_needed_reason": "backlog"}),
        bad("1:30-2:30", members=0),
        bad("2:30-3:30", status_reason=BEYOND_END, worst_status=BEYOND_END),
        published("1:30", "3:30", BEYOND_END),
        published("14", "14:30", incident_at_risk_since=at("14")),
        Part("14-14:30", {"seconds_until_loss": 5_999.0}),
        Part("2:30-3", {"time_lag_seconds": 5_999.0}),
        *reads("orders", (100, 1_000)),
        part("10-24", member_id="orders-1"),
        part("0-24", **SAFE),
        part("14-14:30", retention_risk="AT_RISK", seconds_until_loss=5_999.0),
    ],
    # never behind, and loses what it had not read: deleted by request, as nothing expires
    "etl": [
        Part("0-24", {"time_lag_seconds": 0.0}),
        Part("12-12:30", {"records_lost": 2_847}),
        *reads("purged", (0, 0)),
        part("0-24", retention_ms=-1, committed_offset=100, end_offset=100, **SAFE),
        part("12-24", start_offset=2_947, end_offset=2_947),
        part("12-12:30", records_lost=2_847, retention_risk="LOST"),
        part("12:30-24", committed_offset=rising(1, 2_947), end_offset=rising(1, 2_947)),
    ],
    # nobody reads what is left but once, and then it is deleted
    "retired": [
        Part("0-4:30", {"members": 0, "lag": 900, "time_lag_seconds": 30.0}),
        Part("4:30-5", {"members": 0, "lag": 40, "time_lag_seconds": 30.0}),
        gone("5"),
        absent("5:05-24"),
    ],
    # as much more is produced to one partition as it is behind
    "large": [LATE, *reads("big", (3_000, 300), (1_000, 100))],
    # behind under the broker under which `big` is, and its member has another partition
    "ahead": [
        LATE,
        *reads(
            "led",
            *((10, 50), (10, 50), (10, 50), (700, 50)),
            member_id=("m", "m", "n", "n"),
            leader=(2, 2, 3, 1),
        ),
    ],
    "stopped": [
        LATE,
        *reads("left-behind", (500, 0), (500, 0), member_id=(None, None)),
        *(part("0-24", n, end_offset=rising(made, 500)) for n, made in enumerate((100, 1))),
    ],
    # all are written to alike, by owners and leaders of their own
    "odd": [LATE, *reads("curious", (2_000, 50), (100, 50), (100, 50))],
    LONG: [Part("0-24", {"time_lag_seconds": 0.0})],
}


def write(root: Path, folder: str, runs: Sequence[int], groups: dict[str, list[Part]]) -> None:
    """A cluster whose topics are those that its groups read."""
    topics: dict[str, list[Part]] = {}
    for parts in groups.values():
        own = [each for each in parts if each.partition is not None]
        topics |= {each.facts["topic"]: own for each in own if "topic" in each.facts}
    write_strips(root, folder, runs, groups, topics)


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
    write(root, "shop", RUNS, SHOP)
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
    assert (lost["since"], lost["until"], lost["still"]) == (at("12"), at("12:30"), False)


@pytest.mark.thorough
def test_a_collector_that_was_deployed_in_the_evening_has_missed_nothing(tmp_path: Path) -> None:
    write(tmp_path, "fresh", range(17 * 60, 1440, 10), {"newcomer": reads("first", (0, 1))})
    evening = report(tmp_path)
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
    """The rows of these files in any order, by column; a column that a file lacks is null."""
    rows = [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
    return sorted(repr([(name, row.get(name)) for name in names]) for row in rows)


def test_what_is_usual_is_written_for_the_collector(said: Said) -> None:
    (file,) = (said.root / "usual/cluster=shop").glob("*.parquet")

    assert pq.read_metadata(file).metadata[b"kafka_lag_usual_date"] == DATE.encode()


def test_nothing_but_what_is_read_later_is_left_behind(said: Said) -> None:
    # a report without rows, as nothing is unusual yet and no group has an objective, is no folder
    assert names_in(said.root / "reports") == sorted({*TABLES, "page"} - {"anomalies", "slo"})
    assert names_in(said.root) == ["history", "reports", "snapshots", "usual"]
    assert names_in(said.root / "history") == sorted(SNAPSHOTS)
    assert not [*said.root.rglob("_*/*/*")]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("_"))
