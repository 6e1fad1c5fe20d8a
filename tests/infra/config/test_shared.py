# SPDX-License-Identifier: Apache-2.0
"""Ids of chats are what AWS takes, and data is kept for as long as something reads it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.infra.config.refused import refused
from tests.infra.configured import cluster_json, deployment
from tests.infra.notify.notified import NOTIFY

SLACK: dict[str, Any] = NOTIFY.slack[0].model_dump()
TEAMS: dict[str, Any] = NOTIFY.teams[0].model_dump()
UUID = "must be a UUID, such as 0a1b2c3d-aaaa-bbbb-cccc-444455556666"
CHAT_NAME = "must be letters, digits, '_' or '-', 128 at most"


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("workspace_id", "kafka-team", "must be a workspace's id, such as T0123ABCD"),
        ("workspace_id", "C0123ABCD", "must be a workspace's id, such as T0123ABCD"),
        ("channel_id", "#ops", "must be a channel's id, such as C0123ABCD"),
        ("channel_id", "T0123ABCD", "must be a channel's id, such as C0123ABCD"),
        ("name", "kafka.lag", CHAT_NAME),
    ],
)
def test_a_slack_channel_is_told_by_its_ids(key: str, value: str, expected: str) -> None:
    notify = {"slack": [SLACK | {key: value}]}
    found = refused(cluster_json(), shared={"notify": notify})
    assert found == (f"shared.notify.slack[0].{key}: {expected}",)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("team_id", "ops", UUID),
        ("tenant_id", "example.com", UUID),
        ("channel_id", "19:abc@thread.tacv2", "must be a channel's id as its link holds it, "
            "such as 19%3a...%40thread.tacv2"),
        ("name", "kafka.lag", CHAT_NAME),
    ],
)  # fmt: skip
def test_a_teams_channel_is_told_by_its_ids(key: str, value: str, expected: str) -> None:
    notify = {"teams": [TEAMS | {key: value}]}
    found = refused(cluster_json(), shared={"notify": notify})
    assert found == (f"shared.notify.teams[0].{key}: {expected}",)


def test_a_private_slack_channel_is_taken() -> None:
    notify = {"slack": [SLACK | {"channel_id": "G0123ABCD"}]}
    found = deployment(shared={"notify": notify})
    assert found.shared.notify.slack[0].channel_id == "G0123ABCD"


@pytest.mark.parametrize(("key", "least"), [("snapshot_days", 8), ("report_days", 22)])
def test_nothing_expires_before_it_was_read_for_the_last_time(key: str, least: int) -> None:
    assert deployment(shared={"keep": {key: least}}).shared.keep.model_dump()[key] == least
    (message,) = refused(cluster_json(), shared={"keep": {key: least - 1}})
    assert message.startswith(f"shared.keep.{key}: ")
    assert str(least) in message


def test_the_history_lasts_as_long_as_the_snapshots_that_it_replaces() -> None:
    assert refused(cluster_json(), shared={"keep": {"snapshot_days": 31, "history_days": 30}}) == (
        "shared.keep: history_days is 30 and below snapshot_days, 31: snapshots are deleted only "
        "while the history has their rows",
    )
    same = deployment(shared={"keep": {"snapshot_days": 30, "history_days": 30}})
    assert same.shared.keep.history_days == 30


@pytest.mark.parametrize(
    ("views", "most"),
    [
        ({"auth": "bearer"}, 10),
        ({"auth": "bearer", "concurrency": 3}, 3),
        ({"auth": "bearer", "concurrency": None}, None),
        ({"auth": "bearer", "concurrency": "off"}, None),
        ({"auth": "iam"}, None),
    ],
)
def test_views_that_anybody_may_try_are_bounded(views: dict[str, Any], most: int | None) -> None:
    found = deployment(shared={"views": views}).shared.views
    assert found
    assert found.concurrency == most


@pytest.mark.parametrize("summary", ["changes", "always", "never"])
def test_a_summary_comes_when_something_changed_always_or_never(summary: str) -> None:
    assert deployment(shared={"report": {"summary": summary}}).shared.report.summary == summary


def test_a_summary_that_comes_otherwise_is_refused_with_the_choices() -> None:
    (message,) = refused(cluster_json(), shared={"report": {"summary": "weekly"}})
    assert message.startswith("shared.report.summary: ")
    assert all(word in message for word in ("changes", "always", "never"))


@pytest.mark.parametrize(
    ("messages", "bus"),
    [
        ({}, "default"),
        ({"event_bus": "lag"}, "lag"),
        ({"event_bus": None}, None),
        ({"event_bus": "off"}, None),
    ],
)
def test_messages_go_to_a_bus_unless_it_is_off(messages: dict[str, Any], bus: str | None) -> None:
    found = deployment(shared={"status_messages": messages}).shared.status_messages
    assert found
    assert found.event_bus == bus
