# SPDX-License-Identifier: Apache-2.0
"""`make test-of` finds tests by the name of what they test."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def make(names: str) -> subprocess.CompletedProcess[str]:
    """What make would run, without running it, and as if no make had started these tests."""
    command = ["make", "--dry-run", "test-of", f"M={names}"]
    environ = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    return subprocess.run(
        command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("names", "paths"),
    [
        ("lag/status", ["tests/functions/lag/test_status.py"]),
        ("brokers", ["tests/functions/brokers"]),
        ("infra/config", ["tests/infra/config"]),
        ("cli/test_query", ["tests/cli/test_query.py"]),
        ("cli/test_query.py", ["tests/cli/test_query.py"]),
        ("glue_jobs/tables", ["tests/glue_jobs/tables"]),
        ("docs", ["tests/test_docs.py"]),
        ("formatting lag", ["tests/functions/test_formatting.py", "tests/functions/lag"]),
    ],
)
def test_names_are_found_below_both_folders(names: str, paths: list[str]) -> None:
    words = make(names).stdout.splitlines()[-1].split()
    assert words[-len(paths) :] == paths
    assert all((ROOT / path).exists() for path in paths)


@pytest.mark.parametrize("names", ["lag/statsu", "lag/status lag/statsu"])
def test_a_name_without_tests_is_one_sentence_that_tells_what_to_name(names: str) -> None:
    done = make(names)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert "No tests are called lag/statsu: name a folder or file below tests as M" in line


def test_no_name_is_not_all_tests() -> None:
    done = make("")
    assert done.returncode == 2
    assert "Name tests as M, like lag/status" in done.stderr
