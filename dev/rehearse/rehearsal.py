# SPDX-License-Identifier: Apache-2.0
"""Does the steps of a rehearsal; each continues with the result of the one before."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dev.kafka import KafkaCluster
from dev.lambda_runtime import Answer, LambdaProcess
from dev.rehearse import account, backlog
from dev.rehearse.account import FULL, PLAIN, SHARED_STACK, VIEWS_STACK, stack_of
from dev.rehearse.command_line import CommandLine
from dev.rehearse.daily_job import JobRun, run_job
from dev.rehearse.emulator import Emulator
from dev.rehearse.errors import RehearsalError
from dev.rehearse.functions import COLLECT, NOTIFY, SERVE, DeployedFunction
from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key

# The first run has nothing to compare with, the second finds all well, the third a commit that
# went back, which holds at once.
_RUNS, _REWOUND_AFTER = 3, 2
_MINUTE_MS = 60_000
_EVENT_WITHIN = 240.0
_MESSAGE_WITHIN = 20


@dataclass(slots=True)
class Runs:
    """Results of running the functions: answers, times of the runs, and messages in the inbox."""

    taken_at: list[int] = field(default_factory=list)
    collected: list[Answer] = field(default_factory=list)
    notified: list[Answer] = field(default_factory=list)
    report: JobRun | None = None
    plain: Answer = field(default_factory=Answer)
    on_kept_bucket: Answer = field(default_factory=Answer)
    views: dict[str, Any] = field(default_factory=dict)
    inbox: list[dict[str, Any]] = field(default_factory=list)


class Rehearsal:
    """A rehearsal in an account, with the command line and a Kafka; `folder` gets every file."""

    def __init__(self, emulator: Emulator, cluster: KafkaCluster, folder: Path) -> None:
        self.emulator = emulator
        self.folder = folder
        self.runs = Runs()
        self._cluster = cluster
        self.command_line = CommandLine(emulator, folder)
        self._brokers = account.Brokers(
            scram=cluster.bootstrap("SASL_SSL").split(","),
            cafile=cluster.cafile,
        )
        monitor = cluster.users["monitor"]
        login = {"username": monitor.username, "password": monitor.password}
        self.existing = account.create(emulator, login)
        self._inbox = ""
        self._configure()

    def bootstrap(self) -> None:
        """Creates CDK's own bucket and roles."""
        self.command_line.bootstrap()

    def deploy(self) -> None:
        """Deploys the shared stack, those of chats and views, and one stack per cluster."""
        self.command_line.deploy()
        self._inbox = _subscribe_inbox(self.emulator, self.output(SHARED_STACK, "ReportTopic"))

    def deploy_again(self) -> None:
        """Deploys the same configuration again."""
        self.command_line.deploy()

    def run(self) -> None:
        """Runs collectors, messages and views, each as it is deployed, with the events of AWS."""
        self._collect_and_notify()
        self.runs.inbox = self._receive(2)
        with self.function(PLAIN).running(self.emulator, self.folder) as collector:
            self.runs.plain = collector.invoke(_scheduled(PLAIN, self.runs.taken_at[-1]))
        with self.views_function().running(self.emulator, self.folder) as views:
            token = self.views_token()
            for name, authorization in (("token", f"Bearer {token}"), ("none", "Bearer no")):
                self.runs.views[name] = views.invoke(_request(authorization)).value

    def report(self) -> None:
        """Runs the daily job for the day of the runs."""
        day = datetime.fromtimestamp(self.runs.taken_at[0] / 1000, UTC).date()
        job = self.output(SHARED_STACK, "DailyReportJob")
        options = {"--date": day.isoformat(), "--summary": "always"}
        self.runs.report = run_job(self.emulator, job, self.folder, **options)

    def change(self) -> None:
        """Deploys another configuration of the same clusters, and runs the collector with it."""
        self._configure(changed=True)
        self.command_line.deploy()
        self._collect()

    def remove(self) -> None:
        """Removes a cluster as the manual says: first its stack, then its configuration."""
        self.command_line.destroy(stack_of(PLAIN))
        self._configure(changed=True, plain=False)
        self.command_line.deploy()

    def destroy(self) -> None:
        """Destroys all stacks."""
        self.command_line.destroy()

    def deploy_on(self, bucket: str) -> None:
        """Deploys one cluster on a bucket that was kept, and runs its collector.

        Everything else was destroyed before. Logs and topics use the account's keys.
        """
        self.command_line.configure(
            account.configuration(self.existing, self._brokers, full=False, bucket=bucket)
        )
        self.command_line.deploy()
        taken_at = self.runs.taken_at[-1] + _MINUTE_MS
        with self.function(PLAIN).running(self.emulator, self.folder) as collector:
            self.runs.on_kept_bucket = collector.invoke(_scheduled(PLAIN, taken_at))

    def function(self, cluster: str) -> DeployedFunction:
        """Returns a cluster's collector."""
        return DeployedFunction.find(self.emulator, stack_of(cluster), COLLECT)

    def shared_function(self, handler: str) -> DeployedFunction:
        """Returns the shared stack's function with this handler."""
        return DeployedFunction.find(self.emulator, SHARED_STACK, handler)

    def views_function(self) -> DeployedFunction:
        """Returns the function that answers requests."""
        return DeployedFunction.find(self.emulator, VIEWS_STACK, SERVE)

    def output(self, stack: str, name: str) -> str:
        """Returns an output of a stack."""
        (found,) = self.emulator.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
        outputs = {each["OutputKey"]: each["OutputValue"] for each in found["Outputs"]}
        return str(outputs[name])

    def views_token(self) -> str:
        """Returns the token that scrapers send."""
        secret = self.output(VIEWS_STACK, "ViewsToken")
        found = self.emulator.client("secretsmanager").get_secret_value(SecretId=secret)
        return str(found["SecretString"])

    def kept_buckets(self) -> list[str]:
        """Returns the names of all buckets with snapshots."""
        buckets = self.emulator.client("s3").list_buckets()["Buckets"]
        names = [each["Name"] for each in buckets]
        begins = f"{contract.SNAPSHOT_PREFIX}/"
        return [each for each in names if any(k.startswith(begins) for k in self.keys(each))]

    def keys(self, bucket: str) -> set[str]:
        """Returns the keys of all objects in a bucket."""
        pages = self.emulator.client("s3").get_paginator("list_objects_v2").paginate(Bucket=bucket)
        return {each["Key"] for page in pages for each in page.get("Contents", [])}

    def _configure(self, *, changed: bool = False, plain: bool = True) -> None:
        self.command_line.configure(
            account.configuration(self.existing, self._brokers, changed=changed, plain=plain)
        )

    def _collect_and_notify(self) -> None:
        """Runs the collector minute by minute, and the messages with the event of each run.

        The last run sees a rewound group, which causes a message.
        """
        notifier = self.shared_function(NOTIFY)
        with (
            self.function(FULL).running(self.emulator, self.folder) as collector,
            notifier.running(self.emulator, self.folder) as messages,
        ):
            for number in range(_RUNS):
                if number == _REWOUND_AFTER:
                    backlog.rewind(self._cluster)
                self._collect_with(collector)
                event = self._event_for(notifier.name, self.runs.taken_at[-1])
                self.runs.notified.append(messages.invoke(event))

    def _collect(self) -> None:
        with self.function(FULL).running(self.emulator, self.folder) as collector:
            self._collect_with(collector)

    def _collect_with(self, collector: LambdaProcess) -> None:
        runs = self.runs
        this_minute = int(time.time() * 1000) // _MINUTE_MS * _MINUTE_MS
        runs.taken_at.append(runs.taken_at[-1] + _MINUTE_MS if runs.taken_at else this_minute)
        runs.collected.append(collector.invoke(_scheduled(FULL, runs.taken_at[-1])))
        if error := runs.collected[-1].error:
            denied = [each["action"] for each in self.emulator.events("denied")]
            raise RehearsalError(
                f"The collector failed ({', '.join(denied) or 'nothing'} was denied): "
                f"{error['errorType']}: {error['errorMessage']}"
            )

    def _event_for(self, function: str, taken_at: int) -> Any:
        """Returns the event that S3, the bus and the rule made for the last object of a run."""
        key = object_key(contract.GROUPS, FULL, taken_at)

        def fits(event: Mapping[str, Any]) -> bool:
            return event["function"] == function and key in json.dumps(event["payload"])

        return self.emulator.wait_for("invoked", fits, _EVENT_WITHIN)["payload"]

    def _receive(self, count: int) -> list[dict[str, Any]]:
        """Returns this many messages of the inbox, or fewer if no more come."""
        sqs = self.emulator.client("sqs")
        received: list[dict[str, Any]] = []
        while len(received) < count:
            answer = sqs.receive_message(QueueUrl=self._inbox, WaitTimeSeconds=_MESSAGE_WITHIN)
            found = answer.get("Messages", [])
            if not found:
                break
            for each in found:
                received.append(json.loads(each["Body"]))
                sqs.delete_message(QueueUrl=self._inbox, ReceiptHandle=each["ReceiptHandle"])
        return received


