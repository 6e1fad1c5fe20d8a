# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag query` on a folder and on a bucket: what is answered, read, printed and rejected."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot
from click.testing import CliRunner, Result
from moto import mock_aws
from rich.console import Console

from kafka_lag.snapshots.store import FolderStore, write_snapshot
from kafka_lag_cdk.saved_queries import read_queries
from kafka_lag_cli.installation import find_installation
from kafka_lag_cli.query.command import query
from kafka_lag_cli.query.engine import Answer
from kafka_lag_cli.query.output import print_table
from kafka_lag_cli.query.parameters import bind
from tests.builders import HOUR, MINUTE, NOON, a_snapshot
from tests.cli.snapshots import a_group, a_snapshot_of

DAY = 24 * HOUR
HOSTILE = 'evil\x1b[31m, "quoted"'
BUCKET = "lag"


def write_run(folder: Path, cluster: str, at: int, group: str = "billing", lag: int = 5) -> None:
    snapshot = a_snapshot(
        {group: {"orders": [100 - lag], "clicks": [None]}},
        {"orders": [(0, 100)], "clicks": [(0, 7)]},
        at=at,
    )
    write_snapshot(FolderStore(folder), cluster, snapshot)


def write_unreadable(
    folder: Path, day: str, dataset: str = "groups", cluster: str = "shop"
) -> None:
    """A file that breaks whoever opens it."""
    place = folder / "snapshots" / dataset / f"cluster={cluster}" / f"dt={day}" / "hour=03"
    place.mkdir(parents=True)
    (place / "unreadable.parquet").write_bytes(b"no Parquet")


def write_summary(folder: Path, day: str, **columns: Any) -> None:
    """A row of the daily report's lag_summary, and the table that each reported day has."""
    for table, row in (("lag_summary", columns), ("coverage", {"dataset": "groups"})):
        place = folder / "reports" / table / "cluster=shop" / f"dt={day}"
        place.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist([row]), place / "part-0.parquet")


@pytest.fixture(name="written", scope="module")
def _written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "state"
    write_run(folder, "shop", NOON - MINUTE)
    write_run(folder, "shop", NOON, lag=8)
    write_run(folder, "shop", NOON + DAY, group=HOSTILE)
    write_run(folder, "other", NOON, group="audit")
    return folder


@pytest.fixture(name="state")
def _state(written: Path, tmp_path: Path) -> Path:
    """Two clusters: `shop` on two days, its last run of the first at noon, `other` on one."""
    return Path(shutil.copytree(written, tmp_path / "state"))


def run(*arguments: object, **more: Any) -> Result:
    return CliRunner().invoke(query, [str(each) for each in arguments], prog_name="query", **more)


def rows(*arguments: object) -> list[dict[str, Any]]:
    result = run(*arguments, "--output", "json")
    assert result.exit_code == 0, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


def error(*arguments: object, code: int = 2, **more: Any) -> str:
    """The sentence of a run that fails, the last line of stderr."""
    result = run(*arguments, **more)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.stderr.splitlines()[-1].removeprefix("Error: ")


def test_a_saved_query_is_answered_from_a_folder(state: Path) -> None:
    (row,) = rows("status_by_day", "--state", state, "-p", "day=2026-01-31", "-p", "cluster=shop")

    assert (row["consumer_group"], row["dt"], row["runs_unknown"]) == ("billing", "2026-01-31", 2)


def test_a_name_may_have_hyphens(state: Path) -> None:
    assert rows("status-by-day", "--state", state, "-p", "day=2026-01-31")


def test_the_list_has_each_query_with_its_title_and_parameters() -> None:
    listed = run("--list").stdout

    for saved in read_queries():
        assert f"{saved.key}\n    {saved.title}\n    cluster" in listed
    assert "least_minutes (60)" in listed


def test_the_list_is_there_as_json() -> None:
    (one,) = (
        each
        for each in json.loads(run("--list", "--output", "json").stdout)
        if each["name"] == "incidents_of_a_group"
    )

    assert one["title"] == "Group: when did it start to fall behind"
    assert one["parameters"] == {
        "cluster": None,
        "group": "required",
        "day": "today",
        "days": "8",
    }


