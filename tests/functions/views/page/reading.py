# SPDX-License-Identifier: Apache-2.0
"""A page as people read it: its text by line, its tables, and the addresses of its links."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

from kafka_lag.views.http import Answer

_VOID = {"meta", "link", "input", "path", "rect"}
_LINES = {"title", "p", "h1", "h2", "ul", "tr", "div", "caption", "figcaption", "nav", "form"}
# What stands before a piece of text, so that it is told from the piece before it.
_BETWEEN = {
    "td": " | ",
    "th": " | ",
    "dd": ": ",
    "option": " · ",
    "li": " · ",
    "small": " ",
    "select": " ",
}
_UNSEEN = {"style", "script", "defs"}


@dataclass
class Seen:
    """What a page shows. `lines` is all of it: `*` marks what is strong, `/` a line below, and a
    dash is followed by why the value is unknown.
    """

    tables: list[list[list[str]]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def cells(self, first: str, table: int = -1) -> list[str]:
        """The only row of a table that begins with this text."""
        (found,) = [row for row in self.tables[table] if row[0].startswith(first)]
        return found

    def column(self, place: int = 0, table: int = -1) -> list[str]:
        """One column of a table, without its head."""
        return [row[place] for row in self.tables[table][1:]]


# How a value that is unknown reads, for the eye and for those who listen.
UNKNOWN = "\u2013unknown"


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen = Seen()
        self._open: list[str] = []
        self._line = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        kind = given.get("class") or ""
        self.seen.tags.append(tag)
        if tag not in _VOID:
            self._open.append(tag if kind != "alarm" else "alarm")
        if tag in _LINES:
            self.end_line()
        self._line += "*" if tag == "strong" else _BETWEEN.get(tag, "")
        self._line += " / " if kind.startswith("under") else ""
        self._line += " [x]" if "selected" in given else ""
        self._line += f" [{given['aria-label']}]" if kind == "curve" else ""
        self._line += f"({given['title']})" if kind == "none" else ""
        if tag == "table":
            self.seen.tables.append([])
        elif tag == "tr":
            self.seen.tables[-1].append([])
        elif tag in ("td", "th"):
            self.seen.tables[-1][-1].append("")
        elif tag == "a":
            self.seen.links.append(given["href"] or "")
        elif tag == "option" and "selected" in given:
            self.seen.chosen.append(given["value"] or "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            self._open.pop()
        self._line += "*" if tag == "strong" else ""
        if tag in _LINES:
            self.end_line()

    def handle_data(self, data: str) -> None:
        data = data.replace("\u00a0", " ")
        if not _UNSEEN & set(self._open):
            self._line += data
        for tag in set(self._open):
            self.seen.texts[tag] = self.seen.texts.get(tag, "") + data
        if {"td", "th"} & set(self._open):
            self.seen.tables[-1][-1][-1] += data

    def end_line(self) -> None:
        line = " ".join(self._line.split()).strip("|· ").replace("\u2013unknown", "\u2013")
        self._line = ""
        if line:
            self.seen.lines.append(line)


def read(answer: Answer) -> Seen:
    """The answer's page."""
    reader = _Reader()
    reader.feed(answer.body.decode())
    reader.end_line()
    return reader.seen
