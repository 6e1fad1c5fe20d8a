# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: quiet, searchable, as narrow as a phone, and it keeps its place."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, TypeAlias

import pytest
from playwright.sync_api import Browser, Page, expect

from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.views.page import answer, link
from tests.chromium import LONGEST_WAIT
from tests.fakes import MemoryStore
from tests.functions.views.page.rows import MINUTE, NOON, a_group
from tests.functions.views.page.shop import GROUPS, NAMES, NASTY, many, put, six_hours
from tests.programs import lacking

_AXE = "axe-core@4.14.1"
_FOLDER = Path(__file__).parents[4] / ".local" / "axe"
_SCRIPT = _FOLDER / "node_modules" / "axe-core" / "axe.min.js"
DESKTOP, PHONE = 1280, 390
VIEWS = {
    "overview": "/",
    "group": "/cluster/shop/group/billing",
    "topic": "/cluster/shop/topic/orders",
    "nothing": "/nothing/here",
    "markup": link("shop", "group", NASTY),
    "long": link("shop", "topic", max(NAMES, key=len)),
}
MAIN = ("overview", "group", "topic", "nothing")
# Views that are made of the same parts as others, whose names the overview has too.
SELDOM = pytest.mark.thorough


@dataclass
class Served:
    """A store that is served at `url`; store and clock may be changed meanwhile."""

    store: MemoryStore
    now: int
    url: str = ""

    def at(self, path: str, query: str, host: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body for a path and query as sent."""
        # A new one each time: what is listed must not be believed for longer than a test.
        snapshots = Snapshots(self.store, lambda: self.now / 1000)
        given = answer(Request.of("GET", path, query, {"host": host}), snapshots, self.now)
        return given.status, {"Content-Type": given.content_type, **given.headers}, given.body


@contextmanager
def serving(served: Served) -> Iterator[Served]:
    """The same, with its address, as long as the context lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            status, headers, body = served.at(path, query, self.headers.get("Host", ""))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(name="axe", scope="module")
def _axe() -> str:
    """The source of axe-core, installed once beside the project's other Node tools."""
    if not _SCRIPT.exists():
        result = ["--silent", "--no-audit", "--no-fund", "--no-save", "--prefix", str(_FOLDER)]
        try:
            subprocess.run(["npm", "install", *result, _AXE], check=True, timeout=120)
        except (OSError, subprocess.SubprocessError):
            lacking(f"needs {_AXE} from npm")
    return _SCRIPT.read_text("utf-8")


@pytest.fixture(name="served", scope="module")
def _served() -> Iterator[Served]:
    """A cluster with a group in each state, read by all tests and changed by none."""
    with serving(Served(six_hours(MemoryStore()), NOON + 30_000)) as served:
        yield served


@dataclass
class Opened:
    """A page that was opened, with all it asked for and complained of."""

    page: Page
    requests: list[str] = field(default_factory=list)
    console_errors: list[str] = field(default_factory=list)


Visit: TypeAlias = Callable[..., Opened]


@pytest.fixture(name="visit")
def _visit(browser: Browser) -> Iterator[Visit]:
    """Opens an address in a context of its own, until the test is over."""
    with ExitStack() as contexts:

        def visit(url: str, width: int = DESKTOP, **more: Any) -> Opened:
            context = browser.new_context(viewport={"width": width, "height": 800}, **more)
            context.set_default_timeout(LONGEST_WAIT)
            contexts.callback(context.close)
            opened = Opened(context.new_page())
            opened.page.on("request", lambda request: opened.requests.append(request.url))
            opened.page.on("console", lambda message: opened.console_errors.append(message.text))
            opened.page.on("pageerror", lambda error: opened.console_errors.append(str(error)))
            opened.page.on("dialog", lambda dialog: opened.console_errors.append(dialog.message))
            opened.page.goto(url)
            return opened

        yield visit


@pytest.fixture(name="page")
def _page(visit: Visit, served: Served) -> Page:
    return visit(served.url).page


@pytest.mark.parametrize(
    ("view", "width"),
    [
        *((view, PHONE) for view in MAIN[:3]),
        *(pytest.param(view, PHONE, marks=SELDOM) for view in ("nothing", "markup", "long")),
        pytest.param("overview", DESKTOP, marks=SELDOM),
    ],
)
def test_a_page_opens_quietly_and_fits(visit: Visit, served: Served, view: str, width: int) -> None:
    opened = visit(served.url + VIEWS[view], width)

    missing = ["Failed to load resource: the server responded with a status of 404 (Not Found)"]
    assert opened.console_errors == (missing if view == "nothing" else [])
    assert len(opened.requests) == 1
    assert opened.page.evaluate("document.documentElement.scrollWidth") == width
    assert opened.page.locator("h1").count() == 1


def test_a_column_sorts_and_a_search_lands_in_the_address(page: Page) -> None:
    title = page.get_by_role("columnheader", name="Group")
    title.get_by_role("link").click()
    expect(title).to_have_attribute("aria-sort", "ascending")
    title.get_by_role("link").click()
    expect(title).to_have_attribute("aria-sort", "descending")
    expect(page.locator("tbody tr th .name").first).to_have_text("\\u202eabc\\u2066\\u000a")

    page.fill("#q", "LEDGER")
    page.keyboard.press("Enter")

    expect(page.locator("tbody tr")).to_have_count(2)
    assert "q=LEDGER" in page.url
    page.select_option("#status", "WARN")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("tbody .name:not(.plain)")).to_have_text(["mailer"])
    page.get_by_role("link", name="Clear").click()
    expect(page.locator("tbody tr")).to_have_count(len(GROUPS))


