# SPDX-License-Identifier: Apache-2.0
"""The CDK app of a rehearsal.

Functions are packed for this Python and machine, because they run here. Templates leave out
resources that the emulator cannot make.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from kafka_lag_cdk.app import main
from kafka_lag_cdk.packaging import Target, build

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


if __name__ == "__main__":
    code = main(build(Target.here()))
    for path in Path(os.environ["CDK_OUTDIR"]).glob("*.template.json"):
        path.write_text(json.dumps(leave_out(json.loads(path.read_text())), indent=1))
    sys.exit(code)
