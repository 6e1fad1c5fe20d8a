# SPDX-License-Identifier: Apache-2.0
"""The values that are published, and their dimensions; unknown values are not published."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.lag.model import LagReport, Snapshot
from kafka_lag.sinks.budget import plan
from kafka_lag.sinks.config import Levels
from kafka_lag.sinks.metric_sets import MetricSet, health_set, lag_sets, success_set
from tests.functions.sinks.reports import EVERYTHING, a_report, with_groups

REPORT = a_report({"g": {"orders": 2, "bills": 1}})
G = ("c", "g")

Values = dict[tuple[tuple[str, ...], str], float]


def published(report: LagReport, **levels: Any) -> Values:
    """Values by dimension values and metric name; each combination once."""
    wanted = Levels(**levels)
    sets = lag_sets(report, plan(report, Snapshot.empty(), wanted), wanted, "c")
    values = [
        ((tuple(value for _, value in one.dimensions), name), value)
        for one in sets
        for name, value in one.values
    ]
    assert len(dict(values)) == len(values)
    assert all(one.values for one in sets)
    return dict(values)


def of_groups(values: Values) -> dict[str, float]:
    return {name: value for (where, name), value in values.items() if where == G}


def test_groups_and_topics_are_published_by_default() -> None:
    values = published(REPORT)
    assert set(values) == {
        *((G, name) for name in contract.GROUP_METRICS),
        *(((*G, topic), name) for topic in ("orders", "bills") for name in contract.LAG_METRICS),
    }
    lags = [values[where, "OffsetLag"] for where in (G, (*G, "orders"), (*G, "bills"))]
    assert lags == [3, 2, 1]


@pytest.mark.parametrize(
    ("status", "value"), [("OK", 0), ("WARN", 1), ("ERR", 2), (None, None), ("STOP", None)]
)
def test_a_groups_status_is_a_number(status: str | None, value: int | None) -> None:
    values = published(with_groups(REPORT, status=Strings.of([status])))
    assert values.get((G, "GroupStatus")) == value


@pytest.mark.parametrize(
    ("seconds", "promised", "used"),
    [
        (0.0, 60.0, 0),
        (30.0, 60.0, 0.5),
        (60.0, 60.0, 1),
        (61.0, 60.0, 1.017),
        (60.0, 0.5, 120),
        (60.0, None, None),
        (None, 60.0, None),
    ],
)
def test_the_share_of_the_service_level_that_is_used_is_published(
    seconds: float | None, promised: float | None, used: float | None
) -> None:
    report = with_groups(
        REPORT,
        time_lag_seconds=Column.optional([seconds], np.float64),
        sla_seconds=Column.optional([promised], np.float64),
    )
    assert published(report).get((G, "SlaUsed")) == used


@pytest.mark.parametrize(
    ("state", "value"),
    [
        *((state, 1) for state in contract.REBALANCING_STATES),
        ("Stable", 0),
        ("Empty", 0),
        (None, None),
    ],
)
def test_a_group_is_rebalancing_by_its_state(state: str | None, value: int | None) -> None:
    report = with_groups(REPORT, group_state=Strings.of([state]))
    assert published(report, rebalancing=True).get((G, "Rebalancing")) == value


@pytest.mark.parametrize(("members", "each"), [(0, 3), (1, 3), (2, 1.5), (7, 0.429), (None, None)])
def test_scaling_lag_is_also_published_by_member(members: int | None, each: float | None) -> None:
    report = with_groups(REPORT, members=Column.optional([members], np.int32))
    values = published(report, scaling=NameFilter())
    assert values[G, "ScalingLag"] == 3
    assert values.get((G, "ScalingLagPerMember")) == each


def test_scaling_lag_is_published_of_groups_that_are_scaled_only() -> None:
    report = a_report({"g": {"orders": 1}, "h": {"orders": 2}})
    values = published(report, scaling=NameFilter(allow=re.compile("h")))
    scaled = {where for where, name in values if name.startswith("ScalingLag")}
    assert scaled == {("c", "h")}
    assert not any(name.startswith("ScalingLag") for _, name in published(report))


def test_scaling_lags_are_found_by_the_name_of_the_group() -> None:
    report = a_report({"g": {"orders": 1}, "h": {"orders": 2}})
    turned = replace(report, scaling=report.scaling.take(np.array([1, 0])))
    assert published(turned, scaling=NameFilter()) == published(report, scaling=NameFilter())


def test_dimensions_have_the_names_of_the_contract_in_their_order() -> None:
    levels = Levels(partition_groups=NameFilter())
    sets = lag_sets(REPORT, plan(REPORT, Snapshot.empty(), levels), levels, "c")
    names = {tuple(name for name, _ in one.dimensions) for one in sets}
    all_of_them = ("Cluster Name", "Consumer Group", "Topic", "Partition")
    assert names == {all_of_them[:length] for length in (2, 3, 4)}


def test_what_is_unknown_is_absent() -> None:
    report = with_groups(
        REPORT, lag=Column.unknown(1), seconds_until_loss=Column.unknown(1, np.float64)
    )
    unknown = {"OffsetLag", "TimeToDataLoss"}
    assert set(of_groups(published(report))) == set(contract.GROUP_METRICS) - unknown
    scaling = REPORT.scaling.with_columns(scaling_lag=Column.unknown(1))
    values = published(replace(REPORT, scaling=scaling), scaling=NameFilter())
    assert not any(name.startswith("ScalingLag") for _, name in values)


def test_a_set_of_which_nothing_is_known_is_absent() -> None:
    pairs = REPORT.group_topics.with_columns(
        lag=Column.optional([None, 1]), time_lag_seconds=Column.optional([None, 1.0], np.float64)
    )
    values = published(replace(REPORT, group_topics=pairs))
    assert {where for where, _ in values} == {G, (*G, "bills")}


def test_zero_is_published_and_seconds_to_the_millisecond() -> None:
    zero, loss = Column.of(np.zeros(1)), Column.of([1.23456])
    report = with_groups(REPORT, lag=Column.of([0]), time_lag_seconds=zero, seconds_until_loss=loss)
    values = of_groups(published(report))
    assert (values["OffsetLag"], values["EstimatedTimeLag"]) == (0, 0)
    assert values["TimeToDataLoss"] == 1.235


ANY = st.none() | st.floats() | st.floats(-1e-4, 0)
TIMES = (
    "time_lag_seconds",
    "seconds_until_loss",
    "drain_seconds",
    "produce_rate",
    "consume_rate",
)


@given(st.tuples(*[ANY] * len(TIMES)), st.none() | st.integers(-5, 2**62))
def test_nothing_but_finite_numbers_from_0_on_is_published(
    seconds: tuple[float | None, ...], lag: int | None
) -> None:
    times = zip(TIMES, seconds, strict=True)
    columns = {name: Column.optional([value], np.float64) for name, value in times}
    columns["sla_seconds"] = Column.of([0.5])
    report = with_groups(REPORT, lag=Column.optional([lag]), **columns)
    with np.errstate(all="raise"):
        values = np.array(list(published(report, **EVERYTHING).values()))
    assert np.isfinite(values).all()
    assert (values >= 0).all()


# What the reporter says of itself, in full whatever it read.


def health(report: LagReport) -> MetricSet:
    return health_set(report, 0, "c", 1.23456)


def test_health_is_published_under_the_cluster_alone_to_the_millisecond() -> None:
    one = health(a_report({"g": {"orders": 1}, "h": {"orders": 1}}))
    assert one.dimensions == (("Cluster Name", "c"),)
    assert dict(one.values)["CollectorDuration"] == 1.235
    assert dict(one.values)["GroupsRead"] == 2


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({"unread_reason": Strings.of([contract.DENIED])}, id="unread"),
        pytest.param({"status_reason": Strings.of([contract.GONE])}, id="gone"),
        pytest.param({"read_at": Column.unknown(1)}, id="other-protocol"),
    ],
)
def test_a_group_whose_commits_were_not_read_is_no_group_read(columns: dict[str, Any]) -> None:
    assert dict(health(with_groups(REPORT, **columns)).values)["GroupsRead"] == 0


def test_partitions_that_are_ok_by_a_lower_bound_of_their_age_alone_are_counted() -> None:
    report = a_report({"g": {"orders": 5}})
    rows = report.snapshot.group_partitions.with_columns(
        status=Strings.of([contract.OK, contract.OK, contract.OK, contract.STOP, None]),
        lag=Column.optional([1, 1, 0, 1, 1]),
        time_lag_error_seconds=Column.optional([None, 1.0, None, None, None], np.float64),
    )
    report = replace(report, snapshot=replace(report.snapshot, group_partitions=rows))
    assert dict(health(report).values)["PartitionsUndated"] == 1


def test_of_no_group_all_is_said_that_the_budget_reserves() -> None:
    values = dict((*health(a_report({})).values, *success_set("c").values))
    assert sorted(values) == sorted(contract.HEALTH_UNITS)
    report = with_groups(REPORT, partitions_unknown=Column.unknown(1))
    assert dict(health(report).values)["PartitionsUnknown"] == values["PartitionsUnknown"] == 0
