# SPDX-License-Identifier: Apache-2.0
"""A CDK app in an environment with the wheel and without a clone: its example is synthesised."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.contract.wheels import ROOT, install_wheel

pytestmark = pytest.mark.thorough


@pytest.fixture(name="assembly", scope="module")
def _assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("app")
    install_wheel(folder, "cdk")
    shutil.copy(ROOT / "examples" / "own_app.py", folder)
    python, out = str(folder / "venv" / "bin" / "python"), folder / "out"
    places = {"CDK_OUTDIR": str(out), "XDG_CACHE_HOME": str(folder / "cache")}
    command, environ = [python, "own_app.py"], os.environ | places
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return out


def _resources(assembly: Path, kind: str) -> list[dict[str, Any]]:
    template = json.loads((assembly / "Watched.template.json").read_text())
    found = template["Resources"].values()
    return [each["Properties"] for each in found if each["Type"] == kind]


def _asset(assembly: Path, key: str) -> set[str]:
    """The names at the root of a folder that is zipped."""
    folder = assembly / f"asset.{key.removesuffix('.zip')}"
    return {path.name for path in folder.iterdir()}


def test_functions_are_packed_from_what_the_wheel_has_locked(assembly: Path) -> None:
    functions = _resources(assembly, "AWS::Lambda::Function")
    collectors = [each for each in functions if "collect_lag" in each["Handler"]]
    packed = {each["Code"]["S3Key"] for each in collectors}
    assert len(collectors) == 2
    assert len(packed) == 1
    assert {"kafka_lag", "kafka", "numpy", "pyarrow"} <= _asset(assembly, packed.pop())


def test_the_daily_job_has_its_script_and_modules(assembly: Path) -> None:
    (job,) = _resources(assembly, "AWS::Glue::Job")
    modules = json.dumps(job["DefaultArguments"]["--extra-py-files"])
    roots = [
        {path.name for path in folder.iterdir()}
        for folder in assembly.glob("asset.*")
        if folder.is_dir() and folder.name.removeprefix("asset.") in modules
    ]
    assert [{"kafka_lag", "kafka_lag_report", "jinja2"} <= root for root in roots] == [True]
    assert "ScriptLocation" in job["Command"]


def test_the_service_of_the_app_is_scaled(assembly: Path) -> None:
    assert len(_resources(assembly, "AWS::ApplicationAutoScaling::ScalableTarget")) == 1
