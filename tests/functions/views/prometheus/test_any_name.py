# SPDX-License-Identifier: Apache-2.0
"""Whatever a stranger calls a group, /metrics says exactly that name and stays readable."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lag.lag.columns import Column
from tests.builders import a_snapshot
from tests.functions.views.prometheus.scrapes import scrape, stored, value, with_groups

# What UTF-8 can carry, with what the format itself is made of in between.
NAMES = st.text(
    st.one_of(st.sampled_from('\\"\n\r{},= #'), st.characters(exclude_categories=["Cs"])),
    max_size=12,
)
LAGS = st.dictionaries(NAMES, st.none() | st.integers(0, 2**53), min_size=1, max_size=4)


@settings(max_examples=25, deadline=None)
@given(lags=LAGS)
def test_every_name_and_number_comes_back(lags: dict[str, int | None]) -> None:
    snapshot = a_snapshot({name: {"t": [0]} for name in lags}, {"t": [(0, 1)]})
    names = snapshot.groups.strings("consumer_group").to_list()
    column = Column.optional([lags[name] for name in names])
    series = scrape(stored(with_groups(snapshot, snapshot.groups.with_columns(lag=column))))
    found = {name: value(series, "kafka_lag_group_lag", consumergroup=name) for name in lags}
    assert found == lags


@settings(max_examples=25, deadline=None)
@given(group=NAMES, topic=NAMES)
def test_the_names_of_a_partitions_status_come_back(group: str, topic: str) -> None:
    snapshot = a_snapshot({group: {topic: [1]}}, {topic: [(0, 1)]})
    series = scrape(stored(snapshot), level="partition")
    labels = {"consumergroup": group, "topic": topic, "partition": "0", "leader": "0"}
    assert value(series, "kafka_lag_partition_status", **labels) == 0


@settings(max_examples=15, deadline=None)
@given(number=st.floats(0, allow_nan=False, allow_infinity=False))
def test_every_number_is_written_in_full(number: float) -> None:
    snapshot = a_snapshot({"g": {"t": [0]}}, {"t": [(0, 1)]})
    groups = snapshot.groups.with_columns(time_lag_seconds=Column.of(np.array([number])))
    series = scrape(stored(with_groups(snapshot, groups)))
    assert value(series, "kafka_lag_group_time_lag_seconds", consumergroup="g") == number
