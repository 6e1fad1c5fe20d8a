# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag why` on planted troubles: the cause it names, others it rules out, and its errors."""

from __future__ import annotations

import io
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from click.testing import CliRunner, Result
from moto import mock_aws
from rich.console import Console

from dev.sim.run import BEGIN
from kafka_lag import contract
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.s3_store import S3Store
from kafka_lag.snapshots.store import FolderStore, write_snapshot
from kafka_lag.views.latest_run import LatestRun, Snapshots, find_latest_run
from kafka_lag_cli.command import kafka_lag, main
from kafka_lag_cli.why.command import parse_time
from kafka_lag_cli.why.explanation import Explanation, explain
from kafka_lag_cli.why.output import print_explanation, print_troubles, write_troubles
from kafka_lag_cli.why.timeline import Minute, Timeline
from tests.builders import HOUR, MINUTE, NOON, a_reading, a_report
from tests.cli.recorded_shop import CLUSTER, HOSTILE, MINUTES, TROUBLE, write_shop
from tests.functions.views.page.rows import a_group
from tests.golden import Golden

BUCKET = "lag"
COMMAND = "kafka-console-consumer"
LAST = BEGIN + (MINUTES - 1) * MINUTE


@pytest.fixture(name="state", scope="module")
def _state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("state")
    write_shop(folder)
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(
        kafka_lag, ["why", *map(str, arguments)], "kafka-lag", standalone_mode=False
    )


def answer(*arguments: object) -> Any:
    result = run(*arguments, "--output", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def explained(state: Path, hours: float = 3) -> Explanation:
    snapshots = Snapshots(FolderStore(state), time.time)
    newest = find_latest_run(snapshots, CLUSTER, LAST, LAST)
    assert isinstance(newest, LatestRun)
    return explain(snapshots, newest, "billing", hours)


def printed(found: Explanation, width: int = 80) -> list[str]:
    screen = Console(width=width, file=io.StringIO())
    print_explanation(found, screen)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue().splitlines()


@pytest.fixture(name="billing", scope="module")
def _billing(state: Path) -> Any:
    """The answer about this group."""
    return answer("billing", "--state", state)


def test_the_cause_stands_with_its_evidence_and_what_to_do(billing: Any) -> None:
    cause = billing["cause"]

    assert (cause["name"], cause["since"]) == ("stuck_record", "2026-01-31T12:05:00Z")
    assert (cause["evidence"]["topic"], cause["evidence"]["partition"]) == ("orders", 3)
    assert "partition 3 of orders" in cause["happened"]
    assert cause["command"].startswith(COMMAND)
    # Groups that read the same topics and are in trouble are named.
    others = [(each["consumer_group"], each["cause"]) for each in billing["others"]]
    assert others == [("audit", "stopped")]


def test_the_timeline_has_each_run(billing: Any) -> None:
    timeline = billing["timeline"]
    minutes = timeline["minutes"]

    assert (timeline["runs"], timeline["unreadable"], len(minutes)) == (MINUTES, 0, MINUTES)
    assert minutes[-1]["lag"] > minutes[TROUBLE]["lag"]
    assert (minutes[TROUBLE]["cause"], minutes[-1]["cause"]) == (None, "stuck_record")


def test_the_timeline_goes_back_so_many_hours(state: Path) -> None:
    found = explained(state, hours=0.25)

    assert found.timeline.minutes[0].taken_at == LAST - 15 * MINUTE


def write_unsure(folder: Path) -> None:
    """Groups of which no status is known, each for another reason; `new` is there for one run."""
    newest = Snapshot.empty()
    for minute in range(24):
        at = NOON + minute * MINUTE
        groups: dict[str, Any] = {
            "idle": {"t": [None, None]},
            "elsewhere": {},
            "away": contract.TIMEOUT,
            **({"new": {"t": [1, 1]}} if minute == 23 else {}),
        }
        reading = a_reading(groups, {"t": [(0, 9), (0, 9)]}, at=at)
        newest = a_report(reading, newest, at=at).snapshot
        write_snapshot(FolderStore(folder), CLUSTER, newest)


def test_a_terminal_shows_the_cause_and_how_it_came_so_far(
    state: Path, tmp_path: Path, golden: Golden
) -> None:
    found = explained(state)
    later = {**found.row, "cause": "solar_flare"}
    write_unsure(tmp_path)
    unsure = {name: run(name, "--state", tmp_path) for name in ("new", "idle", "elsewhere", "away")}
    cases = {
        "billing, 80 columns": printed(found),
        "two runs are not readable": [
            line
            for line in printed(
                replace(found, timeline=replace(found.timeline, runs=180, unreadable=2))
            )
            if line.startswith("From ")
        ],
        "a cause of a later version": printed(replace(found, row=later))[:4],
        **{f"why {name}": result.stdout.splitlines()[1:4] for name, result in unsure.items()},
        "why of a hostile name": run(HOSTILE, "--state", state).stdout.splitlines(),
        "why --all": run("--all", "--state", state).stdout.splitlines(),
        "why --all --at 2026-01-31T12:03": run(
            *("--all", "--state", state, "--at", "2026-01-31T12:03")
        ).stdout.splitlines(),
    }
    for name, lines in cases.items():
        assert all(line.isprintable() for line in lines), name
    wide = [line for line in cases["billing, 80 columns"] if len(line) > 80]
    assert [COMMAND in line for line in wide] == [True, False]
    assert wide[1].endswith("--reset-offsets --to-offset 4591 --execute")
    texts = {name: "\n".join(line.rstrip() for line in lines) for name, lines in cases.items()}
    golden.holds_cases("why.txt", texts)


def test_what_is_not_in_trouble_has_no_cause(state: Path) -> None:
    found = answer("--all", "--state", state)
    before = answer("billing", "--state", state, "--at", "2026-01-31T12:05:30")

    assert [(each["consumer_group"], each["cause"]["name"]) for each in found] == [
        ("audit", "stopped"),
        ("billing", "stuck_record"),
    ]
    assert (before["taken_at"], before["status"]) == ("2026-01-31T12:05:00Z", "OK")
    assert before["cause"] is None


def test_a_broken_sla_and_rebalances_without_end_are_trouble() -> None:
    named: dict[str, dict[str, Any]] = {
        "late": {"held_sla_broken_since": NOON},
        "restless": {"rebalancing_share": contract.MOSTLY_REBALANCING},
        "warned": {"status": "WARN"},
        "calm": {"rebalancing_share": 0.5, "sla_broken_since": NOON},
    }
    empty = dict.fromkeys(contract.COLUMNS[contract.GROUPS]) | {"taken_at": NOON}
    rows = [
        {**empty, **a_group(name, **columns), "urgency": place}
        for place, (name, columns) in enumerate(named.items())
    ]
    screen, out = Console(width=80, file=io.StringIO()), io.StringIO()
    print_troubles([(CLUSTER, NOON, rows)], screen)
    write_troubles([(CLUSTER, NOON, rows)], "json", out)

    assert [each["consumer_group"] for each in json.loads(out.getvalue())] == [
        *("late", "restless", "warned")
    ]
    assert isinstance(screen.file, io.StringIO)
    lines = {line.split()[0]: line for line in screen.file.getvalue().splitlines() if line.split()}
    assert ("SLA broken" in lines["late"], "rebalancing all" in lines["restless"]) == (True, True)


def test_groups_of_several_clusters_say_from_when_to_when_they_were_read() -> None:
    out = io.StringIO()
    screen = Console(width=80, file=out)
    print_troubles([("new", NOON, []), ("old", NOON - 5 * 60_000, [])], screen)
    print_troubles([("new", NOON, []), ("old", NOON - 1, [])], screen)
    print_troubles([("new", NOON, []), ("old", NOON + 1, [])], screen)
    assert [line.partition("trouble ")[2] for line in out.getvalue().splitlines()] == [
        "from 2026-01-31 11:55 UTC to 2026-01-31 12:00 UTC.",
        "from 2026-01-31 11:59 UTC to 2026-01-31 12:00 UTC.",
        "at 2026-01-31 12:00 UTC.",
    ]


@pytest.mark.usefixtures("aws_keys")
def test_a_bucket_gives_the_same_answer_as_a_folder(billing: Any, state: Path) -> None:
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket=BUCKET)
        store = S3Store(client, BUCKET)
        folder = FolderStore(state)
        for key in folder.keys("snapshots/"):
            store.write_once(key, folder.read(key))
        found = answer("billing", "--state", f"s3://{BUCKET}")

    assert found == billing


