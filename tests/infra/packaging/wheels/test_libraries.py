# SPDX-License-Identifier: Apache-2.0
"""Shared libraries are kept as long as a module needs them, be it through others."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest

from kafka_lag_cdk.packaging.wheels.libraries import machine_of, needed_by, unneeded
from tests.infra.packaging.fakes import shared_object, write

MODULE = "pkg/_fast.cpython-313-aarch64-linux-gnu.so"


def _unneeded(folder: Path, files: dict[str, bytes]) -> list[str]:
    found = unneeded(write(folder, files))
    return [path.relative_to(folder).as_posix() for path in found]


def test_a_library_that_a_module_needs_is_kept(tmp_path: Path) -> None:
    files = {MODULE: shared_object(["libone.so.2"]), "pkg/libone.so.2": shared_object()}
    assert _unneeded(tmp_path, files) == []


def test_a_library_that_a_needed_one_needs_is_kept(tmp_path: Path) -> None:
    files = {
        MODULE: shared_object(["libone.so.2", "libc.so.6"]),
        "pkg/libone.so.2": shared_object(["libtwo.so", "libone.so.2"]),
        "pkg.libs/libtwo.so": shared_object(["libthree.so"]),
        "pkg.libs/libthree.so": shared_object(),
    }
    assert _unneeded(tmp_path, files) == []


def test_libraries_that_need_only_one_another_go(tmp_path: Path) -> None:
    files = {
        MODULE: shared_object(),
        "pkg/libone.so": shared_object(["libtwo.so"]),
        "pkg/libtwo.so": shared_object(["libone.so"]),
    }
    assert _unneeded(tmp_path, files) == ["pkg/libone.so", "pkg/libtwo.so"]


def test_of_one_library_under_three_names_the_one_that_is_asked_for_is_kept(
    tmp_path: Path,
) -> None:
    names = ["pkg/libone.so", "pkg/libone.so.26", "pkg/libone.so.26.0.1"]
    files = {MODULE: shared_object(["libone.so.26"]), **dict.fromkeys(names, shared_object())}
    assert _unneeded(tmp_path, files) == ["pkg/libone.so", "pkg/libone.so.26.0.1"]


@pytest.mark.parametrize(
    "name", ["lib.cpython-313-aarch64-linux-gnu.so", "lib.abi3.so", "_fast.so"]
)
def test_a_module_is_kept_though_nobody_asks_for_it(tmp_path: Path, name: str) -> None:
    assert _unneeded(tmp_path, {f"pkg/{name}": shared_object()}) == []


def test_a_linker_script_needs_nothing() -> None:
    assert needed_by(b"INPUT(libone.so.2)") == frozenset()


@pytest.mark.parametrize(
    ("content", "machine"),
    [
        (shared_object(machine=183), "aarch64"),
        (shared_object(machine=62), "x86_64"),
        (shared_object(machine=8), None),
        (b"text", None),
    ],
    ids=["aarch64", "x86_64", "another", "no ELF file"],
)
def test_the_machine_is_read_from_the_file(content: bytes, machine: str | None) -> None:
    assert machine_of(content) == machine


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no ELF files")
def test_a_real_module_of_this_python_is_read() -> None:
    content = Path(sysconfig.get_path("platlib"), "pyarrow").glob("lib.cpython-*.so")
    assert "libarrow_python.so" in {
        name.rsplit(".", 1)[0] for name in needed_by(next(content).read_bytes())
    }
