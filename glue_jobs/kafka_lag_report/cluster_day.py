# SPDX-License-Identifier: Apache-2.0
"""One cluster's day from snapshots to history, reports and page: the order of the steps.

Snapshots are scanned once, into the history, and the reports read its few files. A day in progress
has no history yet: there the one scan is the reports'.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from kafka_lag.contract import LEAST_WEEKS, USUAL_WEEKS
from kafka_lag_report.aggregates import (
    DayAggregates,
    Keeper,
    group_partition_days,
    keeping,
    records_produced,
    reduce_day,
)
from kafka_lag_report.compaction import compact_day
from kafka_lag_report.errors import DataError
from kafka_lag_report.evidence import Evidence, gather_evidence
from kafka_lag_report.find_incidents import find_incidents
from kafka_lag_report.findings import Findings
from kafka_lag_report.incident import TABLE, to_table
from kafka_lag_report.options import Options
from kafka_lag_report.page.render import read_page, render
from kafka_lag_report.partials import DayRows
from kafka_lag_report.publishing import publish
from kafka_lag_report.read_findings import read_findings
from kafka_lag_report.read_snapshots import (
    Day,
    naming_corrupt_files,
    read_rows,
    skip_corrupt_objects,
)
from kafka_lag_report.report_files import (
    compute,
    is_first_day,
    stored,
    stored_dates,
    stored_folders,
    stored_tables,
)
from kafka_lag_report.schemas import REPORTS, report_schema
from kafka_lag_report.segments import TOPIC
from kafka_lag_report.storage import Storage
from kafka_lag_report.tables.anomalies import anomalies
from kafka_lag_report.tables.coverage import coverage
from kafka_lag_report.tables.hotspots import broker_hotspots, consumer_hotspots
from kafka_lag_report.tables.lag_hourly import lag_hourly
from kafka_lag_report.tables.lag_summary import lag_summary
from kafka_lag_report.tables.partition_skew import partition_skew
from kafka_lag_report.tables.retention_risk import retention_risk
from kafka_lag_report.tables.slo import add_windows, slo
from kafka_lag_report.tables.tasks_needed import tasks_needed
from kafka_lag_report.timings import Timings

# As `reduce_day` takes them.
DATASETS = ("groups", "group_partitions", "topic_partitions")


@dataclass(frozen=True, slots=True)
class Job:
    """What every cluster and day of a run shares. `few_rows`: the session is for small days."""

    spark: SparkSession
    storage: Storage
    options: Options
    timings: Timings
    few_rows: bool = False


def report_day(job: Job, day: Day) -> None:
    """Write all there is to write of one cluster's day.

    DataError if something cannot be read or written; earlier output of the day stands then, but
    for a history that is ready sooner.
    """
    cluster = day.cluster
    if job.options.history and not day.in_progress:
        with job.timings.stage("history", cluster):
            work = partial(compact_day, job.spark, job.storage)
            day, _ = skip_corrupt_objects(job.storage, day, work)
        day = day.from_history()
    with keeping(few_rows=job.few_rows) as keeper:
        with job.timings.stage("reduce", cluster):
            work_on = partial(_reduced, job, keeper)
            day, (frames, evidence) = skip_corrupt_objects(job.storage, day, work_on)
        with job.timings.stage("reports", cluster), _naming_earlier_reports(job, day):
            tables = {name: report_schema(name).empty_table() for name in REPORTS}
            tables |= compute(_reports(job, day, frames))
            tables["slo"] = _with_windows(job, day, tables["slo"])
            tables["coverage"] = coverage(job.spark, job.storage, day)
        with job.timings.stage("pages", cluster):
            findings = _findings(job, day, evidence, tables)
            tables[TABLE] = to_table(findings.incidents)
            page = _page(findings, frames)
    with job.timings.stage("publish", cluster):
        publish(job.storage, job.options.output, day, tables, page)


def _reduced(job: Job, keeper: Keeper, day: Day) -> tuple[DayAggregates, Evidence]:
    keeper.release()
    groups, group_rows, topic_rows = (_read(job, day, name) for name in DATASETS)
    aggregates = reduce_day(groups.frame, group_rows, topic_rows, keeper)
    evidence = gather_evidence(
        aggregates, group_rows.frame, topic_rows.frame, few_rows=job.few_rows
    )
    return aggregates, evidence


def _read(job: Job, day: Day, dataset: str) -> DayRows:
    rows = read_rows(job.spark, job.storage, day, dataset)
    # in one partition nothing is exchanged, whatever is grouped, ranked or joined
    return replace(rows, frame=rows.frame.coalesce(1), few=True) if job.few_rows else rows


def _reports(job: Job, day: Day, frames: DayAggregates) -> dict[str, DataFrame]:
    """Those that may have rows."""
    f, weigh = frames, frames.weights.weigh
    groups, runs = weigh(f.groups), weigh(f.runs)
    hours = lag_hourly(groups)
    reports = {
        "lag_summary": lag_summary(groups, runs, f.segments),
        "partition_skew": partition_skew(f.segments, runs, f.topic_segments, weigh(f.topic_runs)),
        "retention_risk": retention_risk(f.segments, f.topic_segments, day.date),
        "lag_hourly": hours,
        "broker_hotspots": broker_hotspots(f.segments, f.topic_segments),
        "consumer_hotspots": consumer_hotspots(f.segments),
        "tasks_needed": tasks_needed(groups),
        "slo": slo(groups, day.date, in_progress=day.in_progress),
    }
    output = job.options.output
    weeks = stored_dates(job.storage, output, "lag_hourly", day, _dates_before(day))
    # of fewer nothing is usual
    if len(weeks) >= LEAST_WEEKS:
        before = stored(job.spark, job.storage, output, "lag_hourly", day, weeks)
        reports["anomalies"] = anomalies(hours, before)
    return reports


def _with_windows(job: Job, day: Day, of_day: pa.Table) -> pa.Table:
    """The day's objectives beside those of the days before, of which none is read without any."""
    days = range(1, max(of_day["days"].to_pylist(), default=0))
    dates = [day.date - timedelta(days=back) for back in days]
    earlier = stored_tables(job.storage, job.options.output, "slo", day, dates)
    return add_windows(of_day, day.date, earlier)


def _dates_before(day: Day) -> list[date]:
    return [day.date - timedelta(weeks=back) for back in range(1, USUAL_WEEKS + 1)]


def _naming_earlier_reports(job: Job, day: Day) -> AbstractContextManager[None]:
    def folders() -> list[str]:
        output, dates = job.options.output, _dates_before(day)
        return stored_folders(job.storage, output, "lag_hourly", day, dates)

    return naming_corrupt_files(job.storage, folders)


def _findings(job: Job, day: Day, evidence: Evidence, tables: Mapping[str, pa.Table]) -> Findings:
    """What the reports show, and the incidents behind it."""
    first_day = is_first_day(job.storage, job.options.output, day)
    findings = read_findings(day.cluster, day.date, tables, first_day=first_day)
    if findings is None:
        raise DataError(f"nothing is known of {day.cluster} on {day.date}")
    incidents = find_incidents(evidence, findings, first_day=first_day)
    return replace(findings, incidents=incidents)


def _page(findings: Findings, frames: DayAggregates) -> str:
    partitions = group_partition_days(frames.segments).join(
        records_produced(frames.topic_segments), [*TOPIC, "partition_id"], "left"
    )
    return render(read_page(findings, frames.groups, partitions))
