# SPDX-License-Identifier: Apache-2.0
"""An environment with the wheel and its requirements only."""

from __future__ import annotations

import subprocess
import venv
from pathlib import Path

from kafka_lag_cdk.packaging import find_uv

ROOT = Path(__file__).parents[2]


def run_uv(*arguments: str) -> str:
    """What uv said on stderr."""
    uv = find_uv()
    assert uv is not None, "uv is not installed: run make setup"
    done = subprocess.run([uv, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def install_wheel(folder: Path, *extras: str) -> Path:
    """The wheel; it is installed in `venv` beside it, with the locked versions of its extras."""
    run_uv("build", "--quiet", "--wheel", "--out-dir", str(folder))
    (wheel,) = folder.glob("*.whl")
    required = str(folder / "requirements.txt")
    locked = ("--frozen", "--no-default-groups", "--no-emit-project", "--quiet")
    chosen = [word for extra in extras for word in ("--extra", extra)]
    run_uv("export", *locked, *chosen, "--output-file", required)
    venv.create(folder / "venv", symlinks=True)
    install = ("pip", "install", "--quiet", "--python", str(folder / "venv" / "bin" / "python"))
    run_uv(*install, "--requirements", required)
    run_uv(*install, "--no-deps", str(wheel))
    return wheel
