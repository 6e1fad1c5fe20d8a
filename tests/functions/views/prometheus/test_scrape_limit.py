# SPDX-License-Identifier: Apache-2.0
"""What /metrics says is too large is what a function URL would not pass on, and no less."""

from __future__ import annotations

import numpy as np
from aws_lambda_powertools.utilities.typing import LambdaContext

from kafka_lag.contract import exposition
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.views.app import answer
from kafka_lag.views.function_url import MAX_BYTES, MAX_METRICS_BYTES, resolver
from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots
from tests.builders import NOON, a_snapshot
from tests.functions.views.prometheus.scrapes import stored, with_groups
from tests.functions.views.test_app import an_event


def test_an_answer_that_is_allowed_passes_through_the_url() -> None:
    assert MAX_METRICS_BYTES < MAX_BYTES


def test_many_groups_pass_to_whoever_takes_them_packed_or_asks_no_function() -> None:
    one = a_snapshot({"billing": {"orders": [5]}}, {"orders": [(0, 10)]})
    names = Strings.of([f"group-{number:05}" for number in range(5_000)])
    columns = (column for column, _ in exposition.GROUP_GAUGES.values())
    known = {column: Column.of(np.ones(len(names))) for column in columns}
    rows = one.groups.take(np.zeros(len(names), np.int64))
    groups = rows.with_columns(consumer_group=names, **known)
    snapshots = Snapshots(stored(with_groups(one, groups)), lambda: NOON / 1000)

    views = resolver(snapshots, lambda _: True, lambda: NOON)
    packed = an_event("/metrics")
    plain = {**packed, "headers": {}}
    context = LambdaContext()
    assert [views.resolve(each, context)["statusCode"] for each in (plain, packed)] == [400, 200]
    by_server = answer(Request.of("GET", "/metrics", "", {}), snapshots, NOON)
    assert by_server.status == 200
    assert len(by_server.body) > MAX_METRICS_BYTES
