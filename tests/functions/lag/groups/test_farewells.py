# SPDX-License-Identifier: Apache-2.0
"""A group that is proven gone says so once, with what a message needs."""

from __future__ import annotations

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.lag.carry_over import add_deleted_groups
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import AnyColumn, Frame
from tests.builders import MINUTE, NOON, a_reading, table
from tests.functions.lag.groups.parts import groups_of, left_behind, of_group

KEPT: dict[str, AnyColumn] = {
    "owner": Strings.of(["payments"]),
    "last_status": Strings.of([contract.WARN]),
    "held_status": Strings.of([contract.ERR]),
    "held_since": Column.of([NOON - MINUTE]),
    "incident_since": Column.of([NOON - 2 * MINUTE]),
}


def after(*names: str, before: Frame) -> Frame:
    """The rows of a run in which g is proven gone and these groups are still there."""
    reading = a_reading(gone_groups=["g"])
    return add_deleted_groups(groups_of(*names), reading, left_behind(before, NOON))


def test_a_group_that_is_gone_has_one_row_more() -> None:
    rows = after("h", before=groups_of("g", "h"))
    assert table(rows, "consumer_group", "status_reason") == [("h", None), ("g", contract.GONE)]


def test_its_row_says_what_it_was_and_no_status_or_numbers() -> None:
    old = groups_of("g", **KEPT, status=Strings.of([contract.ERR]), lag=Column.of([7]))
    row = after(before=old)
    assert of_group(row, *KEPT) == tuple(column.to_list()[0] for column in KEPT.values())
    rest = set(contract.COLUMNS[contract.GROUPS]) - {*KEPT, "consumer_group", "status_reason"}
    assert of_group(row, *sorted(rest)) == (None,) * len(rest)


def test_a_farewell_is_said_once() -> None:
    assert len(after(before=after(before=groups_of("g")))) == 0


@pytest.mark.parametrize("names", [(), ("h",)])
def test_a_group_never_known_has_no_farewell(names: tuple[str, ...]) -> None:
    assert len(after(*names, before=groups_of())) == len(names)


def test_the_time_of_the_last_reading_is_kept() -> None:
    old = groups_of("g", read_at=Column.of(np.array([NOON])))
    assert of_group(after(before=old), "read_at") == (NOON,)
