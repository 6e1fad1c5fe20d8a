# SPDX-License-Identifier: Apache-2.0
"""The app as `cdk` starts it, where its configuration is at fault."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_without_a_configuration_the_app_says_what_to_do(tmp_path: Path) -> None:
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "kafka_lag_cdk.app"]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=tmp_path, env=environ
    )
    assert done.returncode == 1
    assert "msk-lag-reporter is missing" in done.stderr
    assert "Traceback" not in done.stderr
