# SPDX-License-Identifier: Apache-2.0
"""Warnings at synthesis: ours, and those of cdk-nag and CDK that are acknowledged with a reason."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsii
from aws_cdk import Acknowledgment, Annotations, Stack, Validations
from constructs import Construct, IValidation

from kafka_lag_config.doubts import Doubt
from kafka_lag_config.physical_names import digest

_PACK = "AwsSolutions"
# Packs that people at banks and hospitals hold against a stack, and what they find on Lambdas.
_STRICT_PACKS = ("HIPAA.Security", "NIST.800.53.R4", "NIST.800.53.R5", "Serverless")
_OF_LAMBDAS = {
    "LambdaConcurrency": "A function that reads brokers has reserved_concurrency in the "
    "configuration; a small account has none to reserve for others",
    "LambdaDLQ": "Nothing is lost with a failed event: a later run reads the same, and a deploy or "
    "a request that failed says so",
    "LambdaInsideVPC": "A function that reads no brokers calls services of AWS alone, with rights "
    "of its own",
    "LambdaTracing": "Lambda's metrics have how long a run took, and its log what failed in it",
}


def warn(construct: Construct, doubt: Doubt, subject: str = "") -> None:
    """Warns of what the configuration is unlikely to mean, of a subject if there are several."""
    Annotations.of(construct).add_warning_v2(
        f"msk-lag-reporter:{doubt.kind}-{digest(doubt.about)}", f"{subject}{doubt.sentence}"
    )


def acknowledge_nag(construct: Construct, rule: str, reason: str) -> None:
    """Acknowledges a finding, such as L1, on a construct and on everything in it."""
    finding = Acknowledgment(id=f"{_PACK}-{rule}", reason=reason)
    Validations.of(construct).acknowledge(finding)


def acknowledge_function(function: Construct, *, is_newest: bool = False) -> None:
    """Acknowledges findings on a Lambda; `is_newest` is true if Lambda has no newer Python."""
    if not is_newest:
        reason = "Python 3.13 is what this project is tested on, and Glue 6.0 has"
        acknowledge_nag(function, "L1", reason)
    acknowledge_strict(function, _OF_LAMBDAS)


def acknowledge_strict(construct: Construct, reasons: Mapping[str, str]) -> None:
    """Acknowledges what stricter packs than AwsSolutions find, such as LambdaDLQ, by its rule."""
    findings = [
        Acknowledgment(id=f"{pack}-{rule}", reason=reason)
        for pack in _STRICT_PACKS
        for rule, reason in reasons.items()
    ]
    Validations.of(construct).acknowledge(*findings)


def acknowledge_warning(construct: Construct, warning: str, reason: str) -> None:
    """Acknowledges a warning of CDK's own."""
    Validations.of(construct).acknowledge(Acknowledgment(id=warning, reason=reason))


def acknowledge_wildcard(construct: Construct, resource: str, reason: str) -> None:
    """Acknowledges the finding that a policy in the construct names a resource with an asterisk."""
    wildcard = _Wildcard(construct, resource, reason)
    # Now for aspects that copy acknowledgements to templates, and once more for cdk-nag.
    wildcard.validate()
    construct.node.add_validation(wildcard)


@jsii.implements(IValidation)
class _Wildcard:
    """Acknowledges the finding again when CDK validates the tree, just before cdk-nag reads it.

    Earlier, what another stack has is not yet the import that cdk-nag sees.
    """

    def __init__(self, construct: Construct, resource: str, reason: str) -> None:
        self._construct, self._resource, self._reason = construct, resource, reason
        self._acknowledged = ""

    def validate(self) -> list[str]:
        """Returns no errors."""
        shown = _as_shown(Stack.of(self._construct).resolve(self._resource))
        if shown != self._acknowledged:
            acknowledge_nag(self._construct, f"IAM5[Resource::{shown}]", self._reason)
            self._acknowledged = shown
        return []


def _as_shown(resolved: Any) -> str:
    """Returns a resolved value as cdk-nag writes it in a finding's id."""
    if isinstance(resolved, str):
        return resolved.replace("${", "<").replace("}", ">")
    if "Fn::Join" in resolved:
        separator, parts = resolved["Fn::Join"]
        return str(separator).join(_as_shown(part) for part in parts)
    if "Fn::GetAtt" in resolved:
        return f"<{'.'.join(resolved['Fn::GetAtt'])}>"
    if "Fn::ImportValue" in resolved:
        return _as_shown(resolved["Fn::ImportValue"])
    if "Ref" in resolved:
        return f"<{resolved['Ref']}>"
    return json.dumps(resolved, separators=(",", ":"))