def test_a_long_name_is_short_to_see_and_whole_to_copy(visit: Visit) -> None:
    name = f"{'a' * 100}{'b' * 100}"
    with serving(Served(put(MemoryStore(), groups=[a_group(name)]), NOON + 30_000)) as served:
        found = visit(served.url).page.locator("tbody th .name")
        copied = found.evaluate(
            "at => { getSelection().selectAllChildren(at); return getSelection().toString() }"
        )
        widths = found.evaluate(
            "at => [...at.childNodes].map(one => { const range = new Range(); "
            "range.selectNode(one); return range.getBoundingClientRect().width })"
        )

    assert copied == name
    # the start, the dots, what is left out, the end
    assert [width > 1 for width in widths] == [True, True, False, True]


def test_without_scripts_the_form_searches_and_the_page_refreshes(
    visit: Visit, served: Served
) -> None:
    page = visit(served.url, java_script_enabled=False).page

    page.fill("#q", "bill")
    page.get_by_role("button", name="Show").click()

    expect(page.locator("tbody tr")).to_have_count(1)
    assert page.locator("meta[http-equiv=refresh]").get_attribute("content") == "300"


def test_the_keyboard_reaches_the_content_at_once(page: Page) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"

    page.keyboard.press("Enter")
    page.keyboard.press("Tab")

    assert page.evaluate("document.activeElement.id") == "q"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"


def test_the_page_refreshes_by_itself_and_stays_where_it_is(visit: Visit) -> None:
    with serving(Served(put(MemoryStore(), groups=many(90)), NOON + 30_000)) as served:
        page = visit("about:blank").page
        page.clock.install()
        page.goto(f"{served.url}/?sort=group")
        page.get_by_role("link", name="group-00070").focus()
        page.evaluate("scrollBy(0, 300)")
        before = page.evaluate("scrollY")
        served.now += MINUTE
        put(served.store, NOON + MINUTE, groups=[*many(90), a_group("zoe", status="ERR")])

        with page.expect_navigation():
            page.clock.fast_forward(61_000)

        expect(page.locator("tbody tr")).to_have_count(91)
        expect(page.get_by_role("link", name="group-00070")).to_be_focused()
        page.wait_for_function(f"Math.abs(scrollY - {before}) < 60")


def test_what_is_being_typed_is_not_lost(visit: Visit, served: Served) -> None:
    page = visit("about:blank").page
    page.clock.install()
    page.goto(served.url)
    page.fill("#q", "half a na")

    page.clock.fast_forward(10 * MINUTE)

    expect(page.get_by_text("It waits until you are done.")).to_be_visible()
    assert page.input_value("#q") == "half a na"


def test_old_numbers_are_called_old_on_top(visit: Visit, axe: str) -> None:
    with serving(Served(put(MemoryStore()), NOON + 60 * MINUTE)) as served:
        page = visit(served.url, PHONE, color_scheme="dark").page

        warning = page.get_by_role("region", name="Warnings")
        expect(warning).to_contain_text(re.compile("these numbers are 1.h old"))
        box = warning.bounding_box()
        assert box is not None
        assert box["y"] < 100
        assert violations(page, axe) == []


def test_a_sparkline_of_a_single_run_is_seen(visit: Visit) -> None:
    with serving(Served(put(MemoryStore()), NOON + 60 * MINUTE)) as served:
        page = visit(served.url + VIEWS["group"]).page
    line = page.get_by_role("img", name="Time lag of the 6 hours before")

    drawn = line.screenshot()
    page.evaluate("document.querySelectorAll('.dot').forEach((dot) => dot.remove())")

    assert line.screenshot() != drawn


@pytest.mark.parametrize(
    ("view", "width", "scheme"),
    [
        *((view, DESKTOP, "dark") for view in MAIN[:2]),
        *(pytest.param(view, DESKTOP, "dark", marks=SELDOM) for view in MAIN[2:]),
        pytest.param("group", PHONE, "light", marks=SELDOM),
    ],
)
def test_axe_finds_nothing(
    visit: Visit, served: Served, axe: str, view: str, width: int, scheme: str
) -> None:
    page = visit(served.url + VIEWS[view], width, color_scheme=scheme).page

    assert violations(page, axe) == []


def violations(page: Page, axe: str) -> list[tuple[str, str, str]]:
    """What axe-core complains of: its rule, how bad, and where."""
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    return [(one["id"], one["impact"], node["html"]) for one in found for node in one["nodes"]]
