# SPDX-License-Identifier: Apache-2.0
"""What the functions never import of their dependencies, two fifths of the bytes."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from kafka_lag_cdk.packaging.wheels.libraries import unneeded

# Patterns from the folder of all packages; `**/` is any depth.
NEVER_IMPORTED = (
    # What only compilers, type checkers and installers read. METADATA stays: a package asks for
    # its own version there, and vulnerability scanners know it by that file.
    *(".*", "bin", "**/__pycache__", "**/*.pyi", "**/*.pxd", "**/*.pxi", "**/*.pyx", "**/py.typed"),
    *("**/*.h", "**/*.hpp", "**/*.c", "**/*.cc", "**/*.a", "**/include", "**/includes"),
    "*.dist-info/[!M]*",
    *("**/tests", "**/conftest.py", "**/*_tests.*.so"),
    # Arrow's other formats, engines and file systems: pyarrow imports them when asked, and
    # `pyarrow.fs` does without those it does not find.
    *(f"pyarrow/{name}.py" for name in ("acero", "benchmark", "cffi", "csv", "cuda", "dataset")),
    *(f"pyarrow/{name}.py" for name in ("feather", "flight", "json", "jvm", "orc", "substrait")),
    *(f"pyarrow/_{name}*.so" for name in ("acero", "azure", "csv", "dataset", "feather", "flight")),
    *(f"pyarrow/_{name}*.so" for name in ("gcs", "hdfs", "json", "orc", "s3fs", "substrait")),
    *("pyarrow/_parquet_encryption*.so", "pyarrow/parquet/encryption.py"),
    *("pyarrow/interchange", "pyarrow/src"),
    # Parts of numpy that it imports at their first use.
    *(f"numpy/{name}" for name in ("_pyinstaller", "doc", "f2py", "fft", "polynomial", "random")),
    *("numpy/testing", "numpy/_core/lib", "numpy/_core/_simd.*.so"),
    # Command lines, and the page by which powertools shows an API to people.
    *("kafka/cli", "kafka/benchmarks", "kafka/**/__main__.py", "aws_msk_iam_sasl_signer/cli.py"),
    "aws_lambda_powertools/event_handler/openapi/swagger_ui",
)


def prune(packages: Path) -> None:
    """Removes what is never imported, then the shared libraries that nothing left asks for."""
    remove(packages, NEVER_IMPORTED)
    for path in unneeded(packages):
        path.unlink()


def remove(packages: Path, patterns: Iterable[str]) -> None:
    """Removes the files that fit a pattern, and the folders with all that is in them."""
    for pattern in patterns:
        for path in list(packages.glob(pattern)):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
