# SPDX-License-Identifier: Apache-2.0
"""examples/own_app.py: an app with a network, a cluster, a bucket, a topic and a key of its own."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from aws_cdk import App
from aws_cdk.cx_api import CloudFormationStackArtifact

from tests.infra.code import SMALL_PACKAGE

EXAMPLE = Path(__file__).parents[3] / "examples" / "own_app.py"


@pytest.fixture(name="stack", scope="module")
def _stack(tmp_path_factory: pytest.TempPathFactory) -> CloudFormationStackArtifact:
    app = App(outdir=str(tmp_path_factory.mktemp("own")))
    runpy.run_path(str(EXAMPLE))["build"](app, SMALL_PACKAGE)
    return app.synth().get_stack_by_name("Watched")


def test_nothing_is_looked_up_in_aws(stack: CloudFormationStackArtifact) -> None:
    """Which would take credentials."""
    manifest = json.loads(Path(stack.assembly.directory, "manifest.json").read_text())
    assert manifest.get("missing", []) == []


@pytest.mark.thorough
def test_cfn_lint_finds_no_error(stack: CloudFormationStackArtifact) -> None:
    lint = str(Path(sys.executable).with_name("cfn-lint"))
    command = [lint, "--non-zero-exit-code", "error", stack.template_full_path]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
