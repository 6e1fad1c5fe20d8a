# SPDX-License-Identifier: Apache-2.0
"""What an audit of the installed packages says, and when it fails."""

from __future__ import annotations

from typing import Any

import pytest

from dev.audit import judge

SAFE: dict[str, Any] = {"name": "click", "version": "8.3.0", "vulns": []}
WEAK: dict[str, Any] = {
    "name": "jinja2",
    "version": "3.1.0",
    "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["3.1.9", "3.2.1"], "aliases": []}],
}
UNKNOWN: dict[str, Any] = {"name": "numpy", "skip_reason": "Dependency not found on PyPI"}


UNREPAIRED = {**WEAK, "vulns": [{"id": "GHSA-1", "fix_versions": []}]}


@pytest.mark.parametrize(
    ("packages", "named", "code"),
    [
        pytest.param([SAFE, WEAK], "PYSEC-2026-1", 1, id="a known weakness"),
        pytest.param([UNREPAIRED], "GHSA-1", 1, id="one that nobody has repaired"),
        pytest.param([SAFE, UNKNOWN], "1 package audited", 0, id="none"),
    ],
)
def test_a_known_weakness_is_named_and_fails(
    packages: list[dict[str, Any]], named: str, code: int
) -> None:
    lines, found = judge({"dependencies": packages, "fixes": []})
    assert (named in lines[0], found) == (True, code)


def test_a_database_that_knows_no_package_was_not_reached_and_fails_nothing() -> None:
    unknown = judge({"dependencies": [UNKNOWN, UNKNOWN], "fixes": []})
    assert (unknown, unknown[1]) == (judge(None), 0)
