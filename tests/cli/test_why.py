# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag why` on planted troubles: what it names, rules out, shows, rejects."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import click
import numpy as np
import pytest
from click.testing import CliRunner, Result
from moto import mock_aws
from rich.console import Console

from dev.causes.cluster import BEGIN, Cluster, Group, Topic, run_minutes
from kafka_lag import contract
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.s3_store import S3Store
from kafka_lag.snapshots.store import FolderStore, write_snapshot
from kafka_lag_cli.command import kafka_lag, main
from kafka_lag_cli.why.command import parse_time
from kafka_lag_cli.why.explanation import Explanation, Weighed, explain, read_snapshot
from kafka_lag_cli.why.output import print_explanation
from tests.builders import HOUR, MINUTE, NOON, a_reading, a_report

CLUSTER, BUCKET = "shop", "lag"
TROUBLE, MINUTES = 6, 26
HOSTILE = "evil\x1b[31m\nname"
COMMAND = "kafka-console-consumer"


def planted() -> Iterator[Snapshot]:
    """`billing` stands still at one record, of whose partition another broker takes the lead later;
    `audit` reads the same topic, loses all its members, and `mailer` is well."""
    topic = Topic("orders", np.full(6, 10.0), noise=0.0)
    other = Topic("mails", np.full(2, 5.0), noise=0.0)
    billing = Group("billing", topic, {"m-0": 45.0, "m-1": 45.0})
    audit = Group("audit", topic, {"a-0": 90.0})
    mailer = Group(HOSTILE, other, {"x-0": 45.0})
    cluster = Cluster([topic, other], [billing, audit, mailer], np.random.default_rng(7))

    def change(_: Cluster, minute: int) -> None:
        if minute == TROUBLE:
            billing.stuck[3] = float(topic.end[3])
            audit.speed = {}
        if minute == TROUBLE + 15:
            topic.first_leader = 1

    yield from run_minutes(cluster, MINUTES, change)


@pytest.fixture(name="state", scope="module")
def _state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("state")
    for snapshot in planted():
        write_snapshot(FolderStore(folder), CLUSTER, snapshot)
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(
        kafka_lag, ["why", *map(str, arguments)], "kafka-lag", standalone_mode=False
    )


