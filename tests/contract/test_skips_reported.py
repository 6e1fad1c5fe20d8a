# SPDX-License-Identifier: Apache-2.0
"""Records that a group skipped, or may have skipped, on the page, in `why` and in one message."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.console import Console

from kafka_lag.errors import ConfigError
from kafka_lag.lag.columns import Column
from kafka_lag.lag.evaluate import evaluate
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import ClusterReading
from kafka_lag.notify.notifier import StoredRuns
from kafka_lag.snapshots.previous import Memory
from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import LatestRun, Snapshots, find_latest_run
from kafka_lag.views.page import answer
from kafka_lag_cli.state.runs import check_gone, find_runs
from kafka_lag_cli.why.explanation import explain
from kafka_lag_cli.why.output import print_explanation
from tests.builders import MINUTE, NOON, a_reading, table
from tests.fakes import MemoryStore
from tests.functions.notify.fakes import Bench
from tests.functions.runs import Run


def a_minute(
    minute: int,
    commit: int,
    end: int,
    *,
    members: int = 1,
    epoch: int | None = 3,
    topic_id: str = "a",
) -> ClusterReading:
    """One partition of group g; its commit has this leader epoch."""
    at = NOON + minute * MINUTE
    reading = a_reading(
        {"g": {"orders": [commit]}},
        {"orders": [(0, end)]},
        at=at,
        members=members,
        owners={("g", "orders", 0): "m-1"} if members else {},
        cleanup_policy="delete",
        topic_ids={"orders": topic_id},
    )
    rows = reading.group_partitions.with_columns(commit_epoch=Column.optional([epoch]))
    return replace(reading, group_partitions=rows)


def reported(readings: Sequence[ClusterReading]) -> tuple[list[str], str, str]:
    """The messages, the group's page after the last reading, and what `why` says then."""
    store = MemoryStore()
    bench, collect = Bench(runs=StoredRuns(store)), Run(*readings, store=store)
    for minute in range(len(readings)):
        collect(NOON + minute * MINUTE)
        bench.event(minute)
    now = NOON + (len(readings) - 1) * MINUTE
    snapshots = Snapshots(store, lambda: now / 1_000)
    page = answer(Request.of("GET", "/cluster/shop/group/g", "", {}), snapshots, now)
    newest = find_latest_run(snapshots, "shop", now, now)
    assert isinstance(newest, LatestRun)
    found = explain(snapshots, newest, "g", 1)
    screen = Console(width=300, file=io.StringIO())
    print_explanation(found, screen)
    assert isinstance(screen.file, io.StringIO)
    texts = [f"{each.notice.subject}\n{each.notice.text}" for each in bench.channel.sent]
    return texts, page.body.decode(), screen.file.getvalue()


def test_a_restart_that_leaves_nothing_unread_is_reported_once_as_read_or_skipped() -> None:
    running = [a_minute(n, 481 * n, 481 * n) for n in range(4)]
    stopped = [a_minute(n, 481 * 3, 481 * n, members=0) for n in (4, 5)]
    again = [a_minute(n, 481 * n, 481 * n) for n in range(6, 10)]
    (message,), page, why = reported([*running, *stopped, *again])

    said = "1,443 records were read or skipped, which is not known"
    assert message.startswith("Kafka lag: g on shop: read or skipped\n")
    assert f"g on shop, 2026-01-31 12:06 UTC: {said}: its commit" in message
    assert [text.count(said) for text in (message, page, why)] == [1, 1, 1]
    assert "at 12:06 UTC" in why


def test_records_written_below_a_commit_after_a_truncation_are_reported_with_their_number() -> None:
    before = [a_minute(n, 1_000, 1_000) for n in range(4)]
    cut = [a_minute(n, 1_000, 950 + 10 * (n - 4)) for n in range(4, 9)]
    after = [a_minute(n, 1_000 + 20 * (n - 9), 1_010 + 20 * (n - 9)) for n in range(9, 14)]
    (opened, resolved), page, why = reported([*before, *cut, *after])

    said = "50 records were skipped for ever because the log was truncated"
    assert "g on shop is ERR.\n" in opened
    assert f"Skipped: {said}: they were written below its commit" in resolved
    assert "Not known" not in resolved
    assert [text.count(said) for text in (resolved, page, why)] == [1, 1, 1]


