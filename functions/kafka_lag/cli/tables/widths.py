# SPDX-License-Identifier: Apache-2.0
"""Which columns a terminal has room for, and how wide they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.text import Text

# Columns that may be left out, those first that get room first; the others are always there.
_OPTIONAL = ("remarks", "worst partition", "state", "members", "broker")
# What may be shortened for another column, and to what width.
_SHORTENED = {"group": 14, "state": 6, "worst partition": 15, "remarks": 12}
_LEAST_GROUP = 8


def fitted(lines: Sequence[Mapping[str, Text]], columns: Sequence[str], width: int) -> list[int]:
    """A width for each column, 0 for one that is left out."""
    natural = {name: max([len(name), *(line[name].cell_len for line in lines)]) for name in columns}
    least = {name: min(wide, _SHORTENED.get(name, wide)) for name, wide in natural.items()}
    said = {name for line in lines for name, cell in line.items() if cell}
    kept = set(columns).difference(_OPTIONAL)
    for name in sorted(_OPTIONAL, key=lambda name: name not in said):
        if _taken(least[column] for column in (*kept, name)) <= width:
            kept.add(name)
    widths = {name: wide if name in kept else 0 for name, wide in natural.items()}
    while _taken(widths.values()) > width:
        longest = max(_SHORTENED, key=lambda name: widths[name] - least[name])
        if widths[longest] <= least[longest]:
            break
        widths[longest] -= 1
    missing = max(0, _taken(widths.values()) - width)
    widths["group"] = max(min(widths["group"], _LEAST_GROUP), widths["group"] - missing)
    return list(widths.values())


def _taken(widths: Iterable[int]) -> int:
    # A column is followed by a blank and the box's own; the box begins with one.
    return sum(column + 2 for column in widths if column) + 1
