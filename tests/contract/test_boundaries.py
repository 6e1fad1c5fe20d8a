# SPDX-License-Identifier: Apache-2.0
"""Imports point inward: read from the sources themselves."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = ("functions", "glue_jobs", "infra", "local", "tests")
FILES = [path for part in PARTS for path in sorted((ROOT / part).rglob("*.py"))]
STANDARD = sys.stdlib_module_names


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> set[str]:
    """Dotted names of all that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            inner = {f"{module}.{alias.name}" for alias in node.names}
            found |= inner if module in PARTS else {module}
            assert node.level == 0, f"{name_of(path)} has a relative import"
    return found


def under(module: str, *packages: str) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def files_of(*folders: str) -> list[Path]:
    found = [path for path in FILES if name_of(path).startswith(folders)]
    assert found, f"nothing in {folders}: the test reads the wrong place"
    return found


def foreign(path: Path) -> set[str]:
    """Imports from outside the standard library."""
    return {name for name in imports(path) if name.partition(".")[0] not in STANDARD}


def offenders(files: list[Path], *allowed: str) -> list[str]:
    return [
        f"{name_of(path)} imports {name}"
        for path in files
        for name in sorted(foreign(path))
        if not under(name, *allowed)
    ]


def forbidden(files: list[Path], *packages: str) -> list[str]:
    return [
        f"{name_of(path)} imports {name}"
        for path in files
        for name in sorted(imports(path))
        if under(name, *packages)
    ]


def test_the_arithmetic_knows_numpy_and_the_contract_only() -> None:
    assert (
        offenders(files_of("functions/kafka_lag/lag/"), "numpy", "kafka_lag.contract", "kafka_lag.lag") == []
    )


def test_the_arithmetic_has_no_clock_and_no_files() -> None:
    assert forbidden(files_of("functions/kafka_lag/lag/"), "time", "datetime", "os", "io", "pathlib") == []


def test_the_contract_imports_nothing_but_itself() -> None:
    assert offenders(files_of("functions/kafka_lag/contract/"), "kafka_lag.contract") == []


def test_the_errors_import_nothing() -> None:
    assert imports(ROOT / "functions/kafka_lag/errors.py") == set()


def test_only_the_broker_adapter_imports_the_kafka_client() -> None:
    shipped = files_of("functions/", "glue_jobs/", "infra/", "local/")
    others = [path for path in shipped if not name_of(path).startswith("functions/kafka_lag/brokers/")]
    assert forbidden(others, "kafka") == []


def test_adapters_do_not_reach_for_each_other() -> None:
    broker, sinks, snapshots = (f"functions.{name}" for name in ("broker", "sinks", "snapshots"))
    assert forbidden(files_of("functions/kafka_lag/brokers/"), sinks, snapshots) == []
    assert forbidden(files_of("functions/kafka_lag/sinks/"), broker, snapshots) == []
    assert forbidden(files_of("functions/kafka_lag/snapshots/"), broker, sinks) == []


def test_the_lambda_asset_imports_nothing_beside_itself() -> None:
    assert forbidden(files_of("functions/"), "local", "glue_jobs", "infra", "tests") == []


def test_jobs_know_the_collector_and_the_stand_ins_by_their_data_only() -> None:
    assert forbidden(files_of("glue_jobs/"), "functions", "local", "infra", "tests") == []


# One owner for what a configuration may say and for how a name is written as a dimension.
SHARED_RULES = ("kafka_lag.schema", "kafka_lag.lag.rules", "kafka_lag.sinks.names")


def test_infrastructure_knows_the_contract_and_the_rules_of_configuration_only() -> None:
    files = files_of("infra/")
    assert forbidden(files, "glue_jobs", "local", "tests") == []
    wrong = forbidden(files, "functions")
    known = ("kafka_lag.contract", *SHARED_RULES)
    assert [line for line in wrong if not under(line.split(" imports ")[1], *known)] == []


def test_nothing_shipped_imports_tests() -> None:
    assert forbidden(files_of("functions/", "glue_jobs/", "infra/", "local/"), "tests") == []


def run_at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """Everything of a module that importing it runs: all but the bodies of functions."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield node
            yield from run_at_import(node)


def test_no_environment_is_read_and_no_client_made_at_import() -> None:
    early = {
        f"{name_of(path)} uses {node.attr} at import"
        for path in files_of("functions/")
        for node in run_at_import(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr in {"environ", "getenv", "client", "resource"}
    }
    assert early == set()


def test_every_file_opens_with_its_licence() -> None:
    line = "# SPDX-License-Identifier: Apache-2.0\n"
    assert [name_of(path) for path in FILES if not path.read_text().startswith(line)] == []


def test_every_shipped_file_says_what_it_is() -> None:
    shipped = files_of("functions/", "glue_jobs/", "infra/", "local/")
    silent = [path for path in shipped if not ast.get_docstring(ast.parse(path.read_text()))]
    assert [name_of(path) for path in silent] == []
