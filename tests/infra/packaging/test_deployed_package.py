# SPDX-License-Identifier: Apache-2.0
"""The package that is deployed by default, for Python 3.13 on arm64, from the real wheels."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from kafka_lag_cdk.packaging import Package, Target, build
from kafka_lag_cdk.packaging.sizes import excesses
from kafka_lag_cdk.packaging.wheels.libraries import machine_of, needed_by

# What Lambda's Amazon Linux has: the C and C++ libraries and the loader.
SYSTEM = re.compile(r"(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux-.*)\.so\.\d+")


@pytest.fixture(name="package", scope="module")
def _package() -> Iterator[Package]:
    with tempfile.TemporaryDirectory() as folder:
        yield build(Target(), Path(folder))


@pytest.fixture(name="objects", scope="module")
def _objects(package: Package) -> dict[str, bytes]:
    """The shared objects, by their names in the zip."""
    with ZipFile(package.path) as archive:
        return {n: archive.read(n) for n in archive.namelist() if re.search(r"\.so(\.|$)", n)}


def test_it_is_within_the_limits(package: Package) -> None:
    assert excesses(package) == []


def test_every_shared_object_is_for_lambdas_machine(objects: dict[str, bytes]) -> None:
    assert len(objects) > 10
    assert {machine_of(content) for content in objects.values()} == {"aarch64"}


def test_every_module_is_for_lambdas_python(objects: dict[str, bytes]) -> None:
    versions = {m[1] for name in objects if (m := re.search(r"\.cpython-(\d+)-", name))}
    assert versions == {"313"}


def test_every_library_that_is_asked_for_is_there(objects: dict[str, bytes]) -> None:
    needed = frozenset().union(*map(needed_by, objects.values()))
    there = {name.rsplit("/", 1)[-1] for name in objects}
    assert "libarrow.so" in {name.rpartition(".")[0] for name in needed}
    assert {name for name in needed - there if not SYSTEM.fullmatch(name)} == set()


@pytest.mark.parametrize(
    "kind",
    [
        r"\.(pyc|pyi|pyx|pxd|pxi|h|hpp|c|cc|a)$",
        r"(^|/)(tests?|include|__pycache__)/",
        r"\.dist-info/(?!METADATA$)",
        r"lib(arrow_)?(flight|s3|gcs|azure)|_flight|_s3fs|_hdfs|_orc",
        r"^(boto3|botocore|s3transfer|urllib3|dateutil|click|six)",
        r"^(local|tests|infra|glue_jobs|bin)/",
    ],
)
def test_nothing_that_is_never_imported_is_in_it(package: Package, kind: str) -> None:
    with ZipFile(package.path) as archive:
        assert [name for name in archive.namelist() if re.search(kind, name)] == []


def test_two_builds_have_the_same_hash(package: Package, tmp_path: Path) -> None:
    again = build(Target(), tmp_path)
    again.path.unlink()
    assert again.sha256 == package.sha256
