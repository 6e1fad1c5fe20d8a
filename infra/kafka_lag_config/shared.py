# SPDX-License-Identifier: Apache-2.0
"""Settings that the clusters of a region share: storage, queries, report, recipients, views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, model_validator
from pydantic.json_schema import JsonSchemaValue

from kafka_lag import contract
from kafka_lag_config.settings import LogDays, MemoryMb
from kafka_lag_config.strict import Strict
from kafka_lag_config.types import (
    EMPTY,
    AccountRegion,
    BucketName,
    Checked,
    Distinct,
    Email,
    EventBus,
    Https,
    KeyArn,
    Listed,
    Text,
    TopicArn,
    Whole,
)

Days = Annotated[int, Field(ge=8, le=3650)]

# Requests at once, where anybody may try a token.
_OF_STRANGERS = 10

NEVER = "never"
OFF = "off"


class Slack(Strict):
    """A channel of a workspace that AWS's chat integration has been let into."""

    name: Text
    workspace_id: Text
    channel_id: Text


class Teams(Strict):
    """A channel of Microsoft Teams, by the ids that AWS's chat integration shows."""

    name: Text
    team_id: Text
    channel_id: Text
    tenant_id: Text


class OwnerReceivers(Strict):
    """Receivers of alarms on the groups of one owner."""

    email: Annotated[tuple[Email, ...], Listed, Distinct] = ()
    https: Annotated[tuple[Https, ...], Listed, Distinct] = ()

    @model_validator(mode="after")
    def _somebody(self) -> OwnerReceivers:
        if not self.email and not self.https:
            raise ValueError("names nobody: give email or https")
        return self


class Notify(Strict):
    """Receivers of alarms and reports."""

    email: Annotated[tuple[Email, ...], Listed, Distinct] = ()
    """addresses that get alarms, notices and reports, each kind by a topic of its own; each topic
    must be confirmed once"""
    https: Annotated[tuple[Https, ...], Listed, Distinct] = ()
    """URLs of pagers, which get urgent alarms only; each must be confirmed once"""
    slack: Annotated[tuple[Slack, ...], Listed] = ()
    """objects of `name`, `workspace_id` (`T...`), `channel_id` (`C...`, or `G...`)"""
    teams: Annotated[tuple[Teams, ...], Listed] = ()
    """objects of `name`, `team_id`, `channel_id` (`19%3a...%40thread.tacv2`), `tenant_id`"""
    owners: dict[Text, OwnerReceivers] = EMPTY
    """by an owner's name: an object of `email` and `https`, which are [paged for that owner's
    groups](alarms.md#owners), also for groups to come; this needs `status_messages`"""
    recovered: bool = True
    """also send when an alarm ends"""
    encrypted: bool = True
    """false: no key is made for the topics, and their messages are not encrypted at rest"""

    @property
    def has_chats(self) -> bool:
        """True if any chat channel is configured."""
        return bool(self.slack or self.teams)

    @property
    def reads(self) -> bool:
        """True if anybody is subscribed to the topic of reports."""
        return bool(self.email) or self.has_chats

    @property
    def pages(self) -> bool:
        """True if anybody gets alarms of the topic that is created."""
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
    """The same in a configuration, for all places."""

    existing_topics: dict[AccountRegion, TopicArn] = EMPTY
    """the ARN of an SNS topic of yours for alarms, by place as in `existing_buckets`; `email` and
    `https` are subscribed to it. A topic of another account must allow these subscriptions
    (unless given: a new one)"""


class Keep(Strict):
    """Days after which data is deleted; snapshots only once the history holds their rows.

    Eight at least: a collector looks for its newest snapshot up to seven days back. Reports
    22: each is compared with those of its weekday, of which three must be known, six at most.
    """

    snapshot_days: Days = 35
    """days after which the daily job deletes snapshots, once the history holds their rows; 8 at
    least"""
    history_days: Days = 400
    """days for which the compacted history is kept; at least `snapshot_days`"""
    report_days: Annotated[int, Field(ge=22, le=3650)] = 400
    """days for which daily reports and their pages are kept, at least 22: a report compares each
    hour with the same weekday of three to six earlier weeks"""

    @model_validator(mode="after")
    def _history_outlasts_snapshots(self) -> Keep:
        if self.history_days < self.snapshot_days:
            raise ValueError(
                f"history_days is {self.history_days} and below snapshot_days, "
                f"{self.snapshot_days}: snapshots are deleted only while the history has their rows"
            )
        return self


class Report(Strict):
    """The daily job."""

    enabled: bool = True
    """run the daily job; false: no snapshot is ever deleted"""
    hour: Annotated[int, Field(ge=0, le=23)] = 1
    """the hour in UTC at which the daily job starts; it reports on the day before"""
    glue_version: Literal["6.0", "5.1"] = "6.0"
    """version of Glue: 6.0 or 5.1"""
    workers: Annotated[int, Field(ge=2, le=100)] = 2
    """number of workers of the type G.1X"""
    time_limit_minutes: Annotated[int, Field(ge=5, le=600)] = 30
    """minutes after which a run is ended"""
    summary: Literal["changes", "always", "never"] = "changes"
    """when a summary of at most 22 lines is sent: `changes` (if something is new), `always` or
    `never`"""
    log_days: LogDays = 30
    """days for which the job's log is kept"""

    @model_validator(mode="after")
    def _nothing_of_what_is_off(self) -> Report:
        if not self.enabled and (others := sorted(self.model_fields_set - {"enabled"})):
            raise ValueError(f"has no effect on {', '.join(others)} with enabled false: drop them")
        return self


