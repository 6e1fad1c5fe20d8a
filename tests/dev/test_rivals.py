# SPDX-License-Identifier: Apache-2.0
"""Which facts about other tools may be old."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from dev.rivals import RIVALS, find_doubt

RIVAL = replace(RIVALS[0], version="1.2.3")


@pytest.mark.parametrize(
    ("newest", "days", "doubt"),
    [
        ("1.2.3", 400, None),
        ("1.3.0", 0, "the newest version is 1.3.0"),
        (None, 90, None),
        (None, 91, "nobody has looked for 91 days"),
    ],
)
def test_a_newer_version_or_an_old_look_is_a_doubt(
    newest: str | None, days: int, doubt: str | None
) -> None:
    assert find_doubt(RIVAL, newest, RIVAL.read + timedelta(days=days)) == doubt
