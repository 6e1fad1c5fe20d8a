# SPDX-License-Identifier: Apache-2.0
"""One day with planted incidents through the whole job: what its page and its message say.

What was planted is written here by hand; nothing of the report is imported but its entry and the
names of its columns. A further cluster has ties and nulls everywhere, and all numbers of all
clusters are what SQL says. Of all tests that need Spark, `make test` has these alone.
"""

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from dev.days.hourly import Hour, write_hours, write_usual_days
from dev.report_check import compare, run, written
from kafka_lag.contract import RISES
from kafka_lag_report.daily_report import main
from kafka_lag_report.schemas import REPORTS, SNAPSHOTS, TABLES
from tests.glue_jobs.days import Row, group_row, report_rows, topic_row, write_run
from tests.glue_jobs.odd_days import GROUPS, write_odd_day

# The first test waits for both runs of the job and for the SQL, on a busy machine for long.
pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark"), pytest.mark.timeout(1_800)]

MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)
DAY = MIDNIGHT.date()
DATE = DAY.isoformat()
# The cluster of which nothing was planted by hand lies in a folder of its own.
ODD = "odd"
CLUSTERS = ("shop", "fresh", "till", ODD)
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


# Six runs from noon: time lag, its error, and status of `pay`, which promises a minute.
TILL: tuple[tuple[float, float | None, str | None], ...] = (
    (30.0, 0.0, "OK"),
    (30.0, 0.0, None),
    (90.0, None, "ERR"),
    (90.0, None, "ERR"),
    (30.0, None, "OK"),
    (30.0, 0.0, "OK"),
)


def write_till(root: Path) -> None:
    """An hour of a cluster that promises something, after Saturdays with ten times the lag.

    Broker 1 moves to another rack at 12:30, and nobody reads what broker 3 leads.
    """
    for number, (time_lag, error, status) in enumerate(TILL):
        when = at(720 + EVERY * number)
        pay = seen("pay", time_lag, sla_seconds=60.0, status=status, lag=160 if number else 100)
        pay["time_lag_error_seconds"] = error
        write_run(root, "groups", [pay, seen("new", 30.0)], at=when, folder="till")
        rows = [row_of("pay", "cards", 0, number, number + 60)]
        write_run(root, "group_partitions", rows, at=when, folder="till")
        topics = [
            {**topic_of(rows[0]), "leader": leader, "partition_id": leader - 1, "leader_rack": rack}
            for leader, rack in ((1, "a" if number < 3 else "b"), (3, "c"))
        ]
        write_run(root, "topic_partitions", topics, at=when, folder="till")
    for week in (1, 2, 3):
        groups = ("pay", "new") if week < 3 else ("pay",)
        hours = [
            Hour(consumer_group=group, hour=12, lag=1_500.0, time_lag_seconds=50.0)
            for group in groups
        ]
        write_hours(root, "till", (MIDNIGHT - timedelta(weeks=week)).date(), hours)


@dataclass(frozen=True, slots=True)
class Said:
    """What a person reads: pages as text, section by section, and the job's log."""

    root: Path
    log: str

    def page(self, cluster: str) -> str:
        """All of its text."""
        return text_of(self.html(cluster))

    def html(self, cluster: str) -> str:
        place = self.root / f"reports/page/cluster={cluster}/dt=2026-01-31/report.html"
        return place.read_text("utf-8")

    def section(self, cluster: str, name: str) -> str:
        """The text of a section; empty where the page has none."""
        found = re.search(rf'<section id="{name}".*?</section>', self.html(cluster), re.DOTALL)
        return text_of(found[0]) if found else ""

    def lines(self, word: str) -> list[str]:
        """Lines of the log with this in them."""
        return [line for line in self.log.splitlines() if word in line]


def text_of(html: str) -> str:
    """What is read of it, on one line."""
    body = re.sub(r"<(style|script)\b.*?</\1>", " ", html, flags=re.DOTALL)
    titles = " ".join(re.findall(r'(?:aria-label|title)="([^"]*)"', body))
    shown = re.sub(r"<[^>]+>", "", re.sub(r"</?(td|th|tr|p|li|dt|dd|h\d)\b[^>]*>", " ", body))
    return re.sub(r"\s+", " ", unescape(f"{shown} {titles}"))


