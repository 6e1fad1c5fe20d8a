# SPDX-License-Identifier: Apache-2.0
"""What the clusters of a region share: storage, queries, the report, recipients, views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, model_validator
from pydantic.json_schema import JsonSchemaValue

from kafka_lag import contract
from kafka_lag_cdk.config.strict import Strict
from kafka_lag_cdk.config.types import (
    AccountRegion,
    BucketName,
    ChatName,
    Checked,
    Distinct,
    Email,
    EventBus,
    Https,
    KeyArn,
    Listed,
    SlackChannel,
    SlackWorkspace,
    TeamsChannel,
    Text,
    TopicArn,
    Uuid,
    Whole,
)
from kafka_lag_cdk.config.watched import LogDays, MemoryMb

Days = Annotated[int, Field(ge=8, le=3650)]

# Requests at once, where anybody may try a token.
_OF_STRANGERS = 10

NEVER = "never"
OFF = "off"


class Slack(Strict):
    """A channel of a workspace that AWS's chat integration has been let into."""

    name: ChatName
    workspace_id: SlackWorkspace
    channel_id: SlackChannel


class Teams(Strict):
    """A channel of Microsoft Teams, by the ids that AWS's chat integration shows."""

    name: ChatName
    team_id: Uuid
    channel_id: TeamsChannel
    tenant_id: Uuid


class OwnerReceivers(Strict):
    """Who is paged for the groups of one owner."""

    email: Annotated[tuple[Email, ...], Listed, Distinct] = ()
    https: Annotated[tuple[Https, ...], Listed, Distinct] = ()

    @model_validator(mode="after")
    def _somebody(self) -> OwnerReceivers:
        if not self.email and not self.https:
            raise ValueError("names nobody: give email or https")
        return self


