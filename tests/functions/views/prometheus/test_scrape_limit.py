# SPDX-License-Identifier: Apache-2.0
"""What /metrics says is too large is what a function URL would not pass on."""

from __future__ import annotations

import re

import numpy as np

from kafka_lag.contract import exposition
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.views.app import answer
from kafka_lag.views.function_url import MAX_BYTES as MAX_BYTES_OF_THE_URL
from kafka_lag.views.function_url import to_response
from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag.views.prometheus import MAX_BYTES, MAX_BYTES_TO_PACK
from tests.builders import NOON, a_snapshot
from tests.functions.views.prometheus.scrapes import stored, with_groups
from tests.functions.views.prometheus.test_documented import DOC


def test_an_answer_that_is_allowed_passes_through_the_url() -> None:
    assert MAX_BYTES < MAX_BYTES_OF_THE_URL


def test_many_groups_pass_through_the_url_for_whoever_takes_them_packed() -> None:
    one = a_snapshot({"billing": {"orders": [5]}}, {"orders": [(0, 10)]})
    names = Strings.of([f"group-{number:05}" for number in range(5_000)])
    columns = (column for column, _ in exposition.GROUP_GAUGES.values())
    known = {column: Column.of(np.ones(len(names))) for column in columns}
    rows = one.groups.take(np.zeros(len(names), np.int64))
    groups = rows.with_columns(consumer_group=names, **known)
    snapshots = Snapshots(stored(with_groups(one, groups)), lambda: NOON / 1000)
    plain, packed = (
        Request.of("GET", "/metrics", "", {"accept-encoding": coding})
        for coding in ("identity", "gzip")
    )

    assert to_response(plain, answer(plain, snapshots, NOON)).status_code == 400
    assert to_response(packed, answer(packed, snapshots, NOON)).status_code == 200


def test_the_documentation_names_both_limits() -> None:
    result = [float(number) * 1e6 for number in re.findall(r"([\d.]+) MB", DOC)]
    assert result == [MAX_BYTES_TO_PACK, MAX_BYTES]
