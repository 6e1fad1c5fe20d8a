# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag config`: the function reads what the command writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_lag import contract
from kafka_lag.settings import from_environment, settings_of
from kafka_lag_cli.command import main
from tests.documents import GOOD, document


def test_what_is_written_is_what_the_function_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "source.json").write_text(json.dumps({**GOOD, "hold": 5}))
    assert main(["config", str(tmp_path / "source.json")]) == 0
    (tmp_path / "config.json").write_text(capsys.readouterr().out)
    environ = {contract.ENV_CONFIG: str(tmp_path / "config.json"), contract.ENV_BUCKET: "kept"}
    assert from_environment(environ) == settings_of(document(hold=5), "kept")


def test_every_fault_is_reported_and_nothing_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {**GOOD, "window": "0m", "intervall_seconds": 5, "cafile": "nowhere.pem"}
    (tmp_path / "source.json").write_text(json.dumps(wrong))
    assert main(["config", str(tmp_path / "source.json")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    for fault in ("window: must be", "did you mean interval_seconds?", "no file nowhere.pem"):
        assert fault in printed.err


def test_of_a_deployment_it_is_the_document_of_one_collector(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["config", "examples/one-scram-cluster.json"]) == 0
    only = json.loads(capsys.readouterr().out)
    assert main(["config", "examples/twenty-clusters.json", "--cluster", "mail-eu"]) == 0
    mail = json.loads(capsys.readouterr().out)

    assert contract.DOCUMENT_VERSION_KEY in only
    assert mail["cluster"] == "mail-eu"
