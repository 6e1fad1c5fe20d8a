# SPDX-License-Identifier: Apache-2.0
"""The command that brings an extra, for each way in which people install; most of them are run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from kafka_lag_cdk.packaging import find_uv
from kafka_lag_cli import installation
from kafka_lag_cli.installation import Installation

COMMIT = "4f8b2c9d1e"
GIT = {"vcs": "git", "commit_id": COMMIT, "requested_revision": "main"}
PIP = Installation(None, "pip", Path("/venv"), "/venv/bin/python")


@pytest.mark.parametrize(
    ("direct_url", "requirement"),
    [
        (
            {"url": "https://git.example.com/lag.git", "vcs_info": GIT},
            f"'msk-lag-reporter[sql] @ git+https://git.example.com/lag.git@{COMMIT}'",
        ),
        (
            {"url": "ssh://git@example.com/all", "vcs_info": GIT, "subdirectory": "lag"},
            f"'msk-lag-reporter[sql] @ git+ssh://git@example.com/all@{COMMIT}#subdirectory=lag'",
        ),
        (
            {"url": "https://example.com/lag-0.2.0.tar.gz", "archive_info": {}},
            "'msk-lag-reporter[sql] @ https://example.com/lag-0.2.0.tar.gz'",
        ),
        (
            {"url": "https://ann:hunter2@example.com/lag.whl", "archive_info": {}},
            "'msk-lag-reporter[sql] @ https://example.com/lag.whl'",
        ),
    ],
)
def test_a_copy_from_elsewhere_is_named_by_its_url_without_a_login(
    direct_url: dict[str, Any], requirement: str
) -> None:
    installed = replace(PIP, direct_url=direct_url)
    assert installed.add_extra("sql") == f"/venv/bin/python -m pip install {requirement}"


@pytest.mark.parametrize(
    "direct_url", [None, {"url": "file:///no/such/lag.whl", "archive_info": {}}]
)
@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_no_command_names_a_source_that_is_unknown_or_gone(
    direct_url: dict[str, Any] | None, installer: str
) -> None:
    assert replace(PIP, direct_url=direct_url, installer=installer).add_extra("sql") is None


def test_a_folder_is_installed_again_as_it_was(tmp_path: Path) -> None:
    source = {"url": tmp_path.as_uri(), "dir_info": {}}
    folder = Installation(source, "uv", tmp_path, "python")
    editable = replace(folder, direct_url=source | {"dir_info": {"editable": True}})
    into = f"uv pip install --python {tmp_path}"
    url = tmp_path.as_uri()
    assert folder.add_extra("sql") == f"{into} 'msk-lag-reporter[sql] @ {url}'"
    assert editable.add_extra("sql") == f"{into} --editable '{tmp_path}[sql]'"
    # A tool keeps the extras that it has.
    (tmp_path / "uv-receipt.toml").write_text(
        '[tool]\nrequirements = [{ name = "rich" }, '
        f'{{ name = "msk-lag-reporter", extras = ["report"], directory = "{tmp_path}" }}]\n'
    )
    assert folder.add_extra("sql") == f"uv tool install 'msk-lag-reporter[report,sql] @ {url}'"


# A distribution of the same name, of the module under test alone, whose extra brings `brought`.
# It builds itself, so that nothing is fetched.
_PROJECT = """\
[build-system]
requires = []
build-backend = "build"
backend-path = ["."]
[project]
name = "msk-lag-reporter"
version = "1.0"
"""
_BUILD = """\
import os, sys, zipfile
HERE = os.getcwd()
ABOUT = "msk_lag_reporter-1.0.dist-info/"
METADATA = (
    "Metadata-Version: 2.1\\nName: msk-lag-reporter\\nVersion: 1.0\\nProvides-Extra: sql\\n"
    "Requires-Dist: brought @ {brought} ; extra == 'sql'\\n"
)
def write(folder, name, files):
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        for each, text in files.items():
            wheel.writestr(each, text)
    return name
def about():
    return {ABOUT + "METADATA": METADATA, ABOUT + "RECORD": "",
            ABOUT + "WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
            ABOUT + "entry_points.txt": "[console_scripts]\\nkafka-lag = command:main\\n"}
