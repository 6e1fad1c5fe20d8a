# SPDX-License-Identifier: Apache-2.0
"""The files beside the Glue job's script: the job, its data, pure Python packages, licences."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from kafka_lag_cdk.packaging import ROOT, PackagingError, glue_package
from tests.infra.packaging.projects import WHEEL, Project, names, write


def _build(project: Project) -> Path:
    return glue_package(project.cache, project=project.folder)


def test_it_has_the_job_with_its_data_the_shared_modules_and_packages_with_their_licences(
    project: Project,
) -> None:
    assert names(_build(project)) == [
        "dep-1.0.dist-info/METADATA",
        "dep-1.0.dist-info/licenses/COPYING",
        "dep/__init__.py",
        "dep/tag.txt",
        "kafka_lag/__init__.py",
        "kafka_lag/contract/__init__.py",
        "kafka_lag/contract/columns.py",
        "kafka_lag/wording/__init__.py",
        "kafka_lag/wording/formatting.py",
        "kafka_lag_report/__init__.py",
        "kafka_lag_report/log4j2.properties",
        "kafka_lag_report/page/page.html.j2",
    ]


@pytest.mark.parametrize(
    "name", ["functions/kafka_lag/contract/columns.py", "glue_jobs/kafka_lag_report/__init__.py"]
)
def test_a_changed_contract_or_job_is_another_folder_without_the_index(
    project: Project, name: str
) -> None:
    first = _build(project)
    project.withdraw()
    write(project.folder, {name: "NEW = 1"})
    assert _build(project) != first


@pytest.mark.parametrize(
    "name", ["dep/_fast.cpython-311-x86_64-linux-gnu.so", "dep/_fast.pyd", "dep.libs/libx.so.1"]
)
def test_a_compiled_module_is_named_and_nothing_is_built(project: Project, name: str) -> None:
    project.publish({**WHEEL, name: ""})
    with pytest.raises(PackagingError, match=rf"compiled modules cannot be in: {name}\. Take"):
        _build(project)
    assert list(project.cache.iterdir()) == []


def test_wheels_are_for_the_older_of_glues_pythons(project: Project) -> None:
    project.publish(tags=tuple(f"cp3{n}-cp3{n}-manylinux2014_x86_64" for n in (11, 13)))
    assert (_build(project) / "dep" / "tag.txt").read_text().startswith("cp311-")


@pytest.fixture(name="shipped", scope="module")
def _shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return glue_package(tmp_path_factory.mktemp("glue"))


def test_what_the_page_is_made_with_is_shipped(shipped: Path) -> None:
    files = names(shipped)
    own = {"kafka_lag_report/daily_report.py", "kafka_lag_report/log4j2.properties"}
    assert own <= set(files)
    assert {"jinja2/__init__.py", "markupsafe/_native.py"} <= set(files)
    assert [name for name in files if re.search(r"\.(so|pyc|pyi|c)$", name)] == []


def test_every_folder_of_modules_is_a_package(shipped: Path) -> None:
    # On a disk Python does without __init__.py, in a zip it finds no such folder.
    modules = [Path(name) for name in names(shipped) if name.endswith(".py")]
    folders = {path.parent for path in modules} - {Path()}
    assert folders - {path.parent for path in modules if path.name == "__init__.py"} == set()


def test_the_newer_of_glues_pythons_would_get_the_same_versions(shipped: Path) -> None:
    locked = Counter(p["name"] for p in tomllib.loads((ROOT / "uv.lock").read_text())["package"])
    packages = {name.split("-")[0] for name in names(shipped) if ".dist-info/" in name}
    assert {name: locked[name] for name in packages} == dict.fromkeys(packages, 1)
