# SPDX-License-Identifier: Apache-2.0
"""Rows rolled up to topics and groups: counts, statuses, time lags and retention risk."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.contract import ERR, OK, REWIND, STALL, STOP, WARN
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.group_settings import ByName, Objective, Rules
from kafka_lag.lag.model import Snapshot
from kafka_lag.lag.rollup import (
    counts_of,
    roll_up_group_topics,
    roll_up_groups,
    roll_up_scaling,
)
from tests.builders import MINUTE, NOON, table
from tests.functions.lag.builders import (
    UNCOMMITTED,
    Part,
    behind,
    counted_of,
    frame_of,
    groups_of,
    never_read,
    of_group,
    rolled,
    unread,
)

# What is counted of partitions in groups and topics, and what a user decided of a group.

ABANDONED: dict[str, Any] = {"topic": "old", "ignored": True, "reason": contract.INACTIVE}


def pairs_of(*parts: Part) -> Frame:
    rows = frame_of(parts)
    return roll_up_group_topics(rows, counts_of(rows))


def scaling_of(*parts: Part) -> list[tuple[Any, ...]]:
    found = roll_up_scaling(groups_of("g", "h"), frame_of(parts), counted_of(parts))
    return table(found, "consumer_group", "scaling_lag")


WINDOW_MS = Rules().window_ms


def test_a_group_counts_its_partitions_and_topics() -> None:
    group = rolled(behind(1.0, 5), behind(2.0, 7), Part(topic="bills"))
    assert of_group(group, "topics", "partitions", "lag", "max_lag") == (2, 3, 12, 7)


def test_a_missing_partition_makes_the_counts_unknown_and_not_the_times() -> None:
    group = rolled(behind(9.0, 5), never_read())
    names = ("lag", "max_lag", "partitions_unknown", "time_lag_seconds")
    assert of_group(group, *names) == (None, None, 1, 9)


def test_a_partition_that_was_read_lately_counts_as_it_was() -> None:
    group = rolled(behind(9.0, 5), unread(7, age=20.0))
    names = ("lag", "max_lag", "partitions_unknown", "time_lag_seconds")
    assert of_group(group, *names) == (12, 7, 1, 20)


def test_uncommitted_partitions_are_counted_apart() -> None:
    group = rolled(behind(9.0, 5), Part(**UNCOMMITTED))
    names = ("lag", "partitions_uncommitted", "partitions_unknown")
    assert of_group(group, *names) == (5, 1, 0)


def test_records_lost_are_summed_where_they_are_known() -> None:
    assert of_group(rolled(Part(lost=3), Part(lost=None), Part(lost=4)), "records_lost") == (7,)


def test_what_is_read_again_after_a_rewind_is_summed_over_what_went_back() -> None:
    back = [Part(committed=10, rewound_from=15), Part(committed=3, rewound_from=103), Part()]
    assert of_group(rolled(*back), "records_rewound") == (105,)
    assert of_group(rolled(Part()), "records_rewound") == (None,)


def test_what_was_skipped_within_the_window_is_summed_over_what_jumped() -> None:
    lately = [Part(skipped=(10, 15, WINDOW_MS)), Part(skipped=(3, 103, 0)), Part()]
    assert of_group(rolled(*lately), "records_skipped") == (105,)
    assert of_group(rolled(Part(skipped=(10, 15, WINDOW_MS + 1))), "records_skipped") == (None,)


def test_what_is_known_to_be_skipped_is_not_added_to_what_may_have_been_read() -> None:
    unsure = Part(skipped=(0, 900, 0), skip_reason=contract.READ_OR_SKIPPED)
    surely = Part(skipped=(10, 15, MINUTE), skip_reason=contract.SET_AHEAD)
    names = ("records_skipped", "skipped_at", "skip_reason")
    assert of_group(rolled(unsure, Part()), *names) == (900, NOON, contract.READ_OR_SKIPPED)
    assert of_group(rolled(unsure, surely), *names) == (5, NOON - MINUTE, contract.SET_AHEAD)
    assert of_group(rolled(Part()), *names) == (None, None, None)


def test_an_unknown_age_has_no_error() -> None:
    group = rolled(behind(None, 5, bounds=(1.0, 9.0)))
    assert of_group(group, "time_lag_seconds", "time_lag_error_seconds") == (None, None)


def test_each_group_has_its_own_row_and_one_without_partitions_knows_nothing() -> None:
    groups = rolled(behind(9.0, 5, group="b"), behind(8.0, 2, group="a"), names=("a", "b", "c"))
    names = ("consumer_group", "partitions", "lag", "time_lag_seconds", "status", "status_reason")
    assert table(groups, *names) == [
        ("a", 1, 2, 8, "OK", None),
        ("b", 1, 5, 9, "OK", None),
        ("c", 0, None, None, None, None),
    ]


@pytest.mark.parametrize(
    ("known", "last_status", "status"),
    [
        pytest.param(contract.OK, contract.OK, "OK", id="was OK"),
        pytest.param(contract.OK, None, None, id="nothing is known any more"),
        pytest.param(contract.WARN, None, "WARN", id="another is known to be bad"),
    ],
)
def test_a_group_is_ok_only_if_each_partition_is_or_was(
    known: str, last_status: str | None, status: str | None
) -> None:
    group = rolled(behind(9.0, 5, status=known), never_read(partition=1, last_status=last_status))
    assert of_group(group, "status") == (status,)


IGNORED = [
    pytest.param(
        behind(9e9, 999, status=contract.STOP, lost=9, loss=1.0, risk=contract.LOST, **ABANDONED),
        id="old",
    ),
    pytest.param(never_read(last_status=contract.STOP, **ABANDONED), id="unread"),
    pytest.param(Part(**{**UNCOMMITTED, **ABANDONED}), id="uncommitted"),
]


@pytest.mark.parametrize("part", IGNORED)
def test_an_ignored_partition_counts_as_a_partition_and_as_nothing_else(part: Part) -> None:
    others = [behind(9.0, 5, produced=2.0, consumed=3.0, drain=5.0, loss=90.0), Part(partition=1)]
    part = replace(part, produced=1.0, consumed=1.0)
    (with_it,), (without,) = (
        table(rolled(*parts), *_all_but("topics", "partitions"))
        for parts in ([*others, part], others)
    )
    assert with_it == without
    assert of_group(rolled(*others, part), "topics", "partitions") == (2, 3)


def _all_but(*names: str) -> list[str]:
    return [name for name in contract.COLUMNS[contract.GROUPS] if name not in names]


@pytest.mark.parametrize("part", IGNORED)
def test_an_ignored_topic_has_no_row_and_does_not_scale(part: Part) -> None:
    assert table(pairs_of(behind(9.0, 5), part), "topic", "lag") == [("orders", 5)]
    assert scaling_of(behind(9.0, 5), part) == [("g", 5), ("h", None)]


def test_a_group_of_which_all_is_ignored_is_inactive_and_has_no_numbers() -> None:
    group = rolled(behind(9e9, 999, status=contract.STOP, **ABANDONED))
    names = ("partitions", "lag", "time_lag_seconds", "status", "status_reason")
    assert of_group(group, *names) == (1, None, None, None, contract.INACTIVE)


def test_a_topic_has_the_sum_the_maximum_and_the_oldest_of_its_partitions() -> None:
    parts = [behind(3.0, 5), behind(9.0, 1), behind(7.0, topic="bills"), never_read(topic="bills")]
    found = table(pairs_of(*parts), "consumer_group", "topic", "lag", "max_lag", "time_lag_seconds")
    assert sorted(found) == [("g", "bills", None, None, 7), ("g", "orders", 6, 5, 9)]


@pytest.mark.parametrize(
    ("parts", "lag"),
    [
        pytest.param([behind(9.0, 9), behind(9.0, 7)], 16, id="sum"),
        pytest.param([behind(9.0, 9), behind(9.0, 7, status=contract.STALL)], 9, id="stalled"),
        pytest.param([behind(9.0, 9, allowed=5), Part(lag=1, allowed=5)], 4, id="allowed"),
        pytest.param([behind(9.0, 9), never_read()], None, id="missing"),
        pytest.param([behind(9.0, 9), unread()], None, id="last-known"),
        pytest.param([behind(9.0, 9), Part(**UNCOMMITTED)], 9, id="uncommitted"),
        pytest.param([Part(**UNCOMMITTED)], None, id="nothing-known"),
    ],
)
def test_the_scaling_lag_is_that_of_a_group_that_was_read_whole(
    parts: list[Part], lag: int | None
) -> None:
    assert scaling_of(*parts) == [("g", lag), ("h", None)]


def test_owner_and_limit_are_those_of_the_first_expression_found_in_the_name() -> None:
    rules = Rules(
        owners=ByName.of([("^pay", "payments"), ("pay", "others")]),
        sla_seconds=ByName.of([("ments$", 60.0)]),
    )
    groups = rolled(names=("payments", "repay", "g"), rules=rules)
    found = table(groups, "owner", "sla_seconds")
    assert found == [("payments", 60.0), ("others", None), (None, None)]


def test_an_objective_is_a_column_for_each_of_its_numbers() -> None:
    rules = Rules(objectives=ByName.of([("^pay", Objective(300.0, 99.5, 30))]))
    groups = rolled(names=("payments", "repay"), rules=rules)
    found = table(groups, "slo_age_seconds", "slo_target", "slo_days")
    assert found == [(300.0, 99.5, 30), (None, None, None)]


@pytest.mark.parametrize(
    ("runbooks", "found"),
    [
        pytest.param([("^pay", "https://w/a"), ("team", "https://w/b")], "https://w/a", id="group"),
        pytest.param([("^team-x$", "https://w/b")], "https://w/b", id="owner"),
        pytest.param([("team", "https://w/b"), ("^pay", "https://w/a")], "https://w/a", id="first"),
        pytest.param([("^other", "https://w/c")], None, id="none"),
    ],
)
def test_a_runbook_is_that_of_the_group_else_that_of_its_owner(
    runbooks: list[tuple[str, str]], found: str | None
) -> None:
    rules = Rules(owners=ByName.of([("pay", "team-x")]), runbooks=ByName.of(runbooks))

    assert rules.runbook_of("pay-1") == found
    assert rules.runbook_of("mail") is None


def test_owners_that_changed_are_counted_in_groups_that_were_described() -> None:
    parts = [Part(group=name, member="m1") for name in "gh"]
    rows_before = frame_of(parts)
    before = Snapshot(
        NOON, Frame.empty(contract.TOPIC_PARTITIONS), rows_before, groups_of("g", "h")
    )
    rows = rows_before.with_columns(member_id=Strings.constant("m2", 2))
    members = Column.optional([1, None], np.int32)
    groups = roll_up_groups(
        groups_of("g", "h", members=members), rows, counted_of(parts), before, Rules()
    )
    assert groups.numbers("owners_changed").to_list() == [1, None]


PARTS = st.builds(
    Part,
    group=st.sampled_from("gh"),
    topic=st.sampled_from(["orders", "bills"]),
    lag=st.none() | st.integers(0, 2**40),
    age=st.none() | st.floats(0, 1e9),
    bounds=st.none() | st.tuples(st.none() | st.floats(0, 1e9), st.none() | st.floats(0, 1e9)),
    status=st.none() | st.sampled_from([contract.OK, contract.WARN, contract.STALL]),
    unread=st.none() | st.just(contract.TIMEOUT),
    uncommitted=st.booleans(),
    produced=st.none() | st.floats(0, 1e9),
    consumed=st.none() | st.floats(0, 1e9),
    drain=st.none() | st.floats(0, 1e9),
    loss=st.none() | st.floats(0, contract.NO_LOSS_SECONDS),
    risk=st.none() | st.sampled_from([contract.LOST, contract.AT_RISK, contract.SAFE]),
    ignored=st.booleans(),
)


@given(st.lists(PARTS, max_size=8))
def test_no_number_of_a_group_or_topic_is_negative_or_none_at_all(parts: list[Part]) -> None:
    with np.errstate(all="raise"):
        groups, pairs = rolled(*parts, names=("g", "h")), pairs_of(*parts)
    for frame in (groups, pairs):
        for column in frame.columns.values():
            if isinstance(column, Column):
                numbers = column.values[column.known]
                assert np.isfinite(numbers).all()
                assert (numbers >= 0).all()


@given(st.lists(PARTS, max_size=8))
def test_a_groups_counts_are_the_sums_and_maxima_of_its_topics(parts: list[Part]) -> None:
    lags = dict(table(rolled(*parts, names=("g", "h")), "consumer_group", "lag"))
    ages = dict(table(rolled(*parts, names=("g", "h")), "consumer_group", "time_lag_seconds"))
    pairs = table(pairs_of(*parts), "consumer_group", "lag", "time_lag_seconds")
    for group in "gh":
        of_topics = [(lag, age) for name, lag, age in pairs if name == group]
        if lags[group] is not None:
            assert lags[group] == sum(lag for lag, _ in of_topics if lag is not None)
        known = [age for _, age in of_topics if age is not None]
        oldest = max(known, default=None)
        # 0 beside a topic whose age is unknown would be a guess.
        assert ages[group] == oldest or (not oldest and ages[group] is None)


# A group is as bad as its worst partition, which is named.

WORST = ("worst_topic", "worst_partition", "worst_member", "worst_leader")


@pytest.mark.parametrize(
    ("of_parts", "status"),
    [
        ([OK, OK], OK),
        ([OK, WARN], WARN),
        ([WARN, STOP], ERR),
        ([OK, STALL], ERR),
        ([REWIND, WARN], ERR),
        ([ERR, OK], ERR),
        ([None, OK], None),
        ([None, WARN], WARN),
        ([None, None], None),
        ([], None),
    ],
)
def test_a_group_has_the_status_of_its_worst_partition(
    of_parts: list[str | None], status: str | None
) -> None:
    parts = [behind(9.0, status=one, partition=at) for at, one in enumerate(of_parts)]
    assert of_group(rolled(*parts), "status") == (status,)


def test_a_partition_not_read_counts_at_its_last_status() -> None:
    assert of_group(rolled(Part(), never_read(last_status=STOP)), "status") == (ERR,)


def test_a_status_is_unknown_when_no_partition_was_read() -> None:
    stopped = never_read(last_status=STOP, reason=contract.INACTIVE)
    group = rolled(stopped, unread(3))
    assert of_group(group, "status", "status_reason") == (None, None)


def test_a_partition_without_a_commit_does_not_make_the_others_read() -> None:
    assert of_group(rolled(never_read(last_status=OK), Part(**UNCOMMITTED)), "status") == (None,)


@pytest.mark.parametrize(
    ("parts", "share"),
    [
        pytest.param([Part(), Part(), never_read(), Part()], 0.75, id="three-of-four"),
        pytest.param([Part(), Part(**UNCOMMITTED)], 1.0, id="uncommitted"),
        pytest.param([Part(), never_read(committed=None)], 0.5, id="commit-never-read"),
        pytest.param([never_read()], 0.0, id="none-read"),
        pytest.param([Part(**UNCOMMITTED)], None, id="none-committed"),
        pytest.param([], None, id="no-partitions"),
    ],
)
def test_a_group_is_complete_by_the_share_of_its_commits_that_were_read(
    parts: list[Part], share: float | None
) -> None:
    assert of_group(rolled(*parts), "complete") == (share,)


@pytest.mark.parametrize(
    ("parts", "partition"),
    [
        pytest.param([behind(9.0, 900), behind(1.0, 1, status=WARN)], 1, id="status-first"),
        pytest.param([behind(9.0, status=STOP), behind(8.0, status=ERR)], 0, id="as-bad-then-age"),
        pytest.param([behind(8.0, 900), behind(9.0, 1)], 1, id="age"),
        pytest.param([behind(9.0, 8), behind(9.0, 9)], 1, id="lag"),
        pytest.param([Part(), behind(9.0, 9), behind(9.0, 9)], 1, id="first-of-equals"),
        pytest.param([behind(None, 900), behind(1.0, 1)], 1, id="age-unknown-last"),
        pytest.param([behind(9.0), never_read(last_status=STALL)], 1, id="unread"),
        pytest.param([behind(8.0, status=None), behind(9.0)], 1, id="status-unknown-is-as-ok"),
        pytest.param(
            [behind(99.0, status=None), behind(9.0, status=WARN)], 1, id="status-known-to-be-bad"
        ),
        pytest.param(
            [behind(99.0, status=STOP, reason=contract.INACTIVE), behind(9.0, status=STALL)],
            1,
            id="a-topic-left-after-one-read",
        ),
        pytest.param(
            [behind(99.0, status=STOP, reason=contract.INACTIVE), behind(9.0, status=WARN)],
            0,
            id="a-topic-left-before-a-lesser-evil",
        ),
    ],
)
def test_the_worst_partition(parts: list[Part], partition: int) -> None:
    numbered = [replace(part, partition=at) for at, part in enumerate(parts)]
    assert of_group(rolled(*numbered), "worst_partition") == (partition,)


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([Part(), Part()], id="caught-up"),
        pytest.param([Part(lag=1, allowed=1)], id="allowed"),
        pytest.param([behind(9.0), never_read()], id="one-never-read"),
        pytest.param([], id="no-partitions"),
    ],
)
def test_no_partition_is_worst_where_none_is_known_to_be(parts: list[Part]) -> None:
    assert of_group(rolled(*parts), *WORST) == (None, None, None, None)


def test_a_stalled_partition_is_worst_whatever_was_not_heard_of() -> None:
    group = rolled(never_read(), behind(9.0, status=STALL, partition=7))
    assert of_group(group, "worst_partition") == (7,)


def test_the_worst_partition_is_named_with_its_member_and_leader() -> None:
    group = rolled(Part(), behind(9.0, topic="bills", partition=4, member="m4", leader=2))
    assert of_group(group, *WORST) == ("bills", 4, "m4", 2)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        pytest.param(
            [behind(9.0, status=ERR, reason=contract.RECORDS_LOST), behind(99.0)],
            contract.RECORDS_LOST,
            id="of-the-worst",
        ),
        pytest.param(
            [behind(9.0, reason=contract.PAUSING), behind(8.0)], contract.PAUSING, id="pausing"
        ),
        pytest.param([behind(9.0), behind(8.0, reason=contract.PAUSING)], None, id="only-another"),
        pytest.param(
            [behind(9.0, status=STOP, reason=contract.INACTIVE), Part()],
            contract.INACTIVE,
            id="only-a-topic-left",
        ),
        pytest.param(
            [
                behind(99.0, status=STOP, reason=contract.INACTIVE),
                behind(9.0, status=ERR, reason=contract.BEYOND_END),
            ],
            contract.BEYOND_END,
            id="a-topic-left-hides-nothing",
        ),
        pytest.param([Part()], None, id="all-is-well"),
    ],
)
def test_a_group_has_the_reason_of_its_worst_partition(
    parts: list[Part], reason: str | None
) -> None:
    assert of_group(rolled(*parts), "status_reason") == (reason,)


# A group is as old as its oldest partition, and says how wrong that may be.

NEAR = Part(loss=600.0, risk=contract.AT_RISK)
TIMES = ("time_lag_seconds", "time_lag_error_seconds", "time_lag_method")
CARRIED, AT_LEAST = contract.METHOD_CARRIED, contract.METHOD_AT_LEAST


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param([Part(), Part()], (0, 0, "none"), id="caught-up"),
        pytest.param(
            [Part(), behind(30.0), behind(50.0, method=CARRIED)], (50, 0, CARRIED), id="oldest"
        ),
        pytest.param(
            [behind(30.0, bounds=(20.0, 35.0))], (30, 10, "interpolated"), id="lower-bound-decides"
        ),
        pytest.param(
            [behind(50.0, bounds=(49.0, 51.0)), behind(10.0, bounds=(0.0, 90.0))],
            (50, 40, "interpolated"),
            id="another-may-be-older",
        ),
        pytest.param(
            [behind(50.0, bounds=(40.0, 51.0)), behind(48.0, bounds=(47.0, 49.0))],
            (50, 3, "interpolated"),
            id="another-proves-more",
        ),
        pytest.param(
            [behind(50.0), behind(30.0, bounds=(30.0, None))], (50, None, AT_LEAST), id="unbounded"
        ),
        pytest.param([behind(50.0), never_read()], (50, None, AT_LEAST), id="never-read"),
        pytest.param([behind(50.0), unread(age=90.0)], (90, None, AT_LEAST), id="unread-and-grown"),
        pytest.param([Part(), never_read()], (None, None, None), id="never-read-beside-0"),
        pytest.param(
            [Part(), unread(0)],
            (0, None, AT_LEAST),
            id="caught-up-when-silenced",
        ),
        pytest.param(
            [behind(50.0), Part(**UNCOMMITTED)], (50, 0, "interpolated"), id="uncommitted"
        ),
        pytest.param([Part(**UNCOMMITTED)], (None, None, None), id="only-uncommitted"),
        pytest.param([never_read()], (None, None, None), id="nothing-known"),
        pytest.param([], (None, None, None), id="no-partitions"),
    ],
)
def test_the_time_lag_of_a_group(parts: list[Part], expected: tuple[Any, ...]) -> None:
    assert of_group(rolled(*parts), *TIMES) == expected


SECONDS = st.floats(0, 1e9)


@st.composite
def dated(draw: st.DrawFn) -> tuple[Part, float]:
    """A partition whose bounds hold, and its true age."""
    least, estimate, most = sorted(draw(st.tuples(SECONDS, SECONDS, SECONDS)))
    bounds = (draw(st.sampled_from([least, None])), draw(st.sampled_from([most, most, None])))
    ceiling = most * 2 if bounds[1] is None else most
    truth = draw(st.floats(0 if bounds[0] is None else least, ceiling))
    return behind(estimate, bounds=bounds), truth


@given(st.lists(dated(), min_size=1, max_size=5))
def test_a_stated_error_covers_the_true_age_of_the_group(parts: list[tuple[Part, float]]) -> None:
    estimate, error, _ = of_group(rolled(*(part for part, _ in parts)), *TIMES)
    if error is not None:
        assert abs(max(truth for _, truth in parts) - estimate) <= error * (1 + 1e-12) + 1e-6


@given(st.lists(dated(), min_size=1, max_size=5))
def test_a_group_is_never_younger_than_a_part_known_to_be_older(
    parts: list[tuple[Part, float]],
) -> None:
    estimate, error, _ = of_group(rolled(*(part for part, _ in parts)), *TIMES)
    assert estimate == max(part.age or 0 for part, _ in parts)
    assert error is None or (np.isfinite(error) and error >= 0)


@given(st.lists(dated(), min_size=1, max_size=5))
def test_an_error_is_told_only_where_every_part_is_bounded(parts: list[tuple[Part, float]]) -> None:
    estimate, error, method = of_group(rolled(*(part for part, _ in parts)), *TIMES)
    bounded = all(part.bounds and part.bounds[1] is not None for part, _ in parts)
    assert (error is not None) == (bounded and estimate is not None)
    assert (method == AT_LEAST) == (not bounded and estimate is not None)


MOVING = Part(produced=2.0, consumed=4.0)


@pytest.mark.parametrize(
    ("part", "rates"),
    [
        pytest.param(Part(produced=1.5, consumed=1.0), (3.5, 5.0), id="known"),
        pytest.param(Part(produced=1.5), (3.5, None), id="seen-once"),
        pytest.param(Part(consumed=1.0), (None, 5.0), id="a-new-log"),
        pytest.param(Part(**UNCOMMITTED, produced=1.5), (3.5, 4.0), id="uncommitted"),
        pytest.param(Part(produced=1.5, committed=None), (3.5, 4.0), id="empty-uncommitted"),
        pytest.param(unread(produced=1.5, consumed=1.0), (3.5, 5.0), id="unread"),
        pytest.param(never_read(produced=1.5, consumed=1.0), (None, None), id="never-read"),
    ],
)
def test_rates_are_summed_where_every_part_is_known(
    part: Part, rates: tuple[float | None, float | None]
) -> None:
    assert of_group(rolled(MOVING, part), "produce_rate", "consume_rate") == rates


def test_rates_that_no_partition_knows_are_unknown() -> None:
    assert of_group(rolled(Part()), "produce_rate", "consume_rate") == (None, None)


@pytest.mark.parametrize(
    ("parts", "seconds"),
    [
        pytest.param([Part(), Part(drain=7.0)], 0, id="nothing-lags"),
        pytest.param([behind(9.0, drain=3.0), behind(9.0, drain=8.0)], 8, id="slowest"),
        pytest.param([behind(9.0, drain=3.0), behind(9.0)], None, id="one-never"),
        pytest.param([behind(9.0, drain=3.0), Part()], 3, id="one-caught-up"),
        pytest.param([Part(lag=1, allowed=1), behind(9.0, drain=3.0)], 3, id="allowed"),
        pytest.param([Part(), never_read(drain=5.0)], None, id="one-missing"),
        pytest.param([Part(**UNCOMMITTED), Part()], 0, id="uncommitted"),
        pytest.param([Part(**UNCOMMITTED)], None, id="only-uncommitted"),
    ],
)
def test_a_group_drains_when_its_slowest_partition_does(
    parts: list[Part], seconds: float | None
) -> None:
    assert of_group(rolled(*parts), "drain_seconds") == (seconds,)


@pytest.mark.parametrize(
    ("parts", "seconds"),
    [
        pytest.param([NEAR, Part(loss=60.0, risk=contract.AT_RISK)], 60, id="least"),
        pytest.param([Part(loss=60.0), NEAR], 600, id="at-risk-only"),
        pytest.param([Part(loss=60.0), Part()], contract.NO_LOSS_SECONDS, id="none-at-risk"),
        pytest.param([Part(loss=60.0, risk=contract.LOST)], 0, id="lost"),
        pytest.param([Part(risk=contract.LOST), NEAR], 0, id="lost-of-settings-unknown"),
        pytest.param([Part(), behind(9.0, risk=None)], None, id="one-is-unknown"),
        pytest.param([NEAR, behind(9.0, risk=None)], 600, id="unknown-beside-a-risk"),
        pytest.param([Part(), never_read()], None, id="one-is-never-read"),
        pytest.param([NEAR, never_read(risk=contract.LOST)], 600, id="never-read-beside-a-risk"),
        pytest.param([never_read(loss=60.0, risk=contract.AT_RISK)], None, id="never-read"),
        pytest.param([Part(), Part(**UNCOMMITTED)], contract.NO_LOSS_SECONDS, id="uncommitted"),
        pytest.param([Part(**UNCOMMITTED)], None, id="only-uncommitted"),
    ],
)
def test_the_nearest_loss_is_that_of_a_partition_at_risk(
    parts: list[Part], seconds: float | None
) -> None:
    assert of_group(rolled(*parts), "seconds_until_loss") == (seconds,)
