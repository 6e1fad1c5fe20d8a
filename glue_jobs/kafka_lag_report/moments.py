# SPDX-License-Identifier: Apache-2.0
"""When in the day a value was first, last or least: seconds of the UTC day."""

from pyspark.sql import Column
from pyspark.sql import functions as sf

# Bits that hold a second of a day.
_CLOCK = 1 << 17

# Values above are alike when the first of the least is looked for: with the clock they fill a long.
_LARGEST = 1 << 45

_DAY_SECONDS = 86_400


def clock() -> Column:
    """Seconds of the UTC day of `taken_at`."""
    return sf.pmod(sf.unix_seconds("taken_at"), sf.lit(_DAY_SECONDS))


def first_and_last(value: str) -> dict[str, Column]:
    """The value where it was first and last known, when (`second`s), and how often it was."""
    known = sf.when(sf.col(value).isNotNull(), sf.col("second"))
    return {
        "first": sf.min_by(value, known),
        "last": sf.max_by(value, known),
        "first_at": sf.min(known),
        "last_at": sf.max(known),
        "times": sf.count(value),
    }


def ordered(value: Column) -> Column:
    """A number by which rows sort by `value`, a whole number >= 0, and then by `second`."""
    return sf.least(value, sf.lit(_LARGEST)) * _CLOCK + sf.col("second")


def second_of(order: Column) -> Column:
    """The second in a number made by `ordered`."""
    return sf.pmod(order, sf.lit(_CLOCK))
