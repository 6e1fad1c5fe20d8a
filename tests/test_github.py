# SPDX-License-Identifier: Apache-2.0
"""GitHub runs what must pass, and its forms ask for what a report needs."""

from __future__ import annotations

import re
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


def test_ci_runs_what_must_pass_on_each_version_of_python() -> None:
    (job,) = _read("workflows/ci.yml")["jobs"].values()
    assert ".ci/run" in [step.get("run") for step in job["steps"]]
    assert (ROOT / ".ci/run").stat().st_mode & 0o111
    first, last = re.findall(r"Python 3\.(\d+) to 3\.(\d+)", (ROOT / "README.md").read_text())[0]
    versions = [f"3.{minor}" for minor in range(int(first), int(last) + 1)]
    assert job["strategy"]["matrix"]["python"] == versions


def test_ci_may_change_nothing() -> None:
    assert _read("workflows/ci.yml")["permissions"] == {"contents": "read"}


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
