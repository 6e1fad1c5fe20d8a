# SPDX-License-Identifier: Apache-2.0
"""What is left of packages: what the functions import, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lag_cdk.packaging.wheels.prune import prune
from tests.infra.packaging.fakes import shared_object, write

TAG = "cpython-313-aarch64-linux-gnu.so"

GONE = [
    ".lock",
    "bin/f2py",
    "numpy/__pycache__/version.cpython-313.pyc",
    "numpy/_core/include/numpy/arrayobject.h",
    "numpy/_core/lib/libnpymath.a",
    "numpy/f2py/__init__.py",
    "numpy/random/mtrand.so",
    "numpy/_core/tests/data/a.csv",
    f"numpy/_core/_rational_tests.{TAG}",
    "numpy/__init__.pyi",
    "numpy-2.5.5.dist-info/RECORD",
    "numpy-2.5.5.dist-info/licenses/LICENSE.txt",
    "pyarrow/table.pxi",
    "pyarrow/lib.pyx",
    "pyarrow/includes/libarrow.pxd",
    "pyarrow/flight.py",
    f"pyarrow/_flight.{TAG}",
    f"pyarrow/_s3fs.{TAG}",
    f"pyarrow/_dataset_orc.{TAG}",
    f"pyarrow/_parquet_encryption.{TAG}",
    "pyarrow/tests/test_array.py",
    "pyarrow/libarrow_flight.so.2600",
    "kafka/cli/admin/__init__.py",
    "kafka/consumer/__main__.py",
    "aws_msk_iam_sasl_signer/cli.py",
    "aws_lambda_powertools/event_handler/openapi/swagger_ui/swagger-ui.min.css",
]
KEPT = [
    "numpy-2.5.5.dist-info/METADATA",
    "numpy/_core/multiarray.py",
    f"numpy/_core/_multiarray_umath.{TAG}",
    "numpy/lib/_npyio_impl.py",
    "pyarrow/__init__.py",
    "pyarrow/parquet/core.py",
    "pyarrow/compute.py",
    f"pyarrow/_compute.{TAG}",
    f"pyarrow/_fs.{TAG}",
    f"pyarrow/_parquet.{TAG}",
    "kafka/protocol/schemas/resources/FetchRequest.json",
    "aws_lambda_powertools/logging/logger.py",
    "aws_msk_iam_sasl_signer/MSKAuthTokenProvider.py",
    "typing_extensions.py",
]


@pytest.fixture(name="left", scope="module")
def _left(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("packages")
    write(folder, {name: shared_object() if ".so" in name else "" for name in GONE + KEPT})
    prune(folder)
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", GONE)
def test_what_is_never_imported_goes(left: set[str], name: str) -> None:
    assert name not in left


def test_all_else_is_kept(left: set[str]) -> None:
    assert left >= set(KEPT)


def test_a_library_goes_with_the_last_module_that_needs_it(tmp_path: Path) -> None:
    files = {
        f"pyarrow/_s3fs.{TAG}": shared_object(["libarrow_s3.so.2600", "libarrow.so.2600"]),
        f"pyarrow/lib.{TAG}": shared_object(["libarrow.so.2600"]),
        "pyarrow/libarrow_s3.so.2600": shared_object(["libarrow.so.2600"]),
        "pyarrow/libarrow.so.2600": shared_object(),
    }
    prune(write(tmp_path, files))
    assert {path.name for path in (tmp_path / "pyarrow").iterdir()} == {
        f"lib.{TAG}",
        "libarrow.so.2600",
    }
