# SPDX-License-Identifier: Apache-2.0
"""A project of a few small files, whose lock file names wheels in a folder."""

from __future__ import annotations

import hashlib
import io
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import pytest

FUNCTIONS = {
    "kafka_lag/__init__.py": "",
    "kafka_lag/collector.py": "",
    "kafka_lag/contract/__init__.py": "",
    "kafka_lag/contract/columns.py": "",
    "kafka_lag/py.typed": "",
    "kafka_lag/views/page.html.j2": "{{ name }}",
    "kafka_lag/wording/__init__.py": "",
    "kafka_lag/wording/formatting.py": "",
    ".DS_Store": "",
    "kafka_lag/views/__pycache__/b.cpython-313.pyc": "",
}
GLUE_JOBS = {
    "kafka_lag_report/__init__.py": "",
    "kafka_lag_report/page/page.html.j2": "{{ name }}",
    "kafka_lag_report/log4j2.properties": "",
    "kafka_lag_report/__pycache__/a.cpython-313.pyc": "",
}
WHEEL = {"dep/__init__.py": "version = 1", "dep/tests/test_dep.py": ""}

_PROJECT = """\
[project]
name = "msk-lag-reporter"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["dep"]

[dependency-groups]
page = ["dep"]
"""
# What Lambda brings is named here and not in the lock file.
_METADATA = """\
Metadata-Version: 2.1
Name: dep
Version: {version}
Requires-Dist: boto3
"""
_LOCK = """\
version = 1
revision = 3
requires-python = ">=3.11"

[[package]]
name = "msk-lag-reporter"
version = "0.1.0"
source = {{ editable = "." }}
dependencies = [{{ name = "dep" }}]

[package.dev-dependencies]
page = [{{ name = "dep" }}]

[[package]]
name = "dep"
version = "{version}"
source = {{ registry = "https://index.example/simple" }}
{files}"""
# Its own build backend, which leaves a file beside the project when it is run.
_SOURCES = {
    "dep-1.0/PKG-INFO": _METADATA.format(version="1.0"),
    "dep-1.0/pyproject.toml": (
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    ),
}


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Writes files under their names relative to `folder`, which it returns."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


class Project:
    """Its sources, its lock file, and the only package index that uv knows, without a network."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder / "project"
        self.index = folder / "index"
        self.cache = folder / "cache"
        self.index.mkdir()
        monkeypatch.setenv("UV_FIND_LINKS", str(self.index))
        monkeypatch.setenv("UV_OFFLINE", "1")
        monkeypatch.setenv("UV_CACHE_DIR", str(folder / "uv"))
        write(self.folder / "functions", FUNCTIONS)
        write(self.folder / "glue_jobs", GLUE_JOBS)
        write(self.folder, {"pyproject.toml": _PROJECT})
        self.publish()

    def publish(
        self,
        files: Mapping[str, str] = WHEEL,
        *,
        version: str = "1.0",
        tags: tuple[str, ...] = ("py3-none-any",),
        hashed: bool = True,
    ) -> None:
        """Locks a version of `dep`, with a wheel of these files for each tag."""
        wheels = [_locked(self._wheel(files, version, tag), hashed) for tag in tags]
        self._lock(version, f"wheels = [{', '.join(wheels)}]\n")

    def publish_sources(self) -> Path:
        """Locks a source distribution alone; returns the file that building it would leave."""
        built = self.folder.parent / "built"
        backend = f"from pathlib import Path\nPath({str(built)!r}).touch()\n"
        path = self.index / "dep-1.0.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for name, content in {**_SOURCES, "dep-1.0/backend.py": backend}.items():
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content.encode()))
        self._lock("1.0", f"sdist = {_locked(path)}\n")
        return built

    def withdraw(self) -> None:
        """Removes every wheel, also from what uv has kept of them."""
        for folder in (self.index, self.index.parent / "uv"):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()

    def _lock(self, version: str, files: str) -> None:
        write(self.folder, {"uv.lock": _LOCK.format(version=version, files=files)})

    def _wheel(self, files: Mapping[str, str], version: str, tag: str) -> Path:
        about = f"dep-{version}.dist-info"
        path = self.index / f"dep-{version}-{tag}.whl"
        with ZipFile(path, "w") as wheel:
            for name, content in files.items():
                wheel.writestr(name, content)
            wheel.writestr("dep/tag.txt", tag)
            wheel.writestr(f"{about}/METADATA", _METADATA.format(version=version))
            wheel.writestr(f"{about}/licenses/COPYING", "")
            wheel.writestr(
                f"{about}/WHEEL",
                f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n",
            )
            wheel.writestr(f"{about}/entry_points.txt", "[console_scripts]\ndep = dep:main\n")
            names = "".join(f"{name},,\n" for name in [*wheel.namelist(), f"{about}/RECORD"])
            wheel.writestr(f"{about}/RECORD", names)
        return path


def names(folder: Path) -> list[str]:
    """The files below a folder, relative to it."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def _locked(path: Path, hashed: bool = True) -> str:
    """A file of the index as a lock file names it."""
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    tail = f', hash = "sha256:{sha256}"' if hashed else ""
    return f'{{ url = "https://index.example/{path.name}"{tail} }}'
