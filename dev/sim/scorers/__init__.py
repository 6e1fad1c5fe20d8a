# SPDX-License-Identifier: Apache-2.0
"""Scorers: each compares answers of the collector with the truth, and prints its verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from rich.console import Console
from rich.table import Table

# The cells of a verdict, and what is wrong; nothing if all is right.
Line: TypeAlias = tuple[Sequence[object], str]


def print_lines(title: str, columns: str, lines: Iterable[Line]) -> bool:
    """Prints the cells and faults of each line; returns True if there are no faults."""
    table, right = Table(*columns.split(" | "), "fault", title=title), True
    for cells, fault in lines:
        table.add_row(*map(str, cells), f"[red]{fault}" if fault else "")
        right &= not fault
    Console(width=150, highlight=False).print(table)
    return right
