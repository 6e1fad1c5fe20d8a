# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag mute`: the window for messages, and the rule for the group's own alarms."""

from __future__ import annotations

import boto3
import pytest
from botocore.stub import Stubber

from kafka_lag.contract.mute_windows import MuteWindow
from kafka_lag.errors import StoreError
from kafka_lag.notify.mutes import decode_windows, windows_key
from kafka_lag_cli.command import main
from kafka_lag_cli.mute import Muted, add_window, mute_alarms
from tests.builders import HOUR, NOON
from tests.functions.notify.fakes import MemoryObjects

PREFIX = "kafka-lag/shop/urgent"
OWN = f"{PREFIX}/status/billing"
THERE = [
    *(OWN, f"{PREFIX}/data-loss/billing", f"{PREFIX}/status/billing-2", f"{PREFIX}/any-group"),
    f"{PREFIX}/heartbeat",
]


@pytest.mark.parametrize(
    ("there", "losses", "names", "denied"),
    [
        (THERE, False, [OWN], False),
        (THERE, True, THERE[:2], False),
        (THERE, False, [OWN], True),
        (THERE[2:], False, [], False),
    ],
)
def test_the_groups_own_alarms_are_muted_from_the_next_minute_on(
    there: list[str],
    losses: bool,
    names: list[str],
    denied: bool,
) -> None:
    client = boto3.client("cloudwatch", region_name="eu-west-1")
    with Stubber(client) as stub:
        found = {"MetricAlarms": [{"AlarmName": name} for name in there]}
        stub.add_response("describe_alarms", found, {"AlarmNamePrefix": f"{PREFIX}/"})
        if denied:
            stub.add_client_error("put_alarm_mute_rule", "AccessDenied")
        elif names:
            schedule = {"Expression": "at(2026-01-31T12:01)", "Duration": "PT30M"}
            rule = {"Rule": {"Schedule": schedule}, "MuteTargets": {"AlarmNames": names}}
            name = "kafka-lag/shop/mute-now/0c95c7ece1ce"
            stub.add_response("put_alarm_mute_rule", {}, {"Name": name, **rule})
        window = MuteWindow(HOUR, at_ms=NOON, groups=r"^billing\Z", losses=losses)
        muted = Muted("kafka-lag", "shop", "billing", "30m", window)
        said = mute_alarms(client, muted, NOON / 1000)
        stub.assert_no_pending_responses()

    assert said.startswith("Alarms still page") == (denied or not names)


def test_windows_that_are_long_over_go_and_a_writer_who_was_late_is_told() -> None:
    objects, at = MemoryObjects(), {"over": NOON - 170 * HOUR, "ended": NOON - HOUR, "new": NOON}
    for name, begin in at.items():
        add_window(objects, "shop", MuteWindow(HOUR, at_ms=begin, reason=name))

    stored = objects.objects[windows_key("shop")]
    assert [each.reason for each in decode_windows(stored.data)] == ["ended", "new"]
    objects.put_if_match = lambda *_: None  # type: ignore[method-assign]
    with pytest.raises(StoreError):
        add_window(objects, "shop", MuteWindow(HOUR, at_ms=NOON))


@pytest.mark.parametrize(
    "arguments", [["30m"], ["30", "--state", "s3://b"], ["16d", "--state", "s3://b"]]
)
def test_wrong_usage_is_a_sentence(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mute", "billing", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
