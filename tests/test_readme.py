# SPDX-License-Identifier: Apache-2.0
"""What the README and the docs name exists: targets, modules, options, metrics, columns, keys."""

from __future__ import annotations

import json
import re
import tomllib
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path

import pytest

from kafka_lag import contract
from kafka_lag_cdk.config.document import Document
from kafka_lag_cdk.report_columns import REPORT_COLUMNS
from tests.commands import subcommands

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
DOCS = {path.name: path.read_text() for path in (ROOT / "docs").glob("*.md")}
OTHERS = [(ROOT / name).read_text() for name in ("CONTRIBUTING.md", "CHANGELOG.md")]
# But for what the changelog says is gone.
_THERE = [re.sub(r"^### Removed\n.*?(?=^##)", "", x, flags=re.M | re.S) for x in OTHERS]
EVERYTHING = "\n".join([README, *_THERE, *DOCS.values()])


def _table(text: str, heading: str, mark: str = "##") -> list[list[str]]:
    """The cells of the table rows below a heading, up to the next one that is no lower."""
    part = text.split(f"\n{mark} {heading}\n")[1]
    part = re.split(rf"\n#{{2,{len(mark)}}} ", part, maxsplit=1)[0]
    rows = [line.strip("|").split(" | ") for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip(" |") for cell in row] for row in rows[2:]]


def _ticked(cells: list[str]) -> set[str]:
    return set(re.findall(r"`([^`]+)`", " ".join(cells)))


_NAMED_TARGETS = set(re.findall(r"(?:`|    )make ([a-z0-9-]+)", EVERYTHING))


@pytest.mark.parametrize("target", sorted(_NAMED_TARGETS))
def test_every_make_target_that_is_named_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("module", sorted(set(re.findall(r"python -m ([\w.]+)", EVERYTHING))))
def test_every_module_that_is_started_exists(module: str) -> None:
    assert find_spec(module) is not None


def test_no_page_installs_from_an_index_where_the_name_is_nobodys() -> None:
    """A folder or a URL says where it comes from: `'../msk-lag-reporter[cdk]'`."""
    commands = re.findall(r"(?:install|--from|--with|uvx|pipx) .*", EVERYTHING)
    assert [x for x in commands if re.search(r"[ '\"]msk-lag-reporter\b(?! @)", x)] == []


_OPTIONS = re.compile(r"(?<![\w-])(--[a-z][a-z-]+)")


@pytest.mark.parametrize("option", sorted(set(_OPTIONS.findall(README))))
def test_every_option_of_the_readme_is_known(option: str) -> None:
    of_uv = {"--extra"}
    ours = {name for each in subcommands() for p in each.params for name in p.opts}
    assert option in ours | of_uv | {"--help"}


def test_every_metric_is_documented_and_no_other() -> None:
    named = _ticked([row[1] for row in _table(DOCS["metrics.md"], "All metrics")])
    assert named == set(contract.METRIC_UNITS)


@pytest.mark.parametrize("dataset", contract.DATASETS)
def test_every_snapshot_column_is_documented(dataset: str) -> None:
    rows = _table(DOCS["snapshots.md"], dataset)
    named = {name for row in rows for name in row[0].split(", ")}
    assert named == set(contract.COLUMNS[dataset])


@pytest.mark.parametrize("report", REPORT_COLUMNS)
def test_every_report_column_is_documented(report: str) -> None:
    rows = _table(DOCS["snapshots.md"], report, "###")
    written = [name for row in rows for name in row[0].split(", ")]
    # production_* has the same columns as lag_*
    others = [name.removeprefix("lag_") for name in written if name.startswith("lag_")]
    expanded = [
        name
        for each in written
        for name in ([each[:-1] + other for other in others] if each.endswith("*") else [each])
    ]
    assert sorted(expanded) == sorted(REPORT_COLUMNS[report])


def test_the_version_of_snapshots_is_stated() -> None:
    stated = f"`{contract.SCHEMA_VERSION_KEY}`, MAJOR.MINOR, now {contract.SCHEMA_VERSION} ("
    assert stated in DOCS["snapshots.md"]


def test_every_configuration_key_is_documented() -> None:
    named = {k.split(".")[0] for k in _ticked([r[0] for r in _table(*_CONFIG)]) if k[0] != "."}
    assert named == set(Document.model_fields)


_CONFIG = (DOCS["configuration.md"], "A cluster: what its collector does")


_FOLDERS = ("cli", "dev", "docs", "examples", "functions", "glue_jobs", "infra", "tests")
_FILES = {
    f"/{path.relative_to(ROOT).as_posix()}"
    for folder in _FOLDERS
    for path in (ROOT / folder).rglob("*")
    if "__pycache__" not in path.parts
}


def _paths(text: str) -> set[str]:
    """What stands in backticks in a document and can only be a file or folder of this project.

    Contributors' paths may begin within a package; elsewhere they are whole.
    """
    names = {each.removeprefix(".../").rstrip("/") for each in re.findall(r"`([^`\s]+)`", text)}
    return {each for each in names if "/" in each or each.endswith((".py", ".toml", ".j2"))}


_CONTRIBUTORS = {each for each in _paths(OTHERS[0]) if each[0] not in "/."}
_USERS = {path for text in (README, *DOCS.values()) for path in _paths(text)}


@pytest.mark.parametrize("path", sorted(_CONTRIBUTORS))
def test_every_path_that_contributors_read_of_exists(path: str) -> None:
    assert any(fnmatch(file, f"*/{path}") for file in _FILES)


@pytest.mark.parametrize("path", sorted(p for p in _USERS if p.split("/")[0] in _FOLDERS))
def test_every_path_in_the_docs_exists(path: str) -> None:
    assert f"/{path}" in _FILES


VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_the_changelog_has_the_version_of_the_project_and_how_to_upgrade() -> None:
    part = (ROOT / "CHANGELOG.md").read_text().split(f"\n## [{VERSION}] - ")[1]
    assert part.split("\n### ")[1].startswith("Upgrade\n")


def test_lock_file_and_api_have_the_version_of_the_project() -> None:
    locked = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    (ours,) = [each["version"] for each in locked if each["name"] == "msk-lag-reporter"]
    api = json.loads((ROOT / "docs/openapi.json").read_text())["info"]["version"]
    assert (ours, api) == (VERSION, VERSION)


def test_the_minor_version_has_security_fixes() -> None:
    minor = ".".join(VERSION.split(".")[:2])
    assert f"| {minor}.x | yes |" in (ROOT / "SECURITY.md").read_text()
