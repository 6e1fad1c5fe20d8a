# SPDX-License-Identifier: Apache-2.0
"""A deployment by the templates, from the first stack to the last, in an emulator of AWS.

Each fixture goes one step further than the one before, so that the tests stand in that order.
"""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest

from dev.kafka import KafkaCluster
from dev.lambda_runtime import Answer
from dev.rehearse import account
from dev.rehearse.account import CHAT, FULL, GROUP, PLAIN, SHARED, VIEWS
from dev.rehearse.emulator import REGION, Emulator
from dev.rehearse.rehearsal import COLLECT, LACKED, NOTIFY, SERVE, Rehearsal
from kafka_lag import contract
from kafka_lag.contract.otlp import name_otel_metric
from kafka_lag.snapshots.keys import object_key
from tests.infra.conftest import Synthesised
from tests.programs import find_program

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.thorough,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform != "linux", reason="Lambda's packages are Linux's"),
]

STACKS = {name: f"kafka-lag-{name}" for name in (FULL, PLAIN)}
COLLECTED = Answer({"groups": 1, "objects_written": 3})
LAG = account.RECORDS - account.REWOUND
# Kinds of resources that must survive a change.
LASTING = {
    *("AWS::Glue::Database", "AWS::IAM::Role", "AWS::KMS::Key", "AWS::Lambda::Function"),
    *("AWS::Logs::LogGroup", "AWS::S3::Bucket", "AWS::SNS::Topic", "AWS::SecretsManager::Secret"),
}


@pytest.fixture(name="deployed", scope="module")
def _deployed(
    shared_cluster: KafkaCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rehearsal]:
    find_program("node", package="nodejs")
    folder = tmp_path_factory.mktemp("rehearsal")
    account.leave_backlog(shared_cluster)
    with Emulator(folder, shared_cluster.bootstrap("PLAINTEXT")) as emulator:
        rehearsal = Rehearsal(emulator, shared_cluster, folder)
        rehearsal.deploy()
        yield rehearsal


@pytest.fixture(name="run", scope="module")
def _run(deployed: Rehearsal, shared_cluster: KafkaCluster) -> Rehearsal:
    """Three runs, each with the message function on its event; the last sees a rewound group."""
    subscribe_inbox(deployed)
    collector = deployed.find_function(STACKS[FULL], COLLECT)
    notifier = deployed.find_function(SHARED, NOTIFY)
    with deployed.running(collector) as collects, deployed.running(notifier) as notifies:
        for number in range(3):
            if number == 2:
                account.commit(shared_cluster, account.REWOUND)
            assert deployed.collect(FULL, collects) == COLLECTED
            event = deployed.wait_for_event(notifier, FULL)
            assert notifies.invoke(event).error is None
    with deployed.running(deployed.find_function(STACKS[PLAIN], COLLECT)) as collects:
        assert deployed.collect(PLAIN, collects) == COLLECTED
    return deployed


@pytest.fixture(name="kept", scope="module")
def _kept(run: Rehearsal) -> str:
    """The bucket, once all stacks are destroyed."""
    bucket = run.output(SHARED, "Bucket")
    run.destroy(STACKS[FULL], VIEWS, CHAT, SHARED)
    return bucket


def subscribe_inbox(rehearsal: Rehearsal) -> None:
    """Makes a queue that gets the topic's messages, and the deployment's events on the bus."""
    sqs, events = (rehearsal.emulator.client(name) for name in ("sqs", "events"))
    url = sqs.create_queue(QueueName="inbox")["QueueUrl"]
    found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    arn = found["Attributes"]["QueueArn"]
    services = {"Service": ["events.amazonaws.com", "sns.amazonaws.com"]}
    allow = {"Effect": "Allow", "Principal": services, "Action": "sqs:SendMessage", "Resource": arn}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [allow]})
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})
    topic = rehearsal.output(SHARED, "ReportTopic")
    rehearsal.emulator.client("sns").subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
    events.put_rule(Name="inbox", EventPattern=json.dumps({"source": ["kafka-lag"]}))
    events.put_targets(Rule="inbox", Targets=[{"Id": "inbox", "Arn": arn}])


def receive(rehearsal: Rehearsal, count: int) -> list[dict[str, Any]]:
    """So many messages of the inbox, or fewer if no more come."""
    sqs = rehearsal.emulator.client("sqs")
    url, received = sqs.get_queue_url(QueueName="inbox")["QueueUrl"], list[dict[str, Any]]()
    while len(received) < count:
        found = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=20).get("Messages", [])
        if not found:
            break
        for each in found:
            received.append(json.loads(each["Body"]))
            sqs.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
    return received


def request(authorization: str) -> dict[str, Any]:
    """The event of a function URL, with a request for the group's lag."""
    return {
        "rawPath": f"/v3/kafka/{FULL}/consumer/{GROUP}/lag",
        "headers": {"host": "lag.example", "authorization": authorization},
        "requestContext": {"stage": "$default", "http": {"method": "GET"}},
    }


def identities(rehearsal: Rehearsal) -> dict[str, str]:
    """Physical ids of resources that must survive a change, by stack and logical id."""
    return {
        f"{stack}/{each['LogicalResourceId']}": each["PhysicalResourceId"]
        for stack, each in rehearsal.resources()
        if each["ResourceType"] in LASTING
    }


def test_all_stacks_are_deployed_with_every_kind_of_resource(
    deployed: Rehearsal, examples: dict[str, Synthesised]
) -> None:
    stacks = deployed.stacks()
    assert set(stacks) == {SHARED, CHAT, VIEWS, *STACKS.values()}
    assert [name for name, state in stacks.items() if not state.endswith("E_COMPLETE")] == []
    kinds = {
        resource["Type"]
        for example in examples.values()
        for template in example.templates.values()
        for resource in template["Resources"].values()
    }
    made = {each["ResourceType"] for _, each in deployed.resources()}
    assert kinds - LACKED <= made
    assert not made & LACKED


