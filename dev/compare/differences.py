# SPDX-License-Identifier: Apache-2.0
"""Finds the differences of two folders of `outputs`, value by value, whatever the order of keys.

Equal differences in many places form one group. Its name has the kind, the *what* and the names on
the way to the value; its places are the *where* and the numbers of a list's items.
"""

from __future__ import annotations

import difflib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

_WIDTH = 160


class _Absent:
    def __repr__(self) -> str:
        return "(absent)"


ABSENT = _Absent()


class Difference(NamedTuple):
    """One different value: `name` is the same in all of its group, `where` is its place."""

    name: str
    where: str
    old: Any
    new: Any


def differences(old: Path, new: Path) -> Iterator[Difference]:
    """Yields all differences of two folders of outputs."""
    for kind in sorted({path.stem for folder in (old, new) for path in folder.glob("*.json")}):
        one, other = (folder / f"{kind}.json" for folder in (old, new))
        texts = [path.read_text() if path.exists() else "{}" for path in (one, other)]
        if texts[0] != texts[1]:
            first, second = map(json.loads, texts)
            for what in sorted(first.keys() | second.keys()):
                places = [tree.get(what, {}) for tree in (first, second)]
                for where in sorted(places[0].keys() | places[1].keys()):
                    pair = [each.get(where, ABSENT) for each in places]
                    yield from _walk(pair[0], pair[1], f"{kind}: {what}", where)


def lines(found: Iterable[Difference], few: int) -> Iterator[str]:
    """Yields differences for people: a line per group, and one for each of its first `few`."""
    groups: dict[str, list[Difference]] = defaultdict(list)
    for each in found:
        groups[each.name].append(each)
    for name, group in sorted(groups.items()):
        yield f"{_safe(name)}: {len(group):,} difference{'s' if len(group) > 1 else ''}"
        for each in group[:few]:
            yield f"  {_safe(each.where)}: {_safe(repr(each.old))} -> {_safe(repr(each.new))}"


def _walk(old: Any, new: Any, name: str, where: str) -> Iterator[Difference]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            yield from _walk(old.get(key, ABSENT), new.get(key, ABSENT), f"{name}.{key}", where)
    elif isinstance(old, list) and isinstance(new, list):
        for at, pair in enumerate(zip_longest(old, new, fillvalue=ABSENT)):
            yield from _walk(*pair, name, f"{where}, {at}")
    elif isinstance(old, str) and isinstance(new, str) and "\n" in old + new:
        yield from _compare_lines(old.splitlines(True), new.splitlines(True), name, where)
    # Of one type as well: 1 is neither true nor 1.0; and NaN is NaN.
    elif repr(old) != repr(new):
        yield Difference(name, where, old, new)


def _compare_lines(old: list[str], new: list[str], name: str, where: str) -> Iterator[Difference]:
    """Yields one difference for each run of lines that differ."""
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield Difference(name, f"{where}, line {i + 1}", "".join(old[i:j]), "".join(new[k:m]))


def _safe(text: str) -> str:
    """Returns the text on one line, cut, without characters that control a terminal."""
    safe = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    return safe if len(safe) <= _WIDTH else f"{safe[:_WIDTH]}… ({len(text):,} characters)"
