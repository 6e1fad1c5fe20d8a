# SPDX-License-Identifier: Apache-2.0
"""Deploys the templates of a configuration in an emulated account, and runs what is deployed.

Functions are packed for this Python and machine, because they run here: package, layers,
environment and role are those that are deployed.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.request import urlopen
from zipfile import ZipFile

from botocore.exceptions import ClientError

from dev.kafka import KafkaCluster
from dev.lambda_runtime import Answer, LambdaProcess, runtime_in
from dev.rehearse.account import CHAT, NAME, SHARED, VIEWS, Account
from dev.rehearse.emulator import REGION, Credentials, Emulator
from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key
from kafka_lag_cdk.packaging import Target, build
from kafka_lag_cdk.template import BUCKET, write
from kafka_lag_config.reading import check

COLLECT, NOTIFY, SERVE = (
    f"kafka_lag.{name}.handler" for name in ("collect_lag", "notify_status", "serve_lag")
)
# Kinds of resources that ministack does not make. Nor does it make alarms on several metrics or by
# PromQL, which name no metric.
LACKED = frozenset(
    {
        "AWS::ApplicationAutoScaling::ScalableTarget",
        "AWS::ApplicationAutoScaling::ScalingPolicy",
        "AWS::Athena::NamedQuery",
        "AWS::Chatbot::MicrosoftTeamsChannelConfiguration",
        "AWS::Chatbot::SlackChannelConfiguration",
        "AWS::CloudWatch::AnomalyDetector",
        "AWS::EC2::SecurityGroupEgress",
        "AWS::EC2::SecurityGroupIngress",
    }
)
_GONE = object()
# The bucket of templates and assets; templates of these names are of stacks that clusters share.
_ASSETS = "assets"
_SHARED_STACKS = {"Shared": SHARED, "Chat": CHAT, "Views": VIEWS}
_CAPABILITIES = ["CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]
_PATIENCE = {"Delay": 1, "MaxAttempts": 240}
_UNCHANGED = "No updates are to be performed"
_LAYERS, _MINUTE_MS, _EVENT_WITHIN = "/opt/", 60_000, 240.0


class Rehearsal:
    """A deployment in an account, with a Kafka; `folder` gets every file."""

    def __init__(self, emulator: Emulator, cluster: KafkaCluster, folder: Path) -> None:
        self.emulator, self.folder, self.taken_at = emulator, folder, list[int]()
        self.account, self._cluster = Account.make(emulator, cluster), cluster
        self._cloudformation = emulator.client("cloudformation")
        place: Any = {"LocationConstraint": REGION}
        emulator.client("s3").create_bucket(Bucket=_ASSETS, CreateBucketConfiguration=place)
        (folder / "runtime").mkdir()
        self._runtime = runtime_in(folder / "runtime")

    def deploy(self, **variant: Any) -> list[str]:
        """Deploys a variant of the configuration; returns the stacks that were made or changed."""
        deployment = check(self.account.configure(self._cluster, **variant), NAME, Path())
        out, s3 = self.folder / "template", self.emulator.client("s3")
        templates = write(deployment, out, _package())
        for asset in (out / "assets").iterdir():
            s3.upload_file(str(asset), _ASSETS, asset.name)
        changed = []
        for path in templates:
            name = path.name.removesuffix(".template.json")
            stack = _SHARED_STACKS.get(name.split("-")[0], name)
            template = leave_out(json.loads(path.read_text()))
            s3.put_object(Bucket=_ASSETS, Key=path.name, Body=json.dumps(template))
            if self._deploy_stack(stack, path.name, template.get("Parameters", {})):
                changed.append(stack)
        return changed

    def _deploy_stack(self, stack: str, key: str, parameters: Mapping[str, Any]) -> bool:
        values = [{"ParameterKey": BUCKET, "ParameterValue": _ASSETS}] * (BUCKET in parameters)
        words = {
            "StackName": stack,
            "TemplateURL": f"{self.emulator.endpoint_url}/{_ASSETS}/{key}",
            "Parameters": values,
            "Capabilities": _CAPABILITIES,
        }
        kind = "update" if stack in self.stacks() else "create"
        try:
            getattr(self._cloudformation, f"{kind}_stack")(**words)
        except ClientError as error:
            if _UNCHANGED not in str(error):
                raise
            return False
        self._wait(f"stack_{kind}_complete", stack)
        return True

    def destroy(self, *stacks: str) -> None:
        """Deletes stacks, one after the other."""
        for stack in stacks:
            self._cloudformation.delete_stack(StackName=stack)
            self._wait("stack_delete_complete", stack)

    def _wait(self, what: str, stack: str) -> None:
        waiter: Any = self._cloudformation.get_waiter(what)
        waiter.wait(StackName=stack, WaiterConfig=_PATIENCE)

    def stacks(self) -> dict[str, str]:
        """Returns the stacks that there are, with their states."""
        found = self._cloudformation.describe_stacks()["Stacks"]
        return {each["StackName"]: each["StackStatus"] for each in found}

    def resources(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields each resource of the stacks, after the stack's name."""
        for name in self.stacks():
            pages = self._cloudformation.get_paginator("list_stack_resources")
            for page in pages.paginate(StackName=name):
                yield from ((name, each) for each in page["StackResourceSummaries"])

    def output(self, stack: str, name: str) -> str:
        """Returns an output of a stack."""
        (found,) = self._cloudformation.describe_stacks(StackName=stack)["Stacks"]
        return next(str(e["OutputValue"]) for e in found["Outputs"] if e["OutputKey"] == name)

    def keys(self, bucket: str) -> set[str]:
        """Returns the keys of all objects in a bucket."""
        pages = self.emulator.client("s3").get_paginator("list_objects_v2").paginate(Bucket=bucket)
        return {each["Key"] for page in pages for each in page.get("Contents", [])}

    def find_function(self, stack: str, handler: str) -> Function:
        """Returns the stack's function with this handler, as Lambda describes it."""
        lambda_ = self.emulator.client("lambda")
        for name, each in self.resources():
            if name == stack and each["ResourceType"] == "AWS::Lambda::Function":
                found = lambda_.get_function(FunctionName=each["PhysicalResourceId"])
                about = found["Configuration"]
                if about["Handler"] == handler:
                    layers = [
                        _fetch(lambda_.get_layer_version_by_arn(Arn=layer["Arn"])["Content"])
                        for layer in about.get("Layers", [])
                    ]
                    return Function(about, _fetch(found["Code"]), layers)
        raise LookupError(f"The stack {stack} has no function with the handler {handler}")

    @contextmanager
    def running(self, function: Function) -> Iterator[LambdaProcess]:
        """Runs a new process of a function during the block, with only what is deployed."""
        place = self.folder / function.name
        for part, zips in (("task", [function.code]), ("layers", function.layers)):
            (place / part).mkdir(parents=True, exist_ok=True)
            for content in zips:
                with ZipFile(io.BytesIO(content)) as archive:
                    archive.extractall(place / part)
        variables = function.about.get("Environment", {}).get("Variables", {})
        environment = {
            name: str(place / "layers" / value.removeprefix(_LAYERS))
            if value.startswith(_LAYERS)
            else value
            for name, value in variables.items()
        }
        role: Credentials = self.emulator.assume(function.about["Role"], "function")
        environment |= self.emulator.environment(role)
        handler, log = function.about["Handler"], self.log_of(function)
        task = place / "task"
        with LambdaProcess(handler, task, self._runtime, environment, log) as process:
            yield process

    def log_of(self, function: Function) -> Path:
        """Returns the file for the function's stdout and stderr."""
        return self.folder / f"{function.name}.log"

    def collect(self, cluster: str, process: LambdaProcess) -> Answer:
        """Runs a cluster's collector for the next minute, as its schedule does."""
        this_minute = int(time.time() * 1000) // _MINUTE_MS * _MINUTE_MS
        at = self.taken_at[-1] + _MINUTE_MS if self.taken_at else this_minute
        self.taken_at.append(at)
        moment = datetime.fromtimestamp(at / 1000, UTC).isoformat().replace("+00:00", "Z")
        event = {contract.EVENT_CLUSTER: cluster, contract.EVENT_SCHEDULED_TIME: moment}
        return process.invoke(event)

    def wait_for_event(self, function: Function, cluster: str) -> Any:
        """Returns the event that S3, the bus and the rule made for the last object of a run."""
        key = object_key(contract.GROUPS, cluster, self.taken_at[-1])

        def fits(event: Mapping[str, Any]) -> bool:
            return event["function"] == function.name and key in json.dumps(event["payload"])

        return self.emulator.wait_for("invoked", fits, _EVENT_WITHIN)["payload"]


