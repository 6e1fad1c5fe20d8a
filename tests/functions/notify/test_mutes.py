# SPDX-License-Identifier: Apache-2.0
"""Messages of muted groups: which wait until the end of a window, and which do not."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.contract.mute_windows import Mute, MuteWindow
from kafka_lag.notify.conditional_objects import StoredObject
from kafka_lag.notify.mutes import encode_windows, windows_key
from tests.builders import MINUTE, NOON
from tests.functions.notify.builders import a_row, a_set
from tests.functions.notify.fakes import Bench

OK, ERR = contract.OK, contract.ERR
LOST = {"held_loss_since": NOON + MINUTE, "incident_lost": 5}
# A group's status in each minute, the minutes in which it is muted, and what is sent in which.
CASES: dict[str, tuple[list[str | None], range, list[tuple[int, str]]]] = {
    "begins in it and stays": ([OK, ERR, ERR, ERR], range(1, 3), [(3, contract.OPENED)]),
    "comes and goes in it": ([OK, ERR, OK, OK], range(1, 3), []),
    "is over in it": (
        [ERR, ERR, OK, OK],
        range(1, 3),
        [(0, contract.OPENED), (3, contract.RESOLVED)],
    ),
    "lasts through it": ([ERR, ERR, ERR, ERR], range(1, 3), [(0, contract.OPENED)]),
    "begins after it": ([OK, OK, OK, ERR], range(1, 3), [(3, contract.OPENED)]),
    "the group comes in it": ([None, ERR, ERR, ERR], range(1, 3), [(3, contract.OPENED)]),
    "the group goes in it": (
        [ERR, ERR, None, None],
        range(1, 3),
        [(0, contract.OPENED), (2, contract.GONE)],
    ),
}


def muted_from(minute: int, until: int, **more: Any) -> str:
    return Mute(NOON + minute * MINUTE, NOON + until * MINUTE, **more).to_text()


def sent(bench: Bench, runs: int) -> list[tuple[int, object]]:
    """The minutes and kinds of all that is sent."""
    found: list[tuple[int, object]] = []
    for minute in range(runs):
        before = len(bench.channel.kinds)
        bench.event(minute)
        found += [(minute, kind) for _, kind in bench.channel.kinds[before:]]
    return found


def a_bench(statuses: list[str | None], texts: list[str | None], **more: Any) -> Bench:
    runs = {
        NOON + minute * MINUTE: a_set(
            *[]
            if status is None
            else [a_row("g", status, taken_at=NOON + minute * MINUTE, muted=text, **more)]
        )
        for minute, (status, text) in enumerate(zip(statuses, texts, strict=True))
    }
    return Bench(runs)


@pytest.mark.parametrize("by_command", [False, True], ids=["configured", "by the command"])
@pytest.mark.parametrize("name", CASES)
def test_what_is_still_there_at_the_end_is_reported_then(name: str, by_command: bool) -> None:
    statuses, muted, expected = CASES[name]
    text = None if by_command else muted_from(muted.start, muted.stop)
    bench = a_bench(statuses, [text if at in muted else None for at in range(len(statuses))])
    if by_command:
        begin, length = NOON + muted.start * MINUTE, len(muted) * MINUTE
        window = MuteWindow(length, at_ms=begin, groups=r"^g\Z")
        bench.objects.objects[windows_key("shop")] = StoredObject(encode_windows([window]), "tag")

    assert sent(bench, len(statuses)) == expected


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        (False, [(1, contract.LOSS_BEGUN), (3, contract.OPENED)]),
        (True, [(3, (contract.LOSS_BEGUN, contract.OPENED))]),
    ],
)
def test_a_loss_is_reported_in_a_window_unless_it_mutes_losses(
    losses: bool,
    expected: list[tuple[int, object]],
) -> None:
    text = muted_from(1, 3, losses=losses)
    bench = a_bench([OK, ERR, ERR, ERR], [None, text, text, None])
    for minute in (1, 2, 3):
        row = a_row("g", ERR, taken_at=NOON + minute * MINUTE, muted=text, **LOST)
        bench.sets[NOON + minute * MINUTE] = a_set(row if minute < 3 else {**row, "muted": None})

    assert sent(bench, 4) == expected


def test_windows_that_follow_one_another_are_compared_with_the_row_before_the_first() -> None:
    texts = [None, muted_from(1, 2), muted_from(2, 3), None]

    assert sent(a_bench([OK, ERR, ERR, ERR], texts), 4) == [(3, contract.OPENED)]


def test_a_loss_is_reported_once_no_open_window_mutes_losses() -> None:
    deep, light = muted_from(1, 2, losses=True), muted_from(2, 4)
    bench = a_bench([OK, ERR, ERR, ERR, ERR], [None, deep, light, light, None])
    for minute, text in enumerate((deep, light, light, None), 1):
        row = a_row("g", ERR, taken_at=NOON + minute * MINUTE, muted=text, **LOST)
        bench.sets[NOON + minute * MINUTE] = a_set(row)

    assert sent(bench, 5) == [(2, contract.LOSS_BEGUN), (4, contract.OPENED)]


@pytest.mark.parametrize(
    "stored",
    [
        b"{",
        b'[{"duration_ms": 1, "groups": "("}]',
        b'[{"duration_ms": 1, "cron": "x"}]',
        b'[{"duration_ms": "1", "at_ms": 1}]',
    ],
)
def test_an_object_that_nobody_can_read_mutes_nothing_and_is_named(stored: bytes) -> None:
    bench = a_bench([OK, ERR], [None, None])
    bench.objects.objects[windows_key("shop")] = StoredObject(stored, "tag")

    assert sent(bench, 2) == [(1, contract.OPENED)]
    assert any("malformed" in each for each in bench.logger.warnings)
