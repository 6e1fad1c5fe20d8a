# SPDX-License-Identifier: Apache-2.0
"""The package that is deployed by default, for Python 3.13 on arm64, from the real wheels."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from kafka_lag_cdk.packaging import build, count_bytes
from tests.infra.packaging.projects import names

FUNCTIONS = Path(__file__).parents[3] / "functions"
TEMPLATES = FUNCTIONS / "kafka_lag" / "views" / "templates"

# Well below Lambda's limit: a wheel that grows is noticed before it can no longer be deployed.
EXPECTED_MB = range(100, 200)

# Of an ELF file: its first bytes for 64 bits and little-endian, and the number of its machine.
ELF, AARCH64 = b"\x7fELF\x02\x01", 183

# What Lambda's Amazon Linux has: the C and C++ libraries and the loader.
SYSTEM = re.compile(r"(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s)\.so\.\d+")
# pyarrow loads the first two when somebody asks for HDFS; the third is openblas's name for itself.
NOT_LOADED = {"libhdfs.so", "libjvm.so", "libscipy_openblas64_.so"}


@pytest.fixture(name="package", scope="module")
def _package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(cache=tmp_path_factory.mktemp("package"))


@pytest.fixture(name="objects", scope="module")
def _objects(package: Path) -> dict[str, bytes]:
    """The shared objects, by their names in the package."""
    return {n: (package / n).read_bytes() for n in names(package) if re.search(r"\.so(\.|$)", n)}


def test_its_size_is_as_expected(package: Path) -> None:
    assert count_bytes(package) // 10**6 in EXPECTED_MB


def test_every_shared_object_is_for_lambdas_machine(objects: dict[str, bytes]) -> None:
    assert len(objects) > 10
    assert {content[:6] for content in objects.values()} == {ELF}
    assert {struct.unpack_from("<H", content, 18)[0] for content in objects.values()} == {AARCH64}


def test_every_module_is_for_lambdas_python(objects: dict[str, bytes]) -> None:
    versions = {m[1] for name in objects if (m := re.search(r"\.cpython-(\d+)-", name))}
    assert versions == {"313"}


def test_every_library_that_an_object_names_is_there_and_no_other(
    objects: dict[str, bytes],
) -> None:
    # The names of what an object loads stand in it as strings, its own among them.
    files = {name.rsplit("/", 1)[-1] for name in objects if ".cpython-" not in name}
    libraries = {file for file in files if file.startswith("lib")}
    named = {
        (name, found.decode())
        for name, content in objects.items()
        for found in re.findall(rb"\0(lib[\w+-]+\.so[.\d]*)(?=\0)", content)
    }
    needed = {library for name, library in named if not name.endswith(f"/{library}")}
    assert {x for x in needed - NOT_LOADED if not SYSTEM.fullmatch(x)} == libraries


@pytest.mark.parametrize(
    "kind",
    [
        r"\.(pyc|pyi|pyx|pxd|pxi|h|hpp|c|cc|a)$",
        r"(^|/)(tests?|include|__pycache__)/",
        r"\.dist-info/(?!METADATA$|LICENSE$|licenses/)",
        r"lib(arrow_)?(flight|s3|gcs|azure)|_flight|_s3fs|_hdfs|_orc",
        r"^(boto3|botocore|s3transfer|urllib3|dateutil|six)",
        r"^(click|rich|markdown_it|mdurl|pygments|uvicorn|h11)",
        r"^(pydantic|annotated_types|typing_inspection|tomlkit)",
        r"^(local|tests|infra|glue_jobs|bin)/",
    ],
)
def test_nothing_that_is_never_imported_is_in_it(package: Path, kind: str) -> None:
    assert [name for name in names(package) if re.search(kind, name)] == []


def test_every_template_of_the_page_is_packed(package: Path) -> None:
    found = [path for path in TEMPLATES.rglob("*") if path.is_file()]
    assert any(path.name.endswith(".j2") for path in found)
    for path in found:
        assert (package / path.relative_to(FUNCTIONS)).read_bytes() == path.read_bytes()
