# SPDX-License-Identifier: Apache-2.0
"""CloudFormation resources that ministack lacks, registered with it in its own process.

Each holds its properties against the parameters that AWS's call takes, as botocore knows them.
Named queries and security group rules are then in ministack's Athena and EC2; of the others there
is no service behind, so that an event with the properties is all that is left of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import botocore.session
from botocore.validate import ParamValidator
from ministack.core.responses import get_account_id, get_region, new_uuid
from ministack.services import athena, ec2, secretsmanager
from ministack.services.cloudformation import provisioners

Properties = dict[str, Any]
# A resource's physical id (what Ref gives) and attributes (what Fn::GetAtt gives).
Made = tuple[str, dict[str, Any]]

_ALARM = "AWS::CloudWatch::Alarm"
_SECRET = "AWS::SecretsManager::Secret"  # noqa: S105 - a type of resource
_SECRET_SUFFIX = re.compile(r"-[^-]{6}$")
_CHAT_NAMES = {
    "SlackWorkspaceId": "SlackTeamId",
    "TeamsChannelId": "ChannelId",
    "TeamsTenantId": "TenantId",
    "GuardrailPolicies": "GuardrailPolicyArns",
}


class Report(Protocol):
    """Takes an event and its fields."""

    def __call__(self, event: str, **fields: Any) -> None: ...


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of resource: the call that makes it, and what it then is called.

    `parameters` makes the call's parameters of the properties. `make` and `remove` act on
    ministack where it has the service. `registered`: what the service holds once it is made, where
    the call also updates and so keeps what it is not given.
    """

    service: str
    operation: str
    identify: Callable[[Properties], str]
    parameters: Callable[[Properties], Properties] = dict
    make: Callable[[Properties], str] | None = None
    remove: Callable[[str, Properties], None] | None = None
    registered: Callable[[str], Properties] | None = None

    def holds(self, made: str, properties: Properties) -> Properties:
        """What is in force under this id."""
        return self.registered(made) if self.registered else properties


def register(report: Report) -> None:
    """Adds the kinds to those of ministack; each change of one is an event `resource`."""
    handlers = provisioners._RESOURCE_HANDLERS
    for name, kind in KINDS.items():
        handlers[name] = _handler(name, kind, report)
    handlers[_ALARM] = _alarms_with_metric_math(handlers[_ALARM], report)
    handlers[_SECRET] = _secrets_by_arn(handlers[_SECRET])


def _handler(name: str, kind: Kind, report: Report) -> dict[str, Any]:
    def create(_logical_id: str, properties: Properties, _stack: str) -> Made:
        check(kind.service, kind.operation, kind.parameters(_without_tags(properties)))
        made = kind.make(properties) if kind.make else kind.identify(properties)
        held = kind.holds(made, properties)
        report("resource", change="create", type=name, id=made, properties=held)
        return made, {"Arn": made, "Id": made}

    def update(made: str, old: Properties, new: Properties, _stack: str) -> Made:
        check(kind.service, kind.operation, kind.parameters(_without_tags(new)))
        again = made
        if kind.make:
            if kind.remove and not kind.registered:
                kind.remove(made, old)
            again = kind.make(new)
        held = kind.holds(again, new)
        report("resource", change="update", type=name, id=again, properties=held)
        return again, {"Arn": again, "Id": again}

    def delete(made: str, properties: Properties) -> None:
        if kind.remove:
            kind.remove(made, properties)
        report("resource", change="delete", type=name, id=made, properties=properties)

    return {"create": create, "update": update, "delete": delete}


def _without_tags(properties: Properties) -> Properties:
    """Tags are a list in every template, and whatever it may be in calls."""
    return {key: value for key, value in properties.items() if key != "Tags"}


def check(service: str, operation: str, parameters: Properties) -> None:
    """Raises ValueError, as a failing resource does, for parameters that AWS's call lacks."""
    shape = _model(service).operation_model(operation).input_shape
    unknown = sorted(set(parameters) - set(shape.members))
    faults = ParamValidator().validate(parameters, shape).generate_report()
    if unknown or faults:
        raise ValueError(f"{operation} takes no {', '.join(unknown) or 'such value'}: {faults}")