class Notify(Strict):
    """Who gets alarms and reports; with `recovered` also when an alarm is over.

    Unless `encrypted` topics have no key, and their messages are not encrypted at rest.

    `owners` get what the status messages say of their groups, by the names that `owner` gives.
    """

    email: Annotated[tuple[Email, ...], Listed, Distinct] = ()
    https: Annotated[tuple[Https, ...], Listed, Distinct] = ()
    slack: Annotated[tuple[Slack, ...], Listed] = ()
    teams: Annotated[tuple[Teams, ...], Listed] = ()
    owners: dict[Text, OwnerReceivers] = Field(default_factory=dict)
    recovered: bool = True
    encrypted: bool = True

    @property
    def has_chats(self) -> bool:
        """Whether any chat channel is configured."""
        return bool(self.slack or self.teams)

    @property
    def reads(self) -> bool:
        """Whether anybody gets what is sent to the topic of reports."""
        return bool(self.email) or self.has_chats

    @property
    def pages(self) -> bool:
        """Whether anybody gets alarms of a topic that is made."""
        return self.reads or bool(self.https)

    def pagers_of_owners(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """Owners by protocol and address; no address that `email` has, which gets all messages."""
        found: dict[tuple[str, str], tuple[str, ...]] = {}
        for owner, receivers in self.owners.items():
            of_owner = [("email", each) for each in receivers.email if each not in self.email]
            for pager in (*of_owner, *(("https", each) for each in receivers.https)):
                found[pager] = (*found.get(pager, ()), owner)
        return found

    @model_validator(mode="after")
    def _each_chat_once(self) -> Self:
        """A name, and a channel, can be configured once an account."""
        for kind in (self.slack, self.teams):
            for what in ("name", "channel_id"):
                if len({getattr(each, what) for each in kind}) < len(kind):
                    raise ValueError(f"two chat channels have one {what}, which AWS takes once")
        return self


class NotifyInPlaces(Notify):
    """The same in a document, for all places.

    `existing_topics` take the alarms instead of a new topic, by account and region as
    `existing_buckets` are.
    """

    existing_topics: dict[AccountRegion, TopicArn] = Field(default_factory=dict)


class Keep(Strict):
    """Days after which data is deleted; snapshots only once the history holds their rows.

    Eight at least: a collector looks for its newest snapshot up to seven days back. Reports
    22: each is compared with those of its weekday, of which three must be known, six at most.
    """

    snapshot_days: Days = 35
    history_days: Days = 400
    report_days: Annotated[int, Field(ge=22, le=3650)] = 400

    @model_validator(mode="after")
    def _history_outlasts_snapshots(self) -> Keep:
        if self.history_days < self.snapshot_days:
            raise ValueError(
                f"history_days is {self.history_days} and below snapshot_days, "
                f"{self.snapshot_days}: snapshots are deleted only while the history has their rows"
            )
        return self


class Report(Strict):
    """The daily job, started at `hour` UTC for the day before; unless `enabled` there is none.

    Its `summary` is sent when something changed, for each day, or never.
    """

    enabled: bool = True
    hour: Annotated[int, Field(ge=0, le=23)] = 1
    glue_version: Literal["6.0", "5.1"] = "6.0"
    workers: Annotated[int, Field(ge=2, le=100)] = 2
    time_limit_minutes: Annotated[int, Field(ge=5, le=600)] = 30
    summary: Literal["changes", "always", "never"] = "changes"
    log_days: LogDays = 30

    @model_validator(mode="after")
    def _nothing_of_what_is_off(self) -> Report:
        if not self.enabled and (others := sorted(self.model_fields_set - {"enabled"})):
            raise ValueError(f"has no effect on {', '.join(others)} with enabled false: drop them")
        return self


class Athena(Strict):
    """What one query may read at most."""

    scan_limit_gb: Whole = 10


def _off(value: Any) -> Any:
    if value is None or value == OFF:
        return None
    if not isinstance(value, Mapping | BaseModel):
        raise ValueError(f'must be an object, or "{OFF}"')
    return value


def _or_off(schema: JsonSchemaValue) -> JsonSchemaValue:
    return {**schema, "anyOf": [*schema["anyOf"], {"const": OFF}]}


# What can be had or left out: `"off"` in a document, or null in JSON, is None here.
OrOff = Checked(_off, _or_off, before=True)
# The same for a value that is no object.
NoneIfOff = Checked(lambda value: None if value == OFF else value, _or_off, before=True)


class Views(Strict):
    """Burrow's API, Prometheus metrics and the status page, behind a function URL.

    `auth` is who may ask: those with rights on the URL, or those with a token. `concurrency` bounds
    what strangers who try tokens can cost, and is 10 with them unless said otherwise; None reserves
    nothing, which small accounts need.
    """

    auth: Literal["iam", "bearer"] = "iam"
    memory_mb: MemoryMb = 512
    concurrency: Annotated[Whole | None, NoneIfOff] = None
    log_days: LogDays = 14

    @model_validator(mode="before")
    @classmethod
    def _bounded_for_strangers(cls, source: Any) -> Any:
        if isinstance(source, Mapping) and source.get("auth") == contract.AUTH_BEARER:
            return {"concurrency": _OF_STRANGERS, **source}
        return source


class StatusMessages(Strict):
    """One message a changed status: to the reports' `topic`, to an `event_bus`, or both.

    None is no bus. `alone` reserves a concurrency of one, which small accounts lack; nothing needs
    it, as what is sent is claimed by conditional writes.
    """

    topic: bool = True
    event_bus: Annotated[EventBus | None, NoneIfOff] = "default"
    alone: bool = False
    memory_mb: MemoryMb = 512
    log_days: LogDays = 14

    @model_validator(mode="after")
    def _has_a_receiver(self) -> StatusMessages:
        if not self.topic and self.event_bus is None:
            raise ValueError(f'notifies nobody: set topic or event_bus, or say "{OFF}" instead')
        return self


class ExistingBucket(Strict):
    """A bucket of the user's, with the key that encrypts it where that is a key of theirs.

    A document may have its name alone.
    """

    name: BucketName
    kms_key_arn: KeyArn | None = None


def _with_name(source: Any) -> Any:
    return {"name": source} if isinstance(source, str) else source


_NameAlone = Checked(
    _with_name, lambda schema: {"anyOf": [{"type": "string"}, schema]}, before=True
)


class KmsKeys(Strict):
    """Keys of the user's in one account and region, for what is made there.

    None: S3's own key for the `bucket`, CloudWatch's for `logs`, one that is made for the `topic`.
    `assets` is the key of CDK's own bucket, None where its bootstrap was given none.
    """

    bucket: KeyArn | None = None
    logs: KeyArn | None = None
    topic: KeyArn | None = None
    assets: KeyArn | None = None


class SharedSettings(Strict):
    """What is shared in one region.

    Of `views` and `status_messages` there is nothing unless somebody asked for them. Without
    `athena` there are no catalog, workgroup and queries.
    """

    keep: Keep = Keep()
    report: Report = Report()
    athena: Annotated[Athena | None, OrOff] = Athena()
    notify: Notify = Notify()
    views: Annotated[Views | None, OrOff] = None
    status_messages: Annotated[StatusMessages | None, OrOff] = None

    @model_validator(mode="after")
    def _owners_are_sent_something(self) -> Self:
        messages = self.status_messages
        if self.notify.owners and (messages is None or not messages.topic):
            raise ValueError(
                "notify.owners get status messages: set status_messages, with its topic, or drop "
                "notify.owners"
            )
        return self

    @property
    def reported(self) -> bool:
        """Whether anything is sent to the topic of reports."""
        return self.report.enabled or (
            self.status_messages is not None and self.status_messages.topic
        )


class Shared(SharedSettings):
    """The same in a document, for all places; `existing_buckets` are taken instead of a new one.

    They and `kms_keys` are by account and region, as in `111122223333/eu-west-1`, or by a region of
    one account.
    """

    existing_buckets: dict[AccountRegion, Annotated[ExistingBucket, _NameAlone]] = Field(
        default_factory=dict
    )
    kms_keys: dict[AccountRegion, KmsKeys] = Field(default_factory=dict)
    notify: NotifyInPlaces = NotifyInPlaces()
