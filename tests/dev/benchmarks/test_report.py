# SPDX-License-Identifier: Apache-2.0
"""What is read from the measured job, and when a day is written again."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from dev.benchmarks.report import JobRun, a_day, main, read_stages


def test_stages_are_added_up_and_other_lines_are_none() -> None:
    lines = ["stage start: 1.5 s", "a stage x: 1 s", "stage x: soon", "stage start: 12 s"]
    assert read_stages(lines) == {"start": 13.5}


def test_only_stages_that_make_reports_are_held_against_a_database() -> None:
    parts = {"session": 5.0, "reduce": 20.0, "reports": 10.0, "history": 30.0, "pages": 8.0}
    assert JobRun(80.0, parts).report_seconds == 30.0
    assert JobRun(80.0, {}).report_seconds == 80.0


def test_a_day_is_written_again_only_if_it_was_left_unfinished(tmp_path: Path) -> None:
    console = Console(file=io.StringIO())
    left = tmp_path / "20x1" / "snapshots" / "left"
    left.parent.mkdir(parents=True)
    left.touch()
    folder = a_day(tmp_path, 20, 1, console)
    first = next(iter(folder.rglob("*.parquet")))
    assert not left.exists()
    first.unlink()
    assert a_day(tmp_path, 20, 1, console) == folder
    assert not first.exists()


@pytest.mark.parametrize("words", [["--partitions", "0"], ["--minutes", "x"]])
def test_a_wrong_option_is_named(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert words[0] in capsys.readouterr().err