def answer(*arguments: object) -> Any:
    result = run(*arguments, "--output", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def explained(state: Path, at: int | None = None) -> Explanation:
    store = FolderStore(state)
    newest = read_snapshot(store, CLUSTER, at or BEGIN + (MINUTES - 1) * MINUTE)
    return explain(store, CLUSTER, "billing", newest, 3, Rules(), lambda _: lambda __: None)


def printed(found: Explanation, width: int = 80) -> list[str]:
    screen = Console(width=width, file=io.StringIO())
    print_explanation(found, screen)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue().splitlines()


def test_the_cause_stands_with_its_evidence_and_what_to_do(state: Path) -> None:
    cause = answer("billing", "--state", state)["cause"]

    assert (cause["name"], cause["since"]) == ("stuck_record", "2026-01-31T12:05:00Z")
    assert (cause["evidence"]["topic"], cause["evidence"]["partition"]) == ("orders", 3)
    assert "partition 3 of orders" in cause["happened"]
    assert cause["to_do"].startswith("look at that record")
    assert cause["command"].startswith(COMMAND)


def test_other_causes_are_ruled_out_by_numbers_of_the_run_that_named_this_one(state: Path) -> None:
    found = answer("billing", "--state", state)
    out = {each["cause"]: each["evidence"] for each in found["weighed"] if not each["fits"]}

    assert found["weighed_at"] < found["taken_at"]
    assert next(each["cause"] for each in found["weighed"] if each["fits"]) == "stuck_record"
    assert out["rebalances"] == {"rebalancing_share": 0.0, "rebalancing_share_from": 0.4}
    assert out["stopped"]["partitions_owned"] == 1
    assert out["too_few_members"] == {"members": 2, "members_before": 2.0}
    assert {each["cause"] for each in found["weighed"]} == {*contract.CAUSES} - {"unexplained"}


def test_groups_that_read_the_same_topics_and_are_in_trouble_are_named(state: Path) -> None:
    others = answer("billing", "--state", state)["others"]

    assert [(each["consumer_group"], each["cause"]) for each in others] == [("audit", "stopped")]


def test_the_timeline_has_each_run_with_what_moved_in_it(state: Path) -> None:
    found = answer("billing", "--state", state)["timeline"]
    minutes = found["minutes"]
    moved = [each for each in minutes if each["leader_changes"]]

    assert (found["runs"], found["unreadable"], len(minutes)) == (MINUTES, 0, MINUTES)
    assert minutes[-1]["lag"] > minutes[TROUBLE]["lag"]
    assert minutes[-1]["cause"] == "stuck_record"
    assert minutes[TROUBLE]["cause"] is None
    assert [each["taken_at"] for each in moved] == ["2026-01-31T12:21:00Z"]
    assert moved[0]["leader_changes"][0] == {
        "topic": "orders",
        "partition_id": 0,
        "before": 1,
        "now": 2,
    }


def test_the_timeline_goes_back_so_many_hours(state: Path) -> None:
    last = BEGIN + (MINUTES - 1) * MINUTE
    store = FolderStore(state)
    newest = read_snapshot(store, CLUSTER, last)
    found = explain(store, CLUSTER, "billing", newest, 0.25, Rules(), lambda _: lambda __: None)

    assert found.timeline.minutes[0].taken_at == last - 15 * MINUTE


def test_a_time_before_the_trouble_shows_a_group_that_is_well(state: Path) -> None:
    found = answer("billing", "--state", state, "--at", "2026-01-31T12:05:30")

    assert (found["taken_at"], found["status"]) == ("2026-01-31T12:05:00Z", "OK")
    assert (found["cause"], found["weighed"]) == (None, [])


def test_no_line_but_the_command_is_wider_than_the_terminal(state: Path) -> None:
    lines = printed(explained(state))

    assert [line for line in lines if len(line) > 80 and COMMAND not in line] == []


def test_a_terminal_shows_cause_rules_and_timeline(state: Path) -> None:
    text = "\n".join(printed(explained(state)))

    assert "billing on shop at 2026-01-31 12:25 UTC" in text
    assert "also in trouble on its topics: audit (stopped)" in text
    assert "Ruled out, by the figures at" in text
    assert ", when the cause was named" in text
    assert "0% of the last runs saw one; 40% would count" in text
    assert "From 12:00 UTC to 12:25 UTC (26 runs)" in text
    assert "ERR stalled; cause: stuck record" in text
    assert "12:21     another leader of 6 partitions" in text


def test_runs_without_the_group_are_not_counted_as_its_own(state: Path) -> None:
    found = explained(state)
    period = replace(found.timeline, runs=180, unreadable=2)
    text = "\n".join(printed(replace(found, timeline=period)))

    assert "From 12:00 UTC to 12:25 UTC (26 runs, 2 more not readable)" in text


def test_a_cause_that_a_later_version_named_is_no_lack_of_one(state: Path) -> None:
    found = explained(state)
    later = replace(found, row={**found.row, "cause": "solar_flare"}, text=None)

    assert "cause     solar flare, which a later version has named" in "\n".join(printed(later))


@pytest.mark.parametrize(
    ("group", "runs", "sentence"),
    [
        pytest.param("new", 1, "a status takes two runs", id="one-run"),
        pytest.param(
            "idle", 24, "the group has committed nothing on 2 partitions,", id="no-commit"
        ),
        pytest.param("elsewhere", 24, "no partition of the group is read", id="other-topics"),
        pytest.param("away", 24, "not read: timed out", id="unread"),
    ],
)
def test_why_says_what_a_status_is_missing(
    tmp_path: Path, group: str, runs: int, sentence: str
) -> None:
    groups: dict[str, Any] = {
        "new": {"t": [1, 1]},
        "idle": {"t": [None, None]},
        "elsewhere": {},
        "away": contract.TIMEOUT,
    }
    newest = Snapshot.empty()
    for minute in range(runs):
        at = NOON + minute * MINUTE
        reading = a_reading(groups, {"t": [(0, 9), (0, 9)]}, at=at)
        newest = a_report(reading, newest, at=at).snapshot
        write_snapshot(FolderStore(tmp_path), CLUSTER, newest)
    said = " ".join(run(group, "--state", tmp_path).stdout.split())
    assert f"not known, as the status is not: {sentence} " in said


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        pytest.param(True, "this fits as well; what comes first is named", id="same-run"),
        pytest.param(False, "this fits by now; the cause that was named stays", id="later-run"),
    ],
)
def test_another_cause_that_fits_says_whether_the_named_one_does_by_then(
    state: Path, named: bool, sentence: str
) -> None:
    found = explained(state)
    other = Weighed("slow_member", True, {})
    weighed = (*([each for each in found.weighed if named and each.fits]), other)

    assert replace(found, weighed=weighed).describe(other).startswith(sentence)


