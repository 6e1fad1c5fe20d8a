# SPDX-License-Identifier: Apache-2.0
"""Groups: how they kept their SLA, and which hours were unlike their usual ones."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as sf

from kafka_lag_report.summary.console.section import Section
from kafka_lag_report.summary.console.table import Cells
from kafka_lag_report.summary.findings import SLA_MET
from kafka_lag_report.summary.wording import number, percent, shown, span


def _needs_attention() -> Column:
    return _missed_sla() | sf.coalesce(sf.col("err_minutes") > 0, sf.lit(False))


def _missed_sla() -> Column:
    return sf.coalesce(sf.col("sla_compliance") < SLA_MET, sf.lit(False))


def _worst_groups() -> list[Column]:
    return [
        _missed_sla().desc(),
        sf.when(_missed_sla(), sf.col("sla_compliance")).asc_nulls_last(),
        sf.col("err_minutes").desc_nulls_last(),
        sf.col("time_lag_p99").desc_nulls_last(),
    ]


def _own_rows(report: DataFrame) -> DataFrame:
    return report.filter("topic is null")


def _group_cells(row: Row) -> Cells:
    return {
        "cluster": shown(row["cluster"]),
        "group": shown(row["consumer_group"]) + (" (gone)" if row["gone"] else ""),
        "owner": shown(row["owner"]),
        "SLA met": percent(row["sla_compliance"]),
        "ERR": _minutes(row["err_minutes"]),
        "WARN": _minutes(row["warn_minutes"]),
        "unknown": _minutes(row["unknown_minutes"]),
        "time lag p50": span(row["time_lag_p50"]),
        "p99": span(row["time_lag_p99"]),
        "max": span(row["time_lag_max"]),
        "lag p99": number(row["lag_p99"]),
        "catch up": number(row["catch_up_capacity"], ".1f"),
        "rebalances": number(row["rebalancing_runs"], "d"),
    }


def _minutes(minutes: float | None) -> str:
    return span(None if minutes is None else 60 * minutes)


def _all() -> Column:
    return sf.lit(True)


def _most_unusual() -> list[Column]:
    return [sf.abs("deviation").desc_nulls_last()]


def _anomaly_cells(row: Row) -> Cells:
    measure, told = _MEASURES[row["measure"]]
    return {
        "cluster": shown(row["cluster"]),
        "group": shown(row["consumer_group"]),
        "hour (UTC)": f"{row['hour']:02}:00",
        "measure": measure,
        "was": told(row["value"]),
        "usually": told(row["usual"]),
        "deviation": number(row["deviation"], "+,.1f"),
        "of weeks": number(row["days"], "d"),
    }


def _rate(records: float | None) -> str:
    return "-" if records is None else f"{records:,.1f}/s"


_MEASURES: dict[str, tuple[str, Callable[[float | None], str]]] = {
    "time_lag_seconds": ("time lag", span),
    "lag": ("lag", number),
    "produce_rate": ("records produced", _rate),
}


GROUPS = Section(
    report="lag_summary",
    word="SLA or ERR",
    title="Groups on {day}: {found} of {of} missed their SLA or were in ERR",
    legend="catch up: the best consume rate against the produce rate",
    found=_needs_attention,
    worst=_worst_groups,
    cells=_group_cells,
    rows=_own_rows,
)
ANOMALIES = Section(
    report="anomalies",
    word="unusual hours",
    title="Unusual on {day}: {found} hours of groups",
    legend="deviation: from the usual value of that hour, in robust deviations",
    found=_all,
    worst=_most_unusual,
    cells=_anomaly_cells,
)
