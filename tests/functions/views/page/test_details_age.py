# SPDX-License-Identifier: Apache-2.0
"""One group's page of an old snapshot: nothing of it is counted to now."""

from __future__ import annotations

import re

import pytest

from tests.fakes import MemoryStore
from tests.functions.views.page.reading import read
from tests.functions.views.page.rows import HOUR, NOON
from tests.functions.views.page.shop import opened, six_hours, text_of

BILLING = "/cluster/shop/group/billing"


@pytest.fixture(name="store", scope="module")
def _store() -> MemoryStore:
    return six_hours(MemoryStore())


def labels(text: str) -> list[str]:
    """What the drawings are for those who do not see them."""
    return re.findall(r'<svg class="curve"[^>]* aria-label="([^"]*)"', text)


def test_an_old_snapshot_is_said_aloud_here_too(store: MemoryStore) -> None:
    page = read(opened(store, BILLING, now=NOON + HOUR))

    assert "Old: these numbers are 1 h old." in page.texts["alarm"]


def test_a_sparkline_ends_now(store: MemoryStore) -> None:
    given = opened(store, BILLING)

    assert read(given).texts["h2"].startswith("NowLast 6 hours")
    assert "6 h ago3 h agonow" * 2 in read(given).texts["span"]
    assert labels(text_of(given)) == ["Time lag of the last 6 hours", "Lag of the last 6 hours"]


@pytest.mark.parametrize(("hours", "end"), [(1, "12:00 UTC"), (24 * 40, "2026-01-31 12:00 UTC")])
def test_an_old_sparkline_says_when_it_ends(store: MemoryStore, hours: int, end: str) -> None:
    given = opened(store, BILLING, now=NOON + hours * HOUR)
    text, result = text_of(given).replace("\u00a0", " "), read(given).texts

    assert result["h2"].startswith(f"When last readThe 6 hours before {end}")
    assert f"6 h before3 h before{end}" * 2 in result["span"]
    span = f"of the 6 hours before {end}"
    assert labels(text) == [f"Time lag {span}", f"Lag {span}"]


def test_how_long_an_incident_lasted_is_not_known_beyond_the_snapshot(store: MemoryStore) -> None:
    texts = [read(opened(store, BILLING, now=NOON + hours * HOUR)).texts for hours in (0, 40)]

    assert all("1 h 23 minsince" in result["dd"] for result in texts)
