# SPDX-License-Identifier: Apache-2.0
"""Tables in the docs agree with the code, and names in README and docs exist."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path

import pytest

from dev.docs import texts
from kafka_lag import contract
from kafka_lag.contract.reports import REPORT_COLUMNS
from kafka_lag.views import burrow, page
from kafka_lag.wording.words import MEANINGS
from tests.commands import subcommands

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
DOCS = {path.name: path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))}
EVERYTHING = "\n".join([README, CONTRIBUTING, *DOCS.values()])


def test_make_docs_changes_nothing() -> None:
    other = [x for x, text in texts().items() if (ROOT / "docs" / x).read_text() != text]
    assert other == [], "run make docs"


EVENT_KINDS = (
    *(contract.OPENED, contract.WORSE, contract.BETTER, contract.RESOLVED, contract.CAUGHT_UP),
    *(contract.LOSS_BEGUN, contract.LOSS_ENDED, contract.LOSS_NEAR, contract.LOSS_AVERTED),
    *(contract.PROMISE_BROKEN, contract.PROMISE_KEPT, contract.SKIPPED, contract.GONE),
)
# Without `completion`, which no row explains, and without the redirect of a cluster.
SUBCOMMANDS = {str(each.name) for each in subcommands()} - {"completion"}
_PAGES = {*page.PATHS} - {"/cluster/{cluster}"}
_VARIABLES = {str(p.envvar) for each in subcommands() for p in each.params if p.envvar}
# Of the first table behind a line of a file: the column with names, and these.
NAMED: list[tuple[str, str, int, Iterable[str]]] = [
    ("metrics.md", "## All metrics", 1, contract.METRIC_UNITS),
    ("api.md", "| kind | when | `status` |", 0, EVENT_KINDS),
    ("command-line.md", "| subcommand | what it does | needs |", 0, SUBCOMMANDS),
    ("command-line.md", "### Variables", 0, {*_VARIABLES, "KAFKA_LAG_PASSWORD"}),
    ("api.md", "### Endpoints", 0, burrow.PATHS),
    ("api.md", "## The status page", 0, _PAGES),
    ("concepts.md", "| cause | what decides |", 0, contract.CAUSES),
    *(("snapshots.md", f"## {name}", 0, columns) for name, columns in contract.COLUMNS.items()),
    *(("snapshots.md", f"### {name}", 0, columns) for name, columns in REPORT_COLUMNS.items()),
]


def _names(file: str, behind: str, column: int) -> list[str]:
    """What the cells of a column name, with commas between."""
    _, _, part = f"\n{DOCS[file]}".partition(f"\n{behind}\n")
    table = re.search(r"(?:^\|.*\n)+", f"{behind}\n{part}", re.MULTILINE)
    assert table, behind
    rows = [row[1:-1].split("|") for row in table[0].splitlines()[2:]]
    found = [name.strip("`") for row in rows for name in row[column].strip().split(", ")]
    # Columns by production are called as those by lag.
    others = [name.removeprefix("lag_") for name in found if name.startswith("lag_")]
    return [
        name
        for each in found
        for name in ([each[:-1] + other for other in others] if each.endswith("*") else [each])
    ]


@pytest.mark.parametrize(
    ("file", "behind", "column", "names"), NAMED, ids=[" ".join(row[:2]) for row in NAMED]
)
def test_a_table_by_hand_names_what_code_has_and_no_more(
    file: str, behind: str, column: int, names: Iterable[str]
) -> None:
    assert {*_names(file, behind, column)} == {*names}


def test_every_word_for_what_a_consumer_does_is_explained() -> None:
    section, _, _ = DOCS["metrics.md"].partition("### In words\n")[2].partition("\n#")
    assert [name for name in MEANINGS if f"`{name}`" not in section] == []


def test_every_target_and_module_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"(?:`|    )make ([a-z0-9-]+)", EVERYTHING))
    modules = set(re.findall(r"python -m ([\w.]+)", EVERYTHING))
    assert [x for x in targets if not re.search(rf"^{x}:", makefile, re.MULTILINE)] == []
    assert [each for each in modules if find_spec(each) is None] == []


def test_no_page_installs_from_an_index_where_the_name_is_nobodys() -> None:
    """A folder or a URL says where it comes from: `'../msk-lag-reporter[cdk]'`."""
    commands = re.findall(r"(?:install|--from|--with|uvx|pipx) .*", EVERYTHING)
    assert [x for x in commands if re.search(r"[ '\"]msk-lag-reporter\b(?! @)", x)] == []


_FOLDERS = ("cli", "dev", "docs", "examples", "functions", "glue_jobs", "infra", "tests")


def _paths(text: str) -> set[str]:
    """What stands in backticks in a document and can only be a file or folder of this project.

    Contributors' paths may begin within a package; elsewhere they are whole.
    """
    names = {each.removeprefix(".../").rstrip("/") for each in re.findall(r"`([^`\s]+)`", text)}
    return {each for each in names if "/" in each or each.endswith((".py", ".toml", ".j2"))}


def test_every_path_that_is_named_exists() -> None:
    below = [path for folder in _FOLDERS for path in (ROOT / folder).rglob("*")]
    files = {f"/{path.relative_to(ROOT).as_posix()}" for path in (*ROOT.iterdir(), *below)}
    of_users = {path for text in (README, *DOCS.values()) for path in _paths(text)}
    whole = {path for path in of_users if path.split("/")[0] in _FOLDERS}
    parts = {path for path in _paths(CONTRIBUTING) if path[0] not in "/."}
    assert [path for path in whole if f"/{path}" not in files] == []
    assert [path for path in parts if not any(fnmatch(file, f"*/{path}") for file in files)] == []


def test_every_file_that_states_the_version_has_the_projects() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    locked = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    (ours,) = [each["version"] for each in locked if each["name"] == "msk-lag-reporter"]
    api = json.loads((ROOT / "docs/openapi.json").read_text())["info"]["version"]
    assert (ours, api) == (version, version)
    assert f"\n## [{version}] - " in (ROOT / "CHANGELOG.md").read_text()
    minor = ".".join(version.split(".")[:2])
    assert f"| {minor}.x | yes |" in (ROOT / "SECURITY.md").read_text()
    stated = rf"`{contract.SCHEMA_VERSION_KEY}`.*\b{re.escape(contract.SCHEMA_VERSION)}\b"
    assert re.search(stated, DOCS["snapshots.md"])
