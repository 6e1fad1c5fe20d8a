# SPDX-License-Identifier: Apache-2.0
"""The requirements of the functions and of the Glue job, and the lock file, say the same."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from kafka_lag_cdk.packaging.build import FUNCTIONS, GLUE, GLUE_JOBS, ROOT
from kafka_lag_cdk.packaging.target import Target
from kafka_lag_cdk.packaging.wheels.requirements import (
    COMMAND,
    IN_THE_RUNTIME,
    NAME,
    NOT_IMPORTED,
    OF_FUNCTIONS,
    OF_GLUE_JOB,
    Shipped,
    exported,
    for_target,
)

TEXT = (FUNCTIONS / NAME).read_text()
OF_JOB = (GLUE_JOBS / NAME).read_text()
STATED = """\
# a comment
first==1.0 ; sys_platform == 'linux' \\
    --hash=sha256:aa \\
    --hash=sha256:bb
second==1.0 ; python_full_version < '3.12' \\
    --hash=sha256:cc
second==2.0 ; python_full_version >= '3.12' \\
    --hash=sha256:dd
third==1.0 ; platform_machine == 'aarch64' \\
    --hash=sha256:ee
"""


@pytest.fixture(name="locked", scope="module")
def _locked() -> list[dict[str, Any]]:
    packages: list[dict[str, Any]] = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    return packages


def _stated(text: str = TEXT) -> dict[tuple[str, str], set[str]]:
    found: dict[tuple[str, str], set[str]] = {}
    for line in text.splitlines():
        word = line.strip(" \\")
        if word.startswith("--hash="):
            found[list(found)[-1]].add(word.removeprefix("--hash="))
        elif not word.startswith("#"):
            name, version = word.split(";")[0].strip().split("==")
            found[name, version] = set()
    return found


def _needed(packages: list[dict[str, Any]], group: str | None = None) -> set[str]:
    """What the project, or one of its groups, depends on, and what that does, by name."""
    needs = {p["name"]: {d["name"] for d in p.get("dependencies", [])} for p in packages}
    (project,) = (p for p in packages if p["name"] == "msk-lag-reporter")
    found: set[str] = set()
    more = (
        {d["name"] for d in project["dev-dependencies"][group]} if group else needs[project["name"]]
    )
    while more:
        found |= more
        more = set().union(*(needs[name] for name in more)) - found
    return found


@pytest.mark.parametrize("text", [TEXT, OF_JOB], ids=["functions", "glue_jobs"])
def test_each_version_and_its_hashes_are_the_lock_files(
    locked: list[dict[str, Any]], text: str
) -> None:
    hashes = {
        (p["name"], p["version"]): {w["hash"] for w in [*p.get("wheels", []), p["sdist"]]}
        for p in locked
        if "sdist" in p
    }
    assert _stated(text) == {key: hashes[key] for key in _stated(text)}


def test_all_that_the_page_needs_is_there(locked: list[dict[str, Any]]) -> None:
    assert {name for name, _ in _stated(OF_JOB)} == _needed(locked, "page")


def test_every_dependency_is_there_but_what_lambda_brings_and_nobody_imports(
    locked: list[dict[str, Any]],
) -> None:
    names = {name for name, _ in _stated()}
    assert names == _needed(locked) - {*IN_THE_RUNTIME, *NOT_IMPORTED}


def test_every_version_that_the_lock_file_has_of_a_dependency_is_there(
    locked: list[dict[str, Any]],
) -> None:
    names = {name for name, _ in _stated()}
    assert set(_stated()) == {(p["name"], p["version"]) for p in locked if p["name"] in names}


@pytest.mark.parametrize(
    ("text", "shipped", "targets"),
    [
        (TEXT, OF_FUNCTIONS, (Target("3.11", "x86_64"), Target("3.13", "arm64"))),
        (OF_JOB, OF_GLUE_JOB, (GLUE,)),
    ],
    ids=["functions", "glue_jobs"],
)
def test_its_own_command_would_write_the_same(
    text: str, shipped: Shipped, targets: tuple[Target, ...]
) -> None:
    assert COMMAND in text.splitlines()[1]
    # uv's versions differ in how they write a condition, so what it comes to is compared.
    for target in targets:
        assert for_target(exported(ROOT, shipped), target) == for_target(text, target)


def test_the_glue_job_brings_the_same_for_each_python_of_glue() -> None:
    assert for_target(OF_JOB, GLUE) == for_target(OF_JOB, Target("3.13", "x86_64"))


@pytest.mark.parametrize(
    ("target", "kept"),
    [
        (Target("3.13", "arm64"), ["first==1.0", "second==2.0", "third==1.0"]),
        (Target("3.12", "x86_64"), ["first==1.0", "second==2.0"]),
        (Target("3.11", "x86_64"), ["first==1.0", "second==1.0"]),
    ],
    ids=str,
)
def test_conditions_are_decided_for_the_target_and_not_for_this_python(
    target: Target, kept: list[str]
) -> None:
    lines = for_target(STATED, target).splitlines()
    assert [line.split(" --hash=")[0] for line in lines] == kept


def test_a_requirement_keeps_its_hashes_on_its_line() -> None:
    first = for_target(STATED, Target()).splitlines()[0]
    assert first == "first==1.0 --hash=sha256:aa --hash=sha256:bb"
