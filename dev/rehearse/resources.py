# SPDX-License-Identifier: Apache-2.0
"""Lets ministack deploy the kinds of resources that it lacks: it only notes them.

Nothing stands behind these resources, so the rehearsal shows that stacks with them deploy, change
and go. Whether AWS accepts their properties is not shown; the deploy's own validation says that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ministack.core.responses import get_account_id, get_region
from ministack.services import secretsmanager
from ministack.services.cloudformation import provisioners

Properties = dict[str, Any]
# A resource's physical id (what Ref gives) and attributes (what Fn::GetAtt gives).
Made = tuple[str, dict[str, Any]]

NOTED = (
    "AWS::ApplicationAutoScaling::ScalableTarget",
    "AWS::ApplicationAutoScaling::ScalingPolicy",
    "AWS::Athena::NamedQuery",
    "AWS::Chatbot::MicrosoftTeamsChannelConfiguration",
    "AWS::Chatbot::SlackChannelConfiguration",
    "AWS::CloudWatch::AnomalyDetector",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
)
_ALARM = "AWS::CloudWatch::Alarm"
_SECRET = "AWS::SecretsManager::Secret"  # noqa: S105 - a type of resource
_SECRET_SUFFIX = re.compile(r"-[^-]{6}$")


def register() -> None:
    """Adds the kinds to those of ministack."""
    handlers = provisioners._RESOURCE_HANDLERS
    for name in NOTED:
        handlers[name] = {"create": _create, "update": _update, "delete": _delete}
    handlers[_ALARM] = _note_metric_math(handlers[_ALARM])
    handlers[_SECRET] = _name_by_arn(handlers[_SECRET])


def _create(logical_id: str, properties: Properties, stack: str) -> Made:  # noqa: ARG001
    arn = f"arn:aws:noted:{get_region()}:{get_account_id()}:{stack}/{logical_id}"
    return arn, {"Arn": arn, "Id": arn}


def _update(made: str, old: Properties, new: Properties, _stack: str) -> Made:  # noqa: ARG001
    return made, {"Arn": made, "Id": made}


def _delete(made: str, properties: Properties) -> None:
    """There is nothing to delete."""


def _note_metric_math(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the handler of alarms; those on expressions, which ministack refuses, are noted."""

    def create(logical_id: str, properties: Properties, stack: str) -> Made:
        if "Metrics" not in properties:
            made: Made = plain["create"](logical_id, properties, stack)
            return made
        name = str(properties["AlarmName"])
        arn = f"arn:aws:cloudwatch:{get_region()}:{get_account_id()}:alarm:{name}"
        return name, {"Arn": arn}

    def update(made: str, old: Properties, new: Properties, *rest: Any) -> Made:
        if "Metrics" in new:
            return create("", new, "")
        again: Made = plain["update"](made, old, new, *rest)
        return again

    def delete(made: str, properties: Properties) -> None:
        if "Metrics" not in properties:
            plain["delete"](made, properties)

    flags = {key: value for key, value in plain.items() if not callable(value)}
    return {**flags, "create": create, "update": update, "delete": delete}


def _name_by_arn(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the handler of secrets whose Ref is the ARN, as in AWS, with generated values.

    ministack's Ref is the name, and its templates cannot leave characters out of a password.
    """

    def create(logical_id: str, properties: Properties, stack: str) -> Made:
        own = dict(properties)
        if ordered := own.pop("GenerateSecretString", None):
            answer = secretsmanager._get_random_password(ordered)
            own["SecretString"] = json.loads(answer[2])["RandomPassword"]
        _, attributes = plain["create"](logical_id, own, stack)
        return attributes["Arn"], attributes

    def update(made: str, old: Properties, new: Properties, *rest: Any) -> Made:
        _, attributes = plain["update"](_name_of(made), old, new, *rest)
        return attributes["Arn"], attributes

    def delete(made: str, properties: Properties) -> None:
        plain["delete"](_name_of(made), properties)

    return {**plain, "create": create, "update": update, "delete": delete}


def _name_of(arn: str) -> str:
    return _SECRET_SUFFIX.sub("", arn.rsplit(":", 1)[1])
