# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag query` on a folder and on a bucket: answers, objects read, output and errors."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
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
from kafka_lag_cli.needs import how_to_add
from kafka_lag_cli.query.command import query
from kafka_lag_cli.query.engine import Answer
from kafka_lag_cli.query.output import print_table, records
from kafka_lag_cli.query.parameters import bind
from kafka_lag_cli.terminal.records import write_records
from kafka_lag_config.saved_queries import read_queries
from tests.builders import HOUR, MINUTE, NOON, a_snapshot
from tests.golden import Golden

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


def test_the_list_has_each_query_with_its_title_and_parameters() -> None:
    listed = run("--list").stdout
    for saved in read_queries():
        assert f"{saved.key}\n    {saved.title}\n    cluster" in listed
    assert "least_minutes (60)" in listed

    by_name = {each["name"]: each for each in json.loads(run("--list", "--output", "json").stdout)}
    one = by_name["records_lost"]
    assert one["title"] == "Retention: what was lost, where and when"
    defaults = {"cluster": None, "group": None, "day": "today", "days": "8"}
    assert one["parameters"] == defaults


@pytest.mark.parametrize("saved", list(read_queries()), ids=lambda saved: saved.key)
def test_each_parameter_of_a_query_changes_it(saved: Any) -> None:
    values = {"day": "2026-01-31", "days": "3", "at": "2026-01-31T12:00", "least_minutes": "7"}
    now = datetime(2026, 2, 7, tzinfo=UTC)

    for name in saved.parameters:
        changed = bind(saved, {name: values.get(name, "x")}, now)
        assert changed != bind(saved, {}, now)
        sqlglot.parse_one(changed, read="athena")


def test_a_name_cannot_leave_its_quotes(state: Path) -> None:
    asked = ["status_by_day", "--state", state, "-p", "day=2026-02-01"]
    assert rows(*asked, "-p", f"group={HOSTILE}")
    names = ("x' OR '1' = '1", "\\' OR 1 = 1 --", "current_date", "x\ncluster LIKE '%'")
    for name in names:
        assert rows(*asked, "-p", f"group={name}", "-p", "cluster=shop") == []
    write_run(state, "shop", NOON + DAY + MINUTE, group="back\\slash's")
    assert len(rows(*asked, "-p", "group=back\\slash's")) == 1


@pytest.mark.parametrize(
    ("parameters", "days"),
    [
        ("day=2026-02-01", {"2026-01-31", "2026-02-01"}),
        ("day=2026-02-01 days=1", {"2026-02-01"}),
        ("day=2026-02-01 days=2", {"2026-01-31", "2026-02-01"}),
        ("day=2026-01-31", {"2026-01-31"}),
        ("day=2026-02-07 days=7", {"2026-02-01"}),
    ],
)
def test_days_reach_back_from_the_day(state: Path, parameters: str, days: set[str]) -> None:
    words = [word for each in parameters.split() for word in ("-p", each)]
    assert {row["dt"] for row in rows("status_by_day", "--state", state, *words)} == days


def test_now_can_be_another_time_after_which_nothing_is_read(state: Path) -> None:
    def lag(at: str) -> list[int]:
        found = rows("lag_by_member", "--state", state, "-p", "cluster=shop", "-p", f"at={at}")
        return [row["lag"] for row in found]

    assert lag("2026-01-31T12:00") == [8]
    assert lag("2026-01-31T13:00+01:00") == [8]
    assert lag("2026-01-31T11:59:30") == [5]
    assert lag("2026-01-31T11:58") == []


def test_a_day_that_is_not_over_ends_now() -> None:
    (saved,) = (each for each in read_queries() if each.key == "status_by_day")
    noon = datetime(2026, 1, 31, 12, tzinfo=UTC)

    def now(clock: datetime, **values: str) -> str:
        text = f"{saved.text} current_timestamp"
        return bind(replace(saved, text=text), values, clock).rpartition("TIMESTAMP ")[2]

    assert now(noon, day="2026-01-31") == now(noon) == "'2026-01-31 12:00:00'"
    assert now(noon + timedelta(days=1), day="2026-01-31") == "'2026-01-31 23:59:59'"


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


def test_files_of_other_partitions_are_not_opened(state: Path) -> None:
    write_unreadable(state, "2025-11-01")
    write_unreadable(state, "2026-01-31", "group_partitions")
    write_unreadable(state, "2026-02-01", cluster="other")

    assert rows("status_by_day", "--state", state, "-p", "day=2026-02-01", "-p", "cluster=shop")
    assert rows("lag_by_member", "--state", state, "-p", "at=2026-01-31T12:00")


# As DuckDB gives them.
TYPES = {
    "taken_at": datetime(2026, 1, 31, 12),
    "day": date(2026, 1, 31),
    "replicas": [0],
    "retention_ms": None,
    "yes": True,
    "number": Decimal("1.5"),
    "endless": float("inf"),
}


