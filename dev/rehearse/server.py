# SPDX-License-Identifier: Apache-2.0
"""Runs the emulator's process: ministack, corrected where it differs from AWS.

`dev.rehearse.emulator` starts it, with a listening socket's descriptor as its argument. It reports
on its stdout: each line is a JSON object with an `event`, which is `ready`, `denied` (a call that
no policy allows), `invoked` (something in the account calls a function) or `otlp` (CloudWatch gets
points by OTLP). It ends when its stdin does.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable
from threading import Lock, Thread
from typing import Any
from urllib.parse import unquote

from hypercorn.asyncio import serve
from hypercorn.config import Config
from ministack import app as ministack
from ministack.core import iam_actions, iam_evaluator
from ministack.services import lambda_svc, secretsmanager
from ministack.services.cloudformation import provisioners

from dev.otlp import decode_request, points_of

# CloudWatch's OTLP endpoint, which ministack lacks.
_OTLP_PATH = "/v1/metrics"
_MSK_CLUSTER = re.compile(r"/v1/clusters/(?P<arn>arn:[^/]+/[^/]+/[^/]+)")

_SECRET = "AWS::SecretsManager::Secret"  # noqa: S105 - a type of resource
# The handler of the function that CloudFormation waits for.
_LOOK_UP = "index.handler"
_SECRET_SUFFIX = re.compile(r"-[^-]{6}$")
_Properties = dict[str, Any]

_Application = Callable[[Any, Any, Any], Awaitable[None]]


class Reporter:
    """Writes events to the original stdout; everything else that is printed goes to stderr."""

    def __init__(self) -> None:
        self._lines = os.fdopen(os.dup(1), "w", buffering=1)
        self._lock = Lock()
        os.dup2(2, 1)

    def report(self, event: str, **fields: Any) -> None:
        """Writes one event as a line."""
        line = json.dumps({"event": event, **fields}, default=str)
        with self._lock:
            self._lines.write(f"{line}\n")


def main() -> None:
    """Serves until stdin ends."""
    reporter = Reporter()
    Thread(target=_end_with_parent, daemon=True).start()
    _name_secrets_by_arn()
    _report_denials(reporter)
    _name_source_account()
    _name_msk_clusters()
    _report_invocations(reporter)
    config = Config()
    config.bind = [f"fd://{sys.argv[1]}"]
    config.keep_alive_timeout = 75
    config.loglevel = "WARNING"
    asyncio.run(serve(_application(reporter), config))


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def _application(reporter: Reporter) -> _Application:
    """Returns ministack as if behind a proxy that ends TLS, because bucket and topic demand TLS."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        async def passing_on(message: Any) -> None:
            await send(message)
            if message["type"] == "lifespan.startup.complete":
                reporter.report("ready")

        if scope["type"] == "http" and scope["path"] == _OTLP_PATH:
            reporter.report("otlp", points=points_of(decode_request(await _read_body(receive))))
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body"})
            return
        if scope["type"] == "http":
            scope["headers"] = [*scope["headers"], (b"x-forwarded-proto", b"https")]
        await ministack.app(scope, receive, passing_on)

    return application


async def _read_body(receive: Any) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def _name_secrets_by_arn() -> None:
    """Makes a secret's Ref its ARN, and its generated value obey excluded characters, as in AWS.

    ministack's Ref is the name, and it ignores the characters that a password must not have.
    """
    plain = provisioners._RESOURCE_HANDLERS[_SECRET]

    def create(logical_id: str, properties: _Properties, stack: str) -> tuple[str, _Properties]:
        own = dict(properties)
        if ordered := own.pop("GenerateSecretString", None):
            answer = secretsmanager._get_random_password(ordered)
            own["SecretString"] = json.loads(answer[2])["RandomPassword"]
        _, attributes = plain["create"](logical_id, own, stack)
        return attributes["Arn"], attributes

    def update(
        made: str, old: _Properties, new: _Properties, *rest: Any
    ) -> tuple[str, _Properties]:
        _, attributes = plain["update"](_name_of(made), old, new, *rest)
        return attributes["Arn"], attributes

    def delete(made: str, properties: _Properties) -> None:
        plain["delete"](_name_of(made), properties)

    own = {"create": create, "update": update, "delete": delete}
    provisioners._RESOURCE_HANDLERS[_SECRET] = {**plain, **own}


def _name_of(arn: str) -> str:
    return _SECRET_SUFFIX.sub("", arn.rsplit(":", 1)[1])


def _report_denials(reporter: Reporter) -> None:
    enforce = iam_evaluator.enforce

    def reporting(
        access_key_id: str, iam_action: str, service: str, *args: Any, **options: Any
    ) -> Any:
        result = enforce(access_key_id, iam_action, service, *args, **options)
        if result is not None:
            reporter.report(
                "denied",
                principal=getattr(result, "principal_arn", access_key_id),
                action=iam_action,
                resource=options.get("resource_arn", "*"),
            )
        return result

    iam_evaluator.enforce = reporting


def _name_msk_clusters() -> None:
    """Reads a cluster's whole ARN from the path of MSK's calls; rights are granted on it."""
    extract = iam_actions.extract_resource_arn

    def naming(service: str, method: str, path: str, *args: Any, **options: Any) -> str:
        named = _MSK_CLUSTER.match(unquote(path)) if service == "kafka" else None
        return named["arn"] if named else str(extract(service, method, path, *args, **options))

    iam_actions.extract_resource_arn = naming


def _name_source_account() -> None:
    """Adds the source account to assumed roles, because the caller stands for a service of AWS."""
    evaluate = iam_evaluator.evaluate_trust_policy

    def naming(document: Any, caller: str, context: Any = None) -> bool:
        if context is not None:
            context.service_context["aws:sourceaccount"] = context.principal_account
        return bool(evaluate(document, caller, context))

    iam_evaluator.evaluate_trust_policy = naming


def _report_invocations(reporter: Reporter) -> None:
    """Reports calls of functions instead of running them.

    The rehearsal runs them with their layers. The function that CloudFormation waits for has no
    layers and is run here.
    """
    execute = lambda_svc._execute_function

    def reporting(function: Any, event: Any) -> dict[str, Any]:
        config = function.get("config") or function
        if config["Handler"] == _LOOK_UP:
            return dict(execute(function, event))
        reporter.report("invoked", function=config["FunctionName"], payload=event)
        return {"body": {}}

    lambda_svc._execute_function = reporting


if __name__ == "__main__":
    main()
