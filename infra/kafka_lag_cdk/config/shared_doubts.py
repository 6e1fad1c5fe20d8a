# SPDX-License-Identifier: Apache-2.0
"""Warnings about shared settings that are unlikely to be meant, in a configuration or an app.

Like `doubts`, of which it has the form: nothing is a fault, and whoever deploys is warned.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from kafka_lag.wording.formatting import format_list
from kafka_lag_cdk.config.deployment import Deployment
from kafka_lag_cdk.config.doubts import Doubt
from kafka_lag_cdk.config.shared import NEVER, Notify, SharedSettings

_MOST_NAMES = 3
_READERS = "set notify.email, slack or teams"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPlace:
    """The place of settings, in the words of their author.

    `key` is what they call the settings, `bucket` a bucket of theirs, None where one is made, and
    `own_topic` how they give a topic; with `has_topic` they did, or else alarms of `paged` go to
    one that is made.
    """

    key: str
    paged: Sequence[str]
    bucket: str | None
    own_topic: str
    has_topic: bool
    region: str | None = None


def find_shared_doubts(deployment: Deployment, account: str | None, region: str) -> Iterator[Doubt]:
    """Each of a deployment without faults, in one of its places."""
    clusters = deployment.places()[account, region]
    bucket = deployment.existing_bucket(account, region)
    place = SharedPlace(
        key="shared",
        paged=[each.name for each in clusters if each.alarms.topic is None],
        bucket=f"the bucket {bucket.name}" if bucket else None,
        own_topic="name a topic of yours in notify.existing_topics",
        has_topic=deployment.existing_topic(account, region) is not None,
        region=region,
    )
    yield from find_settings_doubts(deployment.shared, place)
    if not deployment.shared.report.enabled:
        yield from find_unlearnt([each.name for each in clusters if each.watches_unusual])
    yield from _unused_key(deployment, account, region)
    named = {owner for cluster in deployment.clusters for owner in cluster.owner.values()}
    yield from find_unknown_owners(deployment.shared.notify, named, place.key)


def find_settings_doubts(settings: SharedSettings, place: SharedPlace) -> Iterator[Doubt]:
    """Each that the settings make without any cluster."""
    yield from _no_receiver(settings, place)
    yield from _no_reader(settings, place.key)
    yield from _unused_days(settings, place)
    yield from _owners_who_get_all(settings.notify, place.key)


def find_unlearnt(watched: Sequence[str]) -> Iterator[Doubt]:
    """Warn of clusters with alarms on unusual groups, without the job that learns what is usual."""
    if watched:
        yield Doubt(
            "nothing-learnt",
            "",
            f"alarms.any_unusual of {format_list(watched, _MOST_NAMES)} never goes off, as "
            "report.enabled is false: the daily job learns what is usual. Set it, or drop "
            "alarms.any_unusual.",
        )


def find_unlisted(cluster: str) -> Iterator[Doubt]:
    """Warn of an app's cluster that its tables do not know."""
    yield Doubt(
        "unlisted",
        cluster,
        f"LagReports has no {cluster} among its clusters, so Athena finds nothing of it: add the "
        "name there.",
    )


def find_unknown_owners(notify: Notify, named: Collection[str], key: str) -> Iterator[Doubt]:
    """Warn of owners with receivers to whom no cluster gives a group."""
    for owner in notify.owners:
        if owner not in named:
            yield Doubt(
                "unknown-owner",
                owner,
                f"{key}.notify.owners names {owner}, whom no cluster's owner names: nobody of "
                "theirs is paged. Write the name as owner has it.",
            )


def _no_receiver(settings: SharedSettings, place: SharedPlace) -> Iterator[Doubt]:
    """Warn of alarms that go to a topic without subscribers."""
    if settings.notify.pages or place.has_topic:
        return
    senders = [*place.paged]
    senders += ["the daily report"] * settings.report.enabled
    senders += ["status messages"] * (settings.status_messages is not None)
    if senders:
        where = f" in {place.region}" if place.region else ""
        yield Doubt(
            "no-receiver",
            place.region or "",
            f"{place.key}.notify names nobody, so alarms of {format_list(senders, _MOST_NAMES)} "
            f"reach no one{where}: set notify.email, https, slack or teams, or {place.own_topic}.",
        )


def _no_reader(settings: SharedSettings, key: str) -> Iterator[Doubt]:
    """Warn of messages to the topic of reports if it has no subscribers; pagers have none there."""
    if settings.notify.reads:
        return
    report, messages = settings.report, settings.status_messages
    if "summary" in report.model_fields_set and report.summary != NEVER:
        yield Doubt(
            "no-reader",
            "summary",
            f"{key}.report.summary is {report.summary}, and nobody gets the topic of reports: "
            f'{_READERS}, or summary to "{NEVER}".',
        )
    if messages is not None and messages.topic and not settings.notify.owners:
        yield Doubt(
            "no-reader",
            "status_messages",
            f"{key}.status_messages go to the topic of reports, which nobody gets: "
            f"{_READERS}, or status_messages.topic to false.",
        )


def _unused_days(settings: SharedSettings, place: SharedPlace) -> Iterator[Doubt]:
    for key in sorted(settings.keep.model_fields_set):
        if not settings.report.enabled:
            why = "report.enabled is false: the daily job deletes snapshots and writes all else"
        elif place.bucket is not None and key != "snapshot_days":
            why = (
                f"{place.bucket} is yours: add a rule to its lifecycle; here it only says how far "
                "back queries look"
            )
        else:
            continue
        yield Doubt("unused-days", key, f"{place.key}.keep.{key} deletes nothing, as {why}.")


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


def _owners_who_get_all(notify: Notify, key: str) -> Iterator[Doubt]:
    """Warn of owners' addresses that get all alarms already: SNS allows one subscription each.

    They are not named: a synthesis' output is widely read.
    """
    for owner, receivers in notify.owners.items():
        if not set(receivers.email).isdisjoint(notify.email):
            yield Doubt(
                "gets-all",
                owner,
                f"{key}.notify.owners gives {owner} an address that notify.email has too: it gets "
                "all messages, not only those on their groups, as SNS takes an address once a "
                "topic. Drop one of them.",
            )