@cache
def _model(service: str) -> Any:
    return botocore.session.get_session().get_service_model(service)


def _arn(service: str, rest: str) -> str:
    return f"arn:aws:{service}:{get_region()}:{get_account_id()}:{rest}"


def _renamed(properties: Properties, names: Mapping[str, str]) -> Properties:
    return {names.get(key, key): value for key, value in properties.items()}


def _target_of(properties: Properties) -> Properties:
    """CloudFormation names a policy's target by its id, the service by its three parts."""
    resource, dimension, namespace = properties["ScalingTargetId"].split("|")
    own = {key: value for key, value in properties.items() if key != "ScalingTargetId"}
    return {
        **own,
        "ResourceId": resource,
        "ScalableDimension": dimension,
        "ServiceNamespace": namespace,
    }


def _target_id(properties: Properties) -> str:
    parts = ("ResourceId", "ScalableDimension", "ServiceNamespace")
    return "|".join(properties[part] for part in parts)


_scalable_targets: dict[str, Properties] = {}


def _register_target(properties: Properties) -> str:
    """As AWS does it: of a target that is there, what is not given is not changed."""
    target = _target_id(properties)
    _scalable_targets[target] = {**_scalable_targets.get(target, {}), **properties}
    return target


def _without_scheduled_actions(properties: Properties) -> Properties:
    """CloudFormation makes a call of its own of each."""
    rest = dict(properties)
    keys = ("ServiceNamespace", "ResourceId", "ScalableDimension")
    for action in rest.pop("ScheduledActions", ()):
        target = {key: properties[key] for key in keys}
        check("application-autoscaling", "PutScheduledAction", {**target, **action})
    return rest


def _deregister_target(target: str, _: Properties) -> None:
    _scalable_targets.pop(target, None)


def _policy_arn(properties: Properties) -> str:
    resource = properties["ScalingTargetId"].split("|")[0]
    name = properties["PolicyName"]
    return _arn(
        "autoscaling", f"scalingPolicy:{new_uuid()}:resource/ecs/{resource}:policyName/{name}"
    )


def _save_query(properties: Properties) -> str:
    answer = athena._create_named_query(properties)
    return str(json.loads(answer[2])["NamedQueryId"])


def _delete_query(query_id: str, _: Properties) -> None:
    athena._delete_named_query({"NamedQueryId": query_id})


def _rule_parameters(properties: Properties) -> Properties:
    """A rule as AuthorizeSecurityGroupIngress and -Egress take it."""
    own = dict(properties)
    group, described = own.pop("GroupId"), {}
    if "Description" in own:
        described = {"Description": own.pop("Description")}
    peer = own.pop("SourceSecurityGroupId", None) or own.pop("DestinationSecurityGroupId", None)
    if peer:
        own["UserIdGroupPairs"] = [{"GroupId": peer, **described}]
    if "CidrIp" in own:
        own["IpRanges"] = [{"CidrIp": own.pop("CidrIp"), **described}]
    return {"GroupId": group, "IpPermissions": [own]}


def _rules(properties: Properties, direction: str) -> list[Any]:
    group = ec2._security_groups.get(properties["GroupId"])
    if group is None:
        raise ValueError(f"There is no security group {properties['GroupId']}")
    found: list[Any] = group[direction]
    return found


def _rule_kind(direction: str, operation: str) -> Kind:
    def permission(properties: Properties) -> Any:
        return provisioners._ec2_sg_permissions([properties])[0]

    def authorize(properties: Properties) -> str:
        _rules(properties, direction).append(permission(properties))
        return f"sgr-{new_uuid().replace('-', '')[:17]}"

    def revoke(_: str, properties: Properties) -> None:
        if properties["GroupId"] in ec2._security_groups:
            rules, gone = _rules(properties, direction), permission(properties)
            rules[:] = [each for each in rules if not _same_rule(each, gone)]

    return Kind(
        "ec2", operation, identify=str, parameters=_rule_parameters, make=authorize, remove=revoke
    )


def _same_rule(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(key) == value for key, value in other.items())


