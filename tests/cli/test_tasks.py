# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag tasks` on a folder and on a bucket: answers, objects read, output and errors."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from moto import mock_aws

from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from kafka_lag.snapshots.s3_store import S3Store
from kafka_lag.snapshots.store import FolderStore, SnapshotStore
from kafka_lag_cli.tasks import tasks
from tests.builders import HOUR, MINUTE, NOON
from tests.cli.snapshots import a_group, a_snapshot_of

HOSTILE = 'evil\x1b[31m, "quoted"'
BUCKET = "lag"


def needing(name: str, needed: int | None, **columns: Any) -> dict[str, Any]:
    usual = {
        "members": 4,
        "partitions": 12,
        "lag": 120,
        "max_lag": 30,
        "time_lag_seconds": 2.0,
        "sla_seconds": 60.0,
        "produce_rate": 250.0,
        "consume_rate": 250.0,
        "capacity": 100.0,
        "capacity_low": 90.0,
        "capacity_high": 110.0,
        "capacity_samples": (90.0, 100.0, 110.0),
        "rates_lately": (240.0, 250.0, 260.0),
        "tasks_needed": needed,
        "tasks_needed_reason": contract.NEEDED_FOR_RATE,
        "hottest_topic": "orders",
        "hottest_partition": 3,
        "hottest_share": 0.25,
    }
    return a_group(name, **{**usual, **columns})


UNLEARNT = {
    "capacity": None,
    "capacity_samples": None,
    "rates_lately": None,
    "tasks_needed_reason": contract.NO_CAPACITY,
}


def write(store: SnapshotStore, at: int, *groups: dict[str, Any], cluster: str = "shop") -> None:
    rows = [{**row, "taken_at": at} for row in groups]
    data = to_parquet(a_snapshot_of(*rows, at=at).groups, contract.GROUPS)
    store.write_once(object_key(contract.GROUPS, cluster, at), data)


def write_days(store: SnapshotStore) -> None:
    """A day of runs, an hour apart: `billing` needs 2 at night and 6 from 8 to 20."""
    for hour in range(24):
        at = NOON - (23 - hour) * HOUR
        by_day = 8 <= at // HOUR % 24 < 20
        write(
            store,
            at,
            needing("billing", 6 if by_day else 2),
            needing("mailer", None, **UNLEARNT),
            needing(HOSTILE, 1, sla_seconds=None),
        )


@pytest.fixture(name="state", scope="module")
def _state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("state")
    write_days(FolderStore(folder))
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(tasks, [str(each) for each in arguments], prog_name="tasks")


