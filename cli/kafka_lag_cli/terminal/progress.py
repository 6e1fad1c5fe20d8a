# SPDX-License-Identifier: Apache-2.0
"""Progress of a long reading, on a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def count_objects() -> Iterator[Callable[[int], Callable[[int], None]]]:
    """Gives a function that takes the number of objects, and returns one to count them by."""
    stderr = Console(stderr=True)
    columns = TextColumn("{task.description}"), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(
        *columns, console=stderr, transient=True, disable=not stderr.is_terminal
    ) as progress:

        def begin(total: int) -> Callable[[int], None]:
            task = progress.add_task("objects read", total=total)
            return lambda number: progress.advance(task, number)

        yield begin
