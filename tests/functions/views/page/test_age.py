# SPDX-License-Identifier: Apache-2.0
"""How old a snapshot is: said aloud where it is old, and nothing of it then called now."""

from __future__ import annotations

import pytest

from tests.fakes import MemoryStore
from tests.functions.views.page.reading import read
from tests.functions.views.page.rows import DAY, HOUR, MINUTE, NOON
from tests.functions.views.page.shop import opened, put, six_hours

CURVE, HELD = 3, -1


@pytest.fixture(name="store", scope="module")
def _store() -> MemoryStore:
    return six_hours(MemoryStore())


@pytest.mark.parametrize(("minutes", "old"), [(30, False), (31, True)])
def test_a_snapshot_three_intervals_old_is_said_aloud(
    store: MemoryStore, minutes: int, old: bool
) -> None:
    page = read(opened(store, now=NOON + minutes * MINUTE))

    assert ("Old: these numbers are 31 min old." in page.texts.get("alarm", "")) is old
    assert page.texts["title"].startswith("Old: ") is old


def test_a_lone_snapshot_is_taken_for_one_of_each_minute() -> None:
    assert "alarm" in read(opened(put(MemoryStore()), now=NOON + 4 * MINUTE)).texts


def test_a_snapshot_of_last_month_is_shown_and_called_old() -> None:
    page = read(opened(put(MemoryStore()), now=NOON + 40 * DAY))

    assert "40 d old" in page.texts["alarm"]
    assert page.cells("billing")[CURVE] == "at most 1 h 30 min"


@pytest.mark.parametrize(
    ("hours", "kicker", "head", "caption", "held"),
    [
        (0, "Consumer lag, now", "Last 6 hours", "of the last 6 hours", "ERR for 1 h 20 min"),
        (
            1,
            "Consumer lag",
            "6 hours before",
            "of the 6 hours before 12:00 UTC",
            "ERR for 1 h 20 min",
        ),
    ],
)
def test_nothing_old_is_called_now(
    store: MemoryStore, hours: int, kicker: str, head: str, caption: str, held: str
) -> None:
    page = read(opened(store, now=NOON + hours * HOUR))

    assert page.texts["p"].startswith(f"{kicker}Read at")
    assert page.tables[-1][0][CURVE] == head
    assert f"The curve is the time lag {caption}, each to its own scale." in page.texts["caption"]
    assert page.cells("billing")[HELD].startswith(held)


def test_old_sparklines_of_several_clusters_end_when_each_was_read() -> None:
    store = put(put(MemoryStore(), cluster="a"), NOON - HOUR, cluster="b")

    assert "of the 6 hours before its cluster was read" in read(opened(store)).texts["caption"]


def test_how_long_a_status_and_an_incident_last_ends_with_the_snapshot(store: MemoryStore) -> None:
    page = read(opened(store, "/cluster/shop/group/billing", now=NOON + HOUR))

    assert "ERRfor 1 h 20 min, since 10:40 UTC" in page.texts["dd"]
    assert "1 h 23 minsince 10:37 UTC" in page.texts["dd"]
