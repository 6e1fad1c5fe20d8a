# SPDX-License-Identifier: Apache-2.0
"""Two checkouts run side by side: what was changed in one is found, and nothing else."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from pathlib import Path

import pytest

from dev.compare.checkouts import ROOT, Checkout
from dev.compare.command import main
from dev.compare.differences import Rules
from dev.compare.orders import Orders
from dev.compare.probes import ProbeError, compared
from dev.compare.steps import Step

# A word of the public interface, which stays wherever its module moves.
METRIC = '"OffsetLag"'
ORDERS = Orders(
    kinds=("emf", "parquet"),
    days=0.01,
    seed=1,
    folder="",
    report_days=(),
    reported=("", ""),
    examples=(),
    context="",
)


def a_checkout(folder: Path, name: str) -> Checkout:
    place = folder / name
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "functions", place / "functions", ignore=ignored)
    return Checkout(name, place, Path(sys.executable), Path(sysconfig.get_path("purelib")))


def test_a_change_of_one_commit_is_found_and_nothing_beside_it(tmp_path: Path) -> None:
    old, new = (a_checkout(tmp_path, name) for name in ("old", "new"))
    changed = [
        path for path in new.folder.rglob("contract/*.py") if METRIC in path.read_text()
    ] or [path for path in new.folder.rglob("contract.py") if METRIC in path.read_text()]
    for path in changed:
        path.write_text(path.read_text().replace(METRIC, '"OffsetsLag"'))
    seen: list[Step] = []
    found = list(compared((old, new), ORDERS, tmp_path / "work", Rules(), seen.append))
    assert {one.what for one in found} == {"metric OffsetLag", "metric OffsetsLag"}
    assert len(seen) > 60
    assert all("parquet/groups" in step.parts or "emf/error" in step.parts for step in seen)


def test_a_commit_that_cannot_be_run_is_said_with_its_last_words(tmp_path: Path) -> None:
    old, new = (a_checkout(tmp_path, name) for name in ("old", "new"))
    (new.folder / "functions" / "kafka_lag" / "__init__.py").write_text("1 / 0\n")
    with pytest.raises(ProbeError, match="ZeroDivisionError"):
        list(compared((old, new), ORDERS, tmp_path / "work", Rules(), lambda _: None))


def test_a_commit_that_there_is_not_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nothing-is-called-so", "HEAD"]) == 2
    assert "There is no commit 'nothing-is-called-so' here." in capsys.readouterr().err


@pytest.mark.parametrize("words", [["HEAD"], ["HEAD", "HEAD", "--only", "nonsense"]])
def test_a_wrong_command_line_ends_with_two(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
