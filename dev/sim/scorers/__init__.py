# SPDX-License-Identifier: Apache-2.0
"""Scorers: each compares answers of the collector with the truth, and prints its verdicts."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from multiprocessing import Pool
from typing import Any, TypeAlias

from rich.console import Console
from rich.table import Table

# The cells of a verdict, and what is wrong; nothing if all is right.
Line: TypeAlias = tuple[Sequence[object], str]


def score_chosen(
    score: Callable[..., Any], jobs: Iterable[tuple[Any, ...]], options: Namespace
) -> list[Any]:
    """Returns the score of each job whose case, its first argument, is chosen; two at a time."""
    with Pool(2) as pool:
        return pool.starmap(score, [job for job in jobs if job[0].name.startswith(options.only)], 1)


def print_lines(title: str, columns: str, lines: Iterable[Line]) -> bool:
    """Prints the cells and faults of each line; returns True if there are no faults."""
    table, right = Table(*columns.split(" | "), "fault", title=title), True
    for cells, fault in lines:
        empty = [""] * (len(table.columns) - 1 - len(cells))
        table.add_row(*map(str, cells), *empty, f"[red]{fault}" if fault else "")
        right &= not fault
    Console(width=150, highlight=False).print(table)
    return right
