# SPDX-License-Identifier: Apache-2.0
"""Pages made from templates: every value is escaped, and a misspelt name fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def make_environment(package: str) -> Environment:
    """Return an environment for the files in the folder `templates` of a package."""
    # Costs the start of those alone who open a page.
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415

    return Environment(
        # By the package's loader templates are found in a zip too.
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
