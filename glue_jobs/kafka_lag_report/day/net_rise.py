# SPDX-License-Identifier: Apache-2.0
"""How far an offset rose while it was watched."""

from pyspark.sql import Column
from pyspark.sql import functions as sf


def net_rise(offset: str, times: str) -> Column:
    """An aggregate over segments: records from the first to the last known value of `offset`.

    Going back counts as 0, not as negative. Null when it was known less than twice (`times`).
    """
    first = sf.min_by(f"{offset}_first", f"{offset}_first_at")
    last = sf.max_by(f"{offset}_last", f"{offset}_last_at")
    return sf.when(sf.sum(times) > 1, sf.greatest(last - first, sf.lit(0)))