def test_what_people_and_programs_read_of_an_answer(state: Path, golden: Golden) -> None:
    names = ("a_name", "beside", "never_known", "nor_this")
    answer = Answer(names, [("g", 7, None, None), ("h", 8, None, None)], "groups")
    texts = {}
    for width in (60, 30, 12):
        out = io.StringIO()
        print_table(answer, Console(file=out, width=width, force_terminal=True, color_system=None))
        texts[f"a terminal of {width} columns"] = out.getvalue()
    call = "status-by-day -p day=2026-05-01"
    result = run(*call.split(), "--state", state)
    assert result.exit_code == 0
    texts[f"query {call}"] = f"{result.stdout}stderr: {result.stderr}"
    each_type = Answer(tuple(TYPES), [tuple(TYPES.values())], "groups")
    for form in ("json", "ndjson", "csv"):
        out = io.StringIO()
        write_records(records(each_type), form, out, names=each_type.columns)
        texts[f"each type, {form}"] = out.getvalue()
    out = io.StringIO()
    print_table(each_type, Console(file=out, width=100))
    texts["each type, table"] = out.getvalue()
    cases = {
        name: "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
        for name, text in texts.items()
    }
    golden.holds_cases("query.txt", cases)


def test_a_column_that_older_snapshots_lack_is_unknown(state: Path) -> None:
    for file in (state / "snapshots" / "groups" / "cluster=shop").rglob("*.parquet"):
        table = pq.ParquetFile(file).read()
        pq.write_table(table.drop_columns(["owners_changed"]), file)

    (row, *_) = rows(
        "rebalances_by_hour", "--state", state, "-p", "cluster=shop", "-p", "day=2026-01-31"
    )

    assert row["partitions_moved"] is None


def test_a_hostile_name_is_escaped_in_a_table_and_whole_for_programs(state: Path) -> None:
    arguments = ["status_by_day", "-p", "day=2026-02-01", "-p", "days=1", "--state", state]

    shown = run(*arguments).stdout
    assert "\x1b" not in shown
    assert 'evil\\x1b[31m, "quoted"' in shown
    assert [row["consumer_group"] for row in rows(*arguments)] == [HOSTILE]
    printed = run(*arguments, "--output", "csv").stdout_bytes.decode()
    read = csv.DictReader(io.StringIO(printed, newline=""))
    assert [row["consumer_group"] for row in read] == [HOSTILE]


def test_a_report_is_asked_once_it_is_made(state: Path) -> None:
    write_summary(state, "2026-01-31", consumer_group="billing", sla_seconds=60.0)
    asked = ["--state", state, "-p", "day=2026-01-31"]

    (row,) = rows("sla_by_week", *asked)
    assert (row["consumer_group"], row["sla_seconds"], row["owner"]) == ("billing", 60.0, None)
    # A table without rows on any reported day answers nothing.
    assert rows("objectives_now", *asked) == []


@pytest.mark.parametrize("library", ["duckdb", "sqlglot"])
def test_without_the_extra_it_is_said_how_to_get_it(
    library: str, monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    monkeypatch.setitem(sys.modules, library, None)

    assert error("records_lost", "--state", state) == (
        f"kafka-lag query needs DuckDB: {how_to_add('sql')}"
    )
    assert run("--list").exit_code == 0


@pytest.fixture(name="s3")
def _s3(state: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The state's objects in a bucket."""
    request.getfixturevalue("aws_keys")
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket=BUCKET)
        for file in state.rglob("*.parquet"):
            key = file.relative_to(state).as_posix()
            client.put_object(Bucket=BUCKET, Key=key, Body=file.read_bytes())
        yield client


IN_BUCKET = ("--state", f"s3://{BUCKET}")


@pytest.mark.usefixtures("s3")
def test_a_bucket_answers_as_the_folder_does(state: Path) -> None:
    asked = ["status_by_day", "-p", "day=2026-02-01"]

    assert rows(*asked, *IN_BUCKET) == rows(*asked, "--state", state)


def test_a_key_with_an_empty_part_is_a_key(s3: Any) -> None:
    listed = s3.list_objects_v2(Bucket=BUCKET, Prefix="snapshots/groups/")["Contents"]
    key = next(each["Key"] for each in listed if "dt=2026-02-01" in each["Key"])
    folder, _, name = key.rpartition("/")
    s3.copy_object(
        Bucket=BUCKET, Key=f"{folder}//copy-{name}", CopySource={"Bucket": BUCKET, "Key": key}
    )
    asked = ("status_by_day", "-p", "day=2026-02-01", "-p", "days=1")
    assert [row["runs_unknown"] for row in rows(*asked, *IN_BUCKET)] == [2]


def test_only_the_days_asked_for_are_fetched_from_a_bucket(s3: Any) -> None:
    key = "snapshots/groups/cluster=shop/dt=2026-01-30/hour=03/unreadable.parquet"
    s3.put_object(Bucket=BUCKET, Key=key, Body=b"no Parquet")

    assert rows("status_by_day", *IN_BUCKET, "-p", "day=2026-02-01", "-p", "days=2")
    said = error("status_by_day", *IN_BUCKET, "-p", "day=2026-02-01", code=1)
    assert said.startswith(f"What is in the bucket {BUCKET} cannot be read: ")
    assert f"'{key}'" in said


def test_today_is_the_clocks_day(state: Path) -> None:
    write_run(state, "fresh", int(datetime.now(UTC).timestamp() // 60) * MINUTE)

    found = rows("status_by_day", "--state", state)

    assert [row["cluster"] for row in found] == ["fresh"]
