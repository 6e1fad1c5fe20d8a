# SPDX-License-Identifier: Apache-2.0
"""Rows of one partition from the values that matter; the rest is unknown."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.frame import DTYPES, AnyColumn, Frame
from kafka_lag.lag.model import Snapshot
from tests.builders import MINUTE, NOON

Row: TypeAlias = dict[str, Any]

# The run before, and the one that is told of; a row is read a little after its run began.
BEFORE, NOW, LATER = NOON - MINUTE, NOON, 150
_KEY = {"consumer_group": "g", "topic": "t", "partition_id": 0}


def rows(*values: Row, at: int = NOW) -> Frame:
    """Rows of `group_partitions`, read in the run of `at` unless they say otherwise."""
    return _frame(contract.GROUP_PARTITIONS, values, at)


def topic_rows(*values: Row, at: int = NOW) -> Frame:
    """Rows of `topic_partitions`, read in the run of `at` unless they say otherwise."""
    return _frame(contract.TOPIC_PARTITIONS, values, at)


def snapshot(frame: Frame, topics: Frame | None = None, at: int = BEFORE) -> Snapshot:
    """What a run left behind."""
    empty = Snapshot.empty()
    return Snapshot(at, topics or empty.topic_partitions, frame, empty.groups)


def stable(count: int = 1) -> Frame:
    """As many rows of stable groups with a member: the columns by which a status is told."""
    members = Column.of(np.ones(count, np.int32))
    return Frame.of({"members": members, "group_state": Strings.constant("Stable", count)})


def column(values: list[Any], kind: str = contract.DOUBLE) -> Column:
    """Numbers of a contract type, None being unknown."""
    return Column.optional(values, DTYPES[kind])


def first(frame: Frame, *names: str) -> tuple[Any, ...]:
    """These columns of the first row, None for unknown."""
    return tuple(frame.columns[name].to_list()[0] for name in names)


def numbers_of(frame: Frame, *names: str) -> list[float]:
    """Every known number in these columns."""
    return [value for name in names for value in frame.columns[name].to_list() if value is not None]


def _frame(dataset: str, values: tuple[Row, ...], at: int) -> Frame:
    filled = [{**_KEY, "taken_at": at, "read_at": at + LATER, **row} for row in values]
    columns: dict[str, AnyColumn] = {}
    for name, kind in contract.COLUMNS[dataset].items():
        cells = [row.get(name) for row in filled]
        if kind in (contract.STRING, contract.INT_LIST):
            columns[name] = Strings.of(cells)
        else:
            columns[name] = column(cells, kind)
    return Frame.of(columns)
