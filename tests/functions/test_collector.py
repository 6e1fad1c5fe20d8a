# SPDX-License-Identifier: Apache-2.0
"""One run: if a step fails the rest is still done, and every cause is reported at the end."""

from __future__ import annotations

import re
from itertools import chain, repeat
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.collector import problem_lines
from kafka_lag.errors import ReporterError, SinkError, SourceError, StoreError
from kafka_lag.lag.group_settings import NameFilter, Rules
from kafka_lag.lag.model import Problem
from kafka_lag.sinks.config import Levels
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.previous import load_newest
from tests.builders import MINUTE, NOON, a_reading, table
from tests.fakes import MemoryStore, RecordingSink
from tests.functions.runs import CLUSTER, GROUP, GROUPS, TOPIC, TOPICS, Run

SUCCESS = (CLUSTER, contract.COLLECTOR_SUCCESS)


def test_a_run_publishes_lags_keeps_a_set_and_says_success_last() -> None:
    run = Run()
    assert run() == 3
    assert run.sink.values()[GROUP, "OffsetLag"] == 6
    assert run.sink.values()[TOPIC, "OffsetLag"] == 6
    assert [*run.sink.published[-1][-1].values] == [(contract.COLLECTOR_SUCCESS, 1)]
    assert set(run.sink.times) == {NOON}
    assert list(run.store.objects) == [object_key(d, "shop", NOON) for d in contract.DATASETS]
    assert run.logger.warnings == []


def test_the_duration_is_that_of_the_run() -> None:
    ticks = chain([100.0], repeat(107.5))
    run = Run(clock=lambda: next(ticks))
    run()
    assert run.sink.values()[CLUSTER, contract.COLLECTOR_DURATION] == 7.5


@pytest.mark.parametrize(
    ("seconds_left", "deadline"),
    [(None, 140.5), (20.0, 118.0), (300.0, 140.5), (0.0, 100.0), (-1.0, 99.1)],
)
def test_reading_ends_when_nine_tenths_of_the_run_or_of_the_functions_time_are_over(
    seconds_left: float | None, deadline: float
) -> None:
    run = Run(clock=lambda: 100.0)
    run(seconds_left=seconds_left)
    assert run.source.deadlines == [deadline]


@pytest.mark.parametrize(
    ("down", "fail_at", "lag"),
    [
        pytest.param({"write_once"}, set(), 6, id="snapshot-not-stored"),
        pytest.param({"keys"}, set(), 6, id="past-not-read"),
        pytest.param(set(), {0}, None, id="lags-not-published"),
    ],
)
def test_there_is_no_success_unless_all_was_done(
    down: set[str], fail_at: set[int], lag: int | None
) -> None:
    run = Run(store=MemoryStore(down), sinks=[RecordingSink(fail_at)])
    with pytest.raises(ReporterError):
        run()
    assert SUCCESS not in run.sink.values()
    assert {contract.COLLECTOR_DURATION, contract.GROUPS_READ} <= {n for _, n in run.sink.values()}
    assert run.sink.values().get((GROUP, "OffsetLag")) == lag


def test_a_failure_to_publish_health_fails_the_run_too() -> None:
    with pytest.raises(SinkError):
        Run(sinks=[RecordingSink(fail_at={1})])()


def test_the_error_names_every_cause_once() -> None:
    run = Run(store=MemoryStore({"keys"}), sinks=[RecordingSink(fail_at={0, 1})])
    with pytest.raises(ReporterError) as raised:
        run()
    assert str(raised.value) == "the store cannot keys; the sink is full"


def test_what_nobody_foresaw_in_a_part_costs_that_part_alone() -> None:
    class Panic(BaseException):
        """As Rust's panics are in Python: no Exception."""

    def fail(*_: object) -> Any:
        raise IndexError("no time index")

    bad, good = RecordingSink({0, 1}, Panic("poisoned")), RecordingSink()
    store = MemoryStore({"write_once"}, MemoryError("no room"))
    run = Run(store=store, sinks=[bad, good], answers=fail)
    with pytest.raises(ReporterError) as raised:
        run()
    causes = (
        r"Looking up times failed unexpectedly \(IndexError in test_coll.*, line \d+: no t.*; "
        r"RecordingSink failed unexpectedly \(Panic in fakes.py, line \d+: poisoned\).; "
        r"The snapshot store failed unexpectedly \(MemoryError in fakes.py, line \d+: no room\)."
    )
    assert re.fullmatch(causes, str(raised.value))
    values = good.values()
    assert values[GROUP, "OffsetLag"] == 6
    assert (CLUSTER, contract.GROUPS_READ) in values
    assert SUCCESS not in values


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_a_sink_is_where_a_process_may_be_ended_too(error: BaseException) -> None:
    other = RecordingSink()
    with pytest.raises(type(error)):
        Run(sinks=[RecordingSink({0}, error), other])()
    assert other.published == []


