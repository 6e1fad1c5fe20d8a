# SPDX-License-Identifier: Apache-2.0
"""Differences as people read them: by sort, all of each or the first few and how many more."""

from __future__ import annotations

from collections.abc import Iterator

from dev.compare.differences import Difference

_WIDTH = 400


class Findings:
    """Differences by kind and sort; of each sort `few` are remembered, None: all."""

    def __init__(self, few: int | None = None) -> None:
        self._few = few
        self._found: dict[tuple[str, str], list[Difference]] = {}
        self.counts: dict[tuple[str, str], int] = {}

    def __len__(self) -> int:
        return sum(self.counts.values())

    def add(self, one: Difference) -> None:
        """Counts it, and remembers it if it is one of the first."""
        key = one.kind, one.what
        shown = self._found.setdefault(key, [])
        self.counts[key] = self.counts.get(key, 0) + 1
        if self._few is None or len(shown) < self._few:
            shown.append(one)

    def lines(self) -> Iterator[str]:
        """Text for a terminal."""
        for key in sorted(self._found):
            kind, what = key
            yield f"{kind}: {what}: {self.counts[key]:,}"
            for one in self._found[key]:
                yield f"  {_shown(one.where)}"
                yield f"    old: {_shown(one.old)}"
                yield f"    new: {_shown(one.new)}"
            rest = self.counts[key] - len(self._found[key])
            if rest:
                yield f"  and {rest:,} more"


def _shown(text: str) -> str:
    """On one line, and without what a terminal would act upon."""
    safe = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    return safe if len(safe) <= _WIDTH else f"{safe[:_WIDTH]}… ({len(text):,} characters)"
