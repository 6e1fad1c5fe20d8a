# SPDX-License-Identifier: Apache-2.0
"""One report as text: a headline with numbers, and its worst rows with a legend."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from pyspark.sql import Column, DataFrame, Row

from kafka_lag_report.summary.console.table import Cells, table


@dataclass(frozen=True, slots=True)
class Section:
    """How a report is told; what makes columns is called only once there is a session.

    `title` is filled in with `day` and the numbers of rows: `found`, of `of`. `worst` is the order,
    without what tells equals apart. `cells` begin with the cluster.
    """

    report: str
    word: str
    title: str
    legend: str
    found: Callable[[], Column]
    worst: Callable[[], Sequence[Column]]
    cells: Callable[[Row], Cells]
    rows: Callable[[DataFrame], DataFrame] = lambda report: report

    def text(self, report: DataFrame, day: date, limit: int, found: int, of: int) -> str:
        """The headline and at most `limit` rows; nothing else leaves Spark."""
        title = self.title.format(day=day, found=f"{found:,}", of=f"{of:,}")
        if not (limit and of):
            return f"\n{title}"
        names = ("cluster", "consumer_group", "topic", "partition_id", "hour", "leader", "dataset")
        keys = [name for name in names if name in report.columns]
        rows = self.rows(report).orderBy(*self.worst(), *keys).limit(limit)
        cells = [self.cells(row) for row in rows.collect()]
        clusters = {row["cluster"] for row in cells}
        legend = self.legend
        if len(clusters) == 1:
            cells = [{k: cell for k, cell in row.items() if k != "cluster"} for row in cells]
            legend = "; ".join(filter(None, [f"cluster {clusters.pop()}", legend]))
        lines = ["", title, *([f"  {legend}"] if legend else []), table(cells)]
        more = of - len(cells)
        return "\n".join([*lines, *([f"  and {more:,} more: --show {of} shows all"] * (more > 0))])
