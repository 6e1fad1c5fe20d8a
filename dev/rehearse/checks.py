# SPDX-License-Identifier: Apache-2.0
"""Checks what must hold after each step; every check returns its faults, one sentence each."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterator
from typing import Any

from dev.rehearse import backlog
from dev.rehearse.account import (
    CHAT_STACK,
    FULL,
    NAME,
    PLAIN,
    SHARED_STACK,
    VIEWS_STACK,
    stack_of,
)
from dev.rehearse.outside import SESSION
from dev.rehearse.rehearsal import Rehearsal
from kafka_lag import contract
from kafka_lag.contract.otlp import name_otel_metric
from kafka_lag.snapshots.keys import object_key

# Characters at the end of a job's output.
_SHOWN = 2000
_TOOLKIT = "CDKToolkit"
# Kinds of resources that must survive a change.
_LASTING = frozenset(
    {
        "EC2::SecurityGroup",
        "Glue::Database",
        "IAM::Role",
        "KMS::Key",
        "Lambda::Function",
        "Logs::LogGroup",
        "S3::Bucket",
        "SNS::Topic",
        "SecretsManager::Secret",
    }
)
_COLLECTED = {"groups": 1, "objects_written": 3}


def stacks(rehearsal: Rehearsal, *, full: bool = True, plain: bool = True) -> list[str]:
    """Returns stacks of the deployment and of CDK that are not complete, and any other stack."""
    names = {SHARED_STACK, CHAT_STACK, VIEWS_STACK, _TOOLKIT}
    names |= {stack_of(FULL)} if full else set()
    names |= {stack_of(PLAIN)} if plain else set()
    found = _stacks(rehearsal)
    return [
        f"The stack {name} is {found.get(name)}"
        for name in sorted(names | set(found))
        if name not in names or not found.get(name, "").endswith("E_COMPLETE")
    ]


def answers(rehearsal: Rehearsal) -> list[str]:
    """Returns wrong answers of collectors, of the status function and of views.

    Views must answer only requests with the token.
    """
    runs = rehearsal.runs
    faults = [
        f"A collector answered {each}"
        for each in (*runs.collected, runs.plain)
        if each.value != _COLLECTED
    ]
    faults += [f"The status function answered {each}" for each in runs.notified if each.error]
    token, none = runs.views["token"], runs.views["none"]
    if token["statusCode"] != 200:  # noqa: PLR2004 - HTTP's OK
        faults.append(f"Views answered {token} to who has the token")
    elif json.loads(b64decode(token["body"]))["status"]["totallag"] != backlog.LAG:
        faults.append(f"Views do not say a lag of {backlog.LAG}: {b64decode(token['body'])!r}")
    if none["statusCode"] != 401:  # noqa: PLR2004 - HTTP's Unauthorized
        faults.append(f"Views answered {none} to who has no token")
    return faults


def snapshots(rehearsal: Rehearsal) -> list[str]:
    """Returns the objects of the three datasets of each run that the deployed bucket lacks."""
    runs = rehearsal.runs
    expected = {
        object_key(dataset, FULL, at) for dataset in contract.DATASETS for at in runs.taken_at
    }
    found = rehearsal.keys(rehearsal.output(SHARED_STACK, "Bucket"))
    return [f"{key} is not in the bucket" for key in sorted(expected - found)]


def metrics(rehearsal: Rehearsal) -> list[str]:
    """Returns a fault unless the collector's log has the group's lag in embedded metrics."""
    log = rehearsal.function(FULL).log(rehearsal.folder).read_text()
    lines = [json.loads(line) for line in log.splitlines() if '"_aws"' in line]
    lags = [
        line[contract.OFFSET_LAG]
        for line in lines
        if line.get(contract.DIMENSION_GROUP) == backlog.GROUP and contract.OFFSET_LAG in line
    ]
    return [] if backlog.LAG in lags else [f"The log has lags of {lags}, not {backlog.LAG}"]


def otlp_metrics(rehearsal: Rehearsal) -> list[str]:
    """Returns a fault unless CloudWatch got the lag of the group's partition by OTLP."""
    lag = name_otel_metric(contract.OFFSET_LAG, (contract.DIMENSION_PARTITION,))
    lags = [
        value
        for event in rehearsal.emulator.events("otlp")
        for name, attributes, value, _ in event["points"]
        if name == lag and attributes["group"] == backlog.GROUP
    ]
    return [] if backlog.LAG in lags else [f"CloudWatch got lags of {lags}, not {backlog.LAG}"]


