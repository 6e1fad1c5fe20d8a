# SPDX-License-Identifier: Apache-2.0
"""Which package may import which, read from the sources: imports point inward."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Where packages lie that the wheel installs, and what contributors run.
SOURCE_ROOTS = ("functions", "cli", "infra", "glue_jobs")
SHIPPED = [path for root in SOURCE_ROOTS for path in sorted((ROOT / root).rglob("*.py"))]
DEV = sorted((ROOT / "dev").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
OURS = (
    *("kafka_lag", "kafka_lag_cli", "kafka_lag_cdk", "kafka_lag_config", "kafka_lag_report"),
    *("dev", "tests"),
)

# What each top-level module of kafka_lag may import of the rest of it.
EVERYTHING = ("",)
ADAPTER = ("lag", "contract", "wording", "aws", "errors")
INSIDE = {
    "contract": (),
    "wording": ("contract",),
    "errors": (),
    "aws": ("contract", "errors"),
    "lag": ("contract",),
    "brokers": ADAPTER,
    "sinks": ADAPTER,
    "snapshots": ADAPTER,
    "notify": ADAPTER,
    "views": ADAPTER,
    "settings": ("lag", "contract", "errors"),
    "collector": EVERYTHING,
    "collect_lag": EVERYTHING,
    "serve_lag": EVERYTHING,
    "notify_status": EVERYTHING,
}
# Imports that the table does not allow, and why they are there. One that is gone must go here too.
EXCEPTIONS = {
    "notify": {"snapshots": "reads the rows of runs"},
    "views": {"snapshots": "reads the rows of runs"},
    "settings": {
        "brokers.access": "holds how brokers are reached",
        "sinks.config": "holds which sinks there are, and their levels",
    },
}
# What other packages may import of kafka_lag, and their exceptions.
ELSEWHERE = {
    "kafka_lag_config": ("contract", "wording", "settings"),
    "kafka_lag_cdk": ("contract", "wording", "settings"),
    "kafka_lag_report": ("contract", "wording"),
}
ELSEWHERE_EXCEPTIONS = {
    "kafka_lag_config": {
        "lag.group_settings": "matches names as the collector does",
        "sinks.config": "holds which metrics are published",
        "snapshots.keys": "knows which names of clusters a key can have",
    },
}
# Whom a package may import beside kafka_lag.
BESIDE = {"kafka_lag_cdk": ("kafka_lag_config",)}
# What the command may import beside kafka_lag; of the report, what it starts.
OF_THE_COMMAND = (
    *("kafka_lag_config", "kafka_lag_report.daily_report", "kafka_lag_report.errors"),
    *("kafka_lag_report.options", "kafka_lag_report.session"),
)


def module_of(path: Path) -> str:
    """The dotted name under which a file is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts[1:] if parts[0] in SOURCE_ROOTS else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    """The top-level module of kafka_lag that it is or lies in; "" for the package itself."""
    return module.split(".")[1] if "." in module else ""


@cache
def imports(path: Path) -> set[str]:
    """Dotted names of all that a file imports, wherever in it."""
    found = imports_of(path.read_text())
    assert not any(name.startswith(".") for name in found), f"{module_of(path)} imports relatively"
    return found


