# SPDX-License-Identifier: Apache-2.0
"""Why a rule of cdk-nag does not apply: one reason beside the one finding it answers."""

from __future__ import annotations

import json
from typing import Any

from aws_cdk import Acknowledgment, Stack, Validations
from constructs import Construct

_PACK = "AwsSolutions"


def explained(construct: Construct, rule: str, reason: str) -> None:
    """Answers a finding on a construct and what is in it, such as L1."""
    finding = Acknowledgment(id=f"{_PACK}-{rule}", reason=reason)
    Validations.of(construct).acknowledge(finding)


def tested_runtime(function: Construct) -> None:
    """Answers the finding that Lambda has a newer Python than a function's."""
    explained(function, "L1", "Python 3.13 is what this project is tested on, and Glue 6.0 has")


def understood(construct: Construct, warning: str, reason: str) -> None:
    """Answers a warning of CDK's own."""
    Validations.of(construct).acknowledge(Acknowledgment(id=warning, reason=reason))


def open_ended(construct: Construct, resource: str, reason: str) -> None:
    """Answers the finding that a policy in the construct names a resource with an asterisk."""
    told = _as_told(Stack.of(construct).resolve(resource))
    explained(construct, f"IAM5[Resource::{told}]", reason)


def _as_told(resolved: Any) -> str:
    """A resolved value as cdk-nag writes it in a finding's id."""
    if isinstance(resolved, str):
        return resolved
    if "Fn::Join" in resolved:
        separator, parts = resolved["Fn::Join"]
        return str(separator).join(_as_told(part) for part in parts)
    if "Fn::GetAtt" in resolved:
        return f"<{'.'.join(resolved['Fn::GetAtt'])}>"
    if "Ref" in resolved:
        return f"<{resolved['Ref']}>"
    return json.dumps(resolved, separators=(",", ":"))
