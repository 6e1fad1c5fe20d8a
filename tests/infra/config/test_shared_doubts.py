# SPDX-License-Identifier: Apache-2.0
"""What clusters share and reaches nobody, or does nothing, has a sentence that says what to do."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.config.faults import ConfigurationError
from kafka_lag_cdk.config.shared_doubts import find_shared_doubts
from tests.infra.configured import KEY, cluster_json, deployment

REGION = "eu-west-1"
TOPIC = f"arn:aws:sns:{REGION}:111122223333:pages"
MAIL = {"email": ["oncall@example.com"]}
PAGER = {"https": ["https://pages.example.com/in"]}
CHAT = {"slack": [{"name": "ops", "workspace_id": "T0123ABCD", "channel_id": "C0123ABCD"}]}


def doubts(*clusters: dict[str, Any], **shared: Any) -> list[str]:
    """The sentences of the one place; somebody gets mail unless `notify` says otherwise."""
    whole = deployment(*clusters, shared={"notify": MAIL} | shared)
    (place,) = whole.places()
    return [each.sentence for each in find_shared_doubts(whole, *place)]


@pytest.mark.parametrize(
    "notify",
    [MAIL, PAGER, CHAT, {"existing_topics": {REGION: TOPIC}}],
    ids=["mail", "pager", "chat", "topic"],
)
def test_somebody_gets_alarms(notify: dict[str, Any]) -> None:
    assert doubts(notify=notify) == []


@pytest.mark.parametrize(
    ("clusters", "shared", "silent"),
    [
        pytest.param([{}], {}, "orders, the daily report", id="all"),
        pytest.param([{}], {"report": {"enabled": False}}, "orders", id="no-report"),
        pytest.param([{"alarms": {"topic": TOPIC}}], {}, "the daily report", id="own-topic"),
        pytest.param(
            [{}, {"name": "b", "alarms": {"topic": TOPIC}}, {"name": "c"}, {"name": "d"}],
            {},
            "orders, c, d and 1 more",
            id="many",
        ),
    ],
)
def test_alarms_that_nobody_gets_are_named(
    clusters: list[dict[str, Any]], shared: dict[str, Any], silent: str
) -> None:
    made = [cluster_json(**each) for each in clusters]
    assert doubts(*made, notify={}, **shared) == [
        f"shared.notify names nobody, so alarms of {silent} reach no one in eu-west-1: set "
        "notify.email, https, slack or teams, or name a topic of yours in notify.existing_topics."
    ]


def test_where_no_alarm_goes_to_the_deployments_topic_nobody_need_get_it() -> None:
    own = cluster_json(alarms={"topic": TOPIC})
    assert doubts(own, notify={}, report={"enabled": False}) == []


def test_messages_that_nobody_reads_are_named() -> None:
    """A pager is not subscribed to the topic of reports."""
    assert doubts(notify=PAGER, report={"summary": "always"}, status_messages={}) == [
        "shared.report.summary is always, and nobody gets the topic of reports: set notify.email, "
        'slack or teams, or summary to "never".',
        "shared.status_messages go to the topic of reports, which nobody gets: set notify.email, "
        "slack or teams, or status_messages.topic to false.",
    ]


@pytest.mark.parametrize(
    "shared",
    [
        {"notify": MAIL, "report": {"summary": "always"}, "status_messages": {}},
        {"notify": PAGER, "report": {"summary": "never"}, "status_messages": {"topic": False}},
    ],
    ids=["read", "not-sent"],
)
def test_messages_that_somebody_reads_or_nobody_sends_are_not(shared: dict[str, Any]) -> None:
    assert doubts(**shared) == []


KEEP = {"snapshot_days": 14, "history_days": 100, "report_days": 100}
OURS = {REGION: "our-bucket"}


def test_days_to_keep_mean_nothing_without_the_job_that_deletes() -> None:
    why = "report.enabled is false: the daily job deletes snapshots and writes all else"
    assert doubts(keep=KEEP, report={"enabled": False}) == [
        f"shared.keep.{key} deletes nothing, as {why}." for key in sorted(KEEP)
    ]


def test_days_to_keep_in_a_bucket_of_the_users_are_its_lifecycles() -> None:
    why = (
        "the bucket our-bucket is yours: add a rule to its lifecycle; here it only says how far "
        "back queries look"
    )
    assert doubts(keep=KEEP, existing_buckets=OURS) == [
        f"shared.keep.{key} deletes nothing, as {why}." for key in ("history_days", "report_days")
    ]
    assert doubts(keep=KEEP) == []
    assert doubts(existing_buckets=OURS) == []


@pytest.mark.parametrize(("learns", "count"), [(True, 0), (False, 1)])
def test_what_is_unusual_is_not_watched_without_the_job_that_learns(
    learns: bool, count: int
) -> None:
    watched = cluster_json(alarms={"any_unusual": True})
    found = doubts(watched, cluster_json(name="b"), report={"enabled": learns})
    assert found == count * [
        "alarms.any_unusual of orders never goes off, as report.enabled is false: the daily job "
        "learns what is usual. Set it, or drop alarms.any_unusual."
    ]


@pytest.mark.parametrize(
    ("reported", "theirs", "count"), [(False, True, 1), (True, True, 0), (False, False, 0)]
)
def test_a_key_for_no_topic_is_named(reported: bool, theirs: bool, count: int) -> None:
    topics = {"existing_topics": {REGION: TOPIC}} if theirs else {}
    found = doubts(
        kms_keys={REGION: {"topic": KEY}},
        notify={**MAIL, **topics},
        report={"enabled": reported},
    )
    assert len(found) == count
    assert all(each.startswith("shared.kms_keys.topic of eu-west-1") for each in found)


def test_a_deployment_of_two_places_is_seen_place_by_place() -> None:
    there = cluster_json(name="there", account="444455556666", arn=None, region="us-east-1")
    there |= {"bootstrap_servers": ["b-1:9094"], "auth": {"type": "none"}}
    topics = {"existing_topics": {REGION: TOPIC}}
    whole = deployment(cluster_json(), there, shared={"notify": topics})
    found = {place: len(list(find_shared_doubts(whole, *place))) for place in whole.places()}
    assert found == {("111122223333", REGION): 0, ("444455556666", "us-east-1"): 1}


OWNERS = {"team-money": {"email": ["money@example.com"]}}


def test_an_owner_whom_no_cluster_names_is_named() -> None:
    notify = {**MAIL, "owners": OWNERS}
    (sentence,) = doubts(notify=notify, status_messages={})
    assert sentence.startswith("shared.notify.owners names team-money, whom no cluster's owner")
    owned = cluster_json(owner={"^pay": "team-money"})
    assert doubts(owned, notify=notify, status_messages={}) == []


def test_an_owner_who_gets_all_messages_is_named_without_the_address() -> None:
    owned = cluster_json(owner={".*": "team-money"})
    owners = {"team-money": {"email": MAIL["email"]}}
    assert doubts(owned, notify={**MAIL, "owners": owners}, status_messages={}) == [
        "shared.notify.owners gives team-money an address that notify.email has too: it gets all "
        "messages, not only those on their groups, as SNS takes an address once a topic. Drop one "
        "of them."
    ]


def test_an_owners_pager_may_be_one_of_all_alarms() -> None:
    owned = cluster_json(owner={".*": "team-money"})
    notify = {**PAGER, "owners": {"team-money": PAGER}}
    assert doubts(owned, notify=notify, status_messages={}) == []


def test_owners_are_readers_of_status_messages() -> None:
    owned = cluster_json(owner={".*": "team-money"})
    assert doubts(owned, notify={**PAGER, "owners": OWNERS}, status_messages={}) == []


@pytest.mark.parametrize("messages", ["off", {"topic": False}], ids=["off", "to-no-topic"])
def test_owners_without_the_messages_that_they_get_are_refused(messages: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"notify\.owners get status messages: set"):
        doubts(notify={**MAIL, "owners": OWNERS}, status_messages=messages)


def test_an_owner_without_an_address_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="team-money: names nobody: give email or https"):
        doubts(notify={**MAIL, "owners": {"team-money": {}}}, status_messages={})