def _subscribe_inbox(emulator: Emulator, topic: str) -> str:
    """Returns the address of a new queue.

    The queue gets the topic's messages, and the deployment's events on the default bus.
    """
    sqs, events = emulator.client("sqs"), emulator.client("events")
    url = str(sqs.create_queue(QueueName="inbox")["QueueUrl"])
    found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    arn = found["Attributes"]["QueueArn"]
    policy = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": ["events.amazonaws.com", "sns.amazonaws.com"]},
                "Action": "sqs:SendMessage",
                "Resource": arn,
            }
        ],
    }
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": json.dumps(policy)})
    emulator.client("sns").subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    events.put_rule(Name="inbox", EventPattern=json.dumps({"source": ["kafka-lag"]}))
    events.put_targets(Rule="inbox", Targets=[{"Id": "inbox", "Arn": arn}])
    return url


def _scheduled(cluster: str, taken_at: int) -> dict[str, str]:
    """Returns a collector's event, as its schedule sends it."""
    moment = datetime.fromtimestamp(taken_at / 1000, UTC)
    return {
        contract.EVENT_CLUSTER: cluster,
        contract.EVENT_SCHEDULED_TIME: moment.isoformat().replace("+00:00", "Z"),
    }


def _request(authorization: str) -> dict[str, Any]:
    """Returns the event of a function URL, with a request for the lag of the rehearsal's group."""
    return {
        "rawPath": f"/v3/kafka/{FULL}/consumer/{backlog.GROUP}/lag",
        "headers": {"host": "lag.example", "authorization": authorization},
        "requestContext": {"stage": "$default", "http": {"method": "GET"}},
    }