def messages(rehearsal: Rehearsal) -> list[str]:
    """Returns a fault unless topic and bus each got one message about the group's status."""
    inbox = rehearsal.runs.inbox
    sent = [each for each in inbox if each.get("Type") == "Notification"]
    events = [each for each in inbox if each.get("source") == "kafka-lag"]
    faults = []
    if [backlog.GROUP in each["Message"] for each in sent] != [True]:
        faults.append(f"The topic got {sent}")
    if [each["detail"]["consumer_group"] for each in events] != [backlog.GROUP]:
        faults.append(f"The event bus got {events}")
    return faults


def denials(rehearsal: Rehearsal) -> list[str]:
    """Returns the denied calls, except calls that the rehearsal makes outside of its rights."""
    return [
        f"{each['principal']} was denied {each['action']} on {each['resource']}"
        for each in rehearsal.emulator.events("denied")
        if not each["principal"].endswith(f"/{SESSION}")
    ]


def versions(rehearsal: Rehearsal) -> dict[str, str]:
    """Returns the time of the last change by name of the stack."""
    found = rehearsal.emulator.client("cloudformation").describe_stacks()["Stacks"]
    return {
        each["StackName"]: str(each.get("LastUpdatedTime", each["CreationTime"])) for each in found
    }


def report(rehearsal: Rehearsal) -> list[str]:
    """Returns faults of the daily job, which must succeed and write its page and tables."""
    run = rehearsal.runs.report
    if run is None:
        return ["The daily job was not run"]
    if run.status:
        return [f"The daily job ended with {run.status}: {run.output[-_SHOWN:]}"]
    keys = rehearsal.keys(rehearsal.output(SHARED_STACK, "Bucket"))
    names = ("page", "lag_summary")
    begins = [f"{contract.REPORT_PREFIX}/{name}/cluster={FULL}/" for name in names]
    faults = [f"Nothing is below {each}" for each in begins if not any(map(_below(each), keys))]
    return faults + denials(rehearsal)


def _below(prefix: str) -> Callable[[str], bool]:
    return lambda key: key.startswith(prefix)


def on_kept_bucket(rehearsal: Rehearsal, bucket: str) -> list[str]:
    """Returns faults of a deployment on a kept bucket.

    It must be complete, write into the bucket, and use the account's key.
    """
    answer, key = rehearsal.runs.on_kept_bucket, rehearsal.existing.key
    faults = stacks(rehearsal, full=False) + denials(rehearsal)
    if answer.value != _COLLECTED:
        faults.append(f"The collector answered {answer}")
    at = rehearsal.runs.taken_at[-1] + 60_000
    missing = {object_key(dataset, PLAIN, at) for dataset in contract.DATASETS}
    missing -= rehearsal.keys(bucket)
    faults += [f"{each} is not in the bucket that was kept" for each in sorted(missing)]
    # The emulator forgets a topic's key, so that none is made is all there is to see of it.
    faults += [
        f"The stack {stack} makes {each['LogicalResourceId']}"
        for stack, each in resources(rehearsal)
        if each["ResourceType"] in ("AWS::KMS::Key", "AWS::S3::Bucket")
    ]
    logs = rehearsal.emulator.client("logs")
    groups = logs.describe_log_groups()["logGroups"]
    faults += [
        f"The log {each['logGroupName']} has the key {each.get('kmsKeyId')}"
        for each in groups
        if NAME in each["logGroupName"] and each.get("kmsKeyId") != key
    ]
    return faults


