# SPDX-License-Identifier: Apache-2.0
"""Whatever the order of events, and whatever fails meanwhile, the same is reported."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.errors import ReporterError
from kafka_lag.notify.changes import Row
from tests.builders import MINUTE, NOON
from tests.functions.notify.builders import a_row, a_set
from tests.functions.notify.fakes import Bench

GROUPS = ("a", "b")
LAST = 7
# A held status, and whether this run read the group; None: nothing is held yet.
SIGHTS = st.tuples(st.sampled_from((None, contract.OK, contract.WARN, contract.ERR)), st.booleans())
WORLDS = st.lists(st.tuples(SIGHTS, SIGHTS), min_size=LAST + 1, max_size=LAST + 1)
EVENTS = st.lists(st.tuples(st.integers(0, LAST), st.booleans()), max_size=20)


def row(minute: int, group: str, sight: tuple[str | None, bool]) -> Row:
    held, read = sight
    more = {} if read else {"status": None, "unread_reason": contract.TIMEOUT}
    return a_row(group, held, held_since=NOON + minute * MINUTE, **more)


def bench_of(world: list[tuple[tuple[str | None, bool], ...]]) -> Bench:
    rows = [
        [row(minute, group, sight) for group, sight in zip(GROUPS, sights, strict=True)]
        for minute, sights in enumerate(world)
    ]
    return Bench({NOON + at * MINUTE: a_set(*each) for at, each in enumerate(rows)})


def by_hand(world: list[tuple[tuple[str | None, bool], ...]]) -> list[tuple[str, str]]:
    """Group and status, minute by minute; better statuses only of a group that was read."""
    values = contract.GROUP_STATUS_VALUES
    last = dict.fromkeys(GROUPS, contract.OK)
    changes = []
    for sights in world:
        for group, (held, read) in zip(GROUPS, sights, strict=True):
            if held and (read or values[held] > values[last[group]]) and held != last[group]:
                last[group] = held
                changes.append((group, held))
    return changes


def sent_by(bench: Bench, group: str) -> list[tuple[object, object]]:
    attributes = [message.notice.attributes for message in bench.channel.sent]
    return [(each["group"], each["status"]) for each in attributes if each["group"] == group]


@settings(deadline=None, max_examples=60)
@given(world=WORLDS, events=EVENTS)
def test_no_order_of_events_changes_what_is_reported(
    world: list[tuple[tuple[str | None, bool], ...]], events: list[tuple[int, bool]]
) -> None:
    bench = bench_of(world)
    bench.event(0)
    for minute, works in events:
        bench.channel.error = None if works else "down"
        with suppress(ReporterError):
            bench.event(minute)
    bench.channel.error = None
    bench.now += 300
    bench.event(LAST)

    for group in GROUPS:
        assert sent_by(bench, group) == [each for each in by_hand(world) if each[0] == group]
