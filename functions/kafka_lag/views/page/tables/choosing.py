# SPDX-License-Identifier: Apache-2.0
"""Rows found, ordered and cut into pages while they are columns; only those shown become Python."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.frame import Frame

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sheet:
    """One page of a table: its rows, its number and that of the last, and how many rows fit."""

    rows: list[Row]
    page: int
    pages: int
    first: int
    total: int


def containing(words: Strings, wanted: str) -> Mask:
    """True where the word contains the text, whatever the case; unknown never does."""
    folded = wanted.casefold()
    return words.is_in([word for word in words.categories if folded in word.casefold()])


def any_contains(frame: Frame, names: Collection[str], wanted: str) -> Mask:
    """True where one of these columns contains the text; everywhere for no text."""
    if not wanted:
        return np.ones(len(frame), bool)
    found = np.zeros(len(frame), bool)
    for name in names:
        found |= containing(frame.strings(name), wanted)
    return found


def alphabet(words: Strings) -> Column:
    """Each row's place in the order of the words, small and capital letters alike."""
    order = sorted(
        range(len(words.categories)), key=lambda at: (words.categories[at].casefold(), at)
    )
    place = np.zeros(len(order) + 1, np.int64)
    place[np.array(order, np.int64)] = np.arange(len(order))
    return Column(place[np.where(words.known, words.codes.values, 0)], words.known)


def falling(column: Column) -> Column:
    """The same order the other way round, what is unknown still last."""
    return Column(-column.values.astype(np.float64), column.known)


def ordered(keys: Sequence[Column]) -> Rows:
    """Rows by the first key, then the next; what is unknown comes last."""
    ranks = [np.where(key.known, key.values.astype(np.float64), np.inf) for key in keys]
    rows: Rows = np.lexsort(ranks[::-1])
    return rows


def sheet(frame: Frame, rows: Rows, page: int, size: int) -> Sheet:
    """The page of the rows in this order; one beyond the last is the last."""
    pages = max(1, -(-len(rows) // size))
    page = min(page, pages)
    first = (page - 1) * size
    shown = records(frame.take(rows[first : first + size]))
    return Sheet(shown, page, pages, first + 1 if shown else 0, len(rows))


def records(frame: Frame) -> list[Row]:
    """Rows as Python values by column, None for unknown."""
    values = [column.to_list() for column in frame.columns.values()]
    return [dict(zip(frame.columns, row, strict=True)) for row in zip(*values, strict=True)]
