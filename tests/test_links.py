# SPDX-License-Identifier: Apache-2.0
"""Every link of the docs leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What newcomers read from the top.
PAGES = (
    "README.md",
    "SECURITY.md",
    "docs/deploy.md",
    "docs/first-account.md",
    "docs/migrating.md",
    "docs/operate.md",
    "docs/scaling.md",
    "docs/troubleshooting.md",
)
LINKING = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"] + [
    f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))
]
_LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")


def _read(page: str) -> str:
    return (ROOT / page).read_text()


def _anchors(text: str) -> set[str]:
    """What GitHub makes of the headings: lower case, hyphens for blanks, no other signs."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in titles]
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in plain}


def test_every_link_leads_somewhere() -> None:
    lost = []
    links = [(page, link) for page in LINKING for link in _LINK.findall(_read(page))]
    for page, link in links:
        path, _, place = link.partition("#")
        target = ROOT / Path(page).parent / path if path else ROOT / page
        if "://" in link:
            continue
        if not target.exists() or (place and place not in _anchors(target.read_text())):
            lost.append(f"{page}: {link}")
    assert lost == []
