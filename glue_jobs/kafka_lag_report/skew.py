# SPDX-License-Identifier: Apache-2.0
"""How unevenly a day's values are spread over partitions: top share, max to mean, Gini, skewed.

Skewed is max / mean >= SKEW_FACTOR, and at least an excess of records more than the mean.
"""

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafka_lag_report.thresholds import LAG_EXCESS, SKEW_FACTOR


def skewed(top: str, total: str, count: str, excess: float) -> str:
    """SQL: whether the top of `count` values is far above their mean; null when there are none."""
    mean = f"try_divide(double({total}), {count})"
    return (
        f"CASE WHEN {count} > 0"
        f" THEN {top} >= {SKEW_FACTOR}D * {mean} AND {top} - {mean} >= {excess}D END"
    )


IS_SKEWED = skewed("top", "total", "n", LAG_EXCESS)


def placed(value: str, keys: Sequence[str]) -> dict[str, str]:
    """SQL columns: `x`, the value as double, its `rank` among `keys`, their `n`, `total`, `top`.

    The last three leave out what is null; a null ranks last.
    """
    of, x = f"PARTITION BY {', '.join(keys)}", f"double({value})"
    return {
        "x": x,
        "rank": f"row_number() OVER ({of} ORDER BY {x} NULLS LAST)",
        "n": f"count({x}) OVER ({of})",
        "total": f"sum({x}) OVER ({of})",
        "top": f"max({x}) OVER ({of})",
    }


# SQL aggregates over rows that are `placed`. Of equal values the lowest partition is the top one,
# so that reruns agree.
SUMS_OF_PLACED = {
    "n": "max(n)",
    "total": "max(total)",
    "top": "max(top)",
    "ranked_total": "sum(rank * x)",
    "top_partition": "min(partition_id) FILTER (WHERE x = top)",
}


def measures(prefix: str) -> dict[str, str]:
    """SQL columns `<prefix>_...` of SUMS_OF_PLACED.

    Partitions with a null value are left out of everything, N (`_partitions`) included; all null
    without any. Equal values, also a single one or all zero, give max_to_mean 1, gini 0, share 1/N.

    Gini is 2 sum(i x_i) / (n sum(x)) - (n + 1) / n, x ascending, i from 1; 0 even, (n - 1)/n all in
    one. The same as sum|x_i - x_j| / (2 n^2 mean), Gini's mean difference, without the n^2 pairs;
    rounding may leave -1e-17 for equal values.
    """
    gini = "try_divide(2 * ranked_total, n * total) - try_divide(n + 1, n)"
    columns = {
        "partitions": "int(n)",
        "mean": "try_divide(total, n)",
        "max": "top",
        "max_to_mean": "IF(n > 0, coalesce(try_divide(top, try_divide(total, n)), 1D), NULL)",
        "top_partition": "IF(total > 0, top_partition, NULL)",
        "top_share": "IF(n > 0, coalesce(try_divide(top, total), try_divide(1D, n)), NULL)",
        "even_share": "try_divide(1D, n)",
        "gini": f"IF(n > 0, greatest(coalesce({gini}, 0D), 0D), NULL)",
        "skewed": IS_SKEWED,
    }
    return {f"{prefix}_{name}": column for name, column in columns.items()}


def spread(days: DataFrame, keys: Sequence[str], value: str, prefix: str) -> DataFrame:
    """How `value` is spread over the partitions of each of `keys`, in columns `<prefix>_...`."""
    sums = grouped(with_columns(days, placed(value, keys)), keys, SUMS_OF_PLACED)
    return sums.selectExpr(*keys, *_named(measures(prefix)))


def selected(rows: DataFrame, columns: Mapping[str, str]) -> DataFrame:
    """With these columns alone, each a text of SQL."""
    return rows.selectExpr(*_named(columns))


def with_columns(rows: DataFrame, columns: Mapping[str, str]) -> DataFrame:
    """With more columns, each a text of SQL.

    Step by step Spark looks at each step once; of one long query it looks at all of it again for
    each step, which takes longer than a small day's work.
    """
    return rows.selectExpr("*", *_named(columns))


def grouped(rows: DataFrame, keys: Sequence[str], columns: Mapping[str, str]) -> DataFrame:
    """A row for each of the keys, with aggregates in SQL."""
    return rows.groupBy(*keys).agg(*map(sf.expr, _named(columns)))


def _named(columns: Mapping[str, str]) -> list[str]:
    return [f"{column} AS {name}" for name, column in columns.items()]
