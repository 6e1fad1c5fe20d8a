# SPDX-License-Identifier: Apache-2.0
"""The days that are measured: written once, and kept with --keep."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dev.days import Written
from dev.days.large import large
from dev.days.write import write_in_parts

DATE = date(2026, 1, 31)
CLUSTER = "bench"
_DONE = "written.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """One day of one cluster, a run a minute."""

    partitions: int
    minutes: int

    @property
    def rows(self) -> int:
        """Of `group_partitions`."""
        return self.partitions * self.minutes

    @property
    def folder(self) -> str:
        """What a kept day is called."""
        return f"{self.partitions}x{self.minutes}"


def a_day(root: Path, size: Size, console: Console) -> Path:
    """The folder with the day's snapshots; one that was written whole before is used again."""
    folder = root / size.folder
    if (folder / _DONE).exists():
        console.print(f"{size.folder}: the day in {folder} is used again", style="dim")
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    written = _write(folder, size, console)
    (folder / _DONE).write_text(json.dumps(asdict(written)))
    return folder


def _write(folder: Path, size: Size, console: Console) -> Written:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task(f"writing {size.rows / 1e6:,.1f} M rows, runs", total=size.minutes)
        return write_in_parts(
            folder,
            large(size.partitions, CLUSTER),
            date=DATE,
            processes=min(os.cpu_count() or 1, size.minutes),
            hours=size.minutes / 60,
            progress=lambda written: bar.advance(task, written.runs),
        )