def test_a_damaged_run_of_a_time_is_not_said_to_be_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    FolderStore(tmp_path).write_once(object_key(contract.GROUPS, CLUSTER, BEGIN), b"damaged")

    assert main(["why", "billing", "--at", "2026-01-31T12:00", "--state", str(tmp_path)]) == 1

    assert "snapshots are of another version, or damaged" in " ".join(
        capsys.readouterr().err.split()
    )


@pytest.mark.parametrize(
    ("text", "at"),
    [
        pytest.param("11:30", NOON - HOUR // 2, id="of-today"),
        pytest.param("12:30", NOON - 23 * HOUR - HOUR // 2, id="of-yesterday"),
        pytest.param("2026-01-31T11:00", NOON - HOUR, id="utc"),
        pytest.param("2026-01-31 11:00:00", NOON - HOUR, id="blank"),
        pytest.param("2026-01-31T12:00+02:00", NOON - 2 * HOUR, id="zone"),
        pytest.param("2026-01-31T12:00Z", NOON, id="now"),
    ],
)
def test_times_are_utc_and_of_the_past(text: str, at: int) -> None:
    assert parse_time(text, NOON / 1000) == at


def test_the_last_skip_counts_all_that_other_partitions_skipped_with_it() -> None:
    skips = [(None, None), (1, 50), (1, 80), (2, 149), (2, 124), (None, None)]
    rows = [{"skipped_at": at, "records_skipped": records} for at, records in skips]
    minutes = tuple(Minute(at, row) for at, row in enumerate(rows))
    timeline = Timeline(0, 6, MINUTE, minutes, runs=6, unreadable=0)

    assert timeline.last_skip() == {"skipped_at": 2, "records_skipped": 149}
    assert replace(timeline, minutes=minutes[:1]).last_skip() is None
