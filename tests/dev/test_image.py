# SPDX-License-Identifier: Apache-2.0
"""The exporter's Dockerfile: how its steps are read, and what they may see of the repository."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from dev.image import DOCKERFILE, parse_dockerfile

ROOT = Path(__file__).parents[2]


def test_stages_and_their_steps_are_read_in_order() -> None:
    stages = parse_dockerfile(
        "# a comment\nFROM a:1 AS build\nRUN x \\\n  && y\n\nFROM b\ncopy --from=build /x /y\n"
    )
    assert [(each.base, each.name, each.steps) for each in stages] == [
        ("a:1", "build", [("RUN", "x && y")]),
        ("b", "1", [("COPY", "--from=build /x /y")]),
    ]


def test_a_step_before_the_first_stage_is_an_error() -> None:
    with pytest.raises(ValueError, match="RUN stands before the first FROM"):
        parse_dockerfile("RUN x")


def test_all_that_is_copied_is_let_through_to_the_build() -> None:
    allowed = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    copied = {
        name
        for stage in parse_dockerfile(DOCKERFILE.read_text())
        for instruction, argument in stage.steps
        if instruction == "COPY" and not argument.startswith("--from")
        for name in shlex.split(argument)[:-1]
    }
    assert copied == allowed
    assert all((ROOT / name).exists() for name in copied)


def test_every_package_of_the_wheel_is_copied() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    packages = re.findall(r"^packages = \[(.*)\]$", project, re.MULTILINE)[0]
    roots = {name.split("/")[0] for name in re.findall(r'"([^"]+)"', packages)}
    text = DOCKERFILE.read_text()
    assert all(re.search(rf"^COPY {root} ", text, re.MULTILINE) for root in roots)


def test_it_ends_as_nobody_of_the_system_and_serves() -> None:
    last = dict(parse_dockerfile(DOCKERFILE.read_text())[-1].steps)
    assert last["USER"] == "10001:10001"
    assert last["ENTRYPOINT"].startswith('["kafka-lag", "serve", ')