@pytest.mark.parametrize(
    ("ends", "commits", "topics", "skip"),
    [
        pytest.param((9, 5, 7, 12), (9, 9, 9, 9), "aaaa", (5, 9, "truncated"), id="truncated"),
        pytest.param((9, 5, 7, 12), (9, 9, 9, 11), "aaaa", (5, 9, "truncated"), id="reads-on"),
        pytest.param((9, 5, 12, 12), (9, 9, 5, 12), "aaaa", None, id="goes-back"),
        pytest.param((9, 5, 7, 12), (9, 9, 6, 12), "aaaa", None, id="goes-back-while-it-is-short"),
        pytest.param((9, 2, 4, 12), (9, 9, 9, 9), "abbb", (0, 9, "recreated"), id="recreated"),
        pytest.param((9, 9, 9, 22), (9, 20, 20, 20), "aaaa", (9, 20, "beyond_end"), id="set-there"),
        pytest.param((9, 9, 22, 22), (9, 20, 20, 20), "aaaa", None, id="seen-there-once"),
        pytest.param((9, 5, 7, 8), (9, 9, 9, 9), "aaaa", None, id="still-beyond"),
    ],
)
def test_what_is_written_below_a_commit_beyond_the_end_is_skipped_once_the_end_has_passed_it(
    ends: Sequence[int], commits: Sequence[int], topics: str, skip: tuple[int, int, str] | None
) -> None:
    memory = Memory.empty()
    for minute, (commit, end, topic) in enumerate(zip(commits, ends, topics, strict=True)):
        when = NOON + minute * MINUTE
        reading = a_minute(minute, commit, end, topic_id=topic)
        run = evaluate(reading, memory.previous_runs(), Rules(lookup_budget=0), when).snapshot
        memory = memory.add_run(run, MINUTE, stored=True)
    names = ("skipped_at", "skipped_from", "skipped_to", "skip_reason")
    ((seen_at, *found),) = table(run.group_partitions, *names)
    assert seen_at == (None if skip is None else when)
    assert skip is None or tuple(found) == skip
    skipped = None if skip is None else skip[1] - skip[0]
    assert run.groups.numbers("records_skipped").to_list() == [skipped]


def a_run_with(topics: dict[str, int], minute: int, gone: Sequence[str] = ()) -> ClusterReading:
    """The commits of group g in these topics, each of 100 records, and what else is not there."""
    commits = {topic: [commit] for topic, commit in topics.items()}
    return a_reading(
        {"g": commits} if commits else {},
        {"orders": [(0, 100)], "mails": [(0, 100)]},
        at=NOON + minute * MINUTE,
        owners={("g", topic, 0): "m-1" for topic in topics},
        gone_groups=gone,
    )


def test_a_topic_that_a_living_group_left_is_reported_with_what_was_unread() -> None:
    both = [a_run_with({"orders": 100, "mails": 40}, n) for n in range(3)]
    (message,), page, why = reported([*both, *(a_run_with({"orders": 100}, n) for n in (3, 4, 5))])

    assert message.startswith("Kafka lag: g on shop: offsets gone\n")
    said = "60 records were left unread: its offsets are gone"
    assert [text.count(said) for text in (message, page, why)] == [1, 1, 1]


def test_a_topic_that_was_deleted_was_not_left() -> None:
    both = a_run_with({"orders": 100, "mails": 40}, 0)
    deleted = replace(
        a_run_with({"orders": 100}, 1),
        topic_partitions=a_reading({}, {"orders": [(0, 100)]}, at=NOON + MINUTE).topic_partitions,
        gone_topics=frozenset(["mails"]),
    )
    messages, _, _ = reported([both, deleted])

    assert messages == []


def test_why_says_of_a_group_that_is_gone_what_it_left_unread() -> None:
    store = MemoryStore()
    readings = [a_run_with({"mails": 40}, 0), a_run_with({}, 1, gone=["g"]), a_run_with({}, 2)]
    collect = Run(*readings, store=store)
    for minute in range(3):
        collect(NOON + minute * MINUTE)
    runs = find_runs(store, "a folder", None, NOON + 2 * MINUTE)

    with pytest.raises(ConfigError) as error:
        check_gone(store, "g", runs, 1)
    assert str(error.value) == (
        "g on shop is gone since 2026-01-31 12:01 UTC: its offsets expired, or somebody deleted "
        "it; 60 records were left unread."
    )
    check_gone(store, "never-seen", runs, 1)
