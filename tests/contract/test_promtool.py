# SPDX-License-Identifier: Apache-2.0
"""Prometheus' own tool reads what we write, and what we tell its users to write."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from functions.views.http import Request
from functions.views.prometheus import answer
from tests.builders import MINUTE, NOON
from tests.contract.prometheus_programs import examples, program, snapshots


def checked(level: str) -> subprocess.CompletedProcess[bytes]:
    request = Request(path="/metrics", query={"level": level}, host="lag.example")
    body = answer(request, snapshots(), NOON + MINUTE).body
    command = [program("promtool"), "check", "metrics"]
    return subprocess.run(command, input=body, capture_output=True, check=False)


def test_promtool_finds_nothing_to_say() -> None:
    told = checked("group")
    assert (told.returncode, told.stdout, told.stderr) == (0, b"", b"")


@pytest.mark.parametrize("level", ["topic", "partition"])
def test_promtool_complains_of_the_other_exporters_names_alone(level: str) -> None:
    told = checked(level)
    names = {line.split()[0] for line in told.stderr.decode().splitlines()}
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
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        assert told.returncode == 0, told.stdout + told.stderr


def series(name: str, value: float, **labels: str) -> dict[str, str]:
    """An hour of one value, a minute each."""
    told = ",".join(f'{key}="{word}"' for key, word in {"cluster": "shop", **labels}.items())
    return {"series": f"{name}{{{told}}}", "values": f"{value}x60"}


def of_group(group: str, **values: float) -> list[dict[str, str]]:
    return [series(f"kafka_lag_group_{n}", v, consumergroup=group) for n, v in values.items()]


def firing(rules: Path) -> list[dict[str, Any]]:
    """What is to fire of the rules: each alert once."""
    names = re.findall(r"alert: (\w+)", rules.read_text())
    return [
        {
            "expr": f'count(ALERTS{{alertstate="firing",alertname="{name}"}})',
            "eval_time": "1h",
            "exp_samples": [{"value": 1}],
        }
        for name in names
    ]


def test_each_alert_of_the_documentation_fires_for_its_own_trouble_alone(tmp_path: Path) -> None:
    rules = tmp_path / "rules.yml"
    (text,) = examples("rules.yml")
    rules.write_text(text)
    told = [
        series("kafka_lag_snapshot_age_seconds", 60),
        series("kafka_lag_snapshot_readable", 1),
        series("kafka_lag_snapshot_age_seconds", 400, cluster="silent"),
        series("up", 0, job="kafka-lag"),
        *of_group("well", held_status=0, time_lag_seconds=9, sla_seconds=60, drain_seconds=1),
        *of_group("busy", held_status=1, drain_seconds=100, time_to_data_loss_seconds=86_400),
        *of_group("stuck", held_status=2),
        *of_group("late", held_status=0, time_lag_seconds=61, sla_seconds=60),
        *of_group("losing", time_to_data_loss_seconds=3600),
        *of_group("behind", held_status=1),
    ]
    case = {"interval": "1m", "input_series": told, "promql_expr_test": firing(rules)}
    (tmp_path / "test.yml").write_text(
        json.dumps({"rule_files": ["rules.yml"], "evaluation_interval": "1m", "tests": [case]})
    )
    command = [program("promtool"), "test", "rules", str(tmp_path / "test.yml")]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
