# SPDX-License-Identifier: Apache-2.0
"""The zip beside the Glue job's script: the job with its data, pure Python packages, licences."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from zipfile import ZipFile

import pytest

from kafka_lag_cdk.packaging import Package, PackagingError, glue_package
from kafka_lag_cdk.packaging.build import GLUE_JOBS
from tests.infra.packaging.fakes import Index, write

JOB = {
    "kafka_lag_report/__init__.py": "",
    "kafka_lag_report/page/page.html.j2": "{{ name }}",
    "kafka_lag_report/page/page.css": "",
    "kafka_lag_report/page/page.js": "",
    "kafka_lag_report/storage/log4j2.properties": "",
    "requirements.txt": "dep==1.0 \\\n    --hash=sha256:aa\n",
    "kafka_lag_report/__pycache__/a.cpython-313.pyc": "",
}
PURE = {
    "dep/__init__.py": "",
    "dep/style.css": "",
    "dep/test/test_dep.py": "",
    "dep-1.0.dist-info/METADATA": "",
    "dep-1.0.dist-info/entry_points.txt": "",
    "dep-1.0.dist-info/licenses/COPYING": "",
    "dep-1.0.dist-info/RECORD": "",
    "bin/dep": "",
}


class GlueProject:
    """A job's sources in a folder, wheels in an index, packages in another folder."""

    def __init__(self, folder: Path) -> None:
        self.sources = write(folder / "glue_jobs", JOB)
        self.index = Index(PURE)
        self.output = folder / "output"

    def build(self) -> Package:
        return glue_package(self.output, sources=self.sources, fetch=self.index.fetch)


def _names(package: Package) -> list[str]:
    with ZipFile(package.path) as archive:
        return sorted(archive.namelist())


@pytest.fixture(name="job")
def _job(tmp_path: Path) -> GlueProject:
    return GlueProject(tmp_path)


def test_the_glue_zip_has_the_job_with_its_data_and_packages_with_their_licences(
    job: GlueProject,
) -> None:
    assert _names(job.build()) == [
        "dep-1.0.dist-info/METADATA",
        "dep-1.0.dist-info/entry_points.txt",
        "dep-1.0.dist-info/licenses/COPYING",
        "dep/__init__.py",
        "dep/style.css",
        "kafka_lag/__init__.py",
        "kafka_lag/contract/__init__.py",
        "kafka_lag/contract/columns.py",
        "kafka_lag/contract/dimensions.py",
        "kafka_lag/contract/exposition.py",
        "kafka_lag/formatting.py",
        "kafka_lag_report/__init__.py",
        "kafka_lag_report/page/page.css",
        "kafka_lag_report/page/page.html.j2",
        "kafka_lag_report/page/page.js",
        "kafka_lag_report/storage/log4j2.properties",
    ]


def test_a_changed_job_is_another_zip_without_fetching_again(job: GlueProject) -> None:
    first = job.build()
    write(job.sources, {"kafka_lag_report/page/page.css": "body {}"})
    assert job.build().sha256 != first.sha256
    assert len(job.index.asked) == 1


@pytest.mark.parametrize(
    "name", ["dep/_fast.cpython-311-x86_64-linux-gnu.so", "dep/_fast.pyd", "dep.libs/libx.so.1"]
)
def test_a_compiled_module_is_named_and_no_glue_zip_is_made(job: GlueProject, name: str) -> None:
    job.index.files = {**PURE, name: ""}
    with pytest.raises(PackagingError, match=rf"compiled modules cannot be in: {name}\. Take"):
        job.build()
    assert list(job.output.iterdir()) == []


@pytest.fixture(name="shipped", scope="module")
def _shipped(tmp_path_factory: pytest.TempPathFactory) -> Package:
    return glue_package(tmp_path_factory.mktemp("glue"))


def test_the_shipped_glue_zip_has_what_the_page_is_made_with(shipped: Package) -> None:
    names = _names(shipped)
    own = {"kafka_lag_report/daily_report.py", "kafka_lag_report/storage/log4j2.properties"}
    assert own <= set(names)
    assert {"jinja2/__init__.py", "markupsafe/_native.py"} <= set(names)
    assert [name for name in names if re.search(r"\.(so|pyc|pyi|c)$", name)] == []


def test_every_folder_of_modules_is_a_package(shipped: Package) -> None:
    # On a disk Python does without __init__.py, in a zip it finds no such folder.
    modules = [Path(name) for name in _names(shipped) if name.endswith(".py")]
    folders = {path.parent for path in modules} - {Path()}
    assert folders - {path.parent for path in modules if path.name == "__init__.py"} == set()


def test_every_package_in_the_shipped_glue_zip_has_its_licence(shipped: Package) -> None:
    names = _names(shipped)
    packages = {name.split("/")[0] for name in names if ".dist-info/" in name}
    licensed = {name.split("/")[0] for name in names if re.search(r"/(LICEN[CS]E|COPYING)", name)}
    assert len(packages) >= 2
    assert packages - licensed == set()


def test_two_glue_zips_have_the_same_hash(tmp_path: Path) -> None:
    # A copy, as nothing else may change while the two are made.
    sources = Path(shutil.copytree(GLUE_JOBS, tmp_path / "glue_jobs"))
    one, two = (glue_package(tmp_path / name, sources=sources) for name in ("one", "two"))
    assert one.sha256 == two.sha256