def answer(*arguments: object) -> Any:
    result = run(*arguments, "--output", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(name="billing", scope="module")
def _billing(state: Path) -> Any:
    """The answer about this group."""
    return answer("billing", "--state", state)


def test_one_group_says_what_it_needs_now_and_why(billing: Any) -> None:
    expected = {
        "cluster": "shop",
        "consumer_group": "billing",
        "taken_at": "2026-01-31T12:00:00Z",
        "tasks_needed": 6,
        "members": 4,
        "capacity": 100.0,
        "capacity_samples": [90.0, 100.0, 110.0],
        "why": "250/s are written, one member reads 100/s",
    }
    assert {name: billing[name] for name in expected} == expected


def test_hours_of_the_week_have_their_own_numbers(billing: Any) -> None:
    by_hour = {(each["weekday"], each["hour"]): each for each in billing["hours_of_week"]}
    assert len(by_hour) == 168
    assert [by_hour["Sat", hour]["median"] for hour in (7, 8, 12, 13)] == [2, 6, 6, None]
    assert [by_hour["Fri", hour]["median"] for hour in (12, 13, 19, 20)] == [None, 6, 6, 2]
    assert by_hour["Sat", 13]["minutes_known"] == 0


def test_rows_of_the_week_are_there_as_csv_and_lines(state: Path) -> None:
    rows = list(
        csv.DictReader(io.StringIO(run("billing", "--state", state, "--output", "csv").stdout))
    )
    lines = run("billing", "--state", state, "--output", "ndjson").stdout.splitlines()

    assert (len(rows), len(lines)) == (168, 168)
    assert rows[0]["weekday"] == "Mon"
    assert (rows[0]["hour"], rows[0]["median"]) == ("0", "")
    assert json.loads(lines[5 * 24 + 12])["median"] == 6


def test_all_groups_have_a_line_each(state: Path) -> None:
    found = answer("--all", "--state", state)

    assert [each["consumer_group"] for each in found] == ["billing", HOSTILE, "mailer"]
    assert [each["median"] for each in found] == [2, 1, None]
    assert (found[0]["upper_quartile"], found[0]["most"]) == (6, 6)
    assert found[2]["why"].startswith("no capacity known")


def test_names_of_strangers_move_nothing_on_a_terminal(state: Path) -> None:
    for arguments in (("--all",), (HOSTILE,)):
        text = run(*arguments, "--state", state).stdout
        assert "\x1b" not in text
        assert "evil" in text


def test_runs_of_which_snapshots_are_gone_come_from_the_history(tmp_path: Path) -> None:
    write(FolderStore(tmp_path), NOON, needing("billing", 3))
    day = tmp_path / "history" / "groups" / "cluster=shop" / "dt=2026-01-30"
    day.mkdir(parents=True)
    times = [NOON - 24 * HOUR + minute * MINUTE for minute in range(60)]
    table = pa.table(
        {
            "taken_at": pa.array(times, pa.timestamp("ms", tz="UTC")),
            "consumer_group": ["billing"] * 60,
            "tasks_needed": pa.array([7] * 60, pa.int32()),
        }
    )
    pq.write_table(table, day / "part-0.parquet")
    (day / "_part-1.parquet").write_bytes(b"being written")

    found = answer("billing", "--state", tmp_path)

    fri_noon = found["hours_of_week"][4 * 24 + 12]
    assert (fri_noon["median"], fri_noon["minutes_known"]) == (7, 60)
    assert found["runs_read"] == 13


def test_runs_of_the_period_are_read_and_those_that_cannot_be_are_counted(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    for days in (0, 3):
        write(store, NOON - days * 24 * HOUR, needing("billing", 3))
    store.write_once(object_key(contract.GROUPS, "shop", NOON - HOUR), b"no Parquet")

    for days, read in ((2, 1), (4, 2)):
        found = answer("billing", "--state", tmp_path, "--days", days)
        assert (found["runs_read"], found["runs_unreadable"]) == (read, 1)


@mock_aws
@pytest.mark.usefixtures("aws_keys")
def test_a_bucket_answers_as_a_folder(billing: Any) -> None:
    client = boto3.client("s3", region_name="us-east-1")
    client.create_bucket(Bucket=BUCKET)
    write_days(S3Store(client, BUCKET))

    assert answer("billing", "--state", f"s3://{BUCKET}") == billing


def test_a_group_of_two_clusters_needs_the_cluster(tmp_path: Path) -> None:
    for cluster, needed in (("eu", 3), ("us", 5)):
        write(FolderStore(tmp_path), NOON, needing("billing", needed), cluster=cluster)

    ambiguous = run("billing", "--state", tmp_path)
    assert (ambiguous.exit_code, ambiguous.stdout) == (1, "")
    assert "billing is a group of eu, us:" in ambiguous.stderr
    assert answer("billing", "--state", tmp_path, "--cluster", "us")["tasks_needed"] == 5
    assert [each["cluster"] for each in answer("--all", "--state", tmp_path)] == ["eu", "us"]


def test_a_group_of_which_nothing_was_known_has_no_hours(state: Path) -> None:
    unknown = run("mailer", "--state", state)
    assert (unknown.exit_code, unknown.stderr) == (0, "")
    assert "tasks needed" in unknown.stdout
    assert "Mon" not in unknown.stdout
