# SPDX-License-Identifier: Apache-2.0
"""The wheel in an environment that holds nothing else: what people get from `pip install`."""

from __future__ import annotations

import subprocess
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

from kafka_lag_cdk.packaging.wheels.fetch import find_program

ROOT = Path(__file__).parents[2]

_IMPORT_ALL = """\
import importlib, pkgutil, kafka_lag
for found in pkgutil.walk_packages(kafka_lag.__path__, "kafka_lag."):
    importlib.import_module(found.name)
import kafka
print(kafka.__file__, kafka_lag.__file__)
"""
_FIND = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment with the wheel and what it requires."""

    folder: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        program = str(self.folder / "bin" / command[0])
        return subprocess.run(
            [program, *command[1:]], cwd=self.folder, capture_output=True, text=True, check=False
        )

    def has(self, module: str) -> bool:
        return self.run("python", "-c", _FIND, module).returncode == 0


def _uv(*arguments: str) -> None:
    uv = find_program("uv")
    assert uv is not None, "uv is not installed: run make setup"
    subprocess.run([uv, *arguments], cwd=ROOT, check=True, capture_output=True)


@pytest.fixture(name="installed", scope="module")
def _installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    _uv("build", "--quiet", "--wheel", "--out-dir", str(folder))
    (wheel,) = folder.glob("*.whl")
    required = folder / "requirements.txt"
    plain = ("--frozen", "--no-default-groups", "--no-emit-project", "--quiet")
    _uv("export", *plain, "--output-file", str(required))
    venv.create(folder / "venv", symlinks=True)
    python = str(folder / "venv" / "bin" / "python")
    _uv("pip", "install", "--quiet", "--python", python, "--requirements", str(required))
    _uv("pip", "install", "--quiet", "--python", python, "--no-deps", str(wheel))
    return Installed(folder / "venv")


def test_every_module_of_the_collector_is_imported_beside_kafka_python(
    installed: Installed,
) -> None:
    done = installed.run("python", "-c", _IMPORT_ALL)
    assert done.stderr == ""
    library, ours = (Path(word) for word in done.stdout.split())
    assert library.parent.name == "kafka"
    assert installed.folder in library.parents
    assert installed.folder in ours.parents


@pytest.mark.parametrize("name", ["kafka_lag", "kafka_lag_cdk", "kafka_lag_report"])
def test_the_wheel_holds_each_package(installed: Installed, name: str) -> None:
    assert installed.has(name)


@pytest.mark.parametrize("name", ["functions", "infra", "glue_jobs", "dev", "tests", "pytest"])
def test_the_wheel_holds_no_other_name_and_brings_no_development_tool(
    installed: Installed, name: str
) -> None:
    assert not installed.has(name)


def test_types_are_for_whoever_imports_the_packages(installed: Installed) -> None:
    names = sorted(path.parent.name for path in installed.folder.rglob("kafka_lag*/py.typed"))
    assert names == ["kafka_lag", "kafka_lag_cdk", "kafka_lag_report"]


def test_the_command_names_its_subcommands(installed: Installed) -> None:
    done = installed.run("kafka-lag", "--help")
    assert done.returncode == 0
    assert {"watch", "serve"} <= set(done.stdout.split())


@pytest.mark.parametrize("subcommand", ["watch", "serve"])
def test_each_subcommand_says_what_it_takes(installed: Installed, subcommand: str) -> None:
    done = installed.run("kafka-lag", subcommand, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: kafka-lag {subcommand}")


def test_an_unknown_subcommand_is_a_usage_error(installed: Installed) -> None:
    done = installed.run("kafka-lag", "look")
    assert done.returncode == 2
    assert "look" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_cluster_that_is_not_there_is_one_sentence(installed: Installed) -> None:
    done = installed.run(
        "kafka-lag", "watch", "--bootstrap-servers", "127.0.0.1:1", "--state", "lag", "--once"
    )
    assert done.returncode == 1
    assert "No broker could be reached" in done.stderr
    assert "Traceback" not in done.stderr