@pytest.mark.parametrize("saved", list(read_queries()), ids=lambda saved: saved.key)
def test_each_parameter_of_a_query_changes_it(saved: Any) -> None:
    values = {"day": "2026-01-31", "days": "3", "at": "2026-01-31T12:00", "least_minutes": "7"}
    required = [name for name, default in saved.parameters.items() if default == "required"]
    needed = [part for name in required for part in ("-p", f"{name}=g")]
    plain = run(saved.key, "--sql", *needed).stdout

    for name in set(saved.parameters) - {*required}:
        changed = run(saved.key, "--sql", *needed, "-p", f"{name}={values.get(name, 'x')}").stdout
        assert changed != plain
        sqlglot.parse_one(changed, read="athena")
    for name in required:
        others = [part.replace(f"{name}=g", f"{name}=h") for part in needed]
        assert plain != run(saved.key, "--sql", *others).stdout


@pytest.mark.parametrize("saved", list(read_queries()), ids=lambda saved: saved.key)
def test_all_that_a_query_lets_be_chosen_is_a_parameter(saved: Any) -> None:
    words = {
        "cluster": "cluster LIKE '%'",
        "group": "consumer_group",
        "topic": "topic LIKE '%'",
        "day": "current_date",
        "days": "dt BETWEEN",
        "at": "hour IN",
        "least_minutes": "least_minutes",
    }
    begin, end = saved.text.index("WITH request"), saved.text.index("\n)")

    assert set(saved.parameters) == {
        name for name, word in words.items() if word in saved.text[begin:end]
    }


def test_the_query_itself_is_printed_as_it_is_saved() -> None:
    (text,) = (each.text for each in read_queries() if each.key == "incidents_of_a_group")

    assert run("incidents_of_a_group", "--sql").stdout == f"{text}\n"


def test_a_name_cannot_leave_its_quotes(state: Path) -> None:
    nobody = "x' OR '1' = '1"

    assert (
        rows("status_by_day", "--state", state, "-p", "day=2026-02-01", "-p", f"group={nobody}")
        == []
    )


def test_days_reach_back_from_the_day(state: Path) -> None:
    def days(*parameters: str) -> set[str]:
        words = [word for each in parameters for word in ("-p", each)]
        return {row["dt"] for row in rows("status_by_day", "--state", state, *words)}

    assert days("day=2026-02-01") == {"2026-01-31", "2026-02-01"}
    assert days("day=2026-02-01", "days=1") == {"2026-02-01"}
    assert days("day=2026-02-01", "days=2") == {"2026-01-31", "2026-02-01"}
    assert days("day=2026-01-31") == {"2026-01-31"}
    assert days("day=2026-02-07", "days=7") == {"2026-02-01"}


def test_a_query_about_yesterday_is_asked_of_the_day_itself(state: Path) -> None:
    moved = a_snapshot_of(a_group("billing", owners_changed=1), at=NOON + MINUTE)
    write_snapshot(FolderStore(state), "shop", moved)

    found = rows("rebalances_by_hour", "--state", state, "-p", "day=2026-01-31")

    assert {row["dt"] for row in found} == {"2026-01-31"}


def test_now_can_be_another_time_after_which_nothing_is_read(state: Path) -> None:
    def lag(at: str) -> list[int]:
        found = rows("lag_by_member", "--state", state, "-p", "cluster=shop", "-p", f"at={at}")
        return [row["lag"] for row in found]

    assert lag("2026-01-31T12:00") == [8]
    assert lag("2026-01-31T13:00+01:00") == [8]
    assert lag("2026-01-31T11:59:30") == [5]
    assert lag("2026-01-31T11:58") == []


def test_the_end_of_a_past_day_is_its_now(state: Path) -> None:
    write_run(state, "shop", NOON - 2 * MINUTE)

    (gap,) = rows("missing_runs", "--state", state, "-p", "cluster=shop", "-p", "day=2026-01-31")

    assert (gap["first_after"], round(gap["minutes"])) == (None, 12 * 60)


def test_a_day_that_is_not_over_ends_now() -> None:
    (saved,) = (each for each in read_queries() if each.key == "missing_runs")
    request = bind(saved, {"day": "2026-01-31"})
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)

    assert request.time(noon) == noon
    assert request.time(noon + timedelta(days=1)) == datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC)
    assert bind(saved, {}).time(noon) == noon


