# SPDX-License-Identifier: Apache-2.0
"""A function without what it needs says so before it connects to anything."""

from __future__ import annotations

import pytest

from kafka_lag import contract
from kafka_lag.errors import ConfigError
from kafka_lag.notify.wiring import wired
from tests.fakes import RecordingJournal

TOPIC = "arn:aws:sns:eu-west-1:123456789012:status"
BUS = "arn:aws:events:eu-west-1:123456789012:event-bus/alerts"
GOOD = {contract.ENV_BUCKET: "kept", contract.ENV_STATUS_TOPIC: TOPIC, contract.ENV_EVENT_BUS: BUS}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {contract.ENV_EVENT_BUS: ""},
        {contract.ENV_STATUS_TOPIC: ""},
        {contract.ENV_CHAT: "true"},
        {contract.ENV_CHAT: ""},
    ],
)
def test_one_way_to_tell_is_enough(more: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")

    assert wired(GOOD | more, RecordingJournal())[0] == "kept"


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({contract.ENV_BUCKET: ""}, "KAFKA_LAG_BUCKET is not set"),
        (
            {contract.ENV_STATUS_TOPIC: "", contract.ENV_EVENT_BUS: ""},
            "neither KAFKA_LAG_STATUS_TOPIC nor KAFKA_LAG_EVENT_BUS is set",
        ),
        ({contract.ENV_STATUS_TOPIC: "status"}, "'status' is not the ARN of an SNS topic"),
        ({contract.ENV_STATUS_TOPIC: BUS}, "is not the ARN of an SNS topic"),
        ({contract.ENV_STATUS_TOPIC: f"{TOPIC}.fifo"}, "is a FIFO topic: name a standard one"),
        ({contract.ENV_EVENT_BUS: TOPIC}, "is no name or ARN of an event bus"),
        ({contract.ENV_CHAT: "yes"}, "KAFKA_LAG_CHAT must be true or false, not 'yes'"),
    ],
)
def test_what_is_wrong_is_said(more: dict[str, str], fault: str) -> None:
    with pytest.raises(ConfigError) as caught:
        wired(GOOD | more, RecordingJournal())

    assert fault in str(caught.value)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(ConfigError, match=r"KAFKA_LAG_BUCKET .*; neither .*; KAFKA_LAG_CHAT"):
        wired({contract.ENV_CHAT: "?"}, RecordingJournal())
