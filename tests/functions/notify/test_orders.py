# SPDX-License-Identifier: Apache-2.0
"""Whatever the order of events, and whatever fails meanwhile, the same is reported."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.errors import ReporterError
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import DTYPES, AnyColumn, Frame
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.incidents import track_incidents
from kafka_lag.lag.model import Snapshot
from kafka_lag.notify.troubles import LOSS, PROMISE, Trouble
from tests.builders import MINUTE, NOON
from tests.functions.notify.fakes import Bench, Crash

# Losses and broken promises of one group, run by run, as the collector holds them.

RUNS = 40


@dataclass(frozen=True, slots=True)
class Look:
    """What a run sees; None where it does not know. Whether there was a run, and whether its rows
    can be read."""

    status: str
    is_losing: bool | None
    is_late: bool | None
    has_run: bool = True
    is_readable: bool = True


Looks: TypeAlias = list[Look]
MAYBE = st.sampled_from((True, True, True, False, False, False, None))
MOSTLY = st.sampled_from((True, True, True, False))
SEGMENTS = st.lists(
    st.tuples(
        st.builds(Look, st.sampled_from((contract.OK, contract.ERR)), MAYBE, MAYBE, MOSTLY, MOSTLY),
        st.integers(1, 5),
    ),
    min_size=5,
    max_size=15,
)
LOOKS = SEGMENTS.map(lambda segments: [look for look, runs in segments for _ in range(runs)][:RUNS])
# An event: its minute, how often it comes, and what becomes of it.
FATES = st.sampled_from(("", "", "down", "crash before", "crash after"))
ARRIVALS = st.lists(st.tuples(st.integers(0, RUNS - 1), FATES), max_size=40)


def sets_of(looks: Looks) -> dict[int, Frame | None]:
    """The collector's rows, by its own arithmetic of what is held."""
    sets: dict[int, Frame | None] = {}
    previous = Snapshot.empty()
    for minute, look in enumerate(looks):
        if not look.has_run:
            continue
        at = NOON + minute * MINUTE
        values = {
            "records_lost": None if look.is_losing is None else 5 * look.is_losing,
            "sla_seconds": 60.0,
            "time_lag_seconds": None if look.is_late is None else 30.0 + 60 * look.is_late,
            "time_lag_error_seconds": 0.0,
        }
        kinds = contract.COLUMNS[contract.GROUPS]
        columns: dict[str, AnyColumn] = {
            name: Column.optional([value], DTYPES[kinds[name]]) for name, value in values.items()
        }
        words = {"consumer_group": Strings.of(["g"]), "status": Strings.of([look.status])}
        rows = Frame.of({**words, **columns}).completed(contract.GROUPS)
        groups = track_incidents(rows, previous, at, Rules())
        previous = Snapshot(at, previous.topic_partitions, previous.group_partitions, groups)
        sets[at] = groups if look.is_readable else None
    return sets


def spells(sets: Mapping[int, Frame | None], trouble: Trouble) -> list[tuple[str, int]]:
    """Each beginning and end of what is held, by nothing but the rows; both by the beginning."""
    found: list[tuple[str, int]] = []
    for groups in sets.values():
        if groups is None:
            continue
        (since,) = groups.numbers(trouble.held_since).to_list()
        last = found[-1] if found else (trouble.ended, 0)
        if last[0] == trouble.begun and last[1] != since:
            found.append((trouble.ended, last[1]))
        if since is not None and (trouble.begun, since) not in found:
            found.append((trouble.begun, since))
    return found


def reported(bench: Bench, trouble: Trouble) -> list[tuple[str, int]]:
    """The same of what was sent; a crash after sending may have repeated a message."""
    details = [
        json.loads(event.detail) for message in bench.channel.sent for event in message.events
    ]
    ids = {detail["message_id"]: detail for detail in details}
    return [
        (detail["kind"], int(detail["message_id"].rpartition("-")[2]))
        for detail in ids.values()
        if detail["kind"] in (trouble.begun, trouble.ended)
    ]


# One loss ends and another begins while no run can be read.
UNSEEN = [
    *[Look(contract.ERR, True, True)] * 4,
    *[Look(contract.ERR, False, False, is_readable=False)] * 4,
    *[Look(contract.ERR, True, True, is_readable=False)] * 4,
    *[Look(contract.ERR, True, True)] * 4,
]


@settings(deadline=None, max_examples=100)
@given(looks=LOOKS, arrivals=ARRIVALS)
@example(looks=UNSEEN, arrivals=[])
def test_each_loss_and_broken_promise_begins_and_ends_once_and_in_order(
    looks: Looks, arrivals: list[tuple[int, str]]
) -> None:
    sets = sets_of(looks)
    bench = Bench(sets)
    bench.event(-1)
    sent = 0
    for minute, fate in arrivals:
        bench.channel.error = "down" if fate == "down" else None
        bench.channel.before = crash if fate == "crash before" else nothing
        bench.channel.after = crash if fate == "crash after" else nothing
        with suppress(ReporterError, Crash):
            bench.event(minute, bench.another())
        sent += fate == "crash after"
    bench.channel.error, bench.channel.before, bench.channel.after = None, nothing, nothing
    for _ in range(2):
        bench.now += 300
        bench.event(RUNS, bench.another())

    for trouble in (LOSS, PROMISE):
        assert reported(bench, trouble) == spells(sets, trouble)
    assert len(bench.channel.ids) <= len(set(bench.channel.ids)) + 10 * sent


def crash() -> None:
    raise Crash


def nothing() -> None:
    """It goes on."""
