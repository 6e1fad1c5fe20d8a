# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag diff` against alert rules: a real Prometheus judges planted runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from dev.sim.run import BEGIN, run_minutes
from dev.sim.world import GroupState, TopicState, World
from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from kafka_lag.snapshots.store import FolderStore, write_snapshot
from kafka_lag.wording.formatting import format_iso_time
from kafka_lag_cli.diff import diff
from kafka_lag_cli.replay.alert_rules import find_firing
from tests.builders import MINUTE
from tests.cli.snapshots import a_group, a_snapshot_of
from tests.cli.test_replay import DAY, Group, a_document, write_day
from tests.golden import Golden
from tests.programs import find_program

HOSTILE = 'a"b\\c\n{x="y"} 1 \u2028\U0001f600'
LAG, PARTITION_LAG = "kafka_lag_group_lag", "kafka_consumergroup_lag"
# Runs of four hours, which end half an hour before the day.
ACTIVE_MINUTES = 240
FIRST = BEGIN + 450 * MINUTE


@pytest.fixture(autouse=True)
def _prometheus() -> None:
    for program in ("prometheus", "promtool"):
        find_program(program, package="prometheus")


def alert(name: str, expr: str, wait: int = 0, keep: int = 0) -> dict[str, Any]:
    return {"alert": name, "expr": expr, "for": f"{wait}m", "keep_firing_for": f"{keep}m"}


def write_rules(folder: Path, *rules: dict[str, Any], interval: str = "1m") -> Path:
    """JSON is YAML, too."""
    file = folder / "rules.yml"
    group = {"name": "g", "interval": interval, "rules": rules}
    file.write_text(json.dumps({"groups": [group]}))
    return file


def run(folder: Path, rules: Path, *arguments: str, **cluster: Any) -> Result:
    config = a_document(folder / "new.json", **cluster)
    files = ["--against", str(rules), "--config", str(config), "--state", str(folder)]
    days = ["--from", DAY, "--to", DAY]
    return CliRunner().invoke(diff, [*files, *days, *arguments], catch_exceptions=False)


def judged(folder: Path, *rules: dict[str, Any], interval: str = "1m") -> dict[str, Any]:
    """The only cluster, whose own configuration pages nobody but for runs that do not come."""
    file = write_rules(folder, *rules, interval=interval)
    quiet = {"alarms": {"groups": [], "any_group": False}, "sla_seconds": {}}
    result = run(folder, file, "--output", "json", **quiet)
    assert result.exit_code == 0, result.output
    (cluster,) = json.loads(result.stdout)["clusters"]
    found: dict[str, Any] = cluster
    return found


