# SPDX-License-Identifier: Apache-2.0
"""Burrow's published cases, each run through our whole evaluation.

One run sees each commit as it was made, another each of the last ends, one interval apart. The
window is as long as Burrow's: from its first commit to its last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from kafka_lag.contract import ERR, STOP
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.lag.model import LagReport
from tests.builders import MINUTE, NOON, a_reading, a_report, a_snapshot, table
from tests.published.burrow_cases import CASES, Case
from tests.published.runs import Look, last_report

every_case = pytest.mark.parametrize("case", [pytest.param(c, id=i) for i, c in CASES.items()])


def rules_of(case: Case) -> Rules:
    span = case.commits[-1][0] - case.commits[0][0]
    allowed = ByName.of([("^t$", case.allowed)])
    interval = span // (len(case.commits) - 1)
    return Rules(interval_ms=interval, window_ms=span, allowed_lag=allowed)


def looks(case: Case, owned: bool) -> Iterator[Look]:
    for at, offset, lag in case.commits:
        yield Look(at, None if lag is None else offset + lag, offset, owned)
    last = case.commits[-1][1]
    # Burrow's list is in no order that matters to it; the end of a log only rises.
    *ends, newest = sorted(case.ends)
    for before, end in zip(range(len(ends), 0, -1), ends, strict=True):
        yield Look(case.now - before * rules_of(case).interval_ms, end, last, owned)
    # In row 8 this is a commit that Burrow has not seen: no lag is left though its last one lags.
    yield Look(case.now, newest, newest - case.lag, owned)


def run(case: Case, owned: bool) -> LagReport:
    return last_report(looks(case, owned), rules_of(case))


def reported(report: LagReport) -> tuple[str | None, int | None]:
    ((status, lag),) = table(report.snapshot.group_partitions, "status", "lag")
    return status, lag


@every_case
def test_a_partition_that_a_live_member_owns(case: Case) -> None:
    assert reported(run(case, owned=True)) == (case.owned, case.lag)


@every_case
def test_a_partition_that_nobody_owns(case: Case) -> None:
    assert reported(run(case, owned=False)) == (case.unowned, case.lag)


@every_case
def test_a_reason_stands_where_a_word_is_not_burrows_and_nowhere_else(case: Case) -> None:
    assert bool(case.why) == ({case.owned, case.unowned} != {case.burrow})


def test_all_published_rows_are_here() -> None:
    assert list(CASES) == [*map(str, range(16)), "testgroup", "testgroup2"]


def test_a_stop_that_nothing_proves_yet_is_told_within_a_window() -> None:
    case = CASES["9"]
    later = Look(case.now + rules_of(case).window_ms, max(case.ends), max(case.ends) - case.lag)

    report = last_report([*looks(case, owned=False), later], rules_of(case))

    assert reported(report) == (STOP, case.lag)


def test_what_is_ok_as_it_is_allowed_is_a_stop_where_it_is_not() -> None:
    assert reported(run(replace(CASES["12"], allowed=0), owned=False)) == (STOP, 1)


@pytest.mark.parametrize(("name", "status"), [("testgroup", None), ("testgroup2", ERR)])
def test_a_group_has_the_word_of_its_partition(name: str, status: str | None) -> None:
    groups = run(CASES[name], owned=False).snapshot.groups

    # Burrow's `complete` is 0 for the second, which has not filled its ring of ten commits yet;
    # ours is the share of partitions that were read.
    assert table(groups, "status", "lag", "complete") == [(status, CASES[name].lag, 1.0)]


def test_a_group_whose_only_topic_was_deleted_has_no_status() -> None:
    before = a_snapshot({"g": {"t": [1_900]}}, {"t": [(0, 4_321)]})
    reading = a_reading({"g": {}}, {}, at=NOON + MINUTE, gone_topics=["t"])

    # Burrow says OK, and in its test that it should not: nothing measured is nothing good.
    groups = a_report(reading, before, at=NOON + MINUTE).snapshot.groups
    assert table(groups, "status", "complete") == [(None, None)]