@pytest.fixture(name="said", scope="module")
def _said(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Said:
    assert spark
    root = tmp_path_factory.mktemp("planted")
    write_shop(root)
    write_fresh(root)
    write_till(root)
    with redirect_stdout(io.StringIO()) as out:
        places = ["--input", str(root), "--output", str(root)]
        assert main([*places, "--date", DATE]) == 0
    return Said(root, out.getvalue())


@pytest.fixture(name="roots", scope="module")
def _roots(said: Said, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Where the reports of each cluster are."""
    odd = tmp_path_factory.mktemp(ODD)
    write_odd_day(odd, ODD, MIDNIGHT, seed=1, runs=40)
    write_usual_days(odd, ODD, [f"g{number}" for number in range(GROUPS)], before=DAY)
    assert main(["--input", str(odd), "--output", str(odd), "--date", DATE, "--no-history"]) == 0
    return dict.fromkeys(CLUSTERS, said.root) | {ODD: odd}


@pytest.fixture(name="expected", scope="module")
def _expected(roots: dict[str, Path]) -> dict[str, dict[str, pa.Table]]:
    """All reports by SQL, which shares no code with the job, a cluster each."""
    tomorrow = DAY + timedelta(days=1)
    with duckdb.connect() as connection:
        return {name: run(connection, roots[name], name, DAY, today=tomorrow) for name in CLUSTERS}


@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("report", REPORTS)
def test_a_report_is_what_sql_says(
    roots: dict[str, Path], expected: dict[str, dict[str, pa.Table]], cluster: str, report: str
) -> None:
    assert compare(expected[cluster][report], written(roots[cluster], report, cluster, DAY)) == []


@pytest.mark.parametrize("cluster", ["shop", "fresh"])
def test_unknown_is_never_a_word_of_python(said: Said, cluster: str) -> None:
    assert not re.search(r"\b(None|nan|NaN|inf)\b", said.page(cluster))


SAID = (
    "There were no runs from 10:00 to 10:40 (40 min): nothing was seen.",
    "billing had commits beyond the end of their log from 01:40 to 03:20.",
    "billing came near to losing records from 14:00 to 14:10. The first unread record was 1 h 39 "
    "min from deletion at 14:00; nothing was lost.",
    "etl lost at least 2,847 records of purged from 12:00 to 12:10: deleted before they were "
    "committed (no retention by age is set).",
    "retired is gone since 05:00, and left 40 records unread: the cluster no longer has this "
    "group.",
    "big is produced unevenly: partition 0 gets 75% (even: 50%).",
    "small is produced unevenly: partition 0 gets 90.9% (even: 25%).",
)


def test_page_and_message_say_the_same_of_each_incident_and_nothing_else(said: Said) -> None:
    attention = said.section("shop", "attention").replace("\u00a0", " ")

    assert [text for text in SAID if text not in attention] == []
    told = [line.removeprefix("- shop: ") for line in said.lines("- shop: ")]
    assert sorted(told) == sorted(SAID)
    section = said.html("shop").split('id="attention"')[1].split("</section>")[0]
    assert section.count("<li ") == len(SAID)


def test_the_table_of_incidents_has_a_row_for_each(said: Said) -> None:
    rows = report_rows(said.root, "incidents", "shop")

    assert sorted(row["text"] for row in rows) == sorted(SAID)
    lost = next(row for row in rows if row["kind"] == "lost")
    assert (lost["consumer_group"], lost["records_lost"], lost["lost_of"]) == (
        "etl",
        2_847,
        "purged",
    )
    assert (lost["since"], lost["until"], lost["still"]) == (at(720), at(730), False)
    # a calm cluster has none
    assert report_rows(said.root, "incidents", "fresh") == []


def cause(said: Said, topic: str) -> tuple[Any, ...]:
    """What the report gives for the topic's lag, and whom it names."""
    rows = report_rows(said.root, "partition_skew", "shop")
    (row,) = [row for row in rows if row["topic"] == topic]
    return row["cause"], row["cause_leader"], row["cause_member"], row["cause_partitions"]


def test_a_broker_is_the_cause_for_the_first_of_the_groups_that_lag_under_it(said: Said) -> None:
    assert cause(said, "led") == ("broker", 1, None, [3])


def test_of_one_partition_neither_its_broker_nor_its_owner_is_named(said: Said) -> None:
    assert cause(said, "curious") == ("unexplained", None, None, [0])


def test_records_deleted_by_request_are_not_laid_to_retention(said: Said) -> None:
    table = said.section("shop", "retention")

    assert "etl purged LOST 2,847" in table.replace("etlpurged", "etl purged")
    assert "unlimited" in table
    assert "etention deleted" not in said.section("shop", "attention") + said.log


def test_the_report_says_whose_retention_is_unlimited(said: Said) -> None:
    rows = report_rows(said.root, "retention_risk", "shop")

    kept = {row["topic"]: (row["retention_seconds"], row["retention_unlimited"]) for row in rows}
    assert kept["purged"] == (None, True)
    assert kept["orders"] == (86_400.0, False)


def test_the_owner_before_a_restart_is_not_hot_beside_the_one_after_it(said: Said) -> None:
    rows = report_rows(said.root, "consumer_hotspots", "shop")
    found = {row["member_id"]: row for row in rows if row["consumer_group"] == "restarted"}
    assert {member: row["hot"] for member, row in found.items()} == {"old": False, "new": False}
    assert found["old"]["lag_to_others"] > 3


def test_nothing_lost_or_safe_has_30_days_left(said: Said) -> None:
    assert "30 d" not in said.page("shop").replace("\u00a0", " ") + said.log


def test_a_group_that_lost_records_is_not_called_never_behind(said: Said) -> None:
    cards = re.findall(r"<article aria-labelledby=.g.*?</article>", said.html("shop"), re.DOTALL)
    card = {
        name: text_of(each) for each in cards for name in re.findall(r">([^<]+)</bdi>", each)[:1]
    }

    assert "No time lag was seen." in card["etl"]
    assert "Never behind" not in card["etl"]
    assert sum("Never behind" in text for text in card.values()) == 1


def test_only_who_promised_something_missed_it(said: Said) -> None:
    assert not re.search(r"miss(ed|es)? (its|their|no) SLA|SLA missed", said.page("shop"))
    assert said.lines("SLA") == [
        "- till: pay fell behind from 12:10 to 12:40. Up to 160 records were unread, the oldest at "
        "least 1 min 30 s old. The SLA of 1 min was missed for 20 min, of 50 min that are known."
    ]


def rows_of_report(said: Said, report: str, *names: str) -> list[tuple[Any, ...]]:
    """These columns of a report on `till`."""
    return [tuple(row[name] for name in names) for row in report_rows(said.root, report, "till")]


def test_a_promise_is_judged_by_the_minutes_that_are_known_to_be_over_it_or_not(said: Said) -> None:
    names = ("sla_minutes", "sla_met_minutes", "sla_compliance")
    rows = rows_of_report(said, "lag_summary", "consumer_group", "topic", *names)
    assert [row[2:] for row in rows if row[:2] == ("pay", None)] == [
        pytest.approx((50.0, 30.0, 0.6))
    ]


def test_a_status_changes_across_runs_that_know_none(said: Said) -> None:
    rows = rows_of_report(said, "lag_summary", "consumer_group", "topic", "status_changes")
    assert ("pay", None, 2) in rows


def test_tasks_needed_are_there_by_hour_and_for_the_day(said: Said) -> None:
    rows = report_rows(said.root, "tasks_needed", "shop")

    quartiles = {
        row["hour"]: (row["lower_quartile"], row["median"], row["upper_quartile"], row["most"])
        for row in rows
    }
    # 720 minutes needed four, and 690 two: a run stands for no more than twice its pause
    expected: dict[int | None, tuple[int, ...]] = {None: (2, 4, 4, 4)}
    expected |= {hour: (2 if hour < 12 else 4,) * 4 for hour in range(24)}
    assert quartiles == expected
    assert "billing 1 2 4 4 4 " in said.section("shop", "tasks")
    assert "4 a backlog 23 h 30 min" in said.section("shop", "tasks").replace("\u00a0", " ")
    assert said.section("fresh", "tasks") == ""


def test_a_broker_that_moved_lags_where_it_is_now_and_one_that_nobody_reads_nowhere(
    said: Said,
) -> None:
    rows = rows_of_report(said, "broker_hotspots", "leader", "leader_rack", "lag_mean")
    assert sorted(rows) == [(1, "a", 0.0), (1, "b", pytest.approx(60.0)), (3, "c", 0.0)]


def test_an_hour_keeps_how_far_apart_the_lags_of_its_runs_lay(said: Said) -> None:
    rows = rows_of_report(said, "lag_hourly", "consumer_group", "hour", "lag", "lag_deviation")
    # One of six is 60 below the others.
    assert ("pay", 12, pytest.approx(150.0), pytest.approx(10 * 5**0.5)) in rows


def test_three_weeks_tell_what_is_usual_and_two_do_not(said: Said) -> None:
    rows = rows_of_report(said, "anomalies", "consumer_group", "hour", "measure", "direction")
    assert rows == [("pay", 12, "lag", "low")]


@pytest.mark.parametrize("topic", ["left-behind", "curious"])
def test_skew_that_nobody_can_act_on_has_a_section_of_its_own(said: Said, topic: str) -> None:
    assert topic in said.section("shop", "other-skew")
    assert topic not in said.section("shop", "attention") + said.section("shop", "skew") + said.log


def test_skew_of_a_stopped_group_says_that_nobody_owned_it(said: Said) -> None:
    assert "Nobody owned partition" in said.section("shop", "other-skew")


def test_a_collector_that_was_deployed_in_the_evening_has_missed_nothing(said: Said) -> None:
    assert "Nothing does. The one group" in said.section("fresh", "attention")
    coverage = said.section("fresh", "coverage")
    assert "groups 42 42 100% 17:00 23:50" in coverage
    assert not said.lines("- fresh")


def test_a_day_seen_from_17_to_24_is_drawn_so(said: Said) -> None:
    axis = re.findall(
        r'class="axis"[^>]*text-anchor="(?:start|end)">(\d\d:\d\d)', said.html("fresh")
    )

    assert axis[:2] == ["16:00", "24:00"]


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


def test_the_log_is_the_message_then_the_pages(said: Said) -> None:
    lines = said.log.strip().splitlines()

    assert lines[0].startswith("Kafka lag on 2026-01-31: ")
    assert "shop: " in said.log
    places = [
        f"{said.root}/reports/page/cluster={c}/dt=2026-01-31/report.html"
        for c in ("fresh", "shop", "till")
    ]
    found = [place in line for place, line in zip(places, lines[-3:], strict=True)]
    assert found == [True] * 3
    assert all(line.startswith("Page of ") for line in lines[-3:])


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
    for folder in ("cluster=shop", "cluster=fresh"):
        objects = sorted((said.root / "snapshots" / dataset / folder).rglob("*.parquet"))
        (file,) = (said.root / "history" / dataset / folder / f"dt={DATE}").iterdir()
        names = SNAPSHOTS[dataset].names
        assert rows_of([file], names) == rows_of(objects, names)
        added = [RISES[dataset]] if dataset in RISES else []
        assert pq.read_schema(file).names == [*names, *added]


def rows_of(files: Sequence[Path], names: Sequence[str]) -> list[str]:
    """The rows of these files in any order, by column."""
    rows = [row for file in files for row in pq.ParquetFile(file).read(names).to_pylist()]
    return sorted(repr(sorted(row.items())) for row in rows)


@pytest.mark.parametrize("cluster", ["shop", "fresh"])
def test_what_is_usual_is_written_for_each_collector(said: Said, cluster: str) -> None:
    (file,) = (said.root / f"usual/cluster={cluster}").glob("*.parquet")

    assert pq.read_metadata(file).metadata[b"kafka_lag_usual_date"] == DATE.encode()


def test_nothing_but_what_is_read_later_is_left_behind(said: Said) -> None:
    # a report without rows, as nothing is unusual yet and no group has an objective, is no folder
    assert names_in(said.root / "reports/anomalies") == ["cluster=till"]
    assert names_in(said.root / "reports") == sorted({*TABLES, "page"} - {"slo"})
    assert names_in(said.root) == ["history", "reports", "snapshots", "usual"]
    assert names_in(said.root / "history") == sorted(SNAPSHOTS)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
