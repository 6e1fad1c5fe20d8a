# SPDX-License-Identifier: Apache-2.0
"""Days are written whole once, and used again only if they are."""

import io
from pathlib import Path

from rich.console import Console

from dev.benchmarks.report.days import Size, a_day

SIZE = Size(partitions=20, minutes=1)


def test_a_day_is_written_again_only_if_it_was_left_unfinished(tmp_path: Path) -> None:
    console = Console(file=io.StringIO())
    unfinished = tmp_path / SIZE.folder / "snapshots"
    unfinished.mkdir(parents=True)
    (unfinished / "left").write_text("")

    folder = a_day(tmp_path, SIZE, console)
    files = sorted(path for path in folder.rglob("*.parquet"))
    assert len(files) == 3
    assert not (unfinished / "left").exists()

    files[0].unlink()
    assert a_day(tmp_path, SIZE, console) == folder
    assert not files[0].exists()
