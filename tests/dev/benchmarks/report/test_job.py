# SPDX-License-Identifier: Apache-2.0
"""What is read from the measured job: its stages, its last words, its memory."""

import os
from itertools import count
from pathlib import Path

import pytest

from dev.benchmarks.report.job import JobRun, PeakMemory, read_stages, tree_memory

PAGE = os.sysconf("SC_PAGE_SIZE")


def test_stages_are_read_in_order_with_the_time_at_which_they_ended() -> None:
    lines = ["WARNING: x\n", "stage start: 1.5 s\n", "rows\n", "stage lag summary: 12 s\n", "\n"]
    ticks = count(100)
    output = read_stages(lines, lambda: next(ticks))

    assert output.seconds == {"start": 1.5, "lag summary": 12.0}
    assert output.ended == {"start": 100, "lag summary": 101}
    assert output.last_line == "stage lag summary: 12 s"


@pytest.mark.parametrize("line", ["stage x: soon", "a stage x: 1 s", "stage x: 1 s long", ""])
def test_other_lines_are_no_stages(line: str) -> None:
    assert read_stages([line], lambda: 0.0).seconds == {}


def test_only_stages_that_make_reports_are_held_against_a_database() -> None:
    parts = {"session": 5.0, "reduce": 20.0, "reports": 10.0, "history": 30.0, "pages": 8.0}

    assert JobRun(seconds=80.0, stages=parts).report_seconds == 30.0
    assert JobRun(seconds=80.0).report_seconds == 80.0


def a_process(proc: Path, pid: int, parent: int, pages: int) -> None:
    folder = proc / str(pid)
    folder.mkdir()
    (folder / "stat").write_text(f"{pid} (a (b) c) S {parent} 1 1")
    (folder / "statm").write_text(f"99 {pages} 0")


def test_memory_is_summed_over_descendants_only(tmp_path: Path) -> None:
    for pid, parent, pages in ((7, 1, 10), (8, 7, 100), (9, 8, 1_000), (10, 1, 10_000)):
        a_process(tmp_path, pid, parent, pages)
    (tmp_path / "11").mkdir()

    assert tree_memory(7, tmp_path) == 1_110 * PAGE
    assert tree_memory(404, tmp_path) is None


def test_the_peak_is_of_the_process_that_is_watched() -> None:
    with PeakMemory(os.getpid()) as memory:
        pass

    assert memory.peak is None or memory.peak > 10 * 1024 * 1024


def test_a_peak_is_unknown_where_there_is_no_proc(tmp_path: Path) -> None:
    with PeakMemory(os.getpid(), tmp_path / "none") as memory:
        pass

    assert memory.peak is None
