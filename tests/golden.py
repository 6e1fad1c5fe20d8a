# SPDX-License-Identifier: Apache-2.0
"""Reviewed texts in `tests/golden`: a test compares the present text with its file.

`pytest -m golden --golden-renew` writes all files again; a reviewer reads their diff.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

FOLDER = Path(__file__).with_name("golden")
_SHOWN = 60
# A line that is longer is cut where it stands again.
_LONG = 70


class Golden:
    """Compares texts with files, or writes the files if it renews."""

    def __init__(self, renew: bool, folder: Path = FOLDER) -> None:
        self._renew = renew
        self._folder = folder

    def holds(self, name: str, text: str) -> None:
        """Fail with a diff unless the file of this name has the text."""
        path = self._folder / name
        text = text.rstrip("\n") + "\n"
        if self._renew:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        was = path.read_text() if path.is_file() else ""
        lines = list(difflib.unified_diff(was.splitlines(), text.splitlines(), n=1, lineterm=""))
        more = f"\n(and {len(lines) - _SHOWN} lines more)" if len(lines) > _SHOWN else ""
        shown = "\n".join(lines[2:_SHOWN]) + more
        assert was == text, f"tests/golden/{name} differs; `--golden-renew` renews it:\n{shown}"

    def holds_cases(self, name: str, cases: Mapping[str, str]) -> None:
        """The same for several texts in one file, each below its title."""
        self.holds(name, "\n\n".join(f"## {title}\n{text}" for title, text in cases.items()))


def write_once(cases: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Cases below their titles: a line is whole where it first stands, later cut in the title."""
    written: list[str] = []
    known: set[str] = set()
    for title, lines in cases:
        short = [f"{each[:40]}…{each[-25:]}" if len(each) > _LONG else each for each in lines]
        repeated = [cut for cut, each in zip(short, lines, strict=True) if each in known]
        again = f" | again: {' | '.join(repeated)}" if repeated else ""
        written += [f"# {title}{again}", *(each for each in lines if each not in known)]
        known |= set(lines)
    return "\n".join(written)
