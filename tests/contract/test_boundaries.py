# SPDX-License-Identifier: Apache-2.0
"""Who may import whom, read from the sources themselves: imports point inward."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Where packages lie that the wheel installs, and what contributors run.
SOURCE_ROOTS = ("functions", "infra", "glue_jobs")
SHIPPED = [path for root in SOURCE_ROOTS for path in sorted((ROOT / root).rglob("*.py"))]
DEV = sorted((ROOT / "dev").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
OURS = ("kafka_lag", "kafka_lag_cdk", "kafka_lag_report", "dev", "tests")

ADAPTER = ("contract", "errors", "lag", "refusal")
# What each part of kafka_lag may import of the rest of it; what is not named here may import all
# of it but `cli`.
INSIDE = {
    "contract": (),
    "errors": (),
    "lag": ("contract",),
    "brokers": ADAPTER,
    "sinks": ADAPTER,
    "snapshots": ADAPTER,
    # Both read snapshots; messages write names as metrics do.
    "views": (*ADAPTER, "snapshots"),
    "notify": (*ADAPTER, "snapshots", "sinks"),
}
# What the other packages may import of kafka_lag: names, and the rules of a configuration.
SHARED_RULES = ("schema", "lag.rules", "sinks.names")
ELSEWHERE = {
    "kafka_lag_cdk": ("contract", *SHARED_RULES),
    "kafka_lag_report": ("contract", "formatting"),
}


def module_of(path: Path) -> str:
    """The dotted name under which a file is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[1:] if parts[0] in SOURCE_ROOTS else parts)


def imports(path: Path) -> set[str]:
    """Dotted names of all that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            inner = {f"{module}.{alias.name}" for alias in node.names}
            found |= inner if module in OURS else {module}
            assert node.level == 0, f"{module_of(path)} has a relative import"
    return found


def under(module: str, *packages: str) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def files_of(*packages: str) -> list[Path]:
    found = [path for path in [*SHIPPED, *DEV, *TESTS] if under(module_of(path), *packages)]
    assert found, f"nothing in {packages}: the test reads the wrong place"
    return found


def strangers(files: Iterable[Path], among: tuple[str, ...], allowed: Iterable[str]) -> list[str]:
    """Imports of what is `among` these packages and not `allowed`."""
    return [
        f"{module_of(path)} imports {name}"
        for path in files
        for name in sorted(imports(path))
        if under(name, *among) and not under(name, *allowed)
    ]


@pytest.mark.parametrize("part", INSIDE)
def test_each_part_imports_only_what_the_table_allows(part: str) -> None:
    allowed = [f"kafka_lag.{name}" for name in (part, *INSIDE[part])]
    assert strangers(files_of(f"kafka_lag.{part}"), OURS, allowed) == []


@pytest.mark.parametrize("package", ELSEWHERE)
def test_other_packages_know_the_names_and_rules_of_the_collector_only(package: str) -> None:
    allowed = [package, *(f"kafka_lag.{name}" for name in ELSEWHERE[package])]
    assert strangers(files_of(package), OURS, allowed) == []


def test_no_function_needs_the_command_line_or_another_package() -> None:
    functions = [path for path in files_of("kafka_lag") if "cli" not in path.parts]
    assert strangers(functions, OURS, ["kafka_lag"]) == []
    assert strangers(functions, ("kafka_lag.cli",), []) == []


def test_nothing_shipped_imports_dev_or_tests() -> None:
    assert strangers(SHIPPED, ("dev", "tests"), []) == []


def test_dev_imports_no_tests() -> None:
    assert strangers(DEV, ("tests",), []) == []


def test_only_brokers_imports_the_kafka_client() -> None:
    others = [path for path in [*SHIPPED, *DEV] if not under(module_of(path), "kafka_lag.brokers")]
    assert strangers(others, ("kafka",), []) == []


def test_the_arithmetic_needs_numpy_alone() -> None:
    foreign = {
        f"{module_of(path)} imports {name}"
        for path in files_of("kafka_lag.lag")
        for name in imports(path)
        if name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert {line for line in foreign if not under(line.split()[-1], "numpy", "kafka_lag")} == set()


def test_the_contract_and_the_errors_need_the_standard_library_alone() -> None:
    foreign = {
        name
        for path in files_of("kafka_lag.contract", "kafka_lag.errors")
        for name in imports(path)
        if name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert {name for name in foreign if not under(name, "kafka_lag.contract")} == set()


def test_the_arithmetic_has_no_clock_and_no_files() -> None:
    outside = ("time", "datetime", "os", "io", "pathlib")
    assert strangers(files_of("kafka_lag.lag"), outside, []) == []


def run_at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """Everything of a module that importing it runs: all but the bodies of functions."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield node
            yield from run_at_import(node)


def test_no_environment_is_read_and_no_client_made_at_import() -> None:
    early = {
        f"{module_of(path)} uses {node.attr} at import"
        for path in files_of("kafka_lag")
        for node in run_at_import(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr in {"environ", "getenv", "client", "resource"}
    }
    assert early == set()


def test_every_file_opens_with_its_licence() -> None:
    line = "# SPDX-License-Identifier: Apache-2.0\n"
    files = [*SHIPPED, *DEV, *TESTS]
    assert [module_of(path) for path in files if not path.read_text().startswith(line)] == []


def test_every_shipped_file_says_what_it_is() -> None:
    silent = [p for p in [*SHIPPED, *DEV] if not ast.get_docstring(ast.parse(p.read_text()))]
    assert [module_of(path) for path in silent] == []


def test_no_package_is_named_like_a_library() -> None:
    # In a flat asset or on a source root it would hide the library.
    names = {path.name for root in SOURCE_ROOTS for path in (ROOT / root).iterdir()}
    packages = {name for name in names if (name.isidentifier() and name != "__pycache__")}
    assert packages == {"kafka_lag", "kafka_lag_cdk", "kafka_lag_report"}
