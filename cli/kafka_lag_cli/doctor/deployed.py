# SPDX-License-Identifier: Apache-2.0
"""What `doctor --deployed` finds of a deployment that runs: what is so, and what was expected.

These are the checks of a first account that only AWS can answer. Nothing is changed, and one URL
is called without rights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, TypeAlias
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from kafka_lag import contract
from kafka_lag.formatting import format_list
from kafka_lag.snapshots.keys import hour_prefix, taken_at_of
from kafka_lag_cdk.alarm_rules import HEARTBEAT, alarm_shares, broker_rules
from kafka_lag_cli.account.errors import AwsError, using
from kafka_lag_cli.doctor.findings import Finding, Severity
from kafka_lag_cli.doctor.place import Place

Clock: TypeAlias = Callable[[], float]
# The status of an answer to a request without rights. Raises OSError where there is none.
Fetch: TypeAlias = Callable[[str], int]

_ABSENT = ("ValidationError", "ResourceNotFoundException", "EntityNotFoundException")
_COMPLETE = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE")
_ALARM_SERVICE = "cloudwatch.amazonaws.com"
_MINUTE_MS = 60_000
_RUNS = 3
_MINUTES_OF_METRICS = 10
_WARM_UP = timedelta(minutes=30)
_REPORT_HOURS = 26
_NAMED = 5
_TIMEOUT = 20
_REFUSED = (401, 403)


def fetch_status(url: str) -> int:
    """What the URL answers to a request without a signature or a token."""
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
    if cluster.bootstrap_servers is None:
        yield "brokers' addresses", seen.addresses()
    if cluster.sink_names and not cluster.paused:
        yield "metrics", seen.metrics()
        yield "heartbeat", seen.heartbeat()
    if cluster.watches_brokers:
        yield "alarms on brokers", seen.broker_alarms()
    yield "topic of alarms", seen.topic()
    yield "subscriptions", seen.subscriptions()
    if shared.views is not None:
        yield "views", seen.views()
    if shared.report.enabled:
        yield "daily report", seen.report()
        yield "daily report's log", seen.report_log()
        yield "daily report's metric", seen.report_metric()
    if place.deployment.existing_bucket(place.account, place.region) is None:
        yield "what expires", seen.lifecycle()


@dataclass(frozen=True)
class _Deployed:
    place: Place
    clock: Clock
    fetch: Fetch

    @property
    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock(), UTC)

    def _stack(self, name: str) -> dict[str, Any] | None:
        try:
            with using("cloudformation:DescribeStacks"):
                (found,) = self.place.client("cloudformation").describe_stacks(StackName=name)[
                    "Stacks"
                ]
        except AwsError as error:
            if error.code in _ABSENT:
                return None
            raise
        return dict(found)

    def _outputs_of(self, name: str) -> dict[str, str]:
        outputs = (self._stack(name) or {}).get("Outputs", [])
        return {each["OutputKey"]: each["OutputValue"] for each in outputs}

    @cached_property
    def _shared(self) -> dict[str, str]:
        return self._outputs_of(self.place.deployment.shared_stack_name)

    @cached_property
    def _own(self) -> dict[str, str]:
        return self._outputs_of(self.place.stack)

    def _alarm(self, rule: str) -> str:
        return f"{self.place.deployment.name}/{self.place.cluster.name}/{rule}"

    def stacks(self) -> Iterator[Finding]:
        """That all are there and complete."""
        deployment, cluster = self.place.deployment, self.place.cluster
        names = [deployment.shared_stack_name, self.place.stack]
        names += [deployment.views_stack_name] if deployment.shared.views else []
        shares = range(1, len(alarm_shares(cluster)) + 1)
        names += [f"{self.place.stack}-groups-{number}" for number in shares]
        states = {name: (self._stack(name) or {}).get("StackStatus", "absent") for name in names}
        bad = [f"{name} is {state}" for name, state in states.items() if state not in _COMPLETE]
        yield _finding(
            "stacks",
            ok=not bad,
            found=format_list(bad, _NAMED) if bad else f"{len(names)} are complete",
            expected=f"{format_list(names, _NAMED)}, each complete",
            to_do="Deploy, or read why the last deploy failed in the stack's events.",
        )

    def runs(self) -> Iterator[Finding]:
        """That one of the last runs has stored a snapshot: brokers, login and S3 are reached."""
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
                else f"the newest snapshot is of {_shown(newest)}"
            ),
            expected=expected,
            to_do="Read the function's log; `--invoke` says what a run waits for.",
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

    def addresses(self) -> Iterator[Finding]:
        """That MSK was asked for brokers, at the port of the login."""
        ports = [first for first, _ in self.place.cluster.ports]
        function = self._own.get("Function")
        servers = ""
        if function:
            with using("lambda:GetFunctionConfiguration"):
                found = self.place.client("lambda").get_function_configuration(
                    FunctionName=function
                )
            variables = found.get("Environment", {}).get("Variables", {})
            servers = variables.get(contract.ENV_BOOTSTRAP_SERVERS, "")
        each = [server.rpartition(":")[2] for server in servers.split(",") if server]
        yield _finding(
            "brokers' addresses",
            ok=bool(each) and set(each) <= set(map(str, ports)),
            found=servers or "the function has none",
            expected=f"addresses at port {ports[0]}, that of {self.place.cluster.way_in}",
            to_do="MSK is asked when the stack is made, or when ARN or login change: see what the "
            "stack's custom resource answered.",
        )

    def metrics(self) -> Iterator[Finding]:
        """That runs succeed, and that CloudWatch has their metrics."""
        minutes = max(_MINUTES_OF_METRICS, 2 * self.place.cluster.interval_minutes)
        count = self._count(
            self.place.cluster.namespace,
            contract.COLLECTOR_SUCCESS,
            {contract.DIMENSION_CLUSTER: self.place.cluster.name},
            timedelta(minutes=minutes),
        )
        yield _finding(
            "metrics",
            ok=count > 0,
            found=f"{contract.COLLECTOR_SUCCESS} is 1 in {count} of the last {minutes} minutes",
            expected="at least one; a new metric is listed after up to 15 minutes",
            to_do="Read the function's log: with the sink cloudwatch look for AccessDenied.",
        )

    def _count(
        self, namespace: str, metric: str, dimensions: dict[str, str], back: timedelta
    ) -> int:
        """Minutes in which a metric was 1 or more."""
        with using("cloudwatch:GetMetricStatistics"):
            answer = self.place.client("cloudwatch").get_metric_statistics(
                Namespace=namespace,
                MetricName=metric,
                Dimensions=[{"Name": name, "Value": value} for name, value in dimensions.items()],
                StartTime=self._now - back,
                EndTime=self._now,
                Period=60 if back <= timedelta(hours=1) else 3600,
                Statistics=["Maximum"],
            )
        return sum(each["Maximum"] >= 1 for each in answer["Datapoints"])

    def heartbeat(self) -> Iterator[Finding]:
        """Its state, and that its warm-up kept it silent while the stack was made."""
        name = self._alarm(HEARTBEAT.name)
        client = self.place.client("cloudwatch")
        with using("cloudwatch:DescribeAlarms"):
            alarms = client.describe_alarms(AlarmNames=[name])["MetricAlarms"]
        state = alarms[0]["StateValue"] if alarms else "absent"
        made = (self._stack(self.place.stack) or {}).get("CreationTime")
        early = 0
        if made and alarms:
            with using("cloudwatch:DescribeAlarmHistory"):
                items = client.describe_alarm_history(
                    AlarmName=name,
                    HistoryItemType="StateUpdate",
                    StartDate=made,
                    EndDate=made + _WARM_UP,
                )["AlarmHistoryItems"]
            early = sum("to ALARM" in each.get("HistorySummary", "") for each in items)
        yield _finding(
            "heartbeat",
            ok=state == "OK" and not early,
            found=f"{state}, {early} alarms in the first half hour",
            expected="OK, and none while the stack was made",
            to_do="In ALARM: no run succeeds. INSUFFICIENT_DATA ends after some runs.",
        )

    def broker_alarms(self) -> Iterator[Finding]:
        """That MSK's metrics of its brokers reach them."""
        rules = broker_rules(brokers=True, disks=self.place.cluster.has_disks)
        names = [self._alarm(rule.name) for rule in rules]
        with using("cloudwatch:DescribeAlarms"):
            answer = self.place.client("cloudwatch").describe_alarms(AlarmNames=names)
        states = {each["AlarmName"]: each["StateValue"] for each in answer["MetricAlarms"]}
        found = [f"{rule.name} {states.get(self._alarm(rule.name), 'absent')}" for rule in rules]
        yield _finding(
            "alarms on brokers",
            ok=all(states.get(name) in ("OK", "ALARM") for name in names),
            found=", ".join(found),
            expected="data for each within minutes",
            to_do="See whether MSK publishes KafkaDataLogsDiskUsed and CpuIdle for this cluster.",
        )

    def topic(self) -> Iterator[Finding]:
        """That CloudWatch may publish to it and use its key: else alarms are lost."""
        arn = self.place.cluster.alarms.topic or self._shared.get("AlarmTopic")
        lacks = ["a topic"]
        if arn:
            with using("sns:GetTopicAttributes"):
                found = self.place.client("sns").get_topic_attributes(TopicArn=arn)["Attributes"]
            lacks = [] if _ALARM_SERVICE in found.get("Policy", "") else ["its policy"]
            if key := found.get("KmsMasterKeyId"):
                with using("kms:GetKeyPolicy"):
                    policy = self.place.client("kms").get_key_policy(
                        KeyId=key, PolicyName="default"
                    )["Policy"]
                lacks += [] if _ALARM_SERVICE in policy else ["its key's policy"]
        yield _finding(
            "topic of alarms",
            ok=not lacks,
            found=f"{' and '.join(lacks)} does not let it" if lacks else "it may publish",
            expected=f"{_ALARM_SERVICE} may publish, and use the key where there is one",
            to_do="Every alarm is lost without a word until it may: docs/configuration.md has what "
            "a topic of yours needs.",
        )

    def subscriptions(self) -> Iterator[Finding]:
        """That whoever is to be told has confirmed it."""
        waiting, there = [], 0
        client = self.place.client("sns")
        for name in ("AlarmTopic", "ReportTopic"):
            if not (arn := self._shared.get(name)):
                continue
            with using("sns:ListSubscriptionsByTopic"):
                pages = client.get_paginator("list_subscriptions_by_topic").paginate(TopicArn=arn)
                found = [each for page in pages for each in page["Subscriptions"]]
            there += len(found)
            waiting += [
                f"{each['Protocol']} to {name}"
                for each in found
                if each["SubscriptionArn"] == "PendingConfirmation"
            ]
        notify = self.place.deployment.shared.notify
        chats = bool(notify.slack or notify.teams)
        yield _finding(
            "subscriptions",
            ok=not waiting and bool(there or chats),
            found=(
                f"not confirmed: {format_list(waiting, _NAMED)}"
                if waiting
                else f"{there} confirmed{', and chats' * chats}"
            ),
            expected="each confirmed, one a topic and address",
            to_do="AWS sends a message that each address must confirm once, within three days.",
        )

    def views(self) -> Iterator[Finding]:
        """That they are there, and closed to whoever has no rights."""
        url = self._outputs_of(self.place.deployment.views_stack_name).get("ViewsUrl")
        found, ok = "there is no URL", False
        if url:
            try:
                status = self.fetch(url)
            except (OSError, URLError) as error:
                found = f"no answer ({type(error).__name__})"
            else:
                found, ok = f"{status} to a request without rights", status in _REFUSED
        yield _finding(
            "views",
            ok=ok,
            found=found,
            expected="401 or 403",
            to_do="200: whoever knows the URL reads it, so destroy the stack of views and report "
            "it. 5xx: read the log of ViewsFunction.",
        )

    def _job(self) -> tuple[str | None, dict[str, Any] | None]:
        """The daily job's name, and its newest run."""
        name = self._shared.get("DailyReportJob")
        if not name:
            return None, None
        try:
            with using("glue:GetJobRuns"):
                runs = self.place.client("glue").get_job_runs(JobName=name)["JobRuns"]
        except AwsError as error:
            if error.code in _ABSENT:
                return None, None
            raise
        began = datetime.fromtimestamp(0, UTC)
        newest = max(runs, key=lambda run: run.get("StartedOn", began), default=None)
        return name, newest

    def report(self) -> Iterator[Finding]:
        """That its newest run succeeded."""
        name, run = self._job()
        state = run["JobRunState"] if run else None
        begun = run.get("StartedOn") if run else None
        yield _finding(
            "daily report",
            ok=state == "SUCCEEDED",
            found=f"{state}, begun {begun:%Y-%m-%d %H:%M} UTC"
            if state and begun
            else state or "no run yet",
            expected="the newest run SUCCEEDED; the first is in the night after the first day",
            to_do="A failed run says why in its log.",
            severity="info" if run is None else "fault",
            repair=self.place.aws(f"glue start-job-run --job-name {name}") if name else None,
        )

    def report_log(self) -> Iterator[Finding]:
        """That it writes where this deployment keeps it for a while."""
        _, run = self._job()
        group = f"/{self.place.deployment.name}/daily-report/output"
        if run is None:
            yield Finding("daily report's log", "info", f"no run yet (expected: one in {group})")
            return
        with using("logs:DescribeLogStreams"):
            streams = self.place.client("logs").describe_log_streams(
                logGroupName=group, logStreamNamePrefix=run["Id"]
            )["logStreams"]
        yield _finding(
            "daily report's log",
            ok=bool(streams),
            found=f"{len(streams)} streams of the newest run in {group}",
            expected="one at least, and none in /aws-glue/jobs",
            to_do="Look in /aws-glue/jobs/output, where Glue writes unless it knows of the group.",
        )

    def report_metric(self) -> Iterator[Finding]:
        """That it says so by its metric, on which `report-missing` goes."""
        _, run = self._job()
        count = self._count(
            contract.NAMESPACE,
            contract.DAILY_REPORT_SUCCESS,
            {contract.DIMENSION_DEPLOYMENT: self.place.deployment.name},
            timedelta(hours=_REPORT_HOURS),
        )
        yield _finding(
            "daily report's metric",
            ok=count > 0,
            found=f"{contract.DAILY_REPORT_SUCCESS} is 1 in {count} of {_REPORT_HOURS} hours",
            expected="one at least, once a scheduled run has succeeded",
            to_do="A run by hand for another date writes none; see whether the job has a trigger.",
            severity="info" if run is None else "fault",
        )

    def lifecycle(self) -> Iterator[Finding]:
        """That the bucket has the rules by which things expire."""
        bucket = self._shared.get("Bucket")
        wanted = [contract.HISTORY_PREFIX, contract.REPORT_PREFIX, "abandoned-uploads"]
        wanted += ["claims"] if self.place.deployment.shared.status_messages else []
        there: set[str] = set()
        if bucket:
            try:
                with using("s3:GetLifecycleConfiguration"):
                    rules = self.place.client("s3").get_bucket_lifecycle_configuration(
                        Bucket=bucket
                    )["Rules"]
                there = {each["ID"] for each in rules if each["Status"] == "Enabled"}
            except AwsError as error:
                if error.code != "NoSuchLifecycleConfiguration":
                    raise
        missing = [each for each in wanted if each not in there]
        rules_on = f"rules on {', '.join(wanted)}"
        yield _finding(
            "what expires",
            ok=not missing,
            found=f"no rule on {', '.join(missing)}" if missing else rules_on,
            expected=rules_on,
            to_do="Somebody changed the bucket's lifecycle: deploy again, or write them.",
        )


def _finding(
    check: str,
    *,
    ok: bool,
    found: str,
    expected: str,
    to_do: str,
    severity: Severity = "fault",
    repair: str | None = None,
) -> Finding:
    """What was found beside what was expected; `severity` and what follows where they differ."""
    said = f"{found} (expected: {expected})"
    return Finding(check, "ok", said) if ok else Finding(check, severity, said, to_do, repair)


def _shown(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"
