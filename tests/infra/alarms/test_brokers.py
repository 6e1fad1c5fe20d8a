# SPDX-License-Identifier: Apache-2.0
"""Alarms on brokers: where MSK publishes metrics of them, and on disks where there are any."""

from __future__ import annotations

from typing import Any

import pytest

from tests.infra.alarms.conftest import alarms_of, watched

BOTH = {"broker-disk", "broker-cpu"}
SERVERLESS = "arn:aws:kafka:eu-west-1:111122223333:cluster/orders/0a1b2c3d-1111-2222-3333-s2"
OTHER = {"arn": None, "bootstrap_servers": ["b:9096"], "region": "eu-west-1"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, BOTH),
        ({"broker_type": "express"}, {"broker-cpu"}),
        ({"alarms": {"brokers": False}}, set()),
        ({"paused": True}, set()),
        ({"arn": SERVERLESS, "auth": {"type": "iam"}}, set()),
        (OTHER, set()),
    ],
)
def test_brokers_are_watched_where_there_are_metrics_of_them(
    changes: dict[str, Any], expected: set[str]
) -> None:
    assert BOTH & set(alarms_of(watched(**changes))) == expected
