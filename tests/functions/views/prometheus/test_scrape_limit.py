# SPDX-License-Identifier: Apache-2.0
"""What /metrics says is too large is what a function URL would not pass on."""

from __future__ import annotations

import re

import numpy as np

from kafka_lag.contract import exposition
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.views.function_url import MOST_BYTES as MOST_OF_THE_URL
from kafka_lag.views.function_url import reply
from kafka_lag.views.http import Request
from kafka_lag.views.prometheus.scrape import MOST_BYTES, MOST_TO_PACK
from kafka_lag.views.routing import answer
from kafka_lag.views.snapshots import Snapshots
from tests.builders import NOON, a_snapshot
from tests.functions.views.prometheus.scrapes import stored, with_groups
from tests.functions.views.prometheus.test_documented import DOC


def test_an_answer_that_is_allowed_passes_through_the_url() -> None:
    assert MOST_BYTES < MOST_OF_THE_URL


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

    assert reply(plain, answer(plain, snapshots, NOON)).status_code == 400
    assert reply(packed, answer(packed, snapshots, NOON)).status_code == 200


def test_the_documentation_tells_both_limits() -> None:
    told = [float(number) * 1e6 for number in re.findall(r"([\d.]+) MB", DOC)]
    assert told == [MOST_TO_PACK, MOST_BYTES]
