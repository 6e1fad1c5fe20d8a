# SPDX-License-Identifier: Apache-2.0
"""Which program fetches, what it is told, and what is said when none can."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from kafka_lag_cdk.packaging.target import Architecture, PackagingError, Target
from kafka_lag_cdk.packaging.wheels.fetch import fetch

HERE = {"uv": "/bin/uv", "pip": "/bin/python", "docker": "/bin/docker"}


class Programs:
    """Programs that this machine has, each of which fails with its words or else succeeds."""

    def __init__(self, installed: Sequence[str] = tuple(HERE), **failures: str) -> None:
        self.installed = installed
        self.failures = {HERE[name]: said for name, said in failures.items()}
        self.ran: list[Sequence[str]] = []

    def find(self, name: str) -> str | None:
        return HERE[name] if name in self.installed else None

    def run(self, command: Sequence[str]) -> tuple[int, str]:
        self.ran.append(command)
        said = self.failures.get(command[0])
        return (0, "") if said is None else (1, said)

    def fetch(self, folder: Path, target: Target | None = None) -> None:
        requirements = folder / "requirements.txt"
        packages = folder / "packages"
        packages.mkdir()
        fetch(target or Target(), requirements, packages, run=self.run, find=self.find)


@pytest.mark.parametrize(
    ("programs", "started"),
    [
        (Programs(), ["/bin/uv"]),
        (Programs(["pip", "docker"]), ["/bin/python"]),
        (Programs(["docker"]), ["/bin/docker"]),
        (Programs(uv="no route"), ["/bin/uv", "/bin/python"]),
        (Programs(uv="no route", pip="no route"), ["/bin/uv", "/bin/python", "/bin/docker"]),
    ],
    ids=["uv first", "pip without uv", "Docker alone", "pip when uv fails", "Docker last"],
)
def test_the_first_that_can_fetch_does(
    programs: Programs, started: list[str], tmp_path: Path
) -> None:
    programs.fetch(tmp_path)
    assert [command[0] for command in programs.ran] == started


@pytest.mark.parametrize("program", ["uv", "pip", "docker"])
def test_only_wheels_whose_hashes_are_known_are_taken(program: str, tmp_path: Path) -> None:
    programs = Programs([program])
    programs.fetch(tmp_path)
    (command,) = programs.ran
    assert {"--require-hashes", "--no-deps"} <= set(command)
    assert "--only-binary :all:" in " ".join(command).replace("=", " ")


@pytest.mark.parametrize("program", ["pip", "docker"])
@pytest.mark.parametrize(("architecture", "machine"), [("arm64", "aarch64"), ("x86_64", "x86_64")])
def test_pip_is_told_both_names_of_the_platform(
    program: str, architecture: Architecture, machine: str, tmp_path: Path
) -> None:
    programs = Programs([program])
    programs.fetch(tmp_path, Target("3.13", architecture))
    (command,) = programs.ran
    told = [after for word, after in pairwise(command) if word == "--platform"]
    assert told == [f"manylinux_2_28_{machine}", f"manylinux2014_{machine}"]


def test_uv_is_told_the_targets_platform_and_python(tmp_path: Path) -> None:
    programs = Programs(["uv"])
    programs.fetch(tmp_path, Target("3.12", "x86_64"))
    told = " ".join(programs.ran[0])
    assert "--python-platform x86_64-manylinux_2_28" in told
    assert "--python-version 3.12" in told


def test_docker_uses_the_image_of_the_runtime_and_writes_as_this_user(tmp_path: Path) -> None:
    programs = Programs(["docker"])
    programs.fetch(tmp_path, Target("3.12"))
    told = " ".join(programs.ran[0])
    assert "public.ecr.aws/sam/build-python3.12 python -m pip install" in told
    assert f"--volume {tmp_path / 'packages'}:/packages" in told
    assert "--user " in told


def test_what_a_failed_program_left_is_gone_before_the_next(tmp_path: Path) -> None:
    class Untidy(Programs):
        seen: tuple[str, ...] = ()

        def run(self, command: Sequence[str]) -> tuple[int, str]:
            packages = tmp_path / "packages"
            self.seen += tuple(path.name for path in packages.iterdir())
            (packages / "half").mkdir()
            (packages / "half" / "a.py").touch()
            (packages / "b.py").touch()
            return super().run(command)

    programs = Untidy(uv="no route")
    programs.fetch(tmp_path)
    assert len(programs.ran) == 2
    assert programs.seen == ()


def test_what_each_answered_is_told_with_what_to_do(tmp_path: Path) -> None:
    said = "x Hash mismatch\n  sha256:0a\n  sha256:0b\n  for numpy\n"
    with pytest.raises(PackagingError) as caught:
        Programs(["uv", "docker"], uv=said, docker="no daemon").fetch(tmp_path)
    assert str(caught.value) == (
        "The packages for Python 3.13 on arm64 could not be fetched. "
        "uv failed: x Hash mismatch for numpy; pip is not installed; Docker failed: no daemon. "
        "Install uv or pip, and see that uv.lock has wheels for this version and that the "
        "package index can be reached."
    )
