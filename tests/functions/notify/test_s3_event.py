# SPDX-License-Identifier: Apache-2.0
"""The run that an event is about, in both forms in which S3 sends it."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.errors import ConfigError
from kafka_lag.notify.s3_event import parse_completed_runs
from kafka_lag.snapshots.keys import object_key
from tests.builders import MINUTE, NOON

KEY = object_key(contract.GROUPS, "shop", NOON)


def by_rule(key: str, kind: str = "Object Created", bucket: str = "kept") -> dict[str, Any]:
    """As EventBridge hands it on."""
    detail = {"bucket": {"name": bucket}, "object": {"key": key, "size": 9}, "reason": "PutObject"}
    return {"source": "aws.s3", "detail-type": kind, "detail": detail}


def by_notification(*keys: str, kind: str = "ObjectCreated:Put") -> dict[str, Any]:
    """As S3 itself sends it, with escaped keys."""
    return {
        "Records": [
            {
                "eventName": kind,
                "s3": {
                    "bucket": {"name": "kept"},
                    "object": {"key": key.replace("=", "%3D")},
                },
            }
            for key in keys
        ]
    }


@pytest.mark.parametrize("event", [by_rule(KEY), by_notification(KEY)], ids=["rule", "s3"])
def test_an_event_names_the_run_that_is_complete(event: Any) -> None:
    assert parse_completed_runs(event, "kept") == {"shop": NOON}


def test_of_several_runs_of_a_cluster_the_newest_counts() -> None:
    keys = [object_key(contract.GROUPS, "shop", NOON + late) for late in (0, 2 * MINUTE, MINUTE)]
    other = object_key(contract.GROUPS, "bank", NOON)

    assert parse_completed_runs(by_notification(*keys, other), "kept") == {
        "shop": NOON + 2 * MINUTE,
        "bank": NOON,
    }


@pytest.mark.parametrize(
    "event",
    [
        by_rule(object_key(contract.TOPIC_PARTITIONS, "shop", NOON)),
        by_rule("notified/shop"),
        by_rule(KEY.replace("cluster=shop", "cluster=..")),
        by_rule(KEY.replace("hour=12", "hour=11")),
        by_rule(f"history/{KEY}"),
        by_rule(KEY, kind="Object Tags Added"),
        by_notification(KEY, kind="ObjectRemoved:Delete"),
        by_notification(),
        {"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": "kept"},
    ],
)
def test_other_objects_and_other_events_are_no_runs(event: Any) -> None:
    assert parse_completed_runs(event, "kept") == {}


@pytest.mark.parametrize(
    "event",
    [
        None,
        [],
        {},
        {"Records": [{}]},
        {"Records": 7},
        {"detail-type": "Object Created", "detail": {"bucket": "kept", "object": KEY}},
        by_rule(KEY) | {"detail": {"bucket": {"name": "kept"}, "object": {"key": 7}}},
    ],
)
def test_an_event_of_another_form_is_one_clear_error(event: Any) -> None:
    with pytest.raises(ConfigError, match=r"^The event is not from S3: .* Check what calls"):
        parse_completed_runs(event, "kept")


def test_an_event_of_another_bucket_is_one_clear_error() -> None:
    with pytest.raises(ConfigError, match=r"the bucket 'other', but this function reads 'kept'"):
        parse_completed_runs(by_rule(KEY, bucket="other"), "kept")
