# SPDX-License-Identifier: Apache-2.0
"""A package is built once for the same inputs, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from kafka_lag_cdk.packaging import Package, PackagingError, Target, build
from tests.infra.packaging.fakes import Index, write

LOCK = "dep==1.0 ; python_full_version >= '3.12' \\\n    --hash=sha256:aa\n"
SOURCES = {
    "kafka_lag/__init__.py": "",
    "kafka_lag/cli/watch.py": "",
    "kafka_lag/py.typed": "",
    "kafka_lag/schemas/Request.json": "{}",
    "requirements.txt": LOCK,
    ".DS_Store": "",
    "kafka_lag/__pycache__/a.cpython-313.pyc": "",
    "kafka_lag/schemas/__pycache__/b.cpython-313.pyc": "",
}
WHEELS = {"dep/__init__.py": "version = 1", "dep/tests/test_dep.py": "", "bin/dep": ""}


class Project:
    """Sources in a folder, wheels in an index, packages in another folder."""

    def __init__(self, folder: Path) -> None:
        self.sources = write(folder / "functions", SOURCES)
        self.index = Index(WHEELS)
        self.output = folder / "output"

    def build(self, target: Target | None = None, output: Path | None = None) -> Package:
        into = output or self.output
        return build(target or Target(), into, sources=self.sources, fetch=self.index.fetch)


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def _names(package: Package) -> list[str]:
    with ZipFile(package.path) as archive:
        return sorted(archive.namelist())


def test_a_package_has_what_functions_import_and_no_command_line(project: Project) -> None:
    assert _names(project.build()) == [
        "dep/__init__.py",
        "kafka_lag/__init__.py",
        "kafka_lag/schemas/Request.json",
    ]


def test_requirements_are_asked_for_as_the_target_has_them(project: Project) -> None:
    project.build(Target("3.12", "x86_64"))
    assert project.index.asked == [(Target("3.12", "x86_64"), "dep==1.0 --hash=sha256:aa\n")]


def test_the_second_build_takes_the_first_ones_file(project: Project) -> None:
    first = project.build()
    written = first.path.stat().st_ino
    assert project.build() == first
    assert first.path.stat().st_ino == written
    assert len(project.index.asked) == 1


def test_a_build_in_another_folder_has_the_same_hash(project: Project, tmp_path: Path) -> None:
    first, second = project.build(), project.build(output=tmp_path / "fresh")
    assert len(project.index.asked) == 2
    assert second.sha256 == first.sha256


def test_changed_functions_are_another_package_without_fetching_again(project: Project) -> None:
    first = project.build()
    write(project.sources, {"kafka_lag/new.py": "changed = True"})
    second = project.build()
    assert second.sha256 != first.sha256
    assert "kafka_lag/new.py" in _names(second)
    assert len(project.index.asked) == 1


def test_changed_requirements_are_fetched(project: Project) -> None:
    project.build()
    project.index.files = {**WHEELS, "dep/__init__.py": "version = 2"}
    write(project.sources, {"requirements.txt": LOCK.replace("1.0", "2.0")})
    with ZipFile(project.build().path) as archive:
        assert archive.read("dep/__init__.py") == b"version = 2"


@pytest.mark.parametrize("other", [Target("3.12"), Target("3.13", "x86_64")], ids=str)
def test_each_target_has_a_package_of_its_own(project: Project, other: Target) -> None:
    assert project.build().path != project.build(other).path
    assert len(project.index.asked) == 2


def test_a_failed_fetch_leaves_nothing_behind(project: Project) -> None:
    project.index.refuses = True
    with pytest.raises(PackagingError, match="no route"):
        project.build()
    assert list(project.output.iterdir()) == []


def test_nothing_but_the_zips_is_left_after_a_build(project: Project) -> None:
    package = project.build()
    assert {path.suffix for path in project.output.iterdir()} == {".zip"}
    assert len(list(project.output.iterdir())) == 2
    assert package.path.parent == project.output


def test_packages_of_long_gone_sources_are_removed(project: Project) -> None:
    other = project.build(Target("3.12"))
    paths = []
    for version in range(5):
        write(project.sources, {"new.py": f"version = {version}"})
        paths.append(project.build().path)
    assert [path.exists() for path in paths] == [False, False, True, True, True]
    assert other.path.exists()


def test_missing_requirements_are_told_with_the_command_that_writes_them(project: Project) -> None:
    (project.sources / "requirements.txt").unlink()
    with pytest.raises(
        PackagingError, match=r"requirements\.txt is missing.*kafka_lag_cdk\.packaging lock"
    ):
        project.build()


@pytest.mark.parametrize(
    ("python", "architecture", "told"),
    [("3.10", "arm64", "'3.10'.*3.12, 3.13, 3.14"), ("3.13", "riscv", "'riscv'.*arm64, x86_64")],
)
def test_a_target_that_lambda_lacks_is_refused(python: str, architecture: str, told: str) -> None:
    with pytest.raises(PackagingError, match=told):
        Target(python, architecture)  # type: ignore[arg-type]
