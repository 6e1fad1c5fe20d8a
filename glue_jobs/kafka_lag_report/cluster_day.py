# SPDX-License-Identifier: Apache-2.0
"""Reports one day of one cluster, step by step: history, tables, incidents, page.

Snapshots are read once, to write the history; the reports then read the few files of the history. A
day in progress has no history yet, so its reports read the snapshots.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial

import pyarrow as pa
from pyspark.sql import SparkSession

from kafka_lag.contract import LEAST_WEEKS, OBJECTIVE_MOST_DAYS, USUAL_WEEKS
from kafka_lag_report.coverage import compute_coverage
from kafka_lag_report.errors import DataError
from kafka_lag_report.evidence import Evidence, gather_evidence
from kafka_lag_report.find_incidents import find_incidents
from kafka_lag_report.findings import Findings
from kafka_lag_report.history import compact_day
from kafka_lag_report.incident import TABLE, to_table
from kafka_lag_report.options import Options
from kafka_lag_report.page.render import read_page, render
from kafka_lag_report.publishing import publish
from kafka_lag_report.queries import Queries
from kafka_lag_report.read_findings import read_findings
from kafka_lag_report.read_snapshots import (
    Day,
    naming_corrupt_files,
    read_small_day,
    skip_corrupt_objects,
)
from kafka_lag_report.reduce_day import open_day, reduce_day
from kafka_lag_report.report_files import (
    compute,
    is_first_day,
    list_stored_dates,
    list_stored_folders,
    read_stored,
)
from kafka_lag_report.schemas import REPORTS, report_schema
from kafka_lag_report.session import new_session
from kafka_lag_report.storage import Storage
from kafka_lag_report.timings import Timings

# Tables that Spark computes for each day.
_TABLES = (
    *("lag_summary", "partition_skew", "retention_risk", "lag_hourly"),
    *("broker_hotspots", "consumer_hotspots", "tasks_needed", "slo"),
)


@dataclass(frozen=True, slots=True)
class Job:
    """Values that all clusters and days of a run share.

    `few_rows`: the session suits small days.
    """

    spark: SparkSession
    storage: Storage
    options: Options
    timings: Timings
    few_rows: bool = False


def report_day(job: Job, day: Day) -> None:
    """Writes the history, the report tables and the page of one cluster's day.

    Raises DataError if something cannot be read or written. The reports of an earlier run for this
    day then stay as they are; only the history may already have been extended.
    """
    cluster = day.cluster
    queries = Queries(new_session(job.spark, few_rows=job.few_rows))
    if job.options.history and not day.in_progress:
        with job.timings.stage("history", cluster):
            day = _compact(job, day).from_history()
    with job.timings.stage("reduce", cluster):
        work_on = partial(_reduce, job, queries)
        day, evidence = skip_corrupt_objects(job.storage, day, work_on)
    with job.timings.stage("reports", cluster), _naming_earlier_reports(job, day):
        tables = {name: report_schema(name).empty_table() for name in REPORTS}
        tables |= _compute_reports(job, day, queries)
        tables["coverage"] = compute_coverage(queries.spark, job.storage, day)
    with job.timings.stage("pages", cluster):
        findings = _gather_findings(job, day, evidence, tables)
        tables[TABLE] = to_table(findings.incidents)
        page = render(read_page(findings, queries))
    with job.timings.stage("publish", cluster):
        publish(job.storage, job.options.output, day, tables, page)


def _compact(job: Job, day: Day) -> Day:
    """Extends the history; returns the day with the objects that were skipped."""
    # whole rows are sorted and written here: compiled code takes half of the time
    compiled = new_session(job.spark)
    if job.few_rows:
        day, rows = read_small_day(job.storage, day)
        compact_day(compiled, job.storage, day, rows)
        return day
    return skip_corrupt_objects(job.storage, day, partial(compact_day, compiled, job.storage))[0]


def _reduce(job: Job, queries: Queries, day: Day) -> Evidence:
    open_day(queries, job.storage, day, few_rows=job.few_rows)
    return gather_evidence(queries, reduce_day(queries))


def _compute_reports(job: Job, day: Day, queries: Queries) -> dict[str, pa.Table]:
    """Returns the tables that Spark computes for the day, by name; other reports have no rows."""
    output = job.options.output
    tables = list(_TABLES)
    queries.derive("reductions/slo_days")
    past = read_stored(queries.spark, job.storage, output, "slo", day, _list_days_before(day))
    queries.view("past_slo", past)
    weeks = list_stored_dates(job.storage, output, "lag_hourly", day, _list_weeks_before(day))
    # fewer weeks do not show what is usual
    if len(weeks) >= LEAST_WEEKS:
        before = read_stored(queries.spark, job.storage, output, "lag_hourly", day, weeks)
        queries.view("past_hours", before)
        queries.derive("reductions/usual_hours")
        queries.keep("tables/lag_hourly")
        tables.append("anomalies")
    return compute(queries, tables)


def _list_days_before(day: Day) -> list[date]:
    return [day.date - timedelta(days=back) for back in range(1, OBJECTIVE_MOST_DAYS)]


def _list_weeks_before(day: Day) -> list[date]:
    return [day.date - timedelta(weeks=back) for back in range(1, USUAL_WEEKS + 1)]


def _naming_earlier_reports(job: Job, day: Day) -> AbstractContextManager[None]:
    def folders() -> list[str]:
        dates = {"lag_hourly": _list_weeks_before(day), "slo": _list_days_before(day)}
        return [
            folder
            for name, each in dates.items()
            for folder in list_stored_folders(job.storage, job.options.output, name, day, each)
        ]

    return naming_corrupt_files(job.storage, folders)


def _gather_findings(
    job: Job, day: Day, evidence: Evidence, tables: Mapping[str, pa.Table]
) -> Findings:
    """Returns the findings of the report tables together with the day's incidents.

    Raises DataError if the coverage table is empty.
    """
    first_day = is_first_day(job.storage, job.options.output, day)
    findings = read_findings(day.cluster, day.date, tables, first_day=first_day)
    if findings is None:
        raise DataError(f"no data about {day.cluster} on {day.date}")
    incidents = find_incidents(evidence, findings, first_day=first_day)
    return replace(findings, incidents=incidents)
