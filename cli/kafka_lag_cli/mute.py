# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag mute`: a mute window for one group from now on, without a deploy."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from kafka_lag.contract.dimensions import dimension_value
from kafka_lag.contract.mute_windows import MuteWindow
from kafka_lag.errors import StoreError
from kafka_lag.notify.conditional_objects import ConditionalObjects, S3ConditionalObjects
from kafka_lag.notify.mutes import decode_windows, encode_windows, windows_key
from kafka_lag.snapshots.previous import LOOKBACK_MS
from kafka_lag.wording.formatting import format_minute, format_quantity
from kafka_lag_cli.account.errors import AwsError, using
from kafka_lag_cli.account.session import open_session
from kafka_lag_cli.help_sections import command
from kafka_lag_cli.state.groups_over_time import AT_ONCE
from kafka_lag_cli.state.place import SnapshotPlace, place_options
from kafka_lag_cli.state.runs import find_runs, run_of_group
from kafka_lag_cli.terminal.text import printable
from kafka_lag_config.alarm_rules import OF_GROUP, URGENT, is_muted
from kafka_lag_config.mute import MOST_ALARMS, iso_duration, parse_duration
from kafka_lag_config.physical_names import alarm_name, digest

_EXAMPLES = """\b
examples:
  kafka-lag mute billing 30m --state s3://kafka-lag-data --reason migration
"""


@dataclass(frozen=True, slots=True)
class Muted:
    """The group of a cluster that is muted, by the name of its deployment."""

    deployment: str
    cluster: str
    group: str
    duration: str
    window: MuteWindow


@command("mute", epilog=_EXAMPLES)
@click.argument("group")
@click.argument("duration")
@click.option("--cluster", metavar="NAME", help="name of the cluster, if there are several")
@click.option("--reason", metavar="TEXT", help="why, for those who look")
@click.option("--losses", is_flag=True, help="mute losses, too")
@click.option("--deployment", metavar="NAME", default="kafka-lag", help="its name (kafka-lag)")
@place_options
def mute(
    group: str,
    duration: str,
    cluster: str | None,
    reason: str | None,
    deployment: str,
    place: SnapshotPlace,
    *,
    losses: bool,
) -> None:
    """Mute the messages of GROUP for DURATION (30m, 4h, 2d), and its own alarms.

    Alarms are muted if you may: it needs cloudwatch:DescribeAlarms and PutAlarmMuteRule.
    """
    if place.bucket is None:
        raise click.UsageError("--state: name the bucket of a deployment, as in s3://BUCKET.")
    try:
        length = parse_duration(duration)
    except ValueError as error:
        raise click.UsageError(f"DURATION {error}.") from error
    now = time.time()
    runs = find_runs(place.open_store(AT_ONCE), place.describe(), cluster)
    exactly = rf"^{re.escape(group)}\Z"
    window = MuteWindow(length, None, int(now * 1000), exactly, reason, losses)
    muted = Muted(deployment, run_of_group(group, runs).cluster, group, duration, window)
    session = open_session(place.profile)
    add_window(S3ConditionalObjects(session.client("s3"), place.bucket), muted.cluster, window)
    end = format_minute(int(now * 1000) + length)
    click.echo(printable(f"Messages on {group} are muted until {end}."))
    click.echo(printable(mute_alarms(session.client("cloudwatch"), muted, now)))


def add_window(objects: ConditionalObjects, cluster: str, window: MuteWindow) -> None:
    """Adds a window to the object that the messages read, without those that are long over.

    Raises StoreError.
    """
    key, stored = windows_key(cluster), objects.read(windows_key(cluster))
    if stored is None:
        written = objects.put_if_none_match(key, encode_windows([window]))
    else:
        # Messages still ask which runs were muted, as far back as they read runs.
        oldest = (window.at_ms or 0) - LOOKBACK_MS
        there = decode_windows(stored.data)
        kept = [each for each in there if (each.at_ms or 0) + each.duration_ms > oldest]
        written = objects.put_if_match(key, encode_windows([*kept, window]), stored.etag)
    if written is None:
        raise StoreError(f"Somebody else wrote {key} meanwhile: try again.")


def mute_alarms(client: Any, muted: Muted, now: float) -> str:
    """Makes a rule for the group's own alarms, `now` in seconds; returns a sentence about it."""
    try:
        names = _list_alarms(client, muted)
        if not names:
            return "Alarms still page: none is about this group alone, and any-group is not muted."
        _put_rule(client, muted, names, now)
    except AwsError as error:
        return f"Alarms still page: {error}"
    return (
        f"{format_quantity(len(names), 'alarm')} of its own will be muted within a minute; "
        "any-group is not."
    )


def _list_alarms(client: Any, muted: Muted) -> list[str]:
    """Returns the urgent alarms on the group alone. Raises AwsError."""
    prefix = f"{muted.deployment}/{muted.cluster}/{URGENT}/"
    own = (replace(rule, severity=URGENT) for rule in OF_GROUP)
    wanted = {
        alarm_name(muted.deployment, muted.cluster, URGENT, rule.name, dimension_value(muted.group))
        for rule in own
        if is_muted(muted.window, rule, muted.group)
    }
    with using("cloudwatch:DescribeAlarms"):
        pages = client.get_paginator("describe_alarms").paginate(AlarmNamePrefix=prefix)
        found = [each["AlarmName"] for page in pages for each in page["MetricAlarms"]]
    return [name for name in found if name in wanted][:MOST_ALARMS]


def _put_rule(client: Any, muted: Muted, names: Sequence[str], now: float) -> None:
    # A minute that has begun may be over for CloudWatch.
    begin = datetime.fromtimestamp(now, UTC) + timedelta(minutes=1)
    schedule = {
        "Expression": f"at({begin:%Y-%m-%dT%H:%M})",
        "Duration": iso_duration(muted.duration),
    }
    with using("cloudwatch:PutAlarmMuteRule"):
        client.put_alarm_mute_rule(
            Name=alarm_name(muted.deployment, muted.cluster, "mute-now", digest(muted.group)),
            Rule={"Schedule": schedule},
            MuteTargets={"AlarmNames": list(names)},
        )
