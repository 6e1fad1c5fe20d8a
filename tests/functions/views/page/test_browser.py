# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: quiet, searchable, as wide as a phone, and it keeps the place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pytest
from playwright.sync_api import Browser, Page, expect

from kafka_lag.views.page import link
from tests.chromium import LONGEST_WAIT
from tests.fakes import MemoryStore
from tests.functions.views.page.rows import MINUTE, NOON, a_group
from tests.functions.views.page.served import Served, serving
from tests.functions.views.page.shop import GROUPS, NAMES, NASTY, many, put

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
    ("view", "width"), [*((view, DESKTOP) for view in MAIN), *((view, PHONE) for view in VIEWS)]
)
def test_a_page_opens_quietly_and_fits(visit: Visit, served: Served, view: str, width: int) -> None:
    opened = visit(served.url + VIEWS[view], width)

    missing = ["Failed to load resource: the server responded with a status of 404 (Not Found)"]
    assert opened.console_errors == (missing if view == "nothing" else [])
    assert len(opened.requests) == 1
    assert opened.page.evaluate("document.documentElement.scrollWidth") == width
    assert opened.page.locator("h1").count() == 1


def test_a_column_sorts_and_sorts_back(page: Page) -> None:
    first = page.locator("tbody tr th .name").first
    title = page.get_by_role("columnheader", name="Group")

    title.get_by_role("link").click()
    expect(title).to_have_attribute("aria-sort", "ascending")
    expect(first).to_have_text("..")
    title.get_by_role("link").click()
    expect(title).to_have_attribute("aria-sort", "descending")
    expect(first).to_have_text("\\u202eabc\\u2066\\u000a")
    assert page.url.endswith("?sort=-group")


def test_a_search_lands_in_the_address(page: Page) -> None:
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


def test_a_name_made_of_markup_stays_text_all_the_way_down(visit: Visit, served: Served) -> None:
    opened = visit(served.url)

    for _ in ("group", "topic"):
        opened.page.get_by_role("main").get_by_role("link", name=NASTY, exact=True).first.click()
        expect(opened.page.locator("h1")).to_have_text(NASTY)
        opened.page.wait_for_load_state()
        assert opened.page.locator("script").count() == 1
    opened.page.go_back()
    opened.page.go_back()
    expect(opened.page.locator("h1")).to_have_text("shop")
    assert opened.console_errors == []


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


def test_dark_and_light_are_two_papers(visit: Visit, served: Served) -> None:
    paper = "getComputedStyle(document.documentElement).backgroundColor"

    seen = {
        visit(served.url, color_scheme=scheme).page.evaluate(paper) for scheme in ("light", "dark")
    }

    assert len(seen) == 2


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


def test_old_numbers_are_called_old_on_top(visit: Visit) -> None:
    with serving(Served(put(MemoryStore()), NOON + 60 * MINUTE)) as served:
        page = visit(served.url, PHONE).page

        warning = page.get_by_role("region", name="Warnings")
        expect(warning).to_contain_text(re.compile("these numbers are 1.h old"))
        box = warning.bounding_box()
        assert box is not None
        assert box["y"] < 100


def test_a_sparkline_of_a_single_run_is_seen(visit: Visit) -> None:
    with serving(Served(put(MemoryStore()), NOON + 60 * MINUTE)) as served:
        page = visit(served.url + VIEWS["group"]).page
    line = page.get_by_role("img", name="Time lag of the 6 hours before")

    drawn = line.screenshot()
    page.evaluate("document.querySelectorAll('.dot').forEach((dot) => dot.remove())")

    assert line.screenshot() != drawn


def test_what_leads_on_from_an_error_stands_apart(visit: Visit, served: Served) -> None:
    page = visit(served.url + VIEWS["nothing"]).page

    alarm, link = (page.locator(f"main {what}").bounding_box() for what in (".alarm", "a"))

    assert alarm is not None
    assert link is not None
    assert link["y"] - alarm["y"] - alarm["height"] >= 8


@pytest.mark.parametrize(
    ("width", "scheme"),
    [(DESKTOP, "dark"), pytest.param(PHONE, "light", marks=pytest.mark.thorough)],
)
@pytest.mark.parametrize("view", MAIN)
def test_axe_finds_nothing(
    visit: Visit, served: Served, axe: str, view: str, width: int, scheme: str
) -> None:
    page = visit(served.url + VIEWS[view], width, color_scheme=scheme).page

    assert violations(page, axe) == []


def test_axe_finds_nothing_where_numbers_are_old(visit: Visit, axe: str) -> None:
    with serving(Served(put(MemoryStore()), NOON + 60 * MINUTE)) as served:
        page = visit(served.url + VIEWS["group"], PHONE, color_scheme="dark").page

    assert violations(page, axe) == []


def violations(page: Page, axe: str) -> list[tuple[str, str, str]]:
    """What axe-core complains of: its rule, how bad, and where."""
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    return [(one["id"], one["impact"], node["html"]) for one in found for node in one["nodes"]]
