# SPDX-License-Identifier: Apache-2.0
"""Checks of `doctor --deployed`: the running deployment beside what was expected.

These are the checks of a first account that only AWS can answer. Nothing is changed, and one URL
is called without rights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from kafka_lag import contract
from kafka_lag.snapshots.keys import hour_prefix, taken_at_of
from kafka_lag.wording.formatting import format_list, format_minute
from kafka_lag_cli.account.errors import AwsError, using
from kafka_lag_cli.account.msk_cluster import KmsKey, describe_key
from kafka_lag_cli.doctor.findings import Finding
from kafka_lag_cli.doctor.place import Place
from kafka_lag_config.alarm_rules import HEARTBEAT, configured, full_name
from kafka_lag_config.deployment import stack_names_for

Clock: TypeAlias = Callable[[], float]
# The status of an answer to a request without rights. Raises OSError where there is none.
Fetch: TypeAlias = Callable[[str], int]

_COMPLETE = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE")
_TOPIC = "topic of alarms"
_ALARM_SERVICE = "cloudwatch.amazonaws.com"
_NO_TOPIC = ("NotFound", "NotFoundException")
_MINUTE_MS = 60_000
_RUNS = 3
_NAMED = 5
_TIMEOUT = 20
# What a request without rights gets: with IAM from Lambda, else from the views themselves.
_REFUSED = {"iam": 403, "bearer": 401}


def fetch_status(url: str) -> int:
    """Return the URL's HTTP status for a request without a signature or a token."""
    try:
        with urlopen(url, timeout=_TIMEOUT) as answer:  # noqa: S310 - a function URL is https
            return int(answer.status)
    except HTTPError as error:
        return error.code


def check_deployed(
    place: Place, clock: Clock, fetch: Fetch = fetch_status
) -> Iterator[tuple[str, Iterable[Finding]]]:
    """Each check with its findings, which raise AwsError where AWS does not answer."""
    seen = _Deployed(place, clock, fetch)
    cluster, shared = place.cluster, place.deployment.shared
    yield "stacks", seen.stacks()
    if not cluster.paused:
        yield "runs", seen.runs()
    if cluster.sink_names and not cluster.paused:
        yield "heartbeat", seen.heartbeat()
    yield _TOPIC, seen.topic()
    yield "subscriptions", seen.subscriptions()
    if shared.views is not None:
        yield "views", seen.views()


