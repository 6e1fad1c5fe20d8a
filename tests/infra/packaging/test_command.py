# SPDX-License-Identifier: Apache-2.0
"""What the commands for the package and its import time print, and when they fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from dev.benchmarks.import_time import cold_import
from kafka_lag_cdk.packaging import ROOT, main, unpacked_by_part
from tests.infra.packaging.projects import write

FILES = {
    "small/a.py": "a" * 10,
    "large/a.py": "a" * 100,
    "large/b/c.py": "a" * 100,
    "one-1.0.dist-info/METADATA": "a" * 20,
    "two-1.0.dist-info/METADATA": "a" * 20,
    "single.py": "a" * 30,
}


def test_parts_are_listed_by_size_the_metadata_together(tmp_path: Path) -> None:
    assert unpacked_by_part(write(tmp_path, FILES)) == [
        ("large", 200),
        ("metadata and licences", 40),
        ("single.py", 30),
        ("small", 10),
    ]


def test_the_parts_add_up_to_the_size_beside_lambdas_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--output", str(tmp_path)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    sizes = [float(line[-2]) for line in lines[1:10]]
    (unpacked,) = [line for line in lines if line[:1] == ["unpacked"]]
    assert lines[1][0] == "pyarrow"
    assert sizes[:8] == sorted(sizes[:8], reverse=True)
    assert float(unpacked[1]) == pytest.approx(sum(sizes), abs=0.5)
    assert unpacked[2:] == ["MB", "250.0", "MB"]
    assert Path(lines[-1][0]).parent == tmp_path


def test_what_cannot_be_built_is_an_error_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    assert main(["--output", str(tmp_path / "packages")]) == 1
    assert "cannot be installed" in capsys.readouterr().err


def test_a_python_too_old_to_deploy_is_refused_with_the_choices(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--python", "3.11"])
    assert ended.value.code == 2
    assert "3.12" in capsys.readouterr().err


MODULE = """\
import sys
with open({!r}, "a") as imports:
    print(__file__, "read-only" if sys.dont_write_bytecode else "writable", file=imports)
"""


def test_a_cold_import_takes_the_packages_own_module_with_and_without_bytecode(
    tmp_path: Path,
) -> None:
    imports = tmp_path / "imports"
    files = {
        "kafka_lag/__init__.py": "",
        "kafka_lag/collect_lag.py": MODULE.format(str(imports)),
    }
    package = write(tmp_path / "package", files)
    times = cold_import(package, runs=1)
    lines = [line.split() for line in imports.read_text().splitlines()]
    # Either median counts one run after one that is not counted.
    assert [kind for _, kind in lines] == ["read-only"] * 2 + ["writable"] * 2
    assert not any(ROOT in Path(file).parents for file, _ in lines)
    assert list(package.rglob("*.pyc")) == []
    assert min(times.without_bytecode, times.with_bytecode) > 0
