# SPDX-License-Identifier: Apache-2.0
"""What an audit of the installed packages says, and when it fails."""

from __future__ import annotations

from typing import Any

from dev.audit import judge

SAFE: dict[str, Any] = {"name": "click", "version": "8.3.0", "vulns": []}
WEAK: dict[str, Any] = {
    "name": "jinja2",
    "version": "3.1.0",
    "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["3.1.9", "3.2.1"], "aliases": []}],
}
UNKNOWN: dict[str, Any] = {"name": "numpy", "skip_reason": "Dependency not found on PyPI"}


def _report(*packages: dict[str, Any]) -> dict[str, Any]:
    return {"dependencies": list(packages), "fixes": []}


def test_a_known_weakness_is_named_and_fails() -> None:
    lines, code = judge(_report(SAFE, WEAK))
    assert code == 1
    assert lines[0] == "jinja2 3.1.0: PYSEC-2026-1, repaired in 3.1.9, 3.2.1"


def test_one_that_nobody_has_repaired_fails_too() -> None:
    unrepaired = {**WEAK, "vulns": [{"id": "GHSA-1", "fix_versions": []}]}
    lines, code = judge(_report(unrepaired))
    assert (lines[0], code) == ("jinja2 3.1.0: GHSA-1, not repaired yet", 1)


def test_without_a_weakness_it_says_how_much_was_audited() -> None:
    lines, code = judge(_report(SAFE, UNKNOWN))
    assert code == 0
    assert lines == ["1 package audited, 1 not in the database: 0 known weaknesses."]


def test_an_answer_that_could_not_be_had_is_said_in_a_line_and_fails_nothing() -> None:
    (line,), code = judge(None)
    assert code == 0
    assert "nothing was audited" in line


def test_a_database_that_knows_no_package_was_not_reached() -> None:
    assert judge(_report(UNKNOWN, UNKNOWN)) == judge(None)
