# SPDX-License-Identifier: Apache-2.0
"""The README and the pages for newcomers are short; every link of the docs leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NEW = (
    "docs/architecture.md",
    "docs/first-account.md",
    "docs/migrating.md",
    "docs/scaling.md",
    "docs/security.md",
    "docs/troubleshooting.md",
)
SHORT = ("README.md", "SECURITY.md", *NEW)
# Reasons, figures and columns are looked up, not read.
LOOKED_UP = {"docs/benchmarks.md", "docs/snapshots.md", "docs/why.md"}
LINKING = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"] + [
    f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))
]
PLAIN = ["README.md", "SECURITY.md"] + [
    page for page in LINKING if page.startswith("docs/") and page not in LOOKED_UP
]
WORDS, PARAGRAPH, LINE, PICTURE = 900, 80, 120, 300_000
_LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")
_ITEM = re.compile(r"^(?:[-*]|\d+\.) ")


def _read(page: str) -> str:
    return (ROOT / page).read_text()


def _prose(text: str) -> str:
    """The text without blocks of code, tables and headings."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = [x for x in text.splitlines() if not x.startswith(("|", "#", "    "))]
    return "\n".join(lines)


def _paragraphs(text: str) -> Iterator[str]:
    """Each paragraph, and each item of a list."""
    paragraph: list[str] = []
    for line in [*_prose(text).splitlines(), ""]:
        if paragraph and (not line.strip() or _ITEM.match(line)):
            yield " ".join(paragraph)
            paragraph = []
        if line.strip():
            paragraph.append(line.strip())


def _anchors(text: str) -> set[str]:
    """What GitHub makes of the headings: lower case, hyphens for blanks, no other signs."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in titles]
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in plain}


def test_the_readme_is_read_in_minutes() -> None:
    assert len(_read("README.md").split()) <= WORDS


def test_the_readmes_picture_loads_soon() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", _read("README.md"))
    assert [(ROOT / each).stat().st_size <= PICTURE for each in pictures] == [True]


@pytest.mark.parametrize("page", ["README.md", "SECURITY.md"])
def test_no_line_is_long(page: str) -> None:
    assert [x for x in _read(page).splitlines() if len(x) > LINE] == []


@pytest.mark.parametrize("page", PLAIN)
def test_no_paragraph_is_long(page: str) -> None:
    assert [x for x in _paragraphs(_read(page)) if len(x.split()) > PARAGRAPH] == []


@pytest.mark.parametrize("page", NEW)
def test_a_page_begins_with_who_needs_it(page: str) -> None:
    first = next(_paragraphs(_read(page)))
    assert first.startswith("For ")


@pytest.mark.parametrize("page", LINKING)
def test_every_link_leads_somewhere(page: str) -> None:
    lost = []
    for link in _LINK.findall(_read(page)):
        path, _, place = link.partition("#")
        target = ROOT / Path(page).parent / path if path else ROOT / page
        if "://" in link:
            continue
        if not target.exists() or (place and place not in _anchors(target.read_text())):
            lost.append(link)
    assert lost == []
