# SPDX-License-Identifier: Apache-2.0
"""The JSON that machines read is public interface."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kafka_lag import contract
from kafka_lag.notify.messages.event import event
from tests.functions.notify.builders import a_change, a_row

DOCUMENT = Path(__file__).parents[4] / "docs" / "notifications.md"
ROW = a_row(
    "payments",
    contract.ERR,
    owner="team-payments",
    lag=12_345,
    max_lag=9_800,
    time_lag_seconds=860.0,
    time_lag_error_seconds=1.0,
    time_lag_method=contract.METHOD_RECORD_TIME,
    drain_seconds=None,
    seconds_until_loss=18_720.0,
    records_lost=0,
    members=4,
    partitions=12,
    partitions_unknown=0,
    complete=1.0,
    status_reason=None,
    worst_topic="orders",
    worst_partition=7,
    worst_leader=3,
    worst_member="consumer-1-5f2c",
)


def test_the_documented_example_is_what_is_sent() -> None:
    (example,) = re.findall(r"```json\n(\{.*?\})\n```", DOCUMENT.read_text(), re.DOTALL)
    told = json.loads(example)

    assert told["detail"] == json.loads(event(a_change(row=ROW)).detail)
    assert told["source"] == contract.EVENT_SOURCE
    assert told["detail-type"] == contract.EVENT_DETAIL_TYPE


def test_every_field_is_documented() -> None:
    text = DOCUMENT.read_text()
    detail = json.loads(event(a_change(row=ROW)).detail)

    assert [name for name in detail if f"`{name}`" not in text] == []


def test_what_is_unknown_is_null() -> None:
    detail = json.loads(event(a_change(row={})).detail)

    assert detail["lag"] is None
    assert detail["worst"] == dict.fromkeys(("topic", "partition", "leader", "member"))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_json_has_no_word_for_is_null(value: float) -> None:
    detail = json.loads(event(a_change(row={"time_lag_seconds": value})).detail)

    assert detail["time_lag_seconds"] is None


def test_the_longest_names_that_kafka_takes_fit_into_an_event() -> None:
    longest = "\0" * 32_767
    row = {**ROW, "worst_member": longest, "worst_topic": longest, "owner": longest}

    assert len(event(a_change(longest, row=row)).detail.encode()) < 256_000