def test_what_is_not_in_trouble_has_no_line_among_all(state: Path) -> None:
    found = answer("--all", "--state", state)

    assert [(each["consumer_group"], each["cause"]["name"]) for each in found] == [
        ("audit", "stopped"),
        ("billing", "stuck_record"),
    ]
    table = run("--all", "--state", state).stdout
    assert "stuck record" in table
    assert "2 of 3 groups" in table
    well = run("--all", "--state", state, "--at", "2026-01-31T12:03").stdout
    assert well == "None of 3 groups is in trouble at 2026-01-31 12:03 UTC.\n"


def test_names_of_strangers_move_nothing_on_a_terminal(state: Path) -> None:
    result = run(HOSTILE, "--state", state)

    assert result.exit_code == 0
    assert "evil\\x1b[31m\\nname on shop" in result.stdout
    assert "\x1b" not in result.stdout
    assert "none, as the group is OK" in result.stdout


def test_a_bucket_gives_the_same_answer_as_a_folder(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket=BUCKET)
        store = S3Store(client, BUCKET)
        folder = FolderStore(state)
        for key in folder.keys("snapshots/"):
            store.write_once(key, folder.read(key))
        found = answer("billing", "--bucket", BUCKET, "--region", "us-east-1")

    assert found == answer("billing", "--state", state)


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        pytest.param(["biling"], 1, "There is no group biling in the newest", id="near-name"),
        pytest.param(["biling"], 1, "is it billing?", id="hint"),
        pytest.param(
            ["billing", "--at", "2026-01-31T18:00"],
            1,
            "There are no snapshots of 2026-01-31 18:00 UTC",
            id="no-runs-then",
        ),
        pytest.param(
            ["billing", "--at", "2026-01-30T18:00"], 1, ", and none before", id="none-before"
        ),
        pytest.param(
            ["biling", "--at", "2026-01-31T12:03"],
            1,
            "There is no group biling in the snapshot of 2026-01-31 12:03 UTC; is it billing?",
            id="near-name-then",
        ),
        pytest.param(["billing", "--cluster", "x"], 1, "There is no cluster x", id="cluster"),
        pytest.param([], 2, "Name one group, or give --all.", id="nothing"),
        pytest.param(["billing", "--all"], 2, "Name one group, or give --all.", id="both"),
        pytest.param(["billing", "--at", "noon"], 2, "must be a time", id="no-time"),
        pytest.param(["billing", "--at", "2999-01-01"], 2, "has not been yet", id="to-come"),
        pytest.param(["billing", "--hours", "73"], 2, "from 1 to 72", id="hours"),
        pytest.param(["billing", "--username", "me"], 2, "add --bootstrap-servers", id="login"),
        pytest.param(["billing", "--bucket", "b"], 2, "cannot go together", id="two-places"),
        pytest.param(
            ["billing", "-b", "localhost:1", "--at", "12:00"],
            2,
            "--at is of snapshots: leave out the brokers.",
            id="past-of-brokers",
        ),
    ],
)
def test_an_error_is_a_sentence_with_its_exit_code(
    state: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, sentence: str
) -> None:
    assert main(["why", *arguments, "--state", str(state)]) == code

    captured = capsys.readouterr()
    assert captured.out == ""
    assert sentence in " ".join(captured.err.split())


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


@pytest.mark.parametrize("text", ["24:00", "12:60", "2026-02-30T00:00", "2026-01-31T12:01"])
def test_no_time_and_one_to_come_are_wrong_usage(text: str) -> None:
    with pytest.raises(click.UsageError):
        parse_time(text, NOON / 1000)
