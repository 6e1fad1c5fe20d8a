# SPDX-License-Identifier: Apache-2.0
"""One headless Chromium and one server for all browser tests, and axe-core from npm."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.chromium import LONGEST_WAIT, chromium
from tests.fakes import MemoryStore
from tests.functions.views.page.rows import NOON
from tests.functions.views.page.served import Served, serving
from tests.functions.views.page.shop import six_hours
from tests.programs import lacking

_AXE = "axe-core@4.14.1"
_FOLDER = Path(__file__).parents[4] / ".local" / "axe"
_SCRIPT = _FOLDER / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(name="browser", scope="package")
def _browser() -> Iterator[Browser]:
    # What a page shows in the end: only one that never does takes so long.
    expect.set_options(timeout=LONGEST_WAIT)
    with chromium() as browser:
        yield browser


@pytest.fixture(name="axe", scope="package")
def _axe() -> str:
    """The source of axe-core, installed once beside the project's other Node tools."""
    if not _SCRIPT.exists():
        result = ["--silent", "--no-audit", "--no-fund", "--no-save", "--prefix", str(_FOLDER)]
        try:
            subprocess.run(["npm", "install", *result, _AXE], check=True, timeout=120)
        except (OSError, subprocess.SubprocessError):
            lacking(f"needs {_AXE} from npm")
    return _SCRIPT.read_text("utf-8")


@pytest.fixture(name="served", scope="package")
def _served() -> Iterator[Served]:
    """A cluster with a group in each state, read by all tests and changed by none."""
    with serving(Served(six_hours(MemoryStore()), NOON + 30_000)) as served:
        yield served
