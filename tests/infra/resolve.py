# SPDX-License-Identifier: Apache-2.0
"""Replaces the intrinsic functions of a template by values, as a deploy might."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ACCOUNT, REGION = "111122223333", "eu-west-1"

_PSEUDO = {
    "AWS::AccountId": ACCOUNT,
    "AWS::Region": REGION,
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::StackName": "a-stack",
    "AWS::StackId": f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/a-stack/0a1b",
}

# What `Ref` and `Fn::GetAtt Arn` look like, by resource type, where a name alone would not do.
_ARNS = {
    "AWS::SNS::Topic": "sns:{region}:{account}:{name}",
    "AWS::KMS::Key": "kms:{region}:{account}:key/0a1b2c3d-aaaa-bbbb-cccc-444455556666",
    "AWS::MSK::Cluster": (
        "kafka:{region}:{account}:cluster/{name}/0a1b2c3d-1111-2222-3333-444455556666-7"
    ),
    "AWS::MSK::ServerlessCluster": (
        "kafka:{region}:{account}:cluster/{name}/0a1b2c3d-1111-2222-3333-444455556666-s1"
    ),
    "AWS::S3::Bucket": "s3:::{name}",
    "AWS::IAM::Role": "iam::{account}:role/{name}",
    "AWS::Lambda::Function": "lambda:{region}:{account}:function:{name}",
    "AWS::Logs::LogGroup": "logs:{region}:{account}:log-group:{name}:*",
    "AWS::CloudWatch::Alarm": "cloudwatch:{region}:{account}:alarm:{name}",
    "AWS::ApplicationAutoScaling::ScalingPolicy": (
        "autoscaling:{region}:{account}:scalingPolicy:0a1b2c3d:resource/ecs/service:policyName/{name}"
    ),
}
_REF_IS_ARN = ("AWS::SNS::Topic", "AWS::ApplicationAutoScaling::ScalingPolicy")


def resolve(template: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Resources by logical id, every intrinsic replaced by a plausible value."""
    answers = _Answers(template)
    return {
        name: {**resource, "Properties": answers.of(resource.get("Properties", {}))}
        for name, resource in template["Resources"].items()
    }


def of_type(resources: Mapping[str, dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    """The properties of all resources of one CloudFormation type, by logical id."""
    return {name: r["Properties"] for name, r in resources.items() if r["Type"] == kind}


class _Answers:
    def __init__(self, template: Mapping[str, Any]) -> None:
        self._resources = template["Resources"]
        self._parameters = template.get("Parameters", {})

    def of(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.of(each) for each in value]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            (key, inner), *_ = value.items()
            if key == "Ref":
                return self._ref(inner)
            if key.startswith("Fn::"):
                return self._function(key.removeprefix("Fn::"), inner)
        return {key: self.of(inner) for key, inner in value.items()}

    def _ref(self, name: str) -> Any:
        if name in _PSEUDO:
            return _PSEUDO[name]
        if name in self._parameters:
            return self._parameters[name].get("Default", name)
        kind = self._resources[name]["Type"]
        return self._arn(name) if kind in _REF_IS_ARN else self._name(name)

    def _name(self, logical_id: str) -> str:
        given = self._resources[logical_id].get("Properties", {}).get("DatabaseInput", {})
        return str(given.get("Name", logical_id.lower()))

    def _arn(self, logical_id: str) -> str:
        kind = self._resources[logical_id]["Type"]
        shape = _ARNS.get(kind, "service:{region}:{account}:{name}")
        return "arn:aws:" + shape.format(
            region=REGION, account=ACCOUNT, name=self._name(logical_id)
        )

    def _function(self, name: str, inner: Any) -> Any:
        if name == "GetAtt":
            owner, attribute = inner if isinstance(inner, list) else inner.split(".", 1)
            return self._arn(owner) if attribute.endswith("Arn") else f"{owner}-{attribute}".lower()
        if name == "Join":
            separator, parts = inner
            return separator.join(str(self.of(part)) for part in parts)
        if name == "Sub":
            text = inner if isinstance(inner, str) else inner[0]
            for pseudo, answer in _PSEUDO.items():
                text = text.replace("${" + pseudo + "}", answer)
            return text
        if name == "Select":
            index, parts = inner
            found = self.of(parts)
            return found[int(index)] if isinstance(found, list) else f"part-{index}"
        if name == "Split":
            separator, text = inner
            return str(self.of(text)).split(separator)
        raise NotImplementedError(f"Fn::{name}")
