# SPDX-License-Identifier: Apache-2.0
"""Programs that tests start and pip does not install."""

import os
import shutil
from typing import NoReturn

import pytest


def lacking(what: str) -> NoReturn:
    """A skip where a tool is missing, a failure where CI is set."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


def find_program(*names: str, package: str) -> str:
    """Where the first of these names is found; without any as `lacking`, naming the package."""
    found = next(filter(None, map(shutil.which, names)), None)
    return found or lacking(f"needs {names[0]}: apt-get install {package}")