def test_a_number_in_a_query_can_be_another(state: Path) -> None:
    for minute, end in ((0, 100), (1, 160), (40, 160)):
        snapshot = a_snapshot({}, {"quiet": [(0, end)]}, at=NOON + minute * MINUTE)
        write_snapshot(FolderStore(state), "third", snapshot)
    narrowed = ["-p", "topic=quiet", "-p", "day=2026-01-31"]

    assert rows("topics_gone_quiet", "--state", state, *narrowed) == []
    (row,) = rows("topics_gone_quiet", "--state", state, *narrowed, "-p", "least_minutes=39")
    assert row["quiet_minutes"] == 39


def test_days_that_are_only_in_the_history_are_read_from_it(state: Path) -> None:
    days = state / "history" / "groups" / "cluster=shop"
    days.mkdir(parents=True)
    (day,) = (state / "snapshots" / "groups" / "cluster=shop").glob("dt=2026-01-31")
    (days / day.name).mkdir()
    (file, *_) = day.rglob("*.parquet")
    file.rename(days / day.name / "day.parquet")
    asked = ["--state", state, "-p", "cluster=shop", "-p", "day=2026-01-31"]

    assert rows("status_by_day", *asked)[0]["runs_unknown"] == 1
    assert rows("status_by_day", *asked, "--history")[0]["runs_unknown"] == 1
    assert "history_groups" in run("status_by_day", "--sql", "--history").stdout


def test_files_of_other_partitions_are_not_opened(state: Path) -> None:
    write_unreadable(state, "2025-11-01")
    write_unreadable(state, "2026-01-31", "group_partitions")
    write_unreadable(state, "2026-02-01", cluster="other")

    assert rows("status_by_day", "--state", state, "-p", "day=2026-02-01", "-p", "cluster=shop")
    assert rows("lag_by_member", "--state", state, "-p", "at=2026-01-31T12:00")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT max(lag) AS lag FROM groups WHERE dt = '2026-01-31'",
        "SELECT max(g.lag) AS lag FROM groups AS g JOIN topic_partitions AS t "
        "ON t.taken_at = g.taken_at WHERE g.dt = '2026-01-31' AND t.dt = '2026-01-31'",
        "SELECT max(lag) AS lag FROM (SELECT lag, dt FROM groups WHERE dt > '2026-01-30'"
        " UNION ALL SELECT lag, dt FROM groups WHERE dt = '2026-01-31')",
    ],
)
def test_an_own_query_opens_no_file_of_other_days_either(state: Path, text: str) -> None:
    write_unreadable(state, "2025-11-01")
    write_unreadable(state, "2025-11-01", "topic_partitions")

    assert rows("--execute", text, "--state", state) == [{"lag": 8}]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT max(lag) AS lag FROM groups",
        "SELECT max(lag) AS lag FROM groups WHERE dt = '2026-01-31' OR lag > 5",
        "SELECT max(g.lag) AS lag FROM topic_partitions AS t LEFT JOIN groups AS g "
        "ON t.taken_at = g.taken_at WHERE coalesce(g.dt, '2026-01-31') = '2026-01-31'",
    ],
)
def test_a_query_that_needs_other_days_opens_their_files(state: Path, text: str) -> None:
    write_unreadable(state, "2025-11-01")

    said = error("--execute", text, "--state", state, code=1)

    assert said.startswith(f"What is in {state} cannot be read: ")
    assert "unreadable.parquet" in said


def test_a_broken_file_is_named_whatever_breaks_in_it(state: Path) -> None:
    (file,) = (state / "snapshots" / "groups" / "cluster=other").rglob("*.parquet")
    footer = b"\xff" * 40
    file.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")

    said = error("--execute", "SELECT lag FROM groups", "--state", state, code=1)

    assert said.startswith(f"What is in {state} cannot be read: ")
    assert file.relative_to(state).as_posix() in said


def test_times_with_a_zone_are_answered_as_athena_does(state: Path) -> None:
    text = (
        "SELECT from_unixtime(1769860800) AS instant, "
        "date_format(taken_at AT TIME ZONE 'Asia/Kolkata', '%H:%i') AS clock, "
        "taken_at AT TIME ZONE 'UTC' AT TIME ZONE 'Asia/Kolkata' AS there "
        "FROM groups WHERE cluster = 'other'"
    )
    assert rows("--execute", text, "--state", state) == [
        {
            "instant": "2026-01-31T12:00:00.000Z",
            "clock": "17:30",
            "there": "2026-01-31 17:30:00.000",
        }
    ]