@dataclass(frozen=True)
class _Deployed:
    place: Place
    clock: Clock
    fetch: Fetch

    def _outputs_of(self, name: str) -> dict[str, str]:
        outputs = (self.place.describe_stack(name) or {}).get("Outputs", [])
        return {each["OutputKey"]: each["OutputValue"] for each in outputs}

    @cached_property
    def _shared(self) -> dict[str, str]:
        return self._outputs_of(self.place.deployment.shared_stack_name)

    @cached_property
    def _own(self) -> dict[str, str]:
        return self._outputs_of(self.place.stack)

    @cached_property
    def _heartbeat(self) -> str:
        rule = configured(self.place.cluster.facts, HEARTBEAT)
        return full_name(self.place.deployment.name, self.place.cluster.name, rule)

    def stacks(self) -> Iterator[Finding]:
        """Checks that the stacks in the cluster's account exist and are complete."""
        every = stack_names_for(self.place.deployment, self.place.cluster)
        stacks = [each for each in every if each.account == self.place.account]
        names = [each.name for each in stacks]
        states = {
            each.name: (self.place.describe_stack(each.name, each.region) or {}).get(
                "StackStatus", "absent"
            )
            for each in stacks
        }
        bad = [f"{name} is {state}" for name, state in states.items() if state not in _COMPLETE]
        yield _finding(
            "stacks",
            ok=not bad,
            found=format_list(bad, _NAMED) if bad else f"{len(names)} are complete",
            expected=f"{format_list(names, _NAMED)}, each complete",
            to_do="Deploy, or read why the last deploy failed in the stack's events.",
        )

    def runs(self) -> Iterator[Finding]:
        """Check that one of the last runs stored a snapshot: brokers, login and S3 are reached."""
        bucket = self._shared.get("Bucket")
        minutes = _RUNS * self.place.cluster.interval_minutes
        expected = f"a snapshot of the last {minutes} minutes"
        newest = self._newest_run(bucket) if bucket else None
        age = None if newest is None else self.clock() * 1000 - newest
        group = self._own.get("LogGroup")
        yield _finding(
            "runs",
            ok=age is not None and age <= minutes * _MINUTE_MS,
            found=(
                "no snapshot of this hour or the last"
                if newest is None
                else f"the newest snapshot is of {format_minute(newest)}"
            ),
            expected=expected,
            to_do="Read the function's log: its last line says what a run waits for.",
            repair=self.place.aws(f"logs tail {group}", since="15m") if group else None,
        )

    def _newest_run(self, bucket: str) -> int | None:
        client, now = self.place.client("s3"), int(self.clock() * 1000)
        with using("s3:ListBucket"):
            keys = [
                each["Key"]
                for at in (now - 60 * _MINUTE_MS, now)
                for page in client.get_paginator("list_objects_v2").paginate(
                    Bucket=bucket,
                    Prefix=hour_prefix(contract.GROUPS, self.place.cluster.name, at),
                )
                for each in page.get("Contents", [])
            ]
        times = [at for at in map(taken_at_of, keys) if at is not None]
        return max(times, default=None)

    def heartbeat(self) -> Iterator[Finding]:
        """Checks the alarm that goes off if no run succeeds, or none of their metrics arrive."""
        name = self._heartbeat
        with using("cloudwatch:DescribeAlarms"):
            alarms = self.place.client("cloudwatch").describe_alarms(AlarmNames=[name])
        states = [each["StateValue"] for each in alarms["MetricAlarms"]]
        yield _finding(
            "heartbeat",
            ok=states == ["OK"],
            found=states[0] if states else "absent",
            expected="OK",
            to_do="In ALARM: no run succeeds. INSUFFICIENT_DATA ends after some runs.",
        )

    def topic(self) -> Iterator[Finding]:
        """Checks that the topic is there, and that its key does not keep CloudWatch out.

        Policies are not evaluated: a test alarm shows whether a message arrives.
        """
        arn = self.place.cluster.alarms.topic or self._shared.get("AlarmTopic")
        attributes = self._topic(arn) if arn else None
        if attributes is None:
            yield Finding(
                _TOPIC,
                "fault",
                f"there is no topic {arn}" if arn else "the shared stack names no topic",
                "Every alarm is lost without a word: deploy again, or name a topic that is there.",
            )
            return
        if name := attributes.get("KmsMasterKeyId"):
            key = describe_key(self.place.client("kms"), name)
            if fault := self._find_fault_of_key(name, key):
                yield fault
                return
        yield Finding(
            _TOPIC,
            "ok",
            "nothing is seen that keeps CloudWatch out",
            "Policies are not evaluated here: put an alarm into ALARM once, and see whether the "
            "message arrives.",
            self.place.aws(
                "cloudwatch set-alarm-state",
                alarm_name=self._heartbeat,
                state_value="ALARM",
                state_reason="test",
            ),
        )

    def _find_fault_of_key(self, name: str, key: KmsKey) -> Finding | None:
        """Returns why CloudWatch cannot encrypt with the topic's key; null if nothing is seen."""
        if key.state != "Enabled":
            return Finding(
                _TOPIC,
                "fault",
                f"the state of its key {name} is {key.state}",
                "Every alarm is lost without a word until the key is enabled; where it is to be "
                "deleted, cancel that first.",
                self.place.aws("kms enable-key", key_id=key.id),
            )
        if not key.is_customers:
            return Finding(
                _TOPIC,
                "fault",
                f"its key is {name}, which AWS manages: CloudWatch cannot use it, and nobody can "
                "change its policy",
                "Every alarm is lost without a word: encrypt the topic with a key of yours, or "
                "with none.",
            )
        with using("kms:GetKeyPolicy"):
            # It takes no alias.
            policy = self.place.client("kms").get_key_policy(KeyId=key.id, PolicyName="default")
        if _ALARM_SERVICE in policy["Policy"]:
            return None
        return Finding(
            _TOPIC,
            "fault",
            f"the policy of its key {name} does not name {_ALARM_SERVICE}",
            "Every alarm is lost without a word until it does: docs/configuration.md has what a "
            "topic of yours needs.",
        )

    def _topic(self, arn: str) -> dict[str, str] | None:
        try:
            with using("sns:GetTopicAttributes"):
                found = self.place.client("sns").get_topic_attributes(TopicArn=arn)["Attributes"]
        except AwsError as error:
            if error.code in _NO_TOPIC:
                return None
            raise
        return dict(found)

    def subscriptions(self) -> Iterator[Finding]:
        """Check that each receiver has confirmed its subscription; others are not checked."""
        notify = self.place.deployment.shared.notify
        mail = [("email", each) for each in notify.email]
        of_alarms = [*mail, *(("https", each) for each in notify.https)]
        of_reports = [*mail, *notify.pagers_of_owners()]
        lacks, confirmed = [], 0
        for name, wanted in (("AlarmTopic", of_alarms), ("ReportTopic", of_reports)):
            arn = self._shared.get(name)
            if arn is None and name == "ReportTopic":
                continue
            there = self._confirmed(arn) if arn else set()
            confirmed += len(there)
            lacks += [
                f"{_address(*each)} of {name}"
                for each in dict.fromkeys(wanted)
                if (each[0], _endpoint(each[1])) not in there
            ]
        yield _finding(
            "subscriptions",
            ok=not lacks and bool(confirmed or notify.has_chats),
            found=(
                f"not confirmed, or gone: {format_list(lacks, _NAMED)}"
                if lacks
                else f"{confirmed} confirmed{', and chats' * notify.has_chats}"
            ),
            expected="each address of `notify` confirmed, once a topic",
            to_do="AWS sends a message that each address must confirm once, within three days. "
            "What was not confirmed then is gone: subscribe it again.",
        )

    def _confirmed(self, topic: str) -> set[tuple[str, str]]:
        """Protocol and address of each subscription that is."""
        client = self.place.client("sns")
        with using("sns:ListSubscriptionsByTopic"):
            pages = client.get_paginator("list_subscriptions_by_topic").paginate(TopicArn=topic)
            return {
                (each["Protocol"], _endpoint(each["Endpoint"]))
                for page in pages
                for each in page["Subscriptions"]
                if each["SubscriptionArn"].startswith("arn:")
            }

    def views(self) -> Iterator[Finding]:
        """Check that the views exist, and refuse a request without rights."""
        settings = self.place.deployment.shared.views
        wanted = _REFUSED[settings.auth] if settings else None
        url = self._outputs_of(self.place.deployment.views_stack_name).get("ViewsUrl")
        found, ok = "there is no URL", False
        if url:
            try:
                status = self.fetch(url)
            except (OSError, URLError) as error:
                found = f"no answer ({type(error).__name__})"
            else:
                found, ok = f"{status} to a request without rights", status == wanted
        yield _finding(
            "views",
            ok=ok,
            found=found,
            expected=str(wanted),
            to_do="200: whoever knows the URL reads it, so destroy the stack of views and report "
            "it. 5xx: read the log of ViewsFunction. "
            "401 and 403 the other way round: `auth` was changed, and not deployed.",
        )


def _finding(
    check: str,
    *,
    ok: bool,
    found: str,
    expected: str,
    to_do: str,
    repair: str | None = None,
) -> Finding:
    """Return a finding that compares found and expected, and says what to do if they differ."""
    said = f"{found} (expected: {expected})"
    return Finding(check, "ok", said) if ok else Finding(check, "fault", said, to_do, repair)


def _endpoint(address: str) -> str:
    """Return an address for comparison: SNS hides the password that an https address may have."""
    scheme, found, rest = address.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}" if found else address.lower()


def _address(protocol: str, address: str) -> str:
    """Return an address for people: only the host of an https address, because its path may be
    secret."""
    return address if protocol == "email" else f"https://{urlsplit(address).hostname}/..."
