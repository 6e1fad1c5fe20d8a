# SPDX-License-Identifier: Apache-2.0
"""A group is as bad as its worst partition, which is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_lag import contract
from kafka_lag.contract import ERR, OK, REWIND, STALL, STOP, WARN
from tests.functions.lag.groups.parts import (
    UNCOMMITTED,
    Part,
    behind,
    forgotten,
    of_group,
    rolled,
    unread,
)

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
    assert of_group(rolled(Part(), forgotten(last_status=STOP)), "status") == (ERR,)


def test_a_status_is_unknown_when_no_partition_was_read() -> None:
    stopped = forgotten(last_status=STOP, reason=contract.INACTIVE)
    group = rolled(stopped, unread(3))
    assert of_group(group, "status", "status_reason") == (None, None)


def test_a_partition_without_a_commit_does_not_make_the_others_read() -> None:
    assert of_group(rolled(forgotten(last_status=OK), Part(**UNCOMMITTED)), "status") == (None,)


@pytest.mark.parametrize(
    ("parts", "share"),
    [
        pytest.param([Part(), Part(), forgotten(), Part()], 0.75, id="three-of-four"),
        pytest.param([Part(), Part(**UNCOMMITTED)], 1.0, id="uncommitted"),
        pytest.param([Part(), forgotten(committed=None)], 0.5, id="commit-never-told"),
        pytest.param([forgotten()], 0.0, id="none-read"),
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
        pytest.param([behind(9.0), forgotten(last_status=STALL)], 1, id="silent"),
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
        pytest.param([behind(9.0), forgotten()], id="one-not-heard-of"),
        pytest.param([], id="no-partitions"),
    ],
)
def test_no_partition_is_worst_where_none_is_known_to_be(parts: list[Part]) -> None:
    assert of_group(rolled(*parts), *WORST) == (None, None, None, None)


def test_a_stalled_partition_is_worst_whatever_was_not_heard_of() -> None:
    group = rolled(forgotten(), behind(9.0, status=STALL, partition=7))
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