def test_the_same_deployed_again_changes_nothing(deployed: Rehearsal) -> None:
    assert deployed.deploy() == []


def test_the_collector_writes_its_snapshots_to_the_deployed_bucket(run: Rehearsal) -> None:
    found = run.keys(run.output(SHARED, "Bucket"))
    times = [(FULL, at) for at in run.taken_at[:3]] + [(PLAIN, run.taken_at[3])]
    wanted = {object_key(each, *at) for each in contract.DATASETS for at in times}
    assert wanted - found == set()


def test_the_lag_that_kafka_has_is_logged_and_sent_by_otlp(run: Rehearsal) -> None:
    log = run.log_of(run.find_function(STACKS[FULL], COLLECT)).read_text()
    lines = [json.loads(line) for line in log.splitlines() if '"_aws"' in line]
    own = [each for each in lines if each.get(contract.DIMENSION_GROUP) == GROUP]
    assert LAG in [each.get(contract.OFFSET_LAG) for each in own]
    name = name_otel_metric(contract.OFFSET_LAG, (contract.DIMENSION_PARTITION,))
    points = [point for event in run.emulator.events("otlp") for point in event["points"]]
    assert LAG in [p[2] for p in points if p[0] == name and p[1]["group"] == GROUP]


def test_a_changed_status_reaches_the_deployed_topic_and_the_bus(run: Rehearsal) -> None:
    inbox = receive(run, 2)
    sent = [each["Message"] for each in inbox if each.get("Type") == "Notification"]
    events = [each["detail"] for each in inbox if each.get("source") == "kafka-lag"]
    assert [GROUP in each for each in sent] == [True]
    assert [each["consumer_group"] for each in events] == [GROUP]


def test_views_answer_who_has_the_token_and_nobody_else(run: Rehearsal) -> None:
    secret = run.output(VIEWS, "ViewsToken")
    found = run.emulator.client("secretsmanager").get_secret_value(SecretId=secret)
    with run.running(run.find_function(VIEWS, SERVE)) as views:
        answer = views.invoke(request(f"Bearer {found['SecretString']}")).value
        refused = views.invoke(request("Bearer no")).value
    assert answer["statusCode"] == 200
    assert json.loads(b64decode(answer["body"]))["status"]["totallag"] == LAG
    assert refused["statusCode"] == 401


def test_nothing_is_denied_under_the_deployed_roles(run: Rehearsal) -> None:
    assert run.emulator.events("denied") == []


def test_a_role_may_not_do_what_it_is_not_for(run: Rehearsal) -> None:
    """One call, because `test_permissions` holds all rights: it shows that they are enforced."""
    role = run.emulator.assume(run.find_function(VIEWS, SERVE).about["Role"], "outside")
    own = {"Bucket": run.output(SHARED, "Bucket"), "Key": "snapshots/none", "Body": b""}
    with pytest.raises(Exception, match="AccessDenied"):
        run.emulator.client("s3", role).put_object(**own)


def test_a_change_reaches_what_is_deployed_and_makes_nothing_new_that_has_a_state(
    run: Rehearsal,
) -> None:
    before = identities(run)
    assert STACKS[FULL] in run.deploy(changed=True)
    after = identities(run)
    assert len(before) > 20
    assert {name: after.get(name) for name in before} == before
    collector = run.find_function(STACKS[FULL], COLLECT)
    assert collector.about["MemorySize"] == 1024
    alarms = run.emulator.client("cloudwatch").describe_alarms()["MetricAlarms"]
    named = {each["AlarmName"]: each.get("Threshold") for each in alarms}
    assert named[f"kafka-lag/{FULL}/urgent/sla/billing"] == 600
    with run.running(collector) as collects:
        assert run.collect(FULL, collects) == COLLECTED


def test_of_a_cluster_that_is_removed_only_snapshots_are_left(run: Rehearsal) -> None:
    run.destroy(STACKS[PLAIN])
    run.deploy(changed=True, plain=False)
    assert set(run.stacks()) == {SHARED, CHAT, VIEWS, STACKS[FULL]}
    tables = run.emulator.client("glue").get_tables(DatabaseName="kafka_lag")["TableList"]
    clusters = {each["Parameters"].get("projection.cluster.values") for each in tables}
    assert clusters == {FULL}
    keys = run.keys(run.output(SHARED, "Bucket"))
    assert [key for key in keys if f"/cluster={PLAIN}/" in key] != []


def test_of_all_stacks_only_the_bucket_is_left(run: Rehearsal, kept: str) -> None:
    assert run.stacks() == {}
    assert [key for key in run.keys(kept) if key.startswith(contract.SNAPSHOT_PREFIX)] != []


def test_it_is_deployed_again_on_the_bucket_that_was_kept(run: Rehearsal, kept: str) -> None:
    run.deploy(full=False, bucket=kept)
    with run.running(run.find_function(STACKS[PLAIN], COLLECT)) as collects:
        assert run.collect(PLAIN, collects) == COLLECTED
    wanted = {object_key(each, PLAIN, run.taken_at[-1]) for each in contract.DATASETS}
    assert wanted - run.keys(kept) == set()
    kinds = {each["ResourceType"] for _, each in run.resources()}
    assert kinds & {"AWS::KMS::Key", "AWS::S3::Bucket"} == set()
    logs = run.emulator.client("logs").describe_log_groups()["logGroups"]
    keys = {each.get("kmsKeyId") for each in logs if "kafka-lag" in each["logGroupName"]}
    assert keys == {run.account.key}
    assert REGION in str(run.account.key)
