# SPDX-License-Identifier: Apache-2.0
"""GitHub runs all required checks, and its forms ask for the facts that a report needs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"


def _read(path: str) -> Any:
    return yaml.safe_load((GITHUB / path).read_text())


def _runs_of(job: Any) -> list[tuple[str, str | None]]:
    """Each command of a job, with the part of `.ci/run` that it asks for."""
    steps = [step for step in job["steps"] if "run" in step]
    return [(step["run"].strip(), step.get("env", {}).get("PART")) for step in steps]


def test_ci_tests_everything_once_and_each_supported_python() -> None:
    jobs = _read("workflows/ci.yml")["jobs"]
    assert (".ci/run", "changes") in _runs_of(jobs["changes"])
    assert (".ci/run", "rest") in _runs_of(jobs["rest"])
    assert (".ci/lowest", None) in _runs_of(jobs["lowest"])
    assert any("tests/functions tests/cli" in run for run, _ in _runs_of(jobs["python"]))

    whole = re.search(r"python(3\.\d+)", str(jobs["changes"]))
    assert whole is not None
    tested = {whole[1], *jobs["python"]["strategy"]["matrix"]["python"]}
    least, above = re.findall(r">=3\.(\d+),<3\.(\d+)", (ROOT / "pyproject.toml").read_text())[0]
    assert tested == {f"3.{minor}" for minor in range(int(least), int(above))}


def test_one_job_fails_unless_all_others_have_passed() -> None:
    jobs = _read("workflows/ci.yml")["jobs"]
    required = jobs.pop("required")
    assert set(required["needs"]) == set(jobs)
    # Without it the job would be skipped, which GitHub counts as passed.
    assert required["if"] == "always()"


def test_actions_of_others_are_pinned_by_commit_with_their_version() -> None:
    files = [*GITHUB.glob("workflows/*.yml"), *GITHUB.glob("actions/*/action.yml")]
    files += ROOT.glob("examples/*.yml")
    uses = [line for file in files for line in re.findall(r"uses: (.+)", file.read_text())]
    others = [each for each in uses if not each.startswith("./")]
    assert len(others) > 10
    assert [u for u in others if not re.fullmatch(r"\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+", u)] == []
    # The bot reads these folders, and waits for a week.
    updates = _read("dependabot.yml")["updates"]
    (bot,) = [each for each in updates if each["package-ecosystem"] == "github-actions"]
    assert {f"/{path.parent.relative_to(ROOT)}" for path in GITHUB.glob("actions/*/*.yml")} == {
        *bot["directories"]
    } - {"/"}
    assert {each["cooldown"]["default-days"] for each in updates} == {7}


@pytest.mark.parametrize(
    ("there", "installed"),
    [
        ({"chromium", "promtool", "prometheus"}, None),
        ({"chromium"}, "prometheus"),
        ({"promtool", "prometheus"}, "chromium"),
        ({"chromium", "prometheus"}, "prometheus"),
        (set(), "chromium prometheus"),
    ],
)
def test_ci_installs_the_tools_that_are_missing(
    there: set[str], installed: str | None, tmp_path: Path
) -> None:
    made = [*there, "make", "id", "apt-get"]
    for tool in made:
        says = "echo 0" if tool == "id" else f'echo "{tool} $*"; echo "{tool} $*" >> {tmp_path}/log'
        (tmp_path / tool).write_text(f"#!/bin/sh\n{says}\n")
        (tmp_path / tool).chmod(0o755)
    for tool in ("bash", "dirname", "sh", "env"):
        (tmp_path / tool).symlink_to(f"/bin/{tool}")
    subprocess.run([ROOT / ".ci/run"], env={"PATH": str(tmp_path)}, check=True, capture_output=True)

    log = (tmp_path / "log").read_text().split("\n")
    assert [line.split(" -qq ")[1] for line in log if line.startswith("apt-get install")] == (
        [installed] if installed else []
    )
    assert log[-3:] == ["make lint test", "make test-rest", ""]


def test_no_workflow_may_change_anything_by_default() -> None:
    for path in GITHUB.glob("workflows/*.yml"):
        assert _read(f"workflows/{path.name}")["permissions"] == {"contents": "read"}
