# SPDX-License-Identifier: Apache-2.0
"""Finds and runs functions as they are deployed: package, layers, environment and role.

Package and layers come from the account's S3. The emulator's own Lambda has no layers at /opt, so
the runtime of `dev.lambda_runtime` runs them.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from dev.lambda_runtime import LambdaProcess, runtime_in
from dev.rehearse.emulator import ACCOUNT, Credentials, Emulator
from dev.rehearse.errors import RehearsalError
from kafka_lag import contract

COLLECT = "kafka_lag.collect_lag.handler"
NOTIFY = "kafka_lag.notify_status.handler"
SERVE = "kafka_lag.serve_lag.handler"
LOOK_UP = "index.handler"

_SESSION = "function"
_LAYERS = "/opt/"


@dataclass(frozen=True, slots=True)
class DeployedFunction:
    """One function of a stack, as Lambda describes it, with the content of its zips."""

    name: str
    handler: str
    role: str
    memory_mb: int
    environment: Mapping[str, str]
    code: bytes
    layers: tuple[bytes, ...]

    @classmethod
    def find(cls, emulator: Emulator, stack: str, handler: str) -> DeployedFunction:
        """Returns the stack's function with this handler.

        Raises RehearsalError if the stack has no such function, or if its code differs from the
        template's.
        """
        resources = _resources(emulator, stack)
        lambda_ = emulator.client("lambda")
        for one in resources.values():
            if one["Type"] != "AWS::Lambda::Function" or one["Properties"]["Handler"] != handler:
                continue
            found = lambda_.get_function_configuration(FunctionName=one["Id"])
            return cls(
                name=found["FunctionName"],
                handler=found["Handler"],
                role=found["Role"],
                memory_mb=found["MemorySize"],
                environment=found.get("Environment", {}).get("Variables", {}),
                code=_fetch(emulator, one["Properties"]["Code"], found["CodeSha256"]),
                layers=tuple(
                    _fetch_layer(emulator, resources, layer["Arn"])
                    for layer in found.get("Layers", [])
                ),
            )
        raise RehearsalError(f"The stack {stack} has no function with the handler {handler}")

    def credentials(self, emulator: Emulator, session: str = _SESSION) -> Credentials:
        """Returns credentials of the function's role."""
        return emulator.assume(self.role, session)

    def document(self) -> Any:
        """Returns the collector's configuration from its layer.

        Raises RehearsalError without one.
        """
        name = self.environment[contract.ENV_CONFIG].removeprefix(_LAYERS)
        for layer in self.layers:
            with ZipFile(io.BytesIO(layer)) as archive:
                if name in archive.namelist():
                    return json.loads(archive.read(name))
        raise RehearsalError(f"{self.name} has no {name} in its layers")

    def log(self, folder: Path) -> Path:
        """Returns the file for the function's stdout and stderr."""
        return folder / f"{self.name}.log"

    @contextmanager
    def running(self, emulator: Emulator, folder: Path) -> Iterator[LambdaProcess]:
        """Runs a new process of the runtime during the block, with only what is deployed."""
        task = _unpack([self.code], folder)
        layers = _unpack(self.layers, folder)
        runtime = folder / "runtime"
        if not runtime.exists():
            runtime.mkdir()
            runtime_in(runtime)
        environ = {
            **{name: _below(layers, value) for name, value in self.environment.items()},
            **emulator.environment(self.credentials(emulator)),
        }
        with LambdaProcess(self.handler, task, runtime, environ, self.log(folder)) as process:
            yield process


def assume_service_role(emulator: Emulator, stack: str, service: str, session: str) -> Credentials:
    """Returns credentials of a service of AWS with the first role that the stack has for it.

    Raises RehearsalError if the stack has none.
    """
    for one in _resources(emulator, stack).values():
        if one["Type"] != "AWS::IAM::Role":
            continue
        (trusted,) = one["Properties"]["AssumeRolePolicyDocument"]["Statement"]
        if trusted["Principal"] == {"Service": f"{service}.amazonaws.com"}:
            return emulator.assume(f"arn:aws:iam::{ACCOUNT}:role/{one['Id']}", session)
    raise RehearsalError(f"The stack {stack} has no role for {service}")


def _below(layers: Path, value: str) -> str:
    """Returns a variable's value; a file of a layer gets its path on this machine."""
    return str(layers / value.removeprefix(_LAYERS)) if value.startswith(_LAYERS) else value


def _resources(emulator: Emulator, stack: str) -> dict[str, dict[str, Any]]:
    """Returns the template's resources by logical id, each with its physical id."""
    cloudformation = emulator.client("cloudformation")
    body = cloudformation.get_template(StackName=stack)["TemplateBody"]
    template = json.loads(body) if isinstance(body, str) else body
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack)
    ids = {
        each["LogicalResourceId"]: each["PhysicalResourceId"]
        for page in pages
        for each in page["StackResourceSummaries"]
    }
    return {name: {**each, "Id": ids[name]} for name, each in template["Resources"].items()}


def _fetch_layer(emulator: Emulator, resources: Mapping[str, Any], arn: str) -> bytes:
    (properties,) = (each["Properties"] for each in resources.values() if each["Id"] == arn)
    found = emulator.client("lambda").get_layer_version_by_arn(Arn=arn)
    return _fetch(emulator, properties["Content"], found["Content"]["CodeSha256"])


def _fetch(emulator: Emulator, place: Mapping[str, str], sha256: str) -> bytes:
    answer = emulator.client("s3").get_object(Bucket=place["S3Bucket"], Key=place["S3Key"])
    content: bytes = answer["Body"].read()
    if base64.b64encode(hashlib.sha256(content).digest()).decode() != sha256:
        raise RehearsalError(f"Lambda has other code than {place['S3Key']} in S3")
    return content


def _unpack(zips: tuple[bytes, ...] | list[bytes], folder: Path) -> Path:
    """Returns a folder with the content of all zips, later ones replacing earlier ones.

    Unpacks once.
    """
    digest = hashlib.sha256(b"".join(hashlib.sha256(each).digest() for each in zips)).hexdigest()
    place = folder / f"unpacked-{digest[:12]}"
    if not place.exists():
        place.mkdir()
        for content in zips:
            with ZipFile(io.BytesIO(content)) as archive:
                archive.extractall(place)
    return place
