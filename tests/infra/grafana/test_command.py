# SPDX-License-Identifier: Apache-2.0
"""The command writes a file a page, and it says why where it cannot."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_lag_cdk.grafana.__main__ import main
from kafka_lag_cdk.grafana.dashboards import files

ROOT = Path(__file__).parents[3]


def test_it_writes_a_file_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--output", str(tmp_path / "new")]) == 0
    written = {path.name: path.read_text() for path in (tmp_path / "new").iterdir()}
    assert written == files()
    assert len(capsys.readouterr().out.splitlines()) == len(written)


def test_another_namespace_is_asked_wherever_ours_would_be(tmp_path: Path) -> None:
    assert main(["--output", str(tmp_path), "--namespace", "Theirs"]) == 0
    told = (tmp_path / "kafka-lag-clusters-cloudwatch.json").read_text()
    assert '"namespace": "Theirs"' in told
    assert '"namespace": "KafkaLag"' not in told


def test_a_folder_that_cannot_be_is_told_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["--output", str(tmp_path / "file")]) == 1
    told = capsys.readouterr().err
    assert told.startswith(str(tmp_path / "file"))
    assert len(told.splitlines()) == 1


def test_it_needs_no_cdk() -> None:
    """So that whoever has only Grafana can write them, in no time."""
    code = "import sys, kafka_lag_cdk.grafana.__main__; sys.exit('aws_cdk' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0


def test_every_page_is_in_the_manual() -> None:
    manual = (ROOT / "docs" / "grafana.md").read_text()
    missing = [name for name, text in files().items() if f"(grafana/{name})" not in manual]
    assert missing == []
    titles = [json.loads(text)["title"] for text in files().values()]
    assert len(set(titles)) == len(titles)
