# SPDX-License-Identifier: Apache-2.0
"""The worst rows of a frame on the driver, and how many there are, in one job as a rule."""

from collections.abc import Sequence
from datetime import UTC, datetime

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as sf


def worst(frame: DataFrame, order: Sequence[Column | str], limit: int) -> tuple[list[Row], int]:
    """At most `limit` rows in this order, and the number of all: counted only if there are more."""
    rows = frame.orderBy(*order).limit(limit + 1).collect()
    return rows[:limit], len(rows) if len(rows) <= limit else frame.count()


def seconds(column: str) -> Column:
    """A timestamp as seconds of the epoch: Python would read it in the machine's own zone."""
    return sf.unix_seconds(column)


def moment(epoch: int | None) -> datetime | None:
    """Those seconds as an aware UTC time."""
    return None if epoch is None else datetime.fromtimestamp(epoch, UTC)
