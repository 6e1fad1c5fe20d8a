# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag diff`: keys, alarms and cost of two configurations, and their pages on past days."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from kafka_lag_cli.diff import diff
from tests.cli.test_replay import DAY, MINUTES, Group, a_document, write_day
from tests.golden import Golden


def run(folder: Path, *arguments: str) -> Result:
    files = ["--against", str(folder / "a.json"), "--config", str(folder / "b.json")]
    return CliRunner().invoke(diff, [*files, *arguments], catch_exceptions=False)


def lines_of(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def test_keys_alarms_and_cost_that_change_are_named(tmp_path: Path) -> None:
    a_document(tmp_path / "a.json", sla_seconds={"^billing$": 60})
    alarms = {"groups": ["billing"], "offset_lag": {"mailer": 1000}}
    a_document(tmp_path / "b.json", sla_seconds={"^billing$": 300}, alarms=alarms)
    _, _, alarms_line, cost, *keys = lines_of(run(tmp_path))
    assert "- `clusters.shop.sla_seconds.^billing$: 60.0 -> 300.0`" in keys
    assert "- `clusters.shop.alarms.offset_lag.mailer: none -> 1000`" in keys
    assert alarms_line.startswith("- alarms: +1, -0; 1 of ")
    assert cost.endswith(" a month (+0.10)")


def test_two_documents_that_mean_the_same_change_nothing(tmp_path: Path) -> None:
    a_document(tmp_path / "a.json")
    a_document(tmp_path / "b.json", interval_seconds=60)
    _, _, alarms, cost, *keys = lines_of(run(tmp_path))
    assert "- No key changes." in keys
    assert alarms.startswith("- alarms: none of ")
    assert cost.endswith(" a month (+0.00)")


def test_values_that_differ_behind_what_is_shown_of_them_are_named(tmp_path: Path) -> None:
    secret = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:lag-reader-abcde"
    arns = [f"{secret}{end}" for end in "fg"]
    for name, arn, most in zip("ab", arns, (8, 9), strict=True):
        service = {"service": "billing", "ecs_cluster": "jobs", "group": "billing", "max": most}
        auth = {"type": "scram", "secret_arn": arn}
        scaling = [{**service, "partitions": 12, "tasks": {}}]
        a_document(tmp_path / f"{name}.json", auth=auth, scaling=scaling)
    keys = lines_of(run(tmp_path))
    assert f'- `clusters.shop.auth.secret_arn: "{arns[0]}" -> "{arns[1]}"`' in keys
    assert "- `clusters.shop.scaling[0].max: 8 -> 9`" in keys


STOPS = {"billing": (600, 609), "mailer": (700, 720), "audit": (800, 809)}
DAYS = ("--from", DAY, "--to", DAY)


def write_both(folder: Path) -> None:
    write_day(folder, {name: Group().stops(*minutes) for name, minutes in STOPS.items()})
    a_document(folder / "a.json", sla_seconds={"^billing$": 120, "^mailer$": 120})
    a_document(folder / "b.json", sla_seconds={"^audit$": 120, "^mailer$": 300}, alarms={})


def test_pages_of_past_days_are_added_removed_moved_or_stay(tmp_path: Path) -> None:
    write_both(tmp_path)
    result = run(tmp_path, "--state", str(tmp_path), *DAYS, "--output", "json")
    (cluster,) = json.loads(result.stdout)["clusters"]
    names = ("change", "alarm", "consumer_group", "later_seconds")
    assert [tuple(page[name] for name in names) for page in cluster["pages"]] == [
        ("removed", "sla", "billing", None),
        ("moved", "any-sla", "mailer", 180.0),
        ("same", "any-group", "mailer", 0.0),
        ("added", "any-sla", "audit", None),
    ]


def test_what_people_read_of_a_difference(tmp_path: Path, golden: Golden) -> None:
    write_both(tmp_path)
    a_document(tmp_path / "other.json", name="other")
    cases = {
        "both": [],
        "other": ["--against", str(tmp_path / "other.json")],
    }
    texts = {
        name: run(tmp_path, "--state", str(tmp_path), *DAYS, *more).output
        for name, more in cases.items()
    }
    lines = {name: text.splitlines() for name, text in texts.items()}
    golden.holds_cases(
        "diff.txt",
        {name: "\n".join(line.rstrip() for line in each if line) for name, each in lines.items()},
    )


def test_a_terminal_draws_what_is_markdown_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_both(tmp_path)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    drawn = click.unstyle(run(tmp_path, "--state", str(tmp_path), *DAYS).stdout)
    written = run(tmp_path, "--state", str(tmp_path), *DAYS, "--markdown").stdout
    row = "3 min later any-sla mailer 2026-01-31 11:49"
    assert row in " ".join(drawn.split())
    assert "|---" in written
    assert "|---" not in drawn
    assert "<summary>Keys</summary>" in written
    assert "Keys" in [line.strip() for line in drawn.splitlines()]


@pytest.mark.parametrize("interval", [1, 5])
def test_hours_of_tasks_are_those_recorded_within_the_bounds(tmp_path: Path, interval: int) -> None:
    between = [minute for minute in range(MINUTES) if minute % interval]
    write_day(tmp_path, {"billing": Group().needs(0, 600, 5).needs(600, 660, 2)}, between)
    service = {"group": "billing", "ecs_cluster": "c", "service": "s", "partitions": 12}
    for name, bounds in (("a", {"min": 1, "max": 4}), ("b", {"min": 3, "max": 12})):
        a_document(tmp_path / f"{name}.json", scaling=[{**service, **bounds, "tasks": {}}])

    lines = lines_of(run(tmp_path, "--state", str(tmp_path), *DAYS))
    # 10 hours of 4 or 5 tasks, then one of 2 or 3.
    assert "tasks: 42 -> 53 task hours (+11)" in lines


@pytest.mark.parametrize("name", ["a|b", "`@team`", "x\n| y"])
def test_a_strangers_name_does_not_break_a_comment(tmp_path: Path, name: str) -> None:
    write_day(tmp_path, {name: Group().stops(600, 700)})
    a_document(tmp_path / "a.json", alarms={"any_group": False})
    a_document(tmp_path / "b.json", sla_seconds={"^(a|b)$": 300})

    lines = lines_of(run(tmp_path, "--state", str(tmp_path), *DAYS, "--markdown"))
    assert "- `clusters.shop.sla_seconds.^(a|b)$: none -> 300.0`" in lines
    rows = [line for line in lines if line.startswith("| added")]
    assert rows
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 9 and row.count("`") == 4 for row in rows)


def test_a_program_gets_keys_alarms_and_cost(tmp_path: Path) -> None:
    a_document(tmp_path / "a.json", sla_seconds={"^billing$": 60})
    a_document(tmp_path / "b.json", sla_seconds={"^billing$": 300}, alarms={"groups": ["billing"]})
    found = json.loads(run(tmp_path, "--output", "json").stdout)
    key = "clusters.shop.sla_seconds.^billing$"
    assert found["keys"] == [{"key": key, "before": "60.0", "after": "300.0"}]
    assert found["alarms"] == {"added": 0, "removed": 0, "changed": 1}
    assert found["usd_a_month"]["after"] == found["usd_a_month"]["before"] > 0
    assert found["clusters"] == []
