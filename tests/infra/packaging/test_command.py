# SPDX-License-Identifier: Apache-2.0
"""What is printed of a package, and when the command fails."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from kafka_lag_cdk.packaging.__main__ import main
from kafka_lag_cdk.packaging.archive import Package, add, replacing
from kafka_lag_cdk.packaging.cold_import import cold_import
from kafka_lag_cdk.packaging.sizes import (
    UNZIPPED_LIMIT,
    ZIPPED_LIMIT,
    excesses,
    table,
    unzipped_by_part,
)
from tests.infra.packaging.fakes import write


def _package(folder: Path, files: dict[str, str | bytes]) -> Package:
    write(folder / "files", files)
    path = folder / "x.zip"
    with replacing(path) as draft:
        add(draft, {name: folder / "files" / name for name in files})
    return Package.of(path)


FILES: dict[str, str | bytes] = {
    "small/a.py": "a" * 10,
    "large/a.py": "a" * 100,
    "large/b/c.py": "a" * 100,
    "one-1.0.dist-info/METADATA": "a" * 20,
    "two-1.0.dist-info/METADATA": "a" * 20,
    "single.py": "a" * 30,
}


def test_parts_are_told_by_size_the_metadata_together(tmp_path: Path) -> None:
    assert unzipped_by_part(_package(tmp_path, FILES).path) == [
        ("large", 200),
        ("package metadata", 40),
        ("single.py", 30),
        ("small", 10),
    ]


def test_the_table_adds_up_what_is_too_small_for_a_line(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"p{i}/a.py": "a" * 100_000 for i in range(8)}
    package = _package(tmp_path, files | {"x/a.py": "a" * 60_000, "y/a.py": "a" * 50_000})
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(table(package))
    lines = [" ".join(line.split()) for line in console.export_text().splitlines()]
    assert "2 others 0.1 MB" in lines
    assert "unpacked 0.9 MB 200.0 MB" in lines


@pytest.mark.parametrize(
    ("zipped", "unzipped", "told"),
    [
        (ZIPPED_LIMIT, UNZIPPED_LIMIT, []),
        (ZIPPED_LIMIT + 10**5, 1, ["Zipped it has 70.1 MB, more than the 70.0 MB allowed."]),
        (1, UNZIPPED_LIMIT + 10**5, ["Unpacked it has 200.1 MB, more than the 200.0 MB allowed."]),
    ],
    ids=["both at the limit", "zipped", "unpacked"],
)
def test_what_is_over_a_limit_is_told(zipped: int, unzipped: int, told: list[str]) -> None:
    assert excesses(Package(Path("x.zip"), "", zipped, unzipped)) == told


def test_help_tells_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "{build,lock,import-time}" in capsys.readouterr().out


def test_a_python_too_old_to_deploy_is_refused_with_the_choices(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--python", "3.11"])
    assert ended.value.code == 2
    assert "3.12" in capsys.readouterr().err


MODULE = """\
import sys
with open({!r}, "a") as told:
    print(__file__, "read-only" if sys.dont_write_bytecode else "writable", file=told)
"""


def test_a_cold_import_takes_the_packages_own_module_with_and_without_bytecode(
    tmp_path: Path,
) -> None:
    told = tmp_path / "told"
    module = MODULE.format(str(told))
    files: dict[str, str | bytes] = {
        "kafka_lag/__init__.py": "",
        "kafka_lag/collect_lag.py": module,
    }
    times = cold_import(_package(tmp_path, files), runs=1)
    lines = [line.split() for line in told.read_text().splitlines()]
    # Either median counts one run after one that is not counted.
    assert [kind for _, kind in lines] == ["read-only"] * 2 + ["writable"] * 2
    assert not any(Path.cwd() in Path(file).parents for file, _ in lines)
    assert min(times.without_bytecode, times.with_bytecode) > 0