def imports_of(source: str) -> set[str]:
    """Dotted names of imports and of what import_module is called with, as far as they are written.

    "?" stands for a name that is not in the source at all.
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            inner = {f"{module}.{alias.name}" for alias in node.names}
            found |= inner if module in OURS else {module}
        elif isinstance(node, ast.Call) and called(node) in ("import_module", "__import__"):
            found.add(beginning(node.args[0]) if node.args else "?")
    return found


def called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def beginning(node: ast.expr) -> str:
    """The module that a string names, or that an f-string begins with; "?" for anything else."""
    if isinstance(node, ast.JoinedStr) and node.values:
        name, dot, _ = beginning(node.values[0]).rpartition(".")
        return name if dot else "?"
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return "?"


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


def allowed_of(part: str) -> list[str]:
    """What a top-level module of kafka_lag may import of this project."""
    names = [part, *INSIDE[part], *EXCEPTIONS.get(part, {})]
    if "" not in names:
        return [f"kafka_lag.{name}" for name in names]
    found = {part_of(module_of(path)) for path in files_of("kafka_lag")}
    return [f"kafka_lag.{name}" for name in (found | set(names)) - {""}]


def test_each_top_level_module_of_the_library_is_in_the_table() -> None:
    found = {part_of(module_of(path)) for path in files_of("kafka_lag")} - {""}
    assert found == set(INSIDE)


@pytest.mark.parametrize("part", INSIDE)
def test_each_part_imports_only_what_the_table_allows(part: str) -> None:
    assert strangers(files_of(f"kafka_lag.{part}"), OURS, allowed_of(part)) == []


def test_the_package_itself_imports_nothing() -> None:
    assert imports(ROOT / "functions" / "kafka_lag" / "__init__.py") == set()


@pytest.mark.parametrize("package", ELSEWHERE)
def test_other_packages_know_the_names_and_rules_of_the_collector_only(package: str) -> None:
    names = (*ELSEWHERE[package], *ELSEWHERE_EXCEPTIONS.get(package, {}))
    allowed = [package, *BESIDE.get(package, ()), *(f"kafka_lag.{name}" for name in names)]
    assert strangers(files_of(package), OURS, allowed) == []


@pytest.mark.parametrize(
    ("package", "name"),
    [
        *((f"kafka_lag.{part}", name) for part, names in EXCEPTIONS.items() for name in names),
        *((package, name) for package, names in ELSEWHERE_EXCEPTIONS.items() for name in names),
    ],
)
def test_each_exception_is_still_needed(package: str, name: str) -> None:
    assert strangers(files_of(package), (f"kafka_lag.{name}",), []) != []


def test_the_command_imports_the_library_and_what_it_starts_or_prices() -> None:
    allowed = ("kafka_lag", "kafka_lag_cli", *OF_THE_COMMAND)
    assert strangers(files_of("kafka_lag_cli"), OURS, allowed) == []


def test_no_import_is_hidden_from_this_test() -> None:
    hidden = {module_of(path) for path in [*SHIPPED, *DEV] if "?" in imports(path)}
    assert hidden == set()


def test_dev_imports_no_tests() -> None:
    assert strangers(DEV, ("tests",), []) == []


def test_only_brokers_and_doctor_import_the_kafka_client() -> None:
    speakers = (
        *("kafka_lag.brokers", "kafka_lag_cli.doctor.inspection", "kafka_lag_cli.doctor.acls"),
        # It sends elections, which the product never does.
        "dev.faults.elections",
    )
    others = [
        path
        for path in [*SHIPPED, *DEV]
        if not any(under(module_of(path), each) for each in speakers)
    ]
    assert strangers(others, ("kafka",), []) == []


def test_configuration_catalog_and_queries_need_no_cdk() -> None:
    foreign = ("aws_cdk", "constructs", "cdk_nag", "kafka_lag_cdk")
    assert strangers(files_of("kafka_lag_config"), foreign, []) == []


def test_the_arithmetic_needs_numpy_alone() -> None:
    foreign = {
        f"{module_of(path)} imports {name}"
        for path in files_of("kafka_lag.lag")
        for name in imports(path)
        if name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert {line for line in foreign if not under(line.split()[-1], "numpy", "kafka_lag")} == set()


def test_what_is_packed_for_glue_and_errors_need_the_standard_library_alone() -> None:
    packed = ("kafka_lag.contract", "kafka_lag.wording")
    foreign = {
        name
        for path in files_of(*packed, "kafka_lag.errors")
        for name in imports(path)
        if name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert {name for name in foreign if not under(name, *packed)} == set()


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


def test_no_package_is_named_like_a_library() -> None:
    # In a flat asset or on a source root it would hide the library.
    names = {path.name for root in SOURCE_ROOTS for path in (ROOT / root).iterdir()}
    packages = {name for name in names if (name.isidentifier() and name != "__pycache__")}
    assert packages == {*OURS[:-2]}
