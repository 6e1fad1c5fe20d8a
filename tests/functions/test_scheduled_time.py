# SPDX-License-Identifier: Apache-2.0
"""The event of a schedule: which minute, and whether it is meant for this function."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_lag.collect_lag import scheduled_time
from kafka_lag.errors import ConfigError
from tests.builders import NOON


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("2026-01-31T12:00:00Z", NOON, id="as-the-scheduler-sends-it"),
        pytest.param("2026-01-31T12:00:00+00:00", NOON, id="offset"),
        pytest.param("2026-01-31T14:00:00+02:00", NOON, id="another-zone"),
        pytest.param("2026-01-31T12:00:00.999Z", NOON, id="whole-seconds"),
        pytest.param("2026-01-31T12:00:07Z", NOON + 7_000, id="seconds-stay"),
    ],
)
def test_the_scheduled_time_is_ms_since_1970(text: str, expected: int) -> None:
    assert scheduled_time({"cluster": "shop", "scheduled_time": text}, "shop") == expected


@pytest.fixture(name="in_tokyo")
def _in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("in_tokyo")
def test_a_time_without_a_zone_is_utc_wherever_the_function_runs() -> None:
    event = {"cluster": "shop", "scheduled_time": "2026-01-31T12:00:00"}
    assert scheduled_time(event, "shop") == NOON


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        pytest.param([], "must be a JSON object", id="list"),
        pytest.param({"cluster": "shop"}, "needs two strings", id="no-time"),
        pytest.param({"cluster": 5, "scheduled_time": "x"}, "needs two strings", id="bad-cluster"),
        pytest.param(
            {"cluster": "shop", "scheduled_time": "<aws.scheduler.scheduled-time>"},
            "'<aws.scheduler.scheduled-time>' is no ISO 8601 time",
            id="placeholder-not-filled-in",
        ),
        pytest.param(
            {"cluster": "other", "scheduled_time": "2026-01-31T12:00:00Z"},
            "names the cluster 'other', but this function is configured for 'shop'",
            id="another-cluster",
        ),
    ],
)
def test_an_event_of_another_form_is_rejected_with_what_it_should_be(
    event: Any, expected: str
) -> None:
    with pytest.raises(ConfigError, match=expected):
        scheduled_time(event, "shop")
