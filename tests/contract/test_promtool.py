# SPDX-License-Identifier: Apache-2.0
"""Prometheus' own tool reads our metrics, and the rules that our docs give to users."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from kafka_lag.views.http import Request
from kafka_lag.views.prometheus import answer
from tests.builders import MINUTE, NOON
from tests.contract.prometheus_programs import examples, program, snapshots


def checked(level: str) -> subprocess.CompletedProcess[bytes]:
    request = Request(path="/metrics", query={"level": level}, host="lag.example")
    body = answer(request, snapshots(), NOON + MINUTE).body
    command = [program("promtool"), "check", "metrics"]
    return subprocess.run(command, input=body, capture_output=True, check=False)


def test_promtool_finds_nothing_to_say() -> None:
    shown = checked("group")
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, b"", b"")


@pytest.mark.parametrize("level", ["topic", "partition"])
def test_promtool_complains_of_the_other_exporters_names_alone(level: str) -> None:
    shown = checked(level)
    names = {line.split()[0] for line in shown.stderr.decode().splitlines()}
    assert names == {"kafka_consumergroup_lag_sum", "kafka_consumergroup_current_offset_sum"}


@pytest.mark.parametrize(
    ("file", "check"),
    [("prometheus.yml", ["config", "--syntax-only"]), ("rules.yml", ["rules"])],
)
def test_examples_of_the_documentation_are_taken(
    tmp_path: Path, file: str, check: list[str]
) -> None:
    for example in examples(file):
        (tmp_path / file).write_text(example)
        command = [program("promtool"), "check", *check, str(tmp_path / file)]
        shown = subprocess.run(command, capture_output=True, text=True, check=False)
        assert shown.returncode == 0, shown.stdout + shown.stderr


def series(name: str, value: float, **labels: str) -> dict[str, str]:
    """An hour of one value, a minute each."""
    shown = ",".join(f'{key}="{word}"' for key, word in {"cluster": "shop", **labels}.items())
    return {"series": f"{name}{{{shown}}}", "values": f"{value}x60"}


def of_group(group: str, **values: float) -> list[dict[str, str]]:
    return [series(f"kafka_lag_group_{n}", v, consumergroup=group) for n, v in values.items()]


def doing(group: str, word: str, held: int, **labels: str) -> list[dict[str, str]]:
    """A group of which this word and this held status are known."""
    labels = {"consumergroup": group, **labels}
    return [
        series("kafka_lag_group_held_status", held, **labels),
        series("kafka_lag_group_worst_status", 1, worst_status=word, **labels),
    ]


# A cluster that is read, by jobs that are scraped.
WELL = (
    series("kafka_lag_snapshot_age_seconds", 60),
    series("kafka_lag_snapshot_readable", 1),
    series("up", 1, job="kafka-lag"),
)


def firing(*names: str) -> dict[str, Any]:
    """These alerts fire, each once, and no other."""
    return {
        "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
        "eval_time": "1h",
        "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in names],
    }


def whole(one: dict[str, str]) -> list[dict[str, str]]:
    return [one]


def in_shards(one: dict[str, str]) -> list[dict[str, str]]:
    """As two shards tell it: each what is of a cluster, one of them what is of a group."""
    shards = ("0of2",) if one["series"].startswith("kafka_lag_group_") else ("0of2", "1of2")
    return [
        {**one, "series": one["series"].replace("{", f'{{shard="{shard}",')} for shard in shards
    ]


def run_rules(
    folder: Path,
    shown: list[dict[str, str]],
    expected: list[dict[str, Any]],
    alerts: Sequence[dict[str, Any]] = (),
) -> None:
    """Runs the rules of the documentation on an hour of series; `alerts` are theirs by then."""
    (text,) = examples("rules.yml")
    (folder / "rules.yml").write_text(text)
    case: dict[str, Any] = {"interval": "1m", "input_series": shown, "promql_expr_test": expected}
    case["alert_rule_test"] = [{"eval_time": "1h", **alert} for alert in alerts]
    (folder / "test.yml").write_text(
        json.dumps({"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": [case]})
    )
    command = [program("promtool"), "test", "rules", str(folder / "test.yml")]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("told_by", [whole, in_shards])
def test_each_alert_of_the_documentation_fires_once_for_its_own_trouble_alone(
    tmp_path: Path, told_by: Callable[[dict[str, str]], list[dict[str, str]]]
) -> None:
    shown = [
        series("kafka_lag_snapshot_age_seconds", 60),
        series("kafka_lag_snapshot_readable", 1),
        series("kafka_lag_snapshot_age_seconds", 400, cluster="silent"),
        series("kafka_lag_snapshot_readable", 1, cluster="silent"),
        series("up", 0, job="kafka-lag"),
        *of_group("well", held_status=0, time_lag_seconds=9, sla_seconds=60, drain_seconds=1),
        *doing("busy", "slow", 1),
        *of_group("busy", drain_seconds=100, time_to_data_loss_seconds=86_400),
        *doing("stuck", "stopped", 2),
        *of_group("late", held_status=0, time_lag_seconds=61, sla_seconds=60),
        *of_group("losing", time_to_data_loss_seconds=0, records_lost=44),
        *of_group("at-risk", time_to_data_loss_seconds=3600, records_lost=0),
        *doing("behind", "falling_behind", 1),
        *of_group("rebalancing", held_status=0, rebalancing_ratio=0.7, members=2),
        *of_group("held-up", held_status=0, held_up_records=12),
        *of_group("new", held_status=0, partitions_uncommitted=3, members=2),
        *of_group("left", held_status=0, partitions_uncommitted=3, members=0),
        *of_group("unknown", held_status=0, partitions_unknown=2),
    ]
    (text,) = examples("rules.yml")
    names = re.findall(r"alert: (\w+)", text)
    run_rules(tmp_path, [each for one in shown for each in told_by(one)], [firing(*names)])


def test_a_loss_that_has_happened_is_no_loss_to_come(tmp_path: Path) -> None:
    shown = [*WELL, *of_group("losing", time_to_data_loss_seconds=0, records_lost=44)]
    run_rules(tmp_path, shown, [firing("KafkaGroupLosesRecords")])


@pytest.mark.parametrize(
    ("word", "alert", "severity"),
    [
        ("stopped", "KafkaGroupStuck", "page"),
        ("stalled", "KafkaGroupStuck", "page"),
        ("rewound", "KafkaGroupStuck", "page"),
        ("beyond_end", "KafkaGroupStuck", "page"),
        ("falling_behind", "KafkaGroupFallingBehind", "ticket"),
        ("no_member", "KafkaGroupFallingBehind", "ticket"),
        ("slow", None, ""),
    ],
)
def test_an_alert_follows_what_the_consumer_does_also_beside_a_loss(
    tmp_path: Path, word: str, alert: str | None, severity: str
) -> None:
    shown = [*WELL, *doing("g", word, 2), *of_group("g", records_lost=44)]
    names = [name for name in (alert, "KafkaGroupLosesRecords") if name]
    labels = f'alertname="{alert}", severity="{severity}", worst_status="{word}"'
    fired = {
        "expr": f"count(ALERTS{{{labels}}})",
        "eval_time": "1h",
        "exp_samples": [{"labels": "{}", "value": 1}] if alert else [],
    }
    run_rules(tmp_path, shown, [firing(*names), fired])


def test_an_alert_shows_what_nobody_sees_of_a_name(tmp_path: Path) -> None:
    shown = [*WELL, *of_group(r"evil\n\u202e ", time_lag_seconds=61, sla_seconds=60)]
    summary = r'"evil\n\u202e " is 1m 1s behind, which is more than its SLA.'
    said = {
        "exp_labels": {"cluster": "shop", "consumergroup": "evil\n\u202e ", "severity": "page"},
        "exp_annotations": {"summary": summary},
    }
    alerts = [{"alertname": "KafkaGroupLate", "exp_alerts": [said]}]
    run_rules(tmp_path, shown, [firing("KafkaGroupLate")], alerts)


@pytest.mark.parametrize("told_by", [whole, in_shards])
def test_a_snapshot_that_cannot_be_read_is_one_alert(
    tmp_path: Path, told_by: Callable[[dict[str, str]], list[dict[str, str]]]
) -> None:
    shown = [
        series("kafka_lag_snapshot_age_seconds", 400),
        series("kafka_lag_snapshot_readable", 0),
        series("up", 1, job="kafka-lag"),
    ]
    run_rules(
        tmp_path, [each for one in shown for each in told_by(one)], [firing("KafkaLagNotTold")]
    )


def test_the_last_numbers_of_a_cluster_that_was_switched_off_alert_nobody(tmp_path: Path) -> None:
    troubles = [
        *doing("stuck", "stopped", 2),
        *of_group("late", held_status=0, time_lag_seconds=61, sla_seconds=60),
        *of_group("losing", time_to_data_loss_seconds=0, records_lost=44),
        *of_group("at-risk", time_to_data_loss_seconds=3600, records_lost=0),
        *doing("behind", "falling_behind", 1),
    ]
    shown = [
        series("kafka_lag_snapshot_age_seconds", 901),
        series("kafka_lag_snapshot_age_seconds", 60, cluster="another"),
        *doing("stuck", "stopped", 2, cluster="another"),
        series("up", 1, job="kafka-lag"),
        *troubles,
    ]
    run_rules(tmp_path, shown, [firing("KafkaLagNotTold", "KafkaGroupStuck")])


@pytest.mark.parametrize("example", examples("prometheus.yml"))
def test_all_is_quiet_while_the_jobs_of_the_documentation_are_scraped(
    tmp_path: Path, example: str
) -> None:
    jobs = re.findall(r"job_name: (\S+)", example)
    shown = [
        series("kafka_lag_snapshot_age_seconds", 60),
        series("kafka_lag_snapshot_readable", 1),
        *(series("up", 1, job=job) for job in jobs),
    ]
    run_rules(tmp_path, shown, [firing()])
