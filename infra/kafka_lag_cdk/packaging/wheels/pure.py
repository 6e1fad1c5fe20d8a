# SPDX-License-Identifier: Apache-2.0
"""Packages that Glue can import from a zip, whatever its Python: with nothing compiled in them.

What else a wheel brings stays as it is, licences and entry points too.
"""

from __future__ import annotations

from pathlib import Path

from kafka_lag_cdk.packaging.target import PackagingError
from kafka_lag_cdk.packaging.wheels.prune import remove

# Faster twins of Python modules, which their packages do without.
_WITH_A_FALLBACK = ("markupsafe/_speedups.*",)

# What only compilers, type checkers and tests read, and what uv and pip note of an installation.
_NEVER_READ = (
    *(".*", "bin", "**/__pycache__", "**/*.pyi", "**/py.typed", "*/test", "*/tests"),
    *("*.dist-info/INSTALLER", "*.dist-info/RECORD", "*.dist-info/REQUESTED", "*.dist-info/*.json"),
)

_COMPILED = ("**/*.so", "**/*.so.*", "**/*.pyd", "**/*.dylib", "**/*.dll")


def keep_pure(packages: Path) -> None:
    """Removes what Glue never reads. Raises PackagingError where a compiled module is left."""
    remove(packages, (*_WITH_A_FALLBACK, *_NEVER_READ))
    left = {path for pattern in _COMPILED for path in packages.glob(pattern)}
    if left:
        names = ", ".join(sorted(path.relative_to(packages).as_posix() for path in left))
        raise PackagingError(
            f"Glue imports the job's packages from a zip, which compiled modules cannot be in: "
            f"{names}. Take a pure Python package, or, where it has a fallback in Python, name "
            f"the module in {Path(__file__).name}."
        )
