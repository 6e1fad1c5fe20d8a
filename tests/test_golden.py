# SPDX-License-Identifier: Apache-2.0
"""The mechanism of golden texts; each file belongs to a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import FOLDER, Golden

TESTS = Path(__file__).parent


def test_a_text_that_differs_fails_with_its_diff_until_it_is_renewed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"\+a word\n\+another"):
        Golden(False, tmp_path).holds("a.txt", "a word\nanother\n")
    Golden(True, tmp_path).holds_cases("of/cases.txt", {"one": "a word", "two": "another"})
    assert (tmp_path / "of/cases.txt").read_text() == "## one\na word\n\n## two\nanother\n"
    with pytest.raises(AssertionError, match=r"-another\n\+other"):
        Golden(False, tmp_path).holds_cases("of/cases.txt", {"one": "a word", "two": "other"})


def test_each_golden_file_is_of_a_test() -> None:
    sources = "".join(path.read_text() for path in TESTS.rglob("test_*.py"))
    files = [path for path in FOLDER.rglob("*") if path.is_file()]
    assert [path for path in files if path.name not in sources and path.stem not in sources] == []
