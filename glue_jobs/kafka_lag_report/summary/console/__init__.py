# SPDX-License-Identifier: Apache-2.0
"""What a person sees at the end of a run: each cluster's headline, each report's worst rows.

Text only, since Glue's log is where it ends up; `-` is unknown.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafka_lag_report.summary.console.clusters import BROKERS, COVERAGE
from kafka_lag_report.summary.console.groups import ANOMALIES, GROUPS
from kafka_lag_report.summary.console.section import Section
from kafka_lag_report.summary.console.table import table
from kafka_lag_report.summary.console.topics import RETENTION, SKEW
from kafka_lag_report.summary.wording import shown

SECTIONS = (RETENTION, GROUPS, SKEW, BROKERS, ANOMALIES, COVERAGE)
_Counts = Mapping[tuple[str, str], tuple[int, int]]


def print_reports(
    reports: Mapping[str, DataFrame], day: date, limit: int, write: Callable[[str], object] = print
) -> None:
    """Write headlines and at most `limit` rows of each report there is, through `write`."""
    sections = [section for section in SECTIONS if section.report in reports]
    counts = _counts(reports, sections)
    clusters = sorted({cluster for _, cluster in counts})
    if len(clusters) > 1:
        write(_overview(sections, clusters, counts, day))
    for section in sections:
        of_all = [counts.get((section.report, cluster), (0, 0)) for cluster in clusters]
        found, of = sum(each[0] for each in of_all), sum(each[1] for each in of_all)
        write(section.text(reports[section.report], day, limit, found, of))


def _counts(reports: Mapping[str, DataFrame], sections: Sequence[Section]) -> _Counts:
    """By report and cluster: the rows to look at, and all; in one go."""
    marked = [
        section.rows(reports[section.report]).select(
            sf.lit(section.report).alias("report"), "cluster", section.found().alias("found")
        )
        for section in sections
    ]
    counted = reduce(DataFrame.unionAll, marked).groupBy("report", "cluster")
    rows = counted.agg(sf.count_if("found"), sf.count("*")).collect()
    return {(report, cluster): (found, of) for report, cluster, found, of in rows}


def _overview(
    sections: Sequence[Section], clusters: Sequence[str], counts: _Counts, day: date
) -> str:
    """A line for each cluster, with the number of rows to look at."""
    rows = [
        {"cluster": shown(cluster)}
        | {s.word: f"{counts.get((s.report, cluster), (0, 0))[0]:,}" for s in sections}
        for cluster in clusters
    ]
    return f"\nOn {day}, of {len(clusters)} clusters\n{table(rows)}"