def test_a_query_comes_from_a_file_or_stdin(state: Path, tmp_path: Path) -> None:
    text = "-- mine\nSELECT cluster, count(*) AS n FROM groups GROUP BY cluster ORDER BY cluster;\n"
    (tmp_path / "mine.sql").write_text(text)
    arguments = ["--state", str(state), "--output", "ndjson"]

    from_file = run("--file", tmp_path / "mine.sql", *arguments).stdout
    from_stdin = run("--file", "-", *arguments, input=text).stdout

    assert from_file == from_stdin == '{"cluster": "other", "n": 1}\n{"cluster": "shop", "n": 3}\n'


def test_a_file_that_is_no_text_is_one_sentence(state: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.sql").write_bytes(b"SELECT '\xff'")
    said = error("--file", tmp_path / "mine.sql", "--state", state)
    assert said.endswith("mine.sql is no UTF-8 text.")


def test_a_table_may_be_named_with_its_database(state: Path) -> None:
    text = 'SELECT count(*) AS n FROM "AwsDataCatalog"."kafka_lag"."groups" LIMIT 10'

    assert rows("--execute", text, "--state", state) == [{"n": 4}]


def test_a_column_that_older_snapshots_lack_is_unknown(state: Path) -> None:
    for file in (state / "snapshots" / "groups" / "cluster=shop").rglob("*.parquet"):
        table = pq.ParquetFile(file).read()
        pq.write_table(table.drop_columns(["owners_changed"]), file)

    (row, *_) = rows(
        "rebalances_by_hour", "--state", state, "-p", "cluster=shop", "-p", "day=2026-01-31"
    )

    assert row["partitions_moved"] is None


def test_unknown_is_null_in_json_empty_in_csv_and_a_question_mark_in_tables(state: Path) -> None:
    text = (
        "SELECT topic, lag, CAST(NULL AS double) / 2 AS x FROM group_partitions "
        "WHERE dt = '2026-01-31' AND cluster = 'other' AND topic = 'clicks'"
    )
    arguments = ["--execute", text, "--state", state, "--output"]

    assert rows(*arguments[:-1]) == [{"topic": "clicks", "lag": None, "x": None}]
    assert run(*arguments, "csv").stdout_bytes == b"topic,lag,x\nclicks,,\n"
    assert run(*arguments, "table").stdout.splitlines()[-3].split() == ["clicks", "?", "?"]


def test_values_keep_their_types(state: Path) -> None:
    text = (
        "SELECT taken_at, CAST(dt AS date) AS day, replicas, true AS yes, 1.5 AS number, "
        "CAST(1e300 AS double) * 1e300 AS endless FROM topic_partitions "
        "WHERE cluster = 'other' AND topic = 'clicks'"
    )
    arguments = ["--execute", text, "--state", state]

    assert rows(*arguments) == [
        {
            "taken_at": "2026-01-31T12:00:00.000Z",
            "day": "2026-01-31",
            "replicas": [0],
            "yes": True,
            "number": 1.5,
            "endless": None,
        }
    ]
    (_, line) = csv.reader(io.StringIO(run(*arguments, "--output", "csv").stdout, newline=""))
    assert line == ["2026-01-31T12:00:00.000Z", "2026-01-31", "[0]", "true", "1.5", ""]
    assert "2026-01-31 12:00:00  2026-01-31  [0]" in " ".join(
        run(*arguments).stdout.split("\n")[3].split(" ")
    )


def test_a_text_is_no_formula_in_a_spreadsheet_and_a_number_stays_one(state: Path) -> None:
    text = "SELECT '=1+1' AS a, -5 AS b, -1.5 AS c FROM groups WHERE dt = '2026-02-01'"
    printed = run("--execute", text, "--state", state, "--output", "csv").stdout_bytes
    assert printed == b"a,b,c\n'=1+1,-5,-1.5\n"


def test_a_hostile_name_is_escaped_in_a_table_and_whole_for_programs(state: Path) -> None:
    text = "SELECT consumer_group AS g FROM groups WHERE dt = '2026-02-01'"
    arguments = ["--execute", text, "--state", state]

    shown = run(*arguments).stdout
    assert "\x1b" not in shown
    assert 'evil\\x1b[31m, "quoted"' in shown
    assert rows(*arguments) == [{"g": HOSTILE}]
    printed = run(*arguments, "--output", "csv").stdout_bytes.decode()
    assert list(csv.reader(io.StringIO(printed, newline=""))) == [["g"], [HOSTILE]]


def test_no_rows_are_said_to_be_none_with_the_days_that_there_are(state: Path) -> None:
    result = run("status_by_day", "--state", state, "-p", "day=2026-05-01")

    assert result.exit_code == 0
    assert "0 rows" in result.stdout
    assert (
        result.stderr
        == "groups has nothing of the time asked for; it has 2026-01-31 to 2026-02-01.\n"
    )
    assert rows("status_by_day", "--state", state, "-p", "day=2026-05-01") == []


def test_a_query_about_now_names_the_newest_run_where_there_is_none(state: Path) -> None:
    said = error("losing_records_soon", "--state", state, code=1)

    assert said == (
        "group_partitions has nothing of the time asked for; it has 2026-01-31 to 2026-02-01."
        " Try -p at=2026-02-01T12:00:00."
    )
    assert rows("losing_records_soon", "--state", state, "-p", "at=2026-02-01T12:00:00") == []


@pytest.mark.parametrize("name", ["incidents_of_a_group", "minutes_around_an_incident"])
def test_where_there_is_no_incident_it_is_said_what_makes_one(state: Path, name: str) -> None:
    result = run(name, "--state", state, "-p", "group=billing", "-p", "day=2026-01-31")

    assert (result.exit_code, result.stderr) == (
        0,
        "A status makes an incident once it has lasted for `hold` runs; status_by_day counts all"
        " runs.\n",
    )


def test_a_command_of_sql_is_answered_by_the_tables_alone(
    state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said = error("--execute", "SHOW TABLES", "--state", state, code=1)

    assert said.startswith("Only one SELECT can be run here. The tables are anomalies, ")
    assert "groups" in said
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("width", "head", "left_out"),
    [
        (60, "a_name beside never_known nor_this", False),
        (30, "a_name beside \u2500", True),
        (12, "row 1 \u2500\u2500\u2500\u2500\u2500\u2500 a_name g beside 7 row 2", True),
    ],
)
def test_columns_without_a_value_give_way_where_a_terminal_is_narrow(
    width: int, head: str, left_out: bool
) -> None:
    names = ("a_name", "beside", "never_known", "nor_this")
    answer = Answer(names, [("g", 7, None, None), ("h", 8, None, None)], {}, {})
    out = io.StringIO()

    print_table(answer, Console(file=out, width=width, force_terminal=True, color_system=None))

    said = " ".join(out.getvalue().split())
    assert said.startswith(head)
    note = "left out, as unknown in all rows: never_known, nor_this"
    assert said.replace(" ", "").endswith(note.replace(" ", "")) == left_out


def test_a_report_is_asked_once_it_is_made(state: Path) -> None:
    arguments = ["groups_lagging_most_yesterday", "--state", state, "-p", "day=2026-01-31"]
    assert error(*arguments, code=1) == (
        f"There is no daily report in {state} yet: run kafka-lag report first."
    )

    write_summary(state, "2026-01-31", consumer_group="billing", lag_max=7.0)

    (row,) = rows(*arguments)
    assert (row["consumer_group"], row["most_records"], row["owner"]) == ("billing", 7.0, None)


@pytest.mark.parametrize(
    ("replaced", "table", "rejected"),
    [
        ("dt=2026-01-31/complete", "lag_summary", True),
        ("dt=2026-01-31/run/lag_summary/report.parquet", "lag_summary", False),
        ("dt=2026-01-30/complete", "lag_summary", False),
        ("dt=2026-01-31/complete", "groups", False),
    ],
    ids=["half replaced", "not yet begun", "another day", "no report"],
)
def test_reports_that_are_half_replaced_are_not_read(
    replaced: str, table: str, rejected: bool, state: Path
) -> None:
    write_summary(state, "2026-01-31", consumer_group="billing")
    file = state / "reports/_replacing/cluster=shop" / replaced
    file.parent.mkdir(parents=True)
    file.touch()

    sql = f"SELECT dt FROM {table} WHERE dt = '2026-01-31'"  # noqa: S608 - our names
    asked = run("--state", state, "--execute", sql)

    assert (asked.exit_code == 1) == rejected, asked.output
    assert ("are being replaced" in asked.stderr) == rejected


def test_a_table_without_rows_on_any_reported_day_answers_nothing(state: Path) -> None:
    write_summary(state, "2026-01-31", consumer_group="billing")

    assert rows("anomalies_of_the_week", "--state", state, "-p", "day=2026-01-31") == []


def test_no_history_yet_is_said(state: Path) -> None:
    said = error("status_by_day", "--history", "--state", state, code=1)

    assert said == f"There is no history in {state} yet: run kafka-lag report first."


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Name a query (--list has them), or give one by --execute or --file."),
        (["records_lost", "--execute", "SELECT 1"], "Name a query (--list has them), or"),
        (["record_lost"], "There is no query record_lost; records_lost? kafka-lag query --list"),
        (["\x1b"], "There is no query \\x1b. kafka-lag query --list has all."),
        (["records_lost", "-p", "grup=a"], "records_lost has no parameter grup; group? It takes"),
        (["records_lost", "-p", "x\x1b=a"], "records_lost has no parameter x\\x1b. It takes"),
        (["records_lost", "-p", "group"], "-p group must be KEY=VALUE"),
        (["records_lost", "-p", "group="], "-p group= must be KEY=VALUE"),
        (["records_lost", "-p", "day=2026-01-31", "-p", "day=2026-01-30"], "-p day is there twice"),
        (["records_lost", "--region", "eu-west-1"], "--region belongs to --bucket"),
        (["records_lost", "--bucket", "b", "--state", "."], "--state and --bucket cannot go"),
        (["--execute", "SELECT 1", "-p", "day=2026-01-31"], "--parameter and --history belong to"),
    ],
)
def test_wrong_usage_is_one_sentence(arguments: list[str], sentence: str) -> None:
    assert error(*arguments).startswith(sentence)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["records_lost", "-p", "day=20260131"],
            "day=20260131 must be a date, written 2026-01-31.",
        ),
        (["records_lost", "-p", "day=31.1."], "day=31.1. must be a date, written 2026-01-31."),
        (["records_lost", "-p", "days=0"], "days=0 must be a number of days, 1 to 3,660."),
        (["records_lost", "-p", "days=x"], "days=x must be a number of days, 1 to 3,660."),
        (["lag_by_member", "-p", "at=noon"], "at=noon must be a time in UTC, written"),
        (["topics_gone_quiet", "-p", "least_minutes=-1"], "least_minutes=-1 must be a whole"),
        (["incidents_of_a_group"], "incidents_of_a_group is about one group: name it by -p group="),
        (["lag_by_member", "--history"], "lag_by_member cannot be asked of the history"),
        (["--execute", "SELECT 1; SELECT 2"], "Only one SELECT can be run here."),
        (["--execute", "DROP TABLE groups"], "Only one SELECT can be run here."),
        (["--execute", ""], "Only one SELECT can be run here."),
        (["--execute", "SELECT (1"], "This is no SQL as Athena takes it (line 1, column "),
        (["--execute", "SELECT * FROM lag"], "There is no table lag. The tables are anomalies, "),
        (["--execute", "SELECT * FROM read_csv('x')"], "There is no table"),
        (["--execute", "SELECT x FROM groups"], "The query cannot be run: Binder Error: "),
        (["--execute", "SELECT 1 % 0 FROM groups"], "The query cannot be run: Invalid Input "),
        (["--execute", "SELECT 1 FROM groups WHERE CAST(dt AS int) = 1"], "The query cannot be"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(
    state: Path, arguments: list[str], sentence: str
) -> None:
    assert error(*arguments, "--state", state, code=1).startswith(sentence)


def test_a_folder_without_snapshots_is_one_sentence(tmp_path: Path) -> None:
    assert error("records_lost", "--state", tmp_path, code=1) == (
        f"There are no snapshots in {tmp_path}: run kafka-lag watch first."
    )
    (tmp_path / "file").touch()
    assert "is a file" in error("records_lost", "--state", tmp_path / "file")
    assert "does not exist" in error("records_lost", "--state", tmp_path / "none")


def test_the_folder_above_is_named_to_who_is_inside_the_state(state: Path) -> None:
    said = error("records_lost", "--state", state / "snapshots", code=1)

    assert said.endswith(f"is inside the state: name the folder above, {state}.")


def test_the_users_cache_folder_is_read_unless_another_is_named(
    state: Path, tmp_path: Path
) -> None:
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    assert "There is no folder" in error("records_lost", code=1, env=environment)

    state.rename(tmp_path / "kafka-lag")

    assert run("records_lost", "-p", "day=2026-01-31", env=environment).exit_code == 0


@pytest.mark.parametrize("library", ["duckdb", "sqlglot"])
def test_without_the_extra_it_is_said_how_to_get_it(
    library: str, monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    monkeypatch.setitem(sys.modules, library, None)

    assert error("records_lost", "--state", state) == (
        f"kafka-lag query needs DuckDB: {find_installation().add_extra('sql')}"
    )
    assert run("--list").exit_code == 0


@pytest.fixture(name="s3")
def _s3(state: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The state's objects in a bucket."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket=BUCKET)
        for file in state.rglob("*.parquet"):
            key = file.relative_to(state).as_posix()
            client.put_object(Bucket=BUCKET, Key=key, Body=file.read_bytes())
        yield client


IN_BUCKET = ("--bucket", BUCKET, "--region", "us-east-1")


@pytest.mark.usefixtures("s3")
@pytest.mark.parametrize("name", ["status_by_day", "records_lost", "unread_partitions"])
def test_a_bucket_answers_as_the_folder_does(state: Path, name: str) -> None:
    asked = [name, "-p", "day=2026-02-01"]

    assert rows(*asked, *IN_BUCKET) == rows(*asked, "--state", state)


def test_a_key_with_an_empty_part_is_a_key(s3: Any) -> None:
    listed = s3.list_objects_v2(Bucket=BUCKET, Prefix="snapshots/groups/")["Contents"]
    key = next(each["Key"] for each in listed if "dt=2026-02-01" in each["Key"])
    folder, _, name = key.rpartition("/")
    s3.copy_object(
        Bucket=BUCKET, Key=f"{folder}//copy-{name}", CopySource={"Bucket": BUCKET, "Key": key}
    )
    text = "SELECT count(*) AS n FROM groups WHERE dt = '2026-02-01'"
    assert rows("--execute", text, *IN_BUCKET) == [{"n": 2}]


def test_only_the_days_asked_for_are_fetched_from_a_bucket(s3: Any) -> None:
    key = "snapshots/groups/cluster=shop/dt=2026-01-30/hour=03/unreadable.parquet"
    s3.put_object(Bucket=BUCKET, Key=key, Body=b"no Parquet")

    assert rows("status_by_day", *IN_BUCKET, "-p", "day=2026-02-01", "-p", "days=2")
    said = error("status_by_day", *IN_BUCKET, "-p", "day=2026-02-01", code=1)
    assert said.startswith(f"What is in the bucket {BUCKET} cannot be read: ")
    assert f"'{key}'" in said


@pytest.mark.usefixtures("s3")
def test_a_bucket_that_is_not_there_is_one_sentence() -> None:
    assert error("records_lost", "--bucket", "nobodys", "--region", "us-east-1", code=1) == (
        "The bucket nobodys cannot be read (NoSuchBucket). Check the name, the region (--region), "
        "and your right to s3:ListBucket."
    )


def test_an_empty_bucket_is_one_sentence(s3: Any) -> None:
    s3.create_bucket(Bucket="empty")

    assert error("records_lost", "--bucket", "empty", "--region", "us-east-1", code=1) == (
        "There are no snapshots in the bucket empty: run kafka-lag watch first."
    )


def test_today_is_the_clocks_day(state: Path) -> None:
    write_run(state, "fresh", int(datetime.now(UTC).timestamp() // 60) * MINUTE)

    found = rows("status_by_day", "--state", state)

    assert [row["cluster"] for row in found] == ["fresh"]
