# SPDX-License-Identifier: Apache-2.0
"""Values of several columns that belong together row by row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Self

import numpy as np

from kafka_lag.lag.columns import Column, Mask, Rows, Strings


class Aligned:
    """A dataclass whose fields all have one entry for each row.

    A field is a column, an array or another `Aligned`.
    """

    __slots__ = ()

    def take(self, rows: Rows) -> Self:
        """Returns the entries at `rows`; a negative row is unknown, and not allowed for arrays."""
        return self._each(lambda one: one[rows] if isinstance(one, np.ndarray) else one.take(rows))

    def only(self, mask: Mask) -> Self:
        """Returns the same, unknown if the mask is false; all fields must be columns."""
        return self._each(lambda one: one.only(mask))

    def where(self, mask: Mask, other: Self) -> Self:
        """Returns this entry if the mask is true, the other's if it is false."""
        return self._both(other, lambda one, two: _choose(mask, one, two))

    def put(self, rows: Rows, other: Self) -> Self:
        """Returns the same with the other's entries at `rows`; all fields must be columns."""
        return self._both(other, lambda one, two: one.put(rows, two))

    def _each(self, change: Callable[[Any], Any]) -> Self:
        return type(self)(*(change(getattr(self, name)) for name in _names(type(self))))

    def _both(self, other: Self, join: Callable[[Any, Any], Any]) -> Self:
        pairs = ((getattr(self, name), getattr(other, name)) for name in _names(type(self)))
        return type(self)(*(join(one, two) for one, two in pairs))


def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


def _choose(mask: Mask, one: Any, other: Any) -> Any:
    if isinstance(one, Column | Strings | Aligned):
        return one.where(mask, other)
    return np.where(mask, one, other)
