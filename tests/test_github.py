# SPDX-License-Identifier: Apache-2.0
"""GitHub runs what must pass, and its forms ask for what a report needs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
FORMS = ("wrong-number", "bug")


def _read(path: str) -> Any:
    return yaml.safe_load((GITHUB / path).read_text())


def _questions(form: str) -> str:
    fields = _read(f"ISSUE_TEMPLATE/{form}.yml")["body"]
    return "\n".join(str(field["attributes"]) for field in fields if "id" in field)


def _runs_of(job: Any) -> list[tuple[str, str | None]]:
    """Each command of a job, with the part that it is told to do."""
    steps = [step for step in job["steps"] if "run" in step]
    return [(step["run"].strip(), step.get("env", {}).get("PART")) for step in steps]


def test_ci_runs_the_tests_of_every_change_on_each_version_of_python() -> None:
    job = _read("workflows/ci.yml")["jobs"]["changes"]
    assert (".ci/run", "changes") in _runs_of(job)
    first, last = re.findall(r"Python 3\.(\d+) to 3\.(\d+)", (ROOT / "README.md").read_text())[0]
    versions = [f"3.{minor}" for minor in range(int(first), int(last) + 1)]
    assert job["strategy"]["matrix"]["python"] == versions


def test_ci_runs_all_other_tests_once() -> None:
    job = _read("workflows/ci.yml")["jobs"]["rest"]
    assert (".ci/run", "rest") in _runs_of(job)
    assert "strategy" not in job


@pytest.mark.parametrize(
    ("part", "targets"),
    [
        (None, ["lint types test", "test-rest"]),
        ("changes", ["lint types test"]),
        ("rest", ["test-rest"]),
    ],
)
def test_what_must_pass_is_both_parts_unless_one_is_named(
    part: str | None, targets: list[str], tmp_path: Path
) -> None:
    for tool in ("make", "chromium", "promtool", "prometheus"):
        (tmp_path / tool).write_text(f'#!/bin/sh\necho "{tool} $*"\n')
        (tmp_path / tool).chmod(0o755)
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin"} | ({"PART": part} if part else {})
    done = subprocess.run(
        [ROOT / ".ci/run"], env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [f"make {target}" for target in targets]


def test_what_goes_by_the_clock_runs_each_night() -> None:
    read = _read("workflows/nightly.yml")
    # YAML takes the key `on` for true.
    assert read[True]["schedule"]
    (job,) = read["jobs"].values()
    commands = [words.split()[0] for words in job["strategy"]["matrix"]["target"]]
    assert {"faults", "soak", "test-timed"} <= {*commands}
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {*commands} <= {*targets}
    assert any("make ${{ matrix.target }}" in run for run, _ in _runs_of(job))


@pytest.mark.parametrize("workflow", ["ci", "nightly"])
def test_a_workflow_may_change_nothing(workflow: str) -> None:
    assert _read(f"workflows/{workflow}.yml")["permissions"] == {"contents": "read"}


@pytest.mark.parametrize(
    "asked",
    ["kafka-lag show", "--group NAME", "kafka-consumer-groups.sh", "group_partitions", "versions"],
)
def test_a_wrong_number_is_asked_for_with_what_explains_it(asked: str) -> None:
    assert asked in _questions("wrong-number").replace("Versions", "versions")


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_one_that_github_takes(form: str) -> None:
    read = _read(f"ISSUE_TEMPLATE/{form}.yml")
    assert read["name"]
    assert read["description"]
    ids = [field["id"] for field in read["body"] if "id" in field]
    assert len(ids) == len(set(ids)) > 0
    assert {field["type"] for field in read["body"]} <= {"markdown", "textarea", "input"}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_says_what_must_not_be_sent(form: str) -> None:
    (words,) = [f["attributes"]["value"] for f in _read(f"ISSUE_TEMPLATE/{form}.yml")["body"][:1]]
    assert "no password" in words
