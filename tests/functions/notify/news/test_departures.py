# SPDX-License-Identifier: Apache-2.0
"""An incident ends when no set has its group any more, whatever became of the last word."""

from __future__ import annotations

from kafka_lag import contract
from tests.builders import MINUTE, NOON
from tests.functions.notify.builders import a_farewell, a_row, a_set
from tests.functions.notify.fakes import Bench

ILL, OTHER = a_row("g", contract.ERR, owner="team-a", lag=7), a_row("other")
# Half an hour of runs without the group.
LONG = 30


def a_bench(*, back: int | None = None, until: int = LONG + 10) -> Bench:
    """Group g is ill at noon and then in no set, or in none until it comes `back`, ill anew."""
    sets = {NOON: a_set(ILL, OTHER)}
    for minute in range(1, until):
        at = NOON + minute * MINUTE
        again = a_row("g", contract.ERR, held_since=at, incident_since=at)
        came = back is not None and minute >= back
        sets[at] = a_set(OTHER, *([{**again, "lag": 1}] if came else []))
    return Bench(sets)


def walk(bench: Bench, minutes: int = LONG + 10) -> None:
    for minute in range(minutes):
        bench.event(minute)


def test_a_group_missing_for_long_is_gone_once() -> None:
    bench = a_bench()
    walk(bench)

    assert bench.channel.kinds == [("g", contract.OPENED), ("g", contract.GONE)]


def test_it_is_gone_after_half_an_hour_of_sets_and_not_before() -> None:
    bench = a_bench()
    walk(bench, LONG + 1)
    before = list(bench.channel.kinds)
    bench.event(LONG + 1)

    assert before == [("g", contract.OPENED)]
    assert len(bench.channel.kinds) == 2


def test_hours_without_any_set_are_no_absence() -> None:
    later = NOON + 600 * MINUTE
    bench = Bench({NOON: a_set(ILL), later: a_set(OTHER), later + MINUTE: a_set(OTHER)})
    for minute in (0, 600, 601):
        bench.event(minute)

    assert bench.channel.kinds == [("g", contract.OPENED)]


def test_the_message_says_how_it_was_when_last_seen_and_whose_it_was() -> None:
    bench = a_bench()
    walk(bench)
    gone = bench.channel.sent[-1].notice

    assert gone.attributes[contract.ATTRIBUTE_OWNER] == "team-a"
    assert gone.text.splitlines()[:2] == [
        "g on shop is gone: no run since 2026-01-31 12:01 UTC has it; somebody deleted it, its "
        "offsets expired, or the configuration leaves it out. This is no recovery. It was ERR.",
        "When last seen: 7 records behind.",
    ]


def test_when_the_last_set_is_no_longer_there_it_is_told_without() -> None:
    bench = a_bench()
    walk(bench, LONG)
    bench.sets[NOON] = None
    for minute in range(LONG, LONG + 3):
        bench.event(minute)

    assert bench.channel.kinds[-1] == ("g", contract.GONE)
    assert "When last seen" not in bench.channel.sent[-1].notice.text


def test_a_group_that_is_back_soon_is_in_the_same_incident() -> None:
    bench = a_bench(back=LONG)
    walk(bench)

    assert bench.channel.kinds == [("g", contract.OPENED)]


def test_a_group_that_was_missing_before_may_be_missing_as_long_again() -> None:
    bench = a_bench(back=LONG, until=LONG + 1)
    bench.sets |= {NOON + minute * MINUTE: a_set(OTHER) for minute in range(LONG + 1, LONG + 20)}
    walk(bench, LONG + 20)

    assert bench.channel.kinds == [("g", contract.OPENED)]


def test_after_a_last_word_that_nobody_could_read_a_new_illness_is_told() -> None:
    bench = a_bench(back=LONG + 5)
    bench.sets[NOON + MINUTE] = None  # where the farewell was
    walk(bench)

    opened, gone, again = bench.channel.sent
    assert [kind for _, kind in bench.channel.kinds] == ["opened", "gone", "opened"]
    assert opened.notice.thread == gone.notice.thread != again.notice.thread


def test_a_last_word_that_is_read_ends_it_at_once() -> None:
    bench = Bench({NOON: a_set(ILL), NOON + MINUTE: a_set(a_farewell("g"))})
    walk(bench, 2)

    assert bench.channel.kinds[-1] == ("g", contract.GONE)
    assert "somebody deleted it, or its offsets expired." in bench.channel.sent[-1].notice.text


def test_since_when_it_is_missing_outlives_the_process() -> None:
    bench = a_bench()
    for minute in range(LONG + 3):
        bench.event(minute, bench.another())

    assert bench.channel.kinds[-1] == ("g", contract.GONE)


def test_groups_that_are_missing_count_among_those_there_are() -> None:
    ill = [a_row(f"g-{number}", contract.ERR) for number in range(12)]
    later = {NOON + minute * MINUTE: a_set(OTHER) for minute in range(1, LONG + 3)}
    bench = Bench({NOON: a_set(*ill, OTHER), **later})
    walk(bench, LONG + 3)

    subject = bench.channel.sent[-1].notice.subject
    assert subject == "Kafka lag storm on shop: 12 of 13 groups (12 GONE)"


def test_a_group_that_was_missing_and_is_gone_then_is_told_as_it_was_when_seen() -> None:
    gone = a_set(a_farewell("g"), OTHER)
    bench = Bench({NOON: a_set(ILL), NOON + MINUTE: a_set(OTHER), NOON + 2 * MINUTE: gone})
    walk(bench, 3)

    assert "When last seen: 7 records behind." in bench.channel.sent[-1].notice.text