def identities(rehearsal: Rehearsal) -> dict[str, str]:
    """Returns the physical ids of resources that must survive a change, by stack and logical id."""
    return {
        f"{stack}/{each['LogicalResourceId']}": each["PhysicalResourceId"]
        for stack, each in resources(rehearsal)
        if each["ResourceType"].removeprefix("AWS::") in _LASTING
    }


def changes(rehearsal: Rehearsal) -> list[str]:
    """Returns changed settings that did not reach function, layer, log, alarms or scaling."""
    function = rehearsal.function(FULL)
    found: dict[str, Any] = {
        "memory": function.memory_mb,
        "SLA in the layer": _document(rehearsal)["sla_seconds"],
        "days of the log": _log_days(rehearsal),
        "threshold of the alarm on the SLA": _threshold(rehearsal, "urgent/sla/billing"),
        "lag of the first step": _first_step(rehearsal),
    }
    expected = {
        "memory": 1024,
        "SLA in the layer": {"^billing$": 600, "^mailer$": 1800},
        "days of the log": 30,
        "threshold of the alarm on the SLA": 600,
        "lag of the first step": 20000,
    }
    return [f"{name}: {found[name]}" for name in expected if found[name] != expected[name]]


def removal(rehearsal: Rehearsal) -> list[str]:
    """Returns stacks and tables that still have a removed cluster; its snapshots must be there."""
    emulator, faults = rehearsal.emulator, stacks(rehearsal, plain=False)
    tables = emulator.client("glue").get_tables(DatabaseName="kafka_lag")["TableList"]
    for table in tables:
        clusters = table["Parameters"].get("projection.cluster.values")
        if clusters != FULL:
            faults.append(f"The table {table['Name']} has the clusters {clusters}")
    bucket = rehearsal.output(SHARED_STACK, "Bucket")
    if not any(f"/cluster={PLAIN}/" in key for key in rehearsal.keys(bucket)):
        faults.append(f"The snapshots of {PLAIN} are gone")
    return faults


def destruction(rehearsal: Rehearsal, bucket: str) -> list[str]:
    """Returns the stacks that are left; the bucket must be there with its content."""
    faults = [
        f"The stack {name} is {state}"
        for name, state in _stacks(rehearsal).items()
        if name != _TOOLKIT
    ]
    if not any(key.startswith(f"{contract.SNAPSHOT_PREFIX}/") for key in rehearsal.keys(bucket)):
        faults.append("The snapshots are gone")
    return faults


def resources(rehearsal: Rehearsal) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields each resource of the deployment's stacks, after the stack's name."""
    cloudformation = rehearsal.emulator.client("cloudformation")
    for name in _stacks(rehearsal):
        if name != _TOOLKIT:
            pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=name)
            for page in pages:
                yield from ((name, each) for each in page["StackResourceSummaries"])


def _stacks(rehearsal: Rehearsal) -> dict[str, str]:
    found = rehearsal.emulator.client("cloudformation").describe_stacks()["Stacks"]
    return {each["StackName"]: each["StackStatus"] for each in found}


def _document(rehearsal: Rehearsal) -> Any:
    """Returns the collector's configuration, as its function reads it."""
    return rehearsal.function(FULL).document()


def _log_days(rehearsal: Rehearsal) -> int | None:
    (name,) = (
        each["PhysicalResourceId"]
        for stack, each in resources(rehearsal)
        if stack == stack_of(FULL) and each["ResourceType"] == "AWS::Logs::LogGroup"
    )
    logs = rehearsal.emulator.client("logs")
    (group,) = logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"]
    days: int | None = group.get("retentionInDays")
    return days


def _threshold(rehearsal: Rehearsal, alarm: str) -> float:
    cloudwatch = rehearsal.emulator.client("cloudwatch")
    (found,) = cloudwatch.describe_alarms(AlarmNames=[f"{NAME}/{FULL}/{alarm}"])["MetricAlarms"]
    return float(found["Threshold"])


def _first_step(rehearsal: Rehearsal) -> float:
    return _threshold(rehearsal, "scale-out/services/billing")
