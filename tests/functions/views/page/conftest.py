# SPDX-License-Identifier: Apache-2.0
"""One headless Chromium and one server for all browser tests, and axe-core from npm."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.fakes import MemoryStore
from tests.functions.views.page.rows import NOON
from tests.functions.views.page.served import Served, serving
from tests.functions.views.page.shop import six_hours

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_AXE = "axe-core@4.14.1"
_FOLDER = Path(__file__).parents[4] / ".local" / "axe"
_SCRIPT = _FOLDER / "node_modules" / "axe-core" / "axe.min.js"


def _without(what: str) -> None:
    """A skip where a tool is missing, a failure where CI is set."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(name="browser", scope="package")
def _browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        _without("needs Chromium: apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(name="axe", scope="package")
def _axe() -> str:
    """The source of axe-core, installed once beside the project's other Node tools."""
    if not _SCRIPT.exists():
        told = ["--silent", "--no-audit", "--no-fund", "--no-save", "--prefix", str(_FOLDER)]
        try:
            subprocess.run(["npm", "install", *told, _AXE], check=True, timeout=120)
        except (OSError, subprocess.SubprocessError):
            _without(f"needs {_AXE} from npm")
    return _SCRIPT.read_text("utf-8")


@pytest.fixture(name="served", scope="package")
def _served() -> Iterator[Served]:
    """A cluster with a group in each state, read by all tests and changed by none."""
    with serving(Served(six_hours(MemoryStore()), NOON + 30_000)) as served:
        yield served