class Athena(Strict):
    """The most that one query may read."""

    scan_limit_gb: Whole = 10
    """the most gigabytes that one query in the workgroup may read"""


def _off(value: Any) -> Any:
    if value is None or value == OFF:
        return None
    if not isinstance(value, Mapping | BaseModel):
        raise ValueError(f'must be an object, or "{OFF}"')
    return value


def _or_off(schema: JsonSchemaValue) -> JsonSchemaValue:
    return {**schema, "anyOf": [*schema["anyOf"], {"const": OFF}]}


# What can be had or left out: `"off"` in a configuration, or null in JSON, is None here.
OrOff = Checked(_off, _or_off, before=True)
# The same for a value that is no object.
NoneIfOff = Checked(lambda value: None if value == OFF else value, _or_off, before=True)


class Views(Strict):
    """Burrow's API, Prometheus metrics and the status page, behind a function URL."""

    auth: Literal["iam", "bearer"] = "iam"
    """`iam`: answer signed requests of callers with rights on the URL; `bearer`: requests with a
    token that the stack makes"""
    memory_mb: MemoryMb = 512
    """memory of the views' Lambda"""
    concurrency: Annotated[Whole | None, NoneIfOff] = None
    """reserved concurrency, the most requests at once; it bounds what strangers who try tokens can
    cost. `"off"`, which small accounts need, reserves none (unless given: none; 10 with `bearer`)
    """
    log_days: LogDays = 14
    """days for which the log of the views' Lambda is kept"""

    @model_validator(mode="before")
    @classmethod
    def _bounded_for_strangers(cls, source: Any) -> Any:
        if isinstance(source, Mapping) and source.get("auth") == contract.AUTH_BEARER:
            return {"concurrency": _OF_STRANGERS, **source}
        return source


class StatusMessages(Strict):
    """One message a changed status.

    It may run twice at once, as what is sent is claimed by conditional writes.
    """

    topic: bool = True
    """send messages to the topic of reports: `notify.email` and chats get them"""
    event_bus: Annotated[EventBus | None, NoneIfOff] = "default"
    """the event bus, in the same account and region, that gets messages; it must exist. `"off"`:
    none"""
    reserved_concurrency: Whole | None = None
    """executions reserved for the messages' Lambda (unless given: none)"""
    memory_mb: MemoryMb = 512
    """memory of the messages' Lambda"""
    log_days: LogDays = 14
    """days for which the log of the messages' Lambda is kept"""

    @model_validator(mode="after")
    def _has_a_receiver(self) -> StatusMessages:
        if not self.topic and self.event_bus is None:
            raise ValueError(f'notifies nobody: set topic or event_bus, or say "{OFF}" instead')
        return self


class ExistingBucket(Strict):
    """A bucket of the user's; a configuration may have its name alone."""

    name: BucketName
    """the bucket's name"""
    kms_key_arn: KeyArn | None = None
    """your KMS key that encrypts the bucket: `{"name": "our-bucket", "kms_key_arn":
    "arn:aws:kms:..."}`"""


def _with_name(source: Any) -> Any:
    return {"name": source} if isinstance(source, str) else source


_NameAlone = Checked(
    _with_name, lambda schema: {"anyOf": [{"type": "string"}, schema]}, before=True
)


class KmsKeys(Strict):
    """Keys of the user's in one account and region, for what is made there."""

    bucket: KeyArn | None = None
    """the key of a bucket that is made here (unless given: S3's own)"""
    logs: KeyArn | None = None
    """the key of all log groups that are made here (unless given: CloudWatch's own)"""
    topic: KeyArn | None = None
    """the key of the topics of alarms and reports (unless given: one is made)"""
    assets: KeyArn | None = None
    """the key of CDK's own bucket, if the account was bootstrapped with one: the daily job reads
    its script from that bucket"""


class SharedSettings(Strict):
    """Settings shared in one region.

    Of `views` and `status_messages` there is nothing unless somebody asked for them. Without
    `athena` there are no catalog, workgroup and queries.
    """

    keep: Keep = Keep()
    report: Report = Report()
    athena: Annotated[Athena | None, OrOff] = Athena()
    """an object, or `"off"`: no database, tables, workgroup and saved queries, for example if [Lake
    Formation](deploy.md#accounts-with-lake-formation) governs the catalog (unless given: an object)
    """
    notify: Notify = Notify()
    views: Annotated[Views | None, OrOff] = None
    """an object (also `{}`), or `"off"`: [views](views.md) behind a URL: Burrow's API, `/metrics`,
    the status page (unless given: "off")"""
    status_messages: Annotated[StatusMessages | None, OrOff] = None
    """an object (also `{}`), or `"off"`: [messages](views.md#status-messages) about groups (unless
    given: "off")"""

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
        """True if anything is sent to the topic of reports."""
        return self.report.enabled or (
            self.status_messages is not None and self.status_messages.topic
        )


class Shared(SharedSettings):
    """The same in a configuration, for all places."""

    existing_buckets: dict[AccountRegion, Annotated[ExistingBucket, _NameAlone]] = EMPTY
    """a bucket of yours, by account and region, as in `{"111122223333/eu-west-1": "our-bucket"}`,
    or by region alone if one account has clusters there (unless given: a new one)"""
    kms_keys: dict[AccountRegion, KmsKeys] = EMPTY
    """[keys of yours](#keys-of-yours), by account and region or by region alone, as above:
    `{"eu-west-1": {"bucket": "arn:aws:kms:...", "logs": ..., "topic": ...}}` (unless given: AWS's
    own)"""
    notify: NotifyInPlaces = NotifyInPlaces()
