# SPDX-License-Identifier: Apache-2.0
"""Faults that a user can cause: one sentence, an exit code, and unchanged earlier reports."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_lag_report.daily_report import main
from tests.glue_jobs.days import group_row, topic_row, write_run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark"), pytest.mark.timeout(900)]

DATE = "2026-01-31"


@pytest.fixture(name="state")
def _state(tmp_path: Path) -> Path:
    """A folder with one good run and an earlier report of the same day."""
    write_run(tmp_path, "topic_partitions", [topic_row(0, 10), topic_row(1, None)])
    write_run(tmp_path, "group_partitions", [group_row(0, 9, 0, 10), group_row(1, None, 0, 10)])
    earlier = tmp_path / "reports/retention_risk/cluster=demo" / f"dt={DATE}" / "part-0.parquet"
    earlier.parent.mkdir(parents=True)
    earlier.write_text("earlier")
    return tmp_path


def reports(root: Path) -> dict[str, str]:
    files = (path for path in (root / "reports").rglob("*") if path.is_file())
    return {path.name: path.read_text() for path in files}


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """What went to stderr, which must be one sentence and no traceback."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("daily_report: ")
    assert err.count("\n") == 1
    return err


def run(source: Path | str, output: Path | str, *more: str) -> int:
    return main(["--input", str(source), "--output", str(output), "--date", DATE, *more])


def test_an_option_of_glue_is_named_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, tmp_path, "--JOB_NAME", "daily") == 1

    first = capsys.readouterr().err.splitlines()[0]
    assert first == "daily_report: ignored, not options of this job: --JOB_NAME"


@pytest.mark.parametrize("made", ["", "snapshots", "snapshots/topic_partitions/cluster=demo"])
def test_a_folder_without_snapshots(
    made: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / made).mkdir(parents=True, exist_ok=True)

    assert run(tmp_path, tmp_path / "out") == 1

    assert f"under {tmp_path}/snapshots" in said(capsys)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--date", "2026-01-30"], "no snapshots of demo for 2026-01-30"),
        (["--date", "2026-01-30"], f"the newest day is {DATE}"),
        (["--cluster", "prod"], "no cluster prod under"),
        (["--cluster", "prod"], "there are: demo"),
    ],
)
def test_what_is_not_there_is_named(
    more: list[str], sentence: str, state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(state, state, *more) == 1

    assert sentence in said(capsys)
    assert reports(state) == {"part-0.parquet": "earlier"}


def test_the_first_scheduled_run_wakes_nobody(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    now = datetime(2026, 1, 31, 1, tzinfo=UTC)

    assert main(["--input", str(state), "--output", str(state)], now=lambda: now) == 0

    assert f"no snapshots of demo for 2026-01-30 under {state}/snapshots yet" in said(capsys)
    assert reports(state) == {"part-0.parquet": "earlier"}


@pytest.mark.parametrize("output", ["file/below", "/proc/reporter"])
def test_an_output_that_cannot_be_written(
    output: str, state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (state / "file").write_text("in the way")

    assert run(state, state / output) == 1

    assert "cannot write to" in said(capsys)
    assert (state / "file").read_text() == "in the way"


@pytest.mark.parametrize("address", ["nowhere://bucket/x", "s3a:"])
def test_an_address_nothing_can_open(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(address, "out") == 1

    assert "cannot list" in said(capsys)
