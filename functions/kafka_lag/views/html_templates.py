# SPDX-License-Identifier: Apache-2.0
"""Renders pages from templates: every value is escaped, and a misspelt name fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def make_environment(package: str) -> Environment:
    """Returns an environment for the files in the folder `templates` of a package."""
    # Imported here, because it slows down the start and only pages need it.
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415

    return Environment(
        # The package's loader finds templates in a zip, too.
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
