# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: quiet, searchable, and no wider than a phone."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from kafka_lag_report.page.render import render
from kafka_lag_report.page.sections import COLUMNS
from tests.chromium import LONGEST_WAIT
from tests.glue_jobs.page.pages import NASTY, full

# Search shows 200 of them.
GROUPS = 220
DESKTOP, PHONE = 1280, 390
NAMES = {
    "nasty": NASTY,
    "long": "w" * 3_000,
    "turned": "\u202eabc\u2066\n\u0000",
    "right": "\u05d0\u05d1\u05d2" * 40,
}


@dataclass
class Opened:
    """A page that was opened, with all it asked for and complained of."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@pytest.fixture(name="files", scope="module")
def _files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same full page with each kind of name."""
    folder = tmp_path_factory.mktemp("pages")
    for title, name in NAMES.items():
        (folder / f"{title}.html").write_text(render(full(name, GROUPS)), "utf-8")
    return {title: folder / f"{title}.html" for title in NAMES}


def _open(browser: Browser, path: Path, width: int, *, script: bool = True) -> Opened:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, java_script_enabled=script
    )
    context.set_default_timeout(LONGEST_WAIT)
    opened = Opened(context.new_page())
    opened.page.on("request", lambda request: opened.requests.append(request.url))
    opened.page.on("console", lambda message: opened.complaints.append(message.text))
    opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.page.on("dialog", lambda dialog: opened.complaints.append(dialog.message))
    opened.page.goto(path.as_uri())
    return opened


@pytest.fixture(name="page", scope="module")
def _page(browser: Browser, files: dict[str, Path]) -> Page:
    """One page, opened once, for all that only type into it."""
    return _open(browser, files["nasty"], DESKTOP).page


@pytest.mark.parametrize(
    ("name", "width"), [("nasty", DESKTOP), *((name, PHONE) for name in NAMES)]
)
def test_the_page_opens_quietly_and_fits(
    browser: Browser, files: dict[str, Path], name: str, width: int
) -> None:
    opened = _open(browser, files[name], width)

    assert opened.complaints == []
    assert opened.requests == [files[name].as_uri()]
    assert opened.page.evaluate("document.documentElement.scrollWidth") == width


def test_a_name_made_of_markup_stays_text(page: Page) -> None:
    assert page.inner_text("h1") == NASTY
    assert page.locator("script").count() == 2


def test_search_finds_a_group_that_the_page_does_not_show(page: Page) -> None:
    last = f"{NASTY}{GROUPS - 2}"
    rows = page.locator("#groups-table tbody tr:visible")
    before = rows.count()

    page.fill("#find", last.upper())

    assert [rows.count(), rows.locator("th .name").first.inner_text()] == [1, last]
    assert page.inner_text("#found") == f"1 of {GROUPS} groups"
    page.fill("#find", "")
    assert rows.count() == before


def test_a_phone_shows_of_a_group_what_is_urgent_and_a_desktop_all(page: Page) -> None:
    page.fill("#find", "alert")
    labels = "cells => cells.map(cell => cell.dataset.label)"
    shown = {}
    for width in (PHONE, DESKTOP):
        page.set_viewport_size({"width": width, "height": 800})
        for kind in ("tr:not(.made)", "tr.made"):
            row = page.locator(f"#groups-table tbody {kind}").first
            shown[width, kind] = row.locator("td:visible").evaluate_all(labels)

    on_desktops = ["Day", *(column.title for column in COLUMNS)]
    expected = {PHONE: ["Day", "Time lag max", "SLA met", "In error"], DESKTOP: on_desktops}
    assert shown == {key: expected[key[0]] for key in shown}


def test_search_shows_a_bounded_part_of_many_hits(page: Page) -> None:
    page.fill("#find", "alert")

    assert page.locator("#groups-table tbody tr:visible").count() == 200
    assert page.inner_text("#found") == f"{GROUPS} of {GROUPS} groups, the 200 worst are shown"


def test_a_long_name_is_cut_alike_everywhere_and_shows_its_start_and_end(
    browser: Browser, files: dict[str, Path]
) -> None:
    # of each part: its kind, its letters, and whether it is seen
    parts = (
        "at => [at.title.length, ...[...at.childNodes].map(one => { const range = new Range(); "
        "range.selectNode(one); return [one.className ?? '', one.textContent.length, "
        "range.getBoundingClientRect().width > 1] })]"
    )
    long = _open(browser, files["long"], DESKTOP).page
    shown = long.locator("#groups-table tbody tr th .name").first.evaluate(parts)

    long.fill("#find", f"w{GROUPS - 2}")
    added = long.locator("#groups-table .made th .name").first.evaluate(parts)

    assert added == shown
    left_out = 501 - 2 * 30
    ends = ["", 30, True]
    assert shown == [501, ends, ["dots", 0, True], ["cut", left_out, False], ends]


def test_search_is_reached_by_keyboard(page: Page) -> None:
    page.reload()
    page.keyboard.press("Tab")

    assert page.evaluate("document.activeElement.className") == "skip"
    page.focus("#find")
    page.keyboard.type("nothing has this name")
    page.keyboard.press("Enter")
    assert page.inner_text("#found") == f"0 of {GROUPS} groups"


def test_without_scripts_all_but_search_is_there(browser: Browser, files: dict[str, Path]) -> None:
    page = _open(browser, files["nasty"], DESKTOP, script=False).page

    assert page.locator("#search").is_hidden()
    assert page.locator("#unsearched").is_visible()
    assert page.locator("#groups-table tbody tr:visible").count() > 50


def test_dark_and_print_change_the_paper(page: Page) -> None:
    ink = "getComputedStyle(document.documentElement).color"
    light = page.evaluate(ink)

    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(ink)
    page.emulate_media(color_scheme="dark", media="print")

    assert dark != light
    assert page.evaluate(ink) == light
    assert page.locator("nav").is_hidden()
