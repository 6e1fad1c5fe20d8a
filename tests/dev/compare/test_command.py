# SPDX-License-Identifier: Apache-2.0
"""Two checkouts run side by side: what was changed in one is found, and nothing else."""

from __future__ import annotations

import io
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dev.compare.__main__ import collect, main
from dev.compare.checkouts import ROOT, Checkout, ProbeError, compared
from dev.compare.differences import Difference, Findings, Rules, compare
from dev.compare.orders import Orders, Step
from dev.compare.probe.runs import written
from dev.compare.probe.templates import parts_of

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
    for root in ("functions", "infra"):
        shutil.copytree(ROOT / root, place / root, ignore=ignored)
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


def test_what_was_found_before_a_probe_failed_is_not_lost() -> None:
    def differences() -> Iterator[Difference]:
        yield Difference("emf", "metric OffsetLag", "run 1", "1", "2")
        raise ProbeError("the last step failed")

    findings = Findings()
    error = collect(findings, differences())
    assert str(error) == "the last step failed"
    assert "run 1" in "\n".join(findings.lines())
    assert collect(findings, []) is None


def test_a_table_that_one_commit_alone_reports_is_a_part_of_the_same_steps(
    tmp_path: Path,
) -> None:
    days = ("2026-01-05", "2026-01-06")
    steps = {}
    for name, tables in (("old", ["lag_summary"]), ("new", ["lag_summary", "added"])):
        for table in tables:
            place = tmp_path / name / "reports" / table / "cluster=c" / f"dt={days[0]}"
            a_file(place / "part-1.parquet", [1])
            a_file(place / "part-2.parquet", [2, 3])
            (place / "_SUCCESS").touch()
        history = tmp_path / name / "history" / "groups" / "cluster=c" / f"dt={days[1]}"
        a_file(history / "1.parquet", [4])
        page = tmp_path / name / "reports" / "page" / "cluster=c" / f"dt={days[1]}"
        page.mkdir(parents=True)
        (page / "report.html").write_text(f"<p>{tmp_path / name}")
        steps[name] = list(written(tmp_path / name, days))
    old, new = steps["old"], steps["new"]
    assert [step.name for step in old] == [step.name for step in new]
    found = [one for pair in zip(old, new, strict=True) for one in compare(*pair, Rules())]
    assert [one.what for one in found] == ["reports/added as a whole"]
    table = pq.read_table(io.BytesIO(old[0].parts[f"reports/lag_summary/cluster=c/dt={days[0]}"]))
    assert table.column("n").to_pylist() == [1, 2, 3]
    assert sorted(old[1].parts) == [
        f"reports/history-groups/cluster=c/dt={days[1]}",
        f"reports/page/cluster=c/dt={days[1]}/report.html",
    ]


def a_file(path: Path, numbers: list[int]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"n": numbers}), path)


def test_a_stack_that_one_commit_alone_has_is_a_part() -> None:
    def a_stack(name: str) -> SimpleNamespace:
        place = SimpleNamespace(region="eu-west-1")
        return SimpleNamespace(stack_name=name, environment=place, template={"Resources": {}})

    old, new = (parts_of(map(a_stack, names)) for names in (["lag"], ["lag", "reports"]))
    (one,) = compare(Step("an example", old), Step("an example", new), Rules())
    assert one.what == "templates/reports@eu-west-1 as a whole"
    assert (one.old, one.new) == ("(absent)", '{"Resources": {}}')


def test_a_commit_that_there_is_not_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nothing-is-called-so", "HEAD"]) == 2
    assert "There is no commit 'nothing-is-called-so' here." in capsys.readouterr().err


@pytest.mark.parametrize("words", [["HEAD"], ["HEAD", "HEAD", "--only", "nonsense"]])
def test_a_wrong_command_line_ends_with_two(words: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
