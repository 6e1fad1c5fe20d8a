# SPDX-License-Identifier: Apache-2.0
"""A package has the modules that functions import, and is built once for the same inputs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_s3_assets as assets

from kafka_lag_cdk import packaging
from kafka_lag_cdk.packaging import Architecture, PackagingError, Target, build
from tests.infra.packaging.projects import Project, names, write


def _build(project: Project, target: Target | None = None, cache: Path | None = None) -> Path:
    return build(target, cache or project.cache, project=project.folder)


def _build_version(project: Project, version: int) -> Path:
    write(project.folder / "functions", {"new.py": f"version = {version}"})
    return _build(project)


def _asset_hash(folder: Path) -> str:
    return assets.Asset(Stack(App()), "Asset", path=str(folder)).asset_hash


def test_a_package_has_what_functions_import_and_no_command_line(project: Project) -> None:
    assert names(_build(project)) == [
        "dep-1.0.dist-info/METADATA",
        "dep-1.0.dist-info/licenses/COPYING",
        "dep/__init__.py",
        "dep/tag.txt",
        "kafka_lag/__init__.py",
        "kafka_lag/collector.py",
        "kafka_lag/contract/__init__.py",
        "kafka_lag/contract/columns.py",
        "kafka_lag/views/page.html.j2",
        "kafka_lag/wording/__init__.py",
        "kafka_lag/wording/formatting.py",
    ]


@pytest.mark.parametrize(
    ("python", "architecture", "tag"),
    [
        ("3.13", "arm64", "cp313-cp313-manylinux_2_28_aarch64"),
        ("3.13", "x86_64", "cp313-cp313-manylinux_2_28_x86_64"),
        ("3.14", "arm64", "cp314-cp314-manylinux2014_aarch64"),
        ("3.12", "x86_64", "py3-none-any"),
    ],
)
def test_wheels_are_those_of_the_target(
    project: Project, python: str, architecture: Architecture, tag: str
) -> None:
    tags = (
        *("cp313-cp313-manylinux_2_28_aarch64", "cp313-cp313-manylinux_2_28_x86_64"),
        *("cp314-cp314-manylinux2014_aarch64", "cp314-cp314-macosx_11_0_arm64", "py3-none-any"),
    )
    project.publish(tags=tags)
    package = _build(project, Target(python, architecture))
    assert (package / "dep" / "tag.txt").read_text() == tag


def test_the_second_build_is_the_first_ones_folder(project: Project) -> None:
    first = _build(project)
    project.withdraw()
    for packages in project.cache.glob("packages-*"):
        shutil.rmtree(packages)
    assert _build(project) == first


def test_the_same_inputs_are_the_same_asset_wherever_and_whenever(
    project: Project, tmp_path: Path
) -> None:
    first = _build(project)
    for path in (project.folder / "functions").rglob("*.py"):
        os.utime(path, (1, 1_500_000_000))
        path.chmod(0o700)
    second = _build(project, cache=tmp_path / "fresh")
    assert second.parent != first.parent
    assert _asset_hash(second) == _asset_hash(first)


def test_changed_functions_are_another_asset_without_the_index(project: Project) -> None:
    first = _build(project)
    project.withdraw()
    write(project.folder / "functions", {"kafka_lag/new.py": "changed = True"})
    second = _build(project)
    assert "kafka_lag/new.py" in names(second)
    assert _asset_hash(second) != _asset_hash(first)


@pytest.mark.parametrize("other", [Target("3.12"), Target("3.13", "x86_64")], ids=str)
def test_each_target_has_a_folder_of_its_own(project: Project, other: Target) -> None:
    assert _build(project) != _build(project, other)


def test_lambdas_user_may_read_every_file(project: Project) -> None:
    for path in (project.folder / "functions").rglob("*.py"):
        path.chmod(0o600)
    before = os.umask(0o077)
    try:
        package = _build(project)
    finally:
        os.umask(before)
    assert {(package / name).stat().st_mode & 0o777 for name in names(package)} == {0o644}
    # In the two folders of a build, and not in uv's cache, which keeps the modes it had.
    assert (package / "dep" / "__init__.py").stat().st_nlink == 2


def test_folders_of_long_gone_sources_are_removed(project: Project) -> None:
    other = _build(project, Target("3.12"))
    folders = [_build_version(project, version) for version in range(5)]
    assert [folder.exists() for folder in folders] == [False, False, True, True, True]
    assert other.exists()


def _error_of(project: Project, target: Target | None = None) -> str:
    """What a build fails with, which leaves nothing."""
    with pytest.raises(PackagingError) as caught:
        _build(project, target)
    assert not project.cache.exists() or list(project.cache.iterdir()) == []
    return str(caught.value)


def test_a_wheel_that_is_not_for_the_target_is_an_error(project: Project) -> None:
    project.publish(tags=("cp313-cp313-manylinux_2_28_x86_64",))
    error = _error_of(project)
    assert error.startswith("The packages for Python 3.13 on arm64 cannot be installed: ")
    assert "dep" in error
    assert error.endswith("that uv.lock has wheels for this Python and architecture.")


def test_a_wheel_too_new_for_lambdas_c_library_is_an_error(project: Project) -> None:
    project.publish(tags=("cp313-cp313-manylinux_2_39_aarch64",))
    assert "cannot be installed" in _error_of(project)


def test_a_source_distribution_is_not_built(project: Project) -> None:
    project.withdraw()
    built = project.publish_sources()
    assert "cannot be installed" in _error_of(project)
    assert not built.exists()


def test_a_wheel_with_another_hash_is_an_error_without_the_hashes(project: Project) -> None:
    (wheel,) = project.index.iterdir()
    with wheel.open("ab") as file:
        file.write(b"\0")
    error = _error_of(project)
    assert "Hash mismatch" in error
    assert "sha256:" not in error
    assert "\n" not in error


def test_a_wheel_whose_hash_the_lock_file_lacks_is_an_error(project: Project) -> None:
    project.publish(hashed=False)
    assert "--require-hashes" in _error_of(project)


def test_a_package_too_large_for_lambda_is_an_error(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert packaging.UNPACKED_LIMIT == 250_000_000
    monkeypatch.setattr(packaging, "UNPACKED_LIMIT", 1_000_000)
    (project.folder / "functions" / "kafka_lag" / "large.bin").write_bytes(bytes(1_100_000))
    with pytest.raises(PackagingError, match=r"1\.1 MB unpacked, more than the 1\.0 MB"):
        _build(project)
    assert [path.name.split("-")[0] for path in project.cache.iterdir()] == ["packages"]


def test_without_a_lock_file_it_is_said_where_to_install_from(project: Project) -> None:
    (project.folder / "uv.lock").unlink()
    assert "uv.lock is missing" in _error_of(project)
