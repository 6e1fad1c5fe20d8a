# SPDX-License-Identifier: Apache-2.0
"""A page as somebody reads it: tables of texts, addresses of links, the warnings."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

from kafka_lag.views.http import Answer

_VOID = {"meta", "link", "input", "path", "rect"}


@dataclass
class Seen:
    """What a page shows."""

    tables: list[list[list[str]]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)

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

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        result = dict(attrs)
        self.seen.tags.append(tag)
        if tag not in _VOID:
            self._open.append(tag if result.get("class") != "alarm" else "alarm")
        if tag == "table":
            self.seen.tables.append([])
        elif tag == "tr":
            self.seen.tables[-1].append([])
        elif tag in ("td", "th"):
            self.seen.tables[-1][-1].append("")
        elif tag == "a":
            self.seen.links.append(result["href"] or "")
        elif tag == "option" and "selected" in result:
            self.seen.chosen.append(result["value"] or "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        data = data.replace("\u00a0", " ")
        for tag in set(self._open):
            self.seen.texts[tag] = self.seen.texts.get(tag, "") + data
        if {"td", "th"} & set(self._open):
            self.seen.tables[-1][-1][-1] += data


def read(answer: Answer) -> Seen:
    """The answer's page."""
    reader = _Reader()
    reader.feed(answer.body.decode())
    return reader.seen
