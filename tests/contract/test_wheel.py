# SPDX-License-Identifier: Apache-2.0
"""The wheel in an environment without other packages, as people get it from `pip install`."""

from __future__ import annotations

import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.contract.wheels import ROOT, install_wheel

# An environment is made, and its programs import all that there is; what may import what is in
# test_boundaries.py, of every change.
pytestmark = pytest.mark.thorough

_IMPORT_ALL = """\
import importlib, pkgutil, kafka_lag
for found in pkgutil.walk_packages(kafka_lag.__path__, "kafka_lag."):
    try:
        importlib.import_module(found.name)
    except ModuleNotFoundError as error:
        if error.name not in ("duckdb", "sqlglot"):
            raise
import kafka
print(kafka.__file__, kafka_lag.__file__)
"""
_FIND = """\
import importlib.util, sys
print(*(name for name in sys.argv[1:] if importlib.util.find_spec(name)))
"""
# The first line of each subcommand's help, and its exit code.
_HELP = """\
import contextlib, io, sys
from kafka_lag_cli.command import main
for name in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = main([name, "--help"])
    print(code, printed.getvalue().splitlines()[0])
"""
_LIST = """\
import importlib.metadata
print(*sorted({found.name for found in importlib.metadata.distributions()}))
"""
PACKAGES = {
    *("kafka_lag", "kafka_lag_cdk", "kafka_lag_cli", "kafka_lag_config", "kafka_lag_report"),
}
# What a plain `kafka-lag` may cost whoever installs it, itself included.
MOST_DISTRIBUTIONS = 32


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment with the wheel and what it requires."""

    folder: Path
    wheel: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        program = str(self.folder / "bin" / command[0])
        return subprocess.run(
            [program, *command[1:]], cwd=self.folder, capture_output=True, text=True, check=False
        )

    def has(self, *modules: str) -> list[str]:
        """Which of these modules are found."""
        return self.run("python", "-c", _FIND, *modules).stdout.split()


@pytest.fixture(name="installed", scope="module")
def _installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    wheel = install_wheel(folder)
    return Installed(folder / "venv", wheel)


def test_every_module_of_the_collector_is_imported_beside_kafka_python(
    installed: Installed,
) -> None:
    done = installed.run("python", "-c", _IMPORT_ALL)
    assert done.stderr == ""
    library, ours = (Path(word) for word in done.stdout.split())
    assert library.parent.name == "kafka"
    assert installed.folder in library.parents
    assert installed.folder in ours.parents


def test_the_wheel_holds_the_three_packages_and_no_other_name(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as archive:
        names = {name.partition("/")[0] for name in archive.namelist()}
    about = "-".join(installed.wheel.name.split("-")[:2]) + ".dist-info"
    assert names == {*PACKAGES, about}


def test_a_plain_installation_brings_no_extra(installed: Installed) -> None:
    assert installed.has("aws_cdk", "cryptography", "pyspark", "duckdb", "sqlglot") == []


def test_a_plain_installation_brings_no_development_tool(installed: Installed) -> None:
    tools = ("moto", "confluent_kafka", "trustme", "pytest", "mypy", "ruff", "mutmut")
    assert installed.has("click", *tools) == ["click"]


def test_a_plain_installation_is_small(installed: Installed) -> None:
    names = installed.run("python", "-c", _LIST).stdout.split()
    assert {"msk-lag-reporter", "kafka-python", "numpy"} <= set(names)
    assert len(names) <= MOST_DISTRIBUTIONS, names


def test_types_are_for_whoever_imports_the_packages(installed: Installed) -> None:
    names = sorted(path.parent.name for path in installed.folder.rglob("kafka_lag*/py.typed"))
    assert names == sorted(PACKAGES)


def test_each_subcommand_says_what_it_takes(installed: Installed) -> None:
    names = [*("show", "watch", "serve", "query", "report"), *("config", "cost", "completion")]
    done = installed.run("python", "-c", _HELP, *names)
    lines = done.stdout.splitlines()
    assert [line.split()[:4] for line in lines] == [
        ["0", "Usage:", "kafka-lag", name] for name in names
    ]


def test_what_a_configuration_costs_needs_no_cdk(installed: Installed) -> None:
    example = str(ROOT / "examples" / "one-cluster.toml")
    done = installed.run("kafka-lag", "cost", "--config", example)
    assert done.stderr == ""
    assert "us-east-1, account 111122223333: $" in done.stdout


def test_a_subcommand_that_needs_an_extra_names_it(installed: Installed) -> None:
    for command, extra in (
        (("report", "--state", "."), "report"),
        (("query", "records_lost"), "sql"),
    ):
        done = installed.run("kafka-lag", *command)
        (line,) = done.stderr.splitlines()
        assert (done.returncode, f"with its extra {extra}" in line) == (2, True)


def test_a_cluster_that_is_not_there_is_one_sentence(installed: Installed) -> None:
    done = installed.run("kafka-lag", "show", "--bootstrap-servers", "127.0.0.1:1")
    assert done.returncode == 1
    assert "No broker could be reached" in done.stderr
    assert "Traceback" not in done.stderr
