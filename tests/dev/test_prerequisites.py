# SPDX-License-Identifier: Apache-2.0
"""Programs that this machine lacks, in one sentence each."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run_with(folder: Path, *names: str, **programs: str) -> list[str]:
    """Run the check with these programs, which print so, alone on the PATH: its sentences."""
    for name, printed in programs.items():
        (folder / name).write_text(f"#!/bin/sh\nprintf '{printed}\\n'\n")
        (folder / name).chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-S", "-m", "dev.prerequisites", *names],
        env={"PATH": str(folder)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == bool(done.stderr)
    return done.stderr.splitlines()


def test_each_missing_program_is_named_at_once_with_how_to_install_it(tmp_path: Path) -> None:
    java, maven, node = run_with(tmp_path)
    assert java.startswith("Java 17 or newer is needed and Java was not found: apt install ")
    assert [maven.split()[0], node.split()[0]] == ["Maven", "Node"]
    assert [line.split()[0] for line in run_with(tmp_path, "Node")] == ["Node"]
    assert run_with(tmp_path, "Python") == []


@pytest.mark.parametrize(
    ("program", "printed", "state"),
    [
        ("java", 'openjdk version "17.0.15" 2025-04-15', None),
        ("java", 'Picked up JAVA_TOOL_OPTIONS: -Xmx1g\\nopenjdk version "25.0.1"', None),
        ("java", 'java version "1.8.0_391"', "Java is 8"),
        ("java", "Unable to locate a Java Runtime.", "Java was not found"),
        ("mvn", "\\033[1mApache Maven 3.9.9\\033[m", None),
        ("node", "v20.19.2", None),
        ("node", "v18.0.0-pre", "Node is 18"),
    ],
)
def test_a_program_is_judged_by_the_version_that_it_prints(
    tmp_path: Path, program: str, printed: str, state: str | None
) -> None:
    name = {"java": "Java", "mvn": "Maven", "node": "Node"}[program]
    found = run_with(tmp_path, name, **{program: printed})
    assert found == [] if state is None else f" and {state}: " in found[0]