def read(name):
    return open(os.path.join(HERE, name)).read()
def build_wheel(folder, *_, **__):
    files = {name: read(name) for name in ("command.py", "installation.py")}
    return write(folder, "msk_lag_reporter-1.0-py3-none-any.whl", {**files, **about()})
def build_editable(folder, *_, **__):
    return write(folder, "msk_lag_reporter-1.0-py3-none-any.whl", {"ours.pth": HERE, **about()})
"""
_COMMAND = """\
from importlib.util import find_spec
from installation import find_installation
def main():
    print("brought" if find_spec("brought") else find_installation().add_extra("sql"))
"""
_BROUGHT = """\
import zipfile
with zipfile.ZipFile("brought-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("brought.py", "")
    about, version = "brought-1.0.dist-info/", "Version: 1.0\\n"
    wheel.writestr(about + "METADATA", "Metadata-Version: 2.1\\nName: brought\\n" + version)
    wheel.writestr(about + "WHEEL", f"Wheel-{version}Root-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(about + "RECORD", "")
"""


@dataclass(frozen=True, slots=True)
class Shell:
    """A shell whose tools, environment and cache of uv lie in a folder, with uv on its PATH."""

    folder: Path

    def run(self, command: str) -> str:
        uv = find_uv()
        assert uv is not None, "uv is not installed: run make setup"
        places = [self.folder / "venv/bin", self.folder / "bin", Path(uv).parent]
        environment = {
            "HOME": str(self.folder),
            "PATH": os.pathsep.join([*map(str, places), os.environ["PATH"]]),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "UV_CACHE_DIR": str(self.folder / "cache"),
            "UV_OFFLINE": "1",
            "UV_TOOL_BIN_DIR": str(self.folder / "bin"),
            "UV_TOOL_DIR": str(self.folder / "tools"),
        }
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        return done.stdout.strip()


@pytest.fixture(name="shell")
def _shell(tmp_path: Path) -> Shell:
    project = tmp_path / "a project"
    project.mkdir()
    brought = (tmp_path / "brought-1.0-py3-none-any.whl").as_uri()
    (project / "pyproject.toml").write_text(_PROJECT + 'dynamic = ["optional-dependencies"]\n')
    (project / "build.py").write_text(_BUILD.replace("{brought}", brought))
    (project / "command.py").write_text(_COMMAND)
    shutil.copy(str(installation.__file__), project / "installation.py")
    shell = Shell(tmp_path)
    shell.run(f"{sys.executable} - <<'END'\n{_BROUGHT}END")
    return shell


def thorough(*values: str) -> ParameterSet:
    """A way to install that takes seconds, and of which a test above holds the command."""
    return pytest.param(*values, marks=pytest.mark.thorough)


@pytest.mark.parametrize(
    ("install", "said"),
    [
        ("uv tool install './a project'", "uv tool install 'msk-lag-reporter[sql] @ file:"),
        thorough("uv tool install --editable './a project'", "uv tool install --editable '/"),
        thorough("uv pip install --python venv './a project'", "uv pip install --python "),
        thorough("uv pip install --python venv -e './a project'", "uv pip install --python "),
        thorough("python -m pip install './a project'", "/venv/bin/python -m pip install 'msk-lag"),
        thorough(
            "python -m pip install -e './a project'",
            "/venv/bin/python -m pip install --editable '/",
        ),
    ],
)
def test_the_command_that_is_printed_brings_the_extra(
    shell: Shell, install: str, said: str
) -> None:
    if "tool" not in install:
        venv.create(shell.folder / "venv", symlinks=True, with_pip="-m pip" in install)
    shell.run(install)
    command = shell.run("kafka-lag")
    assert said in command
    shell.run(command)
    assert shell.run("kafka-lag") == "brought"


def test_a_copy_that_lasts_for_one_call_is_called_again_with_the_extra(shell: Shell) -> None:
    command = shell.run("uvx --from './a project' kafka-lag")
    assert command.startswith("uvx --from 'msk-lag-reporter[sql] @ file:")
    assert shell.run(command) == "brought"