@pytest.mark.parametrize(
    ("verb", "error", "cause"),
    [
        ("keys", None, "the store cannot keys"),
        ("read", None, "the store cannot read"),
        ("keys", RecursionError("too deep"), r"RecursionError in fakes\.py"),
    ],
)
def test_a_past_that_cannot_be_read_is_not_replaced_by_an_empty_one(
    verb: str, error: BaseException | None, cause: str
) -> None:
    run = Run()
    run()
    cold = run.again()
    cold.store.down, cold.store.error = {verb}, error
    with pytest.raises(StoreError, match=cause):
        cold(NOON + MINUTE)
    assert len(cold.store.objects) == 3
    assert cold.sink.values()[GROUP, "OffsetLag"] == 6


def test_a_run_without_a_list_of_groups_replaces_no_run_with_more_of_them() -> None:
    both = {**GROUPS, "other": {"orders": [1, 1]}}
    whole, part = a_reading(both, TOPICS), a_reading(GROUPS, TOPICS, lists_groups=False)
    run = Run(whole, part, part, whole)
    run()
    for minute in (1, 2):
        with pytest.raises(
            SourceError, match=r"^No broker lists its groups, and 1 group of the pr"
        ):
            run(NOON + minute * MINUTE)
    assert len(run.store.objects) == 3
    assert run.sink.values()[GROUP, "OffsetLag"] == 6
    assert run(NOON + 3 * MINUTE) == 3
    assert run.source.requests[-1].known_groups == {"g", "other"}


def test_a_run_without_a_list_is_kept_where_every_group_was_found_by_name() -> None:
    run = Run(a_reading(GROUPS, TOPICS), a_reading(GROUPS, TOPICS, lists_groups=False))
    assert [run(NOON), run(NOON + MINUTE)] == [3, 3]


def test_groups_that_the_configuration_no_longer_takes_go_and_new_ones_come() -> None:
    both = {**GROUPS, "other": {"orders": [1, 1]}}
    run = Run(a_reading(GROUPS, TOPICS), rules=Rules(groups=NameFilter(re.compile("^g$"))))
    run()
    wider = Run(a_reading(both, TOPICS), store=run.store)
    wider(NOON + MINUTE)
    narrower = Run(
        a_reading({"other": both["other"]}, TOPICS),
        store=run.store,
        rules=Rules(groups=NameFilter(re.compile("^o"))),
    )
    narrower(NOON + 2 * MINUTE)
    found = [load_newest(run.store, "shop", NOON + n * MINUTE).value.groups for n in (1, 2, 3)]
    names = [table(groups, "consumer_group", "status_reason") for groups in found]
    assert names == [[("g", None)], [("g", None), ("other", None)], [("other", None)]]


def test_a_cluster_that_cannot_be_read_fails_the_run_and_leaves_nothing() -> None:
    run = Run(SourceError("no broker answers"), store=MemoryStore({"keys"}))
    with pytest.raises(ReporterError, match="the store cannot keys; no broker answers"):
        run()
    assert run.sink.published == []
    assert run.store.objects == {}


def test_metrics_over_the_budget_are_warned_of_and_counted() -> None:
    room, omitted = (
        len([*contract.HEALTH_UNITS, *contract.GROUP_METRICS]),
        len(contract.LAG_METRICS),
    )
    run = Run(levels=Levels(max_metrics=room))
    run()
    assert run.logger.warnings == [
        f"{omitted} metrics over the budget of {room} were left out: "
        "raise levels.max_metrics or narrow groups and topics"
    ]
    assert run.sink.values()[CLUSTER, contract.METRICS_OMITTED] == omitted


def problems(count: int) -> tuple[Problem, ...]:
    return tuple(Problem("group", f"g{i}", contract.DENIED, "no right") for i in range(count))


@pytest.mark.parametrize(("count", "last"), [(20, "group 'g19' not"), (25, "and 5 more not read")])
def test_twenty_problems_are_named_and_the_rest_counted(count: int, last: str) -> None:
    lines = problem_lines(problems(count))
    assert lines[0] == "group 'g0' not read (denied): no right"
    assert len(lines) == min(count, 21)
    assert lines[19].startswith("group 'g19' not read")
    assert lines[-1].startswith(last)


def test_whatever_one_broker_costs_is_one_line_with_its_host_and_port() -> None:
    at = ("2", "b-2:9096")
    broker = Problem("broker", "2", contract.TIMEOUT, "no answer within 10 s", *at)
    parts = [
        Problem("partition", f"orders-{n}", contract.TIMEOUT, "offsets: broker 2: ...", *at)
        for n in range(1_010)
    ]
    group = Problem("group", "g", contract.TIMEOUT, "commits: broker 2: ...", *at)
    denied = Problem("group", "h", contract.DENIED, "no right")
    assert problem_lines((broker, *parts, denied, group)) == [
        "broker '2' not read (timeout): at b-2:9096: no answer within 10 s"
        "; with it 1,010 partitions and 1 group",
        "group 'h' not read (denied): no right",
    ]


def test_what_of_the_history_was_not_used_is_reported() -> None:
    again = a_reading({"g": {"orders": [5, 9]}}, TOPICS, topic_ids={"orders": "another"})
    run = Run(a_reading(GROUPS, TOPICS), again)
    run()
    run(NOON + MINUTE)

    assert run.logger.warnings == [
        "topic 'orders' was recreated or truncated: its history starts again"
    ]