def _chat(operation: str) -> Kind:
    return Kind(
        "chatbot",
        operation,
        identify=lambda found: _arn("chatbot", f"chat-configuration/{found['ConfigurationName']}"),
        parameters=lambda found: _renamed(found, _CHAT_NAMES),
    )


def _alarms_with_metric_math(plain: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Alarms on expressions, which ministack refuses; those on one metric are its own."""
    own = _handler(
        _ALARM,
        Kind(
            "cloudwatch",
            "PutMetricAlarm",
            identify=lambda found: str(found["AlarmName"]),
        ),
        report,
    )

    def create(logical_id: str, properties: Properties, stack: str) -> Made:
        kind = own if "Metrics" in properties else plain
        name, _ = kind["create"](logical_id, properties, stack)
        return name, {"Arn": _arn("cloudwatch", f"alarm:{name}")}

    def update(
        made: str, old: Properties, new: Properties, stack: str, logical_id: str | None = None
    ) -> Made:
        if "Metrics" not in new:
            again: Made = plain["update"](made, old, new, stack, logical_id)
            return again
        own["update"](made, old, new, stack)
        return made, {"Arn": _arn("cloudwatch", f"alarm:{made}")}

    def delete(made: str, properties: Properties) -> None:
        (own if "Metrics" in properties else plain)["delete"](made, properties)

    flags = {key: value for key, value in plain.items() if not callable(value)}
    return {**flags, "create": create, "update": update, "delete": delete}


def _secrets_by_arn(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Secrets whose Ref is the ARN, as in AWS, and whose values are generated as ordered.

    ministack's Ref is the name, and its templates know of no characters to leave out.
    """

    def named(arn: str) -> str:
        return _SECRET_SUFFIX.sub("", arn.rsplit(":", 1)[1])

    def create(logical_id: str, properties: Properties, stack: str) -> Made:
        own = dict(properties)
        if ordered := own.pop("GenerateSecretString", None):
            check("secretsmanager", "GetRandomPassword", ordered)
            answer = secretsmanager._get_random_password(ordered)
            own["SecretString"] = json.loads(answer[2])["RandomPassword"]
        _, attributes = plain["create"](logical_id, own, stack)
        return attributes["Arn"], attributes

    def update(
        made: str, old: Properties, new: Properties, stack: str, logical_id: str | None = None
    ) -> Made:
        _, attributes = plain["update"](named(made), old, new, stack, logical_id)
        return attributes["Arn"], attributes

    def delete(made: str, properties: Properties) -> None:
        plain["delete"](named(made), properties)

    return {**plain, "create": create, "update": update, "delete": delete}


KINDS = {
    "AWS::ApplicationAutoScaling::ScalableTarget": Kind(
        "application-autoscaling",
        "RegisterScalableTarget",
        identify=_target_id,
        parameters=_without_scheduled_actions,
        make=_register_target,
        remove=_deregister_target,
        registered=_scalable_targets.__getitem__,
    ),
    "AWS::ApplicationAutoScaling::ScalingPolicy": Kind(
        "application-autoscaling",
        "PutScalingPolicy",
        identify=_policy_arn,
        parameters=_target_of,
    ),
    "AWS::Athena::NamedQuery": Kind(
        "athena", "CreateNamedQuery", identify=str, make=_save_query, remove=_delete_query
    ),
    "AWS::Chatbot::MicrosoftTeamsChannelConfiguration": _chat(
        "CreateMicrosoftTeamsChannelConfiguration"
    ),
    "AWS::Chatbot::SlackChannelConfiguration": _chat("CreateSlackChannelConfiguration"),
    "AWS::CloudWatch::AnomalyDetector": Kind(
        "cloudwatch", "PutAnomalyDetector", identify=lambda _: new_uuid()
    ),
    "AWS::EC2::SecurityGroupEgress": _rule_kind(
        "IpPermissionsEgress", "AuthorizeSecurityGroupEgress"
    ),
    "AWS::EC2::SecurityGroupIngress": _rule_kind("IpPermissions", "AuthorizeSecurityGroupIngress"),
}
