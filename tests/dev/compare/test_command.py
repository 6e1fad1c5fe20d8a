# SPDX-License-Identifier: Apache-2.0
"""Runs two trees on the same input: only the differences planted in one are printed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from dev.compare.__main__ import ROOT, compare


def a_tree(folder: Path) -> Path:
    """A copy of a commit's code."""
    for name in ("functions", "cli", "infra", "glue_jobs", "dev"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.mark.thorough
def test_equal_trees_print_nothing_and_a_module_that_moved_is_found(tmp_path: Path) -> None:
    tree = a_tree(tmp_path / "tree")
    index = tree / "functions" / "kafka_lag" / "lag" / "time_index.py"
    index.rename(index.with_name("index_of_times.py"))
    for path in tree.rglob("*.py"):
        text = path.read_text()
        if "lag.time_index" in text:
            path.write_text(re.sub(r"\blag\.time_index\b", "lag.index_of_times", text))
    assert compare([ROOT, tree], tmp_path / "work") == ""


@pytest.mark.thorough
def test_a_value_planted_in_a_tree_is_found_in_all_that_is_made_of_it(tmp_path: Path) -> None:
    tree = a_tree(tmp_path / "tree")
    rule = tree / "functions" / "kafka_lag" / "lag" / "offset_lag.py"
    rule.write_text(rule.read_text().replace("lag=(end - position)", "lag=(end - position + 7)"))
    found = compare([ROOT, tree], tmp_path / "work")
    kinds = set(re.findall(r"^\+\+\+ new/(\w+)/", found, re.MULTILINE))
    assert kinds >= {"metrics", "snapshots", "views"}
