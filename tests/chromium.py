# SPDX-License-Identifier: Apache-2.0
"""The browser in which tests open pages."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, expect, sync_playwright

from tests.programs import find_program

# In ms: what only a browser that hangs takes.
LONGEST_WAIT = 240_000
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def chromium() -> Iterator[Browser]:
    """One headless Chromium; without one a skip, or a failure where CI is set."""
    path = find_program("chromium", "google-chrome", package="chromium")
    # What a page shows in the end: only one that never does takes so long.
    expect.set_options(timeout=LONGEST_WAIT)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=_FLAGS, timeout=LONGEST_WAIT)
        yield browser
        browser.close()