@dataclass(frozen=True, slots=True)
class Function:
    """One deployed function: what Lambda says `about` it, and the content of its zips."""

    about: dict[str, Any]
    code: bytes
    layers: list[bytes]

    @property
    def name(self) -> str:
        """Returns the function's name."""
        return str(self.about["FunctionName"])


def _fetch(place: Mapping[str, str]) -> bytes:
    with urlopen(place["Location"]) as answer:  # noqa: S310 - it is the emulator's
        content: bytes = answer.read()
    return content


@cache
def _package() -> Path:
    return build(Target.here())


def leave_out(template: dict[str, Any]) -> Any:
    """Returns the template without resources of these kinds, and without references to them."""
    gone = {name for name, each in template["Resources"].items() if _is_lacked(each)}
    kept = {name: each for name, each in template["Resources"].items() if name not in gone}
    return _prune({**template, "Resources": kept}, gone)


def _is_lacked(resource: dict[str, Any]) -> bool:
    is_alarm = resource["Type"] == "AWS::CloudWatch::Alarm"
    return resource["Type"] in LACKED or (is_alarm and "MetricName" not in resource["Properties"])


def _prune(value: Any, gone: AbstractSet[str]) -> Any:
    if isinstance(value, list):
        return [each for each in (_prune(each, gone) for each in value) if each is not _GONE]
    if not isinstance(value, dict):
        return value
    if value.get("Ref") in gone or value.get("Fn::GetAtt", [None])[0] in gone:
        return _GONE
    pruned = {key: _prune(each, gone) for key, each in value.items()}
    if isinstance(pruned.get("DependsOn"), list):
        pruned["DependsOn"] = [each for each in pruned["DependsOn"] if each not in gone]
    return {key: each for key, each in pruned.items() if each is not _GONE}
