# SPDX-License-Identifier: Apache-2.0
"""Cells under their names. Own, as Glue has no library that draws tables of text."""

from collections.abc import Iterable, Mapping, Sequence
from unicodedata import combining, east_asian_width

Cells = Mapping[str, str]


def table(rows: Sequence[Cells]) -> str:
    """Align cells under their names; numbers right, words left; empty without rows."""
    if not rows:
        return ""
    names = list(rows[0])
    lines = [names, *([row[name] for name in names] for row in rows)]
    widths = [max(_width(line[i]) for line in lines) for i in range(len(names))]
    left = [not _are_numbers(line[i] for line in lines[1:]) for i in range(len(names))]
    return "\n".join(
        "  " + "  ".join(_pad(*cell) for cell in zip(line, widths, left, strict=True)).rstrip()
        for line in lines
    )


def _are_numbers(cells: Iterable[str]) -> bool:
    """Whether all that is known begins like a number; a group may be named 007, but not all."""
    known = [cell.lstrip("+-") for cell in cells if cell != "-"]
    return bool(known) and all(cell[:1].isdigit() for cell in known)


def _pad(text: str, width: int, left: bool) -> str:
    space = " " * (width - _width(text))
    return text + space if left else space + text


def _width(text: str) -> int:
    """Columns on a terminal: letters of East Asia take two, accents on their own none."""
    return sum(
        0 if combining(letter) else 1 + (east_asian_width(letter) in "WF") for letter in text
    )
