# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag diff`: keys, alarms and cost of two documents, and their pages on days that were."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from kafka_lag_cli.diff import diff
from tests.cli.test_replay import DAY, Group, a_document, write_day


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
    *keys, alarms_line, cost = lines_of(run(tmp_path))
    assert "clusters.shop.sla_seconds.^billing$: 60.0 -> 300.0" in keys
    assert "clusters.shop.alarms.offset_lag.mailer: none -> 1000" in keys
    assert alarms_line.startswith("alarms: +1, -0; 1 of ")
    assert cost.endswith(" a month (+0.10)")


def test_two_documents_that_mean_the_same_change_nothing(tmp_path: Path) -> None:
    a_document(tmp_path / "a.json")
    a_document(tmp_path / "b.json", interval_seconds=60)
    keys, alarms, cost = lines_of(run(tmp_path))
    assert keys == "No key changes."
    assert alarms.startswith("alarms: none of ")
    assert cost.endswith(" a month (+0.00)")


def test_it_ends_with_the_pages_of_days_that_were(tmp_path: Path) -> None:
    write_day(tmp_path, {"billing": Group().stops(600, 609)})
    a_document(tmp_path / "a.json")
    a_document(tmp_path / "b.json", sla_seconds={"^billing$": 120})
    found = lines_of(run(tmp_path, "--state", str(tmp_path), "--from", DAY, "--to", DAY))
    assert found[-1] == "shop: +1, -0 pages in 1 day; 0 stay."
