# SPDX-License-Identifier: Apache-2.0
"""What `shared` says of one account and region and is unlikely to be meant.

Like `doubts`, of which it has the form: nothing is a fault, and whoever deploys is warned.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lag.formatting import format_list
from kafka_lag_cdk.config.deployment import Deployment
from kafka_lag_cdk.config.doubts import Doubt
from kafka_lag_cdk.config.shared import NEVER, Shared

_MOST_NAMES = 3
_READERS = "set notify.email, slack or teams"


def find_shared_doubts(deployment: Deployment, account: str | None, region: str) -> Iterator[Doubt]:
    """Each of a deployment without faults, in one of its places."""
    yield from _no_receiver(deployment, account, region)
    yield from _no_reader(deployment.shared)
    yield from _unused_days(deployment, account, region)
    yield from _nothing_learnt(deployment, account, region)
    yield from _unused_key(deployment, account, region)
    yield from _unknown_owners(deployment)
    yield from _owners_who_get_all(deployment.shared)


def _no_receiver(deployment: Deployment, account: str | None, region: str) -> Iterator[Doubt]:
    """Of alarms that go to a topic to which nobody is subscribed."""
    shared = deployment.shared
    notify = shared.notify
    if notify.pages or deployment.existing_topic(account, region):
        return
    clusters = deployment.places()[account, region]
    silent = [each.name for each in clusters if each.alarms.topic is None]
    silent += ["the daily report"] * shared.report.enabled
    silent += ["status messages"] * (shared.status_messages is not None)
    if silent:
        yield Doubt(
            "no-receiver",
            region,
            f"shared.notify names nobody, so alarms of {format_list(silent, _MOST_NAMES)} reach no "
            f"one in {region}: set notify.email, https, slack or teams, or name a topic of yours "
            "in notify.existing_topics.",
        )


def _no_reader(shared: Shared) -> Iterator[Doubt]:
    """Of what is sent to the topic of reports, to which pagers are not subscribed."""
    if shared.notify.reads:
        return
    report, messages = shared.report, shared.status_messages
    if "summary" in report.model_fields_set and report.summary != NEVER:
        yield Doubt(
            "no-reader",
            "summary",
            f"shared.report.summary is {report.summary}, and nobody gets the topic of reports: "
            f'{_READERS}, or summary to "{NEVER}".',
        )
    if messages is not None and messages.topic and not shared.notify.owners:
        yield Doubt(
            "no-reader",
            "status_messages",
            "shared.status_messages go to the topic of reports, which nobody gets: "
            f"{_READERS}, or status_messages.topic to false.",
        )


def _unused_days(deployment: Deployment, account: str | None, region: str) -> Iterator[Doubt]:
    shared = deployment.shared
    bucket = deployment.existing_bucket(account, region)
    for key in sorted(shared.keep.model_fields_set):
        if not shared.report.enabled:
            why = "report.enabled is false: the daily job deletes snapshots and writes all else"
        elif bucket is not None and key != "snapshot_days":
            why = (
                f"the bucket {bucket.name} is yours: add a rule to its lifecycle; here it only "
                "says how far back queries look"
            )
        else:
            continue
        yield Doubt("unused-days", key, f"shared.keep.{key} deletes nothing, as {why}.")


def _nothing_learnt(deployment: Deployment, account: str | None, region: str) -> Iterator[Doubt]:
    """Of alarms on what is unusual, without the job that learns what is usual."""
    if deployment.shared.report.enabled:
        return
    clusters = deployment.places()[account, region]
    if watched := [each.name for each in clusters if each.watches_unusual]:
        yield Doubt(
            "nothing-learnt",
            region,
            f"alarms.any_unusual of {format_list(watched, _MOST_NAMES)} never goes off, as "
            "report.enabled is false: the daily job learns what is usual. Set it, or drop "
            "alarms.any_unusual.",
        )


def _unused_key(deployment: Deployment, account: str | None, region: str) -> Iterator[Doubt]:
    ours = deployment.kms_keys(account, region)
    theirs = deployment.existing_topic(account, region)
    if ours.topic and theirs and not deployment.shared.reported:
        yield Doubt(
            "unused-key",
            "topic",
            f"shared.kms_keys.topic of {region} encrypts nothing, as no topic is made there: "
            "alarms go to one of yours and nothing is reported. Drop it.",
        )


def _unknown_owners(deployment: Deployment) -> Iterator[Doubt]:
    """Of owners whom no cluster gives a group."""
    known = {owner for cluster in deployment.clusters for owner in cluster.owner.values()}
    for owner in deployment.shared.notify.owners:
        if owner not in known:
            yield Doubt(
                "unknown-owner",
                owner,
                f"shared.notify.owners names {owner}, whom no cluster's owner names: nobody of "
                "theirs is paged. Write the name as owner has it.",
            )


def _owners_who_get_all(shared: Shared) -> Iterator[Doubt]:
    """Of owners' addresses that have a subscription without a filter, beside which there is none.

    They are not named: a synthesis' output is widely read.
    """
    for owner, receivers in shared.notify.owners.items():
        if not set(receivers.email).isdisjoint(shared.notify.email):
            yield Doubt(
                "gets-all",
                owner,
                f"shared.notify.owners gives {owner} an address that notify.email has too: it gets "
                "all messages, not only those on their groups, as SNS takes an address once a "
                "topic. Drop one of them.",
            )