def minutes_of(cluster: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Alert, group, and from when to when it pages, in order."""
    return sorted(
        (page["alarm"], page["consumer_group"], page["begin"], page["end"])
        for page in cluster["pages"]
        if page["change"] == "removed"
    )


def at(minute: int, first: int = FIRST) -> str:
    return format_iso_time(first + minute * MINUTE)


@dataclass(frozen=True, slots=True)
class Pulse:
    """Minutes in which a group is stopped, with a lag and a time lag of so many."""

    group: str
    begin: int
    minutes: int
    lag: int


def write_pulses(folder: Path, pulses: list[Pulse]) -> None:
    """Stores the runs, of groups alone."""
    for minute in range(ACTIVE_MINUTES):
        lags = dict.fromkeys((each.group for each in pulses), 0)
        lags |= {
            each.group: each.lag
            for each in pulses
            if each.begin <= minute < each.begin + each.minutes
        }
        run_at = FIRST + minute * MINUTE
        rows = [
            a_group(
                name,
                lag=lag,
                time_lag_seconds=float(lag),
                worst_status="stopped" if lag else None,
                taken_at=run_at,
            )
            for name, lag in lags.items()
        ]
        key = object_key(contract.GROUPS, "shop", run_at)
        groups = a_snapshot_of(*rows, at=run_at).groups
        FolderStore(folder).write_once(key, to_parquet(groups, contract.GROUPS))


def test_a_group_that_stops_pages_once_its_alert_has_waited(tmp_path: Path) -> None:
    topic = TopicState("orders", np.full(3, 10.0), noise=0.0)
    groups = [GroupState(name, topic, {f"{name}-0": 60.0}) for name in ("billing", HOSTILE)]
    world = World([topic], groups, np.random.default_rng(7))

    def change(_: World, minute: int) -> None:
        if minute in (12, 42):
            groups[0].speed = {"billing-0": 0.0 if minute == 12 else 6_000.0}
        if minute in (62, 72):
            groups[1].speed = {f"{HOSTILE}-0": 0.0 if minute == 62 else 6_000.0}

    for snapshot in run_minutes(world, 90, change):
        write_snapshot(FolderStore(tmp_path), "shop", snapshot)
    found = judged(
        tmp_path,
        {"record": "x:twice", "expr": "2 * x:sum", "labels": {"team": 'a"b'}},
        {"record": "x:sum", "expr": f"sum by (consumergroup) ({PARTITION_LAG})"},
        alert("ByPartition", f"{PARTITION_LAG} > 300", wait=5),
        alert("Recorded", 'x:twice{team=~"a.b"} > 1800', wait=5, keep=3),
    )
    assert found["not_judged"] == []
    assert minutes_of(found) == [
        ("ByPartition", HOSTILE, at(67, BEGIN), at(72, BEGIN)),
        ("ByPartition", "billing", at(17, BEGIN), at(42, BEGIN)),
        ("Recorded", HOSTILE, at(67, BEGIN), at(75, BEGIN)),
        ("Recorded", "billing", at(17, BEGIN), at(45, BEGIN)),
    ]


def test_twenty_rules_page_as_the_pulses_say(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    pulses = [
        Pulse(group, begin + int(rng.integers(0, 20)), *rng.integers((1, 10), (16, 1_000)).tolist())
        for group in ("billing", "audit", HOSTILE)
        for begin in range(10, ACTIVE_MINUTES - 60, 45)
    ]
    write_pulses(tmp_path, pulses)
    rules = {
        f"R{number}": (bound, wait, keep)
        for number in range(20)
        for bound, wait, keep in [rng.integers((0, 0, 0), (900, 12, 5)).tolist()]
    }
    alerts = [alert(n, f"{LAG} > {bound}", wait, keep) for n, (bound, wait, keep) in rules.items()]
    expected = [
        (name, each.group, at(each.begin + wait), at(each.begin + each.minutes + keep))
        for name, (bound, wait, keep) in rules.items()
        for each in pulses
        if each.lag > bound and each.minutes > wait
    ]
    assert len(expected) > 40
    # Its series is there as long as the group is stopped, and not a minute longer.
    alerts.append(alert("Stopped", "kafka_lag_group_worst_status"))
    expected += [
        ("Stopped", each.group, at(each.begin), at(each.begin + each.minutes)) for each in pulses
    ]
    assert minutes_of(judged(tmp_path, *alerts)) == sorted(expected)


@pytest.mark.thorough
@pytest.mark.parametrize(("interval", "begin", "end"), [("30s", 12, 20), ("5m", 15, 20)])
def test_rules_are_evaluated_at_the_interval_of_their_group(
    tmp_path: Path, interval: str, begin: int, end: int
) -> None:
    write_pulses(tmp_path, [Pulse("billing", 11, 9, 500)])
    recorded = {"record": "x:lag", "expr": LAG}
    waiting = {**alert("Wait", "x:lag > 100"), "for": "45s"} if interval == "30s" else None
    found = judged(tmp_path, recorded, waiting or alert("Wait", "x:lag > 100"), interval=interval)
    assert minutes_of(found) == [("Wait", "billing", at(begin), at(end))]


def test_rules_that_read_what_snapshots_lack_are_named_and_the_others_judged(
    tmp_path: Path,
) -> None:
    write_pulses(tmp_path, [Pulse("billing", 11, 9, 500), Pulse("audit", 100, 9, 50)])
    found = judged(
        tmp_path,
        {"record": "x:far", "expr": "node_load1 * 2"},
        alert("Fine", f'{LAG}{{job="",consumergroup!~"a.*"}} > 100'),
        alert("Scraped", 'up{job="lag"} == 0'),
        alert("Job", f'{LAG}{{job="lag"}} > 100'),
        alert("Any", f'{LAG}{{job!=""}} > 100'),
        alert("Far", f"{LAG} > x:far"),
        alert("Wrong", f"{LAG} * on (cluster) {LAG}"),
    )
    assert minutes_of(found) == [("Fine", "billing", at(11), at(20))]
    *lacking, wrong = found["not_judged"]
    assert lacking == [
        "x:far reads node_load1, which snapshots do not hold",
        "Scraped reads up, label job, which snapshots do not hold",
        "Job reads label job, which snapshots do not hold",
        "Any reads label job, which snapshots do not hold",
        "Far reads x:far, which snapshots do not hold",
    ]
    assert wrong.startswith("Wrong: ")
    assert "many-to-many" in wrong


def test_series_of_several_metrics_are_one_alert(tmp_path: Path) -> None:
    write_pulses(tmp_path, [Pulse("billing", 11, 4, 500), Pulse("billing", 15, 5, 50)])
    age = "kafka_lag_group_time_lag_seconds"
    found = judged(tmp_path, alert("Either", f"{LAG} > 100 or ({age} > 0 < 100)", wait=6))
    assert minutes_of(found) == [("Either", "billing", at(17), at(20))]


def test_what_is_not_judged_is_told_beside_output_for_programs(tmp_path: Path) -> None:
    write_pulses(tmp_path, [Pulse("billing", 10, 15, 500)])
    rules = write_rules(tmp_path, alert("Down", "up == 0"))
    result = run(tmp_path, rules, "--output", "csv")
    assert "Not judged: Down reads up" in result.stderr


def test_the_name_of_an_alert_does_not_break_a_comment(tmp_path: Path) -> None:
    write_pulses(tmp_path, [Pulse("billing", 10, 15, 500)])
    rules = write_rules(tmp_path, alert("a | [b](http://x) \x1b[31m", f"{LAG} > 60"))
    text = run(tmp_path, rules, "--markdown").output
    assert r"| `a \| [b](http://x) " in text
    assert "\x1b" not in text


def test_numbers_outlive_runs_that_do_not_come_and_their_age_grows(tmp_path: Path) -> None:
    write_pulses(tmp_path, [Pulse("billing", ACTIVE_MINUTES - 5, 5, 500)])
    age = "kafka_lag_snapshot_age_seconds"
    found = judged(
        tmp_path,
        alert("Late", f"{LAG} > 100 unless on (cluster) {age} > 900"),
        alert("Old", f"{age} > 300", wait=2),
    )
    last = ACTIVE_MINUTES - 1
    assert minutes_of(found) == [("Late", "billing", at(last - 4), at(last + 16))]
    # It is of no group, as the page of our own alarm on runs.
    (moved,) = (page for page in found["pages"] if page["change"] == "moved")
    assert moved["later_seconds"] == -180
    assert moved["end"] is None


def test_what_people_read_of_a_difference_from_rules(tmp_path: Path, golden: Golden) -> None:
    write_pulses(tmp_path, [Pulse("billing", 10, 15, 500), Pulse("a|b", 50, 9, 80)])
    rules = write_rules(
        tmp_path,
        alert("Late", "kafka_lag_group_time_lag_seconds > 60", wait=2),
        alert("Down", "up == 0"),
    )
    text = run(tmp_path, rules, "--markdown", sla_seconds={"^billing$": 120}).output
    golden.holds("diff-rules.txt", text)


def test_a_wrong_file_is_promtools_sentence(tmp_path: Path) -> None:
    write_pulses(tmp_path, [Pulse("billing", 0, 1, 1)])
    result = run(tmp_path, write_rules(tmp_path, alert("A", "sum(")))
    assert result.exit_code == 2
    assert "could not parse expression: 1:5: parse error: unclosed left parenthesis" in (
        result.output
    )
    assert result.output.count("rules.yml") == 1


def test_what_must_be_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_pulses(tmp_path, [Pulse("billing", 0, 1, 1)])
    rules = write_rules(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run(tmp_path, rules)
    assert result.exit_code == 2
    assert "promtool was not found: brew install prometheus on macOS" in result.output


def test_days_without_snapshots_are_not_judged(tmp_path: Path) -> None:
    write_day(tmp_path, {"billing": Group()})
    result = run(tmp_path, write_rules(tmp_path))
    assert result.exit_code == 1
    assert f"of {DAY} shop has only history" in result.output


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_of_a_command_that_is_ended(tmp_path: Path, number: int) -> None:
    write_pulses(tmp_path, [Pulse("billing", 0, 1, 1)])
    rules, config = write_rules(tmp_path, alert("A", LAG)), a_document(tmp_path / "new.json")
    folder = tmp_path / "temporary"
    folder.mkdir()
    command = [sys.executable, "-m", "kafka_lag_cli.command", "diff", "--against", str(rules)]
    command += ["--config", str(config), "--state", str(tmp_path), "--from", DAY, "--to", DAY]
    process = subprocess.Popen(
        command,
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while not list(folder.glob("*/empty/*")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    assert process.wait(240) == 130
    assert not list(folder.iterdir())
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_firing_is_counted_as_prometheus_counts_it(tmp_path: Path) -> None:
    """By `promtool test rules`, minute by minute."""
    rng, minutes = np.random.default_rng(3), 120
    present = np.repeat(rng.integers(0, 2, minutes), rng.integers(1, 6, minutes))[:minutes]
    delays = [(wait, keep) for wait in (0, 1, 3, 4) for keep in (0, 1, 2, 5)]
    rules = [alert(f"A{wait}{keep}", "x == 1", wait, keep) for wait, keep in delays]
    times = (np.flatnonzero(present) * MINUTE).tolist()
    firing = {
        f"A{wait}{keep}": [
            minute
            for begin, end in find_firing(times, MINUTE, wait * MINUTE, keep * MINUTE)
            for minute in range(begin // MINUTE, min(end // MINUTE, minutes))
        ]
        for wait, keep in delays
    }
    cases = [
        {
            "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
            "eval_time": f"{minute}m",
            "exp_samples": [
                {"labels": f'{{alertname="{name}"}}', "value": 1}
                for name, fires in firing.items()
                if minute in fires
            ],
        }
        for minute in range(minutes)
    ]
    series = [{"series": "x", "values": " ".join(map(str, present.tolist()))}]
    case = {"interval": "1m", "input_series": series, "promql_expr_test": cases}
    write_rules(tmp_path, *rules)
    file = tmp_path / "test.yml"
    whole = {"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": [case]}
    file.write_text(json.dumps(whole))
    done = subprocess.run(
        ["promtool", "test", "rules", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:2_000]
