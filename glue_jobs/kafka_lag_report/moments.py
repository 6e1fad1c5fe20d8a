# SPDX-License-Identifier: Apache-2.0
"""When in the day a value was first, last or least: seconds of the UTC day."""

from pyspark.sql import Column
from pyspark.sql import functions as sf

_DAY_SECONDS = 86_400
# Values above are alike: with the second they fill a long.
_LARGEST = 1 << 45


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


def at_first_least(name: str, value: Column) -> Column:
    """The column where `value`, a whole number >= 0, was least, at the first such `second`.

    Null where no value is known.
    """
    # one number to order by: with a struct Spark would sort all rows
    order = sf.least(value, sf.lit(_LARGEST)) * _DAY_SECONDS + sf.col("second")
    return sf.min_by(name, sf.when(value.isNotNull(), order))
