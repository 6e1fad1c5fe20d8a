# SPDX-License-Identifier: Apache-2.0
"""What a person sees at the end of a run: the worst rows of each report, aligned.

Text only, since Glue's log is where it ends up; `-` is unknown. At most `limit` rows ever leave
Spark.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as sf

Cells = dict[str, str]
SKEWED = {
    (True, True): "both",
    (True, False): "lag",
    (False, True): "production",
    (False, False): "no",
}


def print_reports(
    reports: Mapping[str, DataFrame], day: date, limit: int, write: Callable[[str], object] = print
) -> None:
    """Write both reports' headline and worst rows, line by line, through `write`."""
    for text in (
        _skew(reports["partition_skew"], day, limit),
        _retention(reports["retention_risk"], day, limit),
    ):
        write(text)


def table(rows: Sequence[Cells]) -> str:
    """Align cells under their names; numbers right, words left; empty without rows."""
    if not rows:
        return ""
    names = list(rows[0])
    lines = [names, *([row[name] for name in names] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(names))]
    left = [not any(line[i][:1].isdigit() for line in lines[1:]) for i in range(len(names))]
    return "\n".join(
        "  " + "  ".join(_pad(*cell) for cell in zip(line, widths, left, strict=True)).rstrip()
        for line in lines
    )


def _skew(report: DataFrame, day: date, limit: int) -> str:
    skewed = sf.coalesce("lag_skewed", sf.lit(False)) | sf.coalesce(
        "production_skewed", sf.lit(False)
    )
    worst = sf.greatest("lag_max_to_mean", "production_max_to_mean")
    found, of = _count(report, skewed)
    rows = report.orderBy(
        skewed.desc(), worst.desc_nulls_last(), "cluster", "consumer_group", "topic"
    ).limit(limit)
    return _section(
        f"Partition skew on {day}: {found} of {of} group topics skewed",
        "made: produced; x: max/mean, 1 if even; top: the worst partition's share (an even share)",
        [_skew_cells(row) for row in rows.collect()],
        of,
    )


def _retention(report: DataFrame, day: date, limit: int) -> str:
    lost = sf.coalesce(sf.col("retention_risk") == "LOST", sf.lit(False))
    found, of = _count(report, lost)
    rows = (
        report.orderBy(
            lost.desc(),
            sf.col("records_lost").desc_nulls_last(),
            (sf.col("retention_risk") == "AT_RISK").desc_nulls_last(),
            sf.col("least_seconds_until_loss").asc_nulls_last(),
            (sf.col("lag_at_least_margin") > 0).desc_nulls_last(),
            sf.col("least_margin").asc_nulls_last(),
            *("cluster", "consumer_group", "topic", "partition_id"),
        )
        .limit(limit)
        # formatted by Spark, whose session is in UTC; Python would show the machine's own zone
        .withColumn("at", sf.date_format("least_margin_at", "HH:mm:ss"))
    )
    return _section(
        f"Retention risk on {day}: {found} of {of} group partitions lost records",
        "margin is records between log start and commit, at its least, with the lag at that moment",
        [_retention_cells(row) for row in rows.collect()],
        of,
    )


def _skew_cells(row: Row) -> Cells:
    cells = {
        "cluster": _name(row["cluster"]),
        "group": _name(row["consumer_group"]),
        "topic": _name(row["topic"]),
        "skewed": SKEWED[bool(row["lag_skewed"]), bool(row["production_skewed"])],
    }
    for what, short in (("lag", "lag"), ("production", "made")):
        cells[f"{short} max"] = _number(row[f"{what}_max"], ",.0f")
        cells[f"{short} x"] = _number(row[f"{what}_max_to_mean"], ".2f")
        cells[f"{short} top"] = _top(row, what)
    return cells


def _retention_cells(row: Row) -> Cells:
    return {
        "cluster": _name(row["cluster"]),
        "group": _name(row["consumer_group"]),
        "topic": _name(row["topic"]),
        "partition": str(row["partition_id"]),
        "risk": row["retention_risk"] or "-",
        "lost": _number(row["records_lost"], ",d"),
        "margin": _number(row["least_margin"], ",d"),
        "lag": _number(row["lag_at_least_margin"], ",d"),
        "at (UTC)": row["at"] or "-",
        "hours left": _hours(row["least_seconds_until_loss"]),
    }


def _count(report: DataFrame, flag: Column) -> tuple[int, int]:
    row = report.agg(sf.count_if(flag), sf.count("*")).first()
    return (row[0], row[1]) if row else (0, 0)


def _section(title: str, legend: str, rows: Sequence[Cells], of: int) -> str:
    """A title, and with rows what is needed to read them; one cluster is named once."""
    if not rows:
        return f"\n{title}"
    clusters = {row["cluster"] for row in rows}
    if len(clusters) == 1:
        rows = [{name: cell for name, cell in row.items() if name != "cluster"} for row in rows]
        legend = f"cluster {clusters.pop()}; {legend}"
    more = [f"  and {of - len(rows):,} more: --show {of} shows all"] if of > len(rows) else []
    return "\n".join(["", title, f"  {legend}", table(rows), *more])


def _top(row: Row, what: str) -> str:
    partition, share = row[f"{what}_top_partition"], row[f"{what}_top_share"]
    if partition is None:
        return "-"
    return f"{partition}: {share:.0%} ({row[f'{what}_even_share']:.0%})"


def _hours(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds / 3600:.1f}"


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _name(text: str) -> str:
    """A client may put line breaks and terminal commands into a group's name."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _pad(text: str, width: int, left: bool) -> str:
    return text.ljust(width) if left else text.rjust(width)
