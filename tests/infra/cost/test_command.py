# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag cost`: the place of the configuration, the output, and the errors."""

from __future__ import annotations

import json
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from kafka_lag_cli.command import main
from kafka_lag_config.reading import CONTEXT_KEY
from tests.infra.configured import cluster_json


def written(folder: Path, *clusters: dict[str, Any], name: str = "lag.json") -> Path:
    file = folder / name
    file.write_text(json.dumps({"clusters": list(clusters) or [cluster_json()]}))
    return file


def cdk_json(folder: Path, context: Any) -> None:
    (folder / "cdk.json").write_text(json.dumps({"context": {CONTEXT_KEY: context}}))


def cost(folder: Path, *argv: str) -> int:
    """The command as called in a folder."""
    with chdir(folder):
        return main(["cost", *argv])


@pytest.mark.parametrize("context", [{"clusters": [cluster_json()]}, "lag.json"])
def test_cdk_json_of_the_folder_is_read_or_the_file_that_it_names(
    context: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path)
    cdk_json(tmp_path, context)
    assert cost(tmp_path) == 0
    assert "90 metrics" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param(
            [], "There is no cdk.json: name a configuration by --config", id="no-cdk.json"
        ),
        pytest.param(
            ["--config", "nowhere.json"], "File 'nowhere.json' does not exist.", id="no-file"
        ),
    ],
)
def test_what_leads_nowhere_is_one_sentence(
    arguments: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path)
    assert cost(tmp_path, *arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert sentence in printed.err
    assert len(printed.err.splitlines()) == 1


def test_a_wrong_configuration_is_answered_with_its_faults(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, cluster_json(dashbord=True))
    assert cost(tmp_path, "--config", str(file)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "clusters[0].dashbord: unknown key, did you mean dashboard?" in printed.err
    (tmp_path / "cdk.json").write_text('{"context": []}')
    assert cost(tmp_path) == 2
    assert "cdk.json has faults" in capsys.readouterr().err
