# SPDX-License-Identifier: Apache-2.0
"""From who speaks to a topic over its policy and its key to whether a message would arrive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

Resources = Mapping[str, Mapping[str, Any]]
Context = Mapping[str, str]

# What each service needs to write to an encrypted topic [SNS developer guide, key management].
NEEDED_OF_KEY = ("kms:Decrypt", "kms:GenerateDataKey")


def heard(resources: Resources, topic_id: str, service: str, context: Context) -> bool:
    """Whether a service's message passes the topic's policy and that of the topic's key.

    `context` holds the condition keys that the service sends along; one that a condition asks for
    and that is not there never matches.
    """
    key = resources[topic_id]["Properties"]["KmsMasterKeyId"]["Fn::GetAtt"][0]
    of_topic = [each for each in _policies(resources) if {"Ref": topic_id} in each["Topics"]]
    statements = [one for policy in of_topic for one in policy["PolicyDocument"]["Statement"]]
    of_key = resources[key]["Properties"]["KeyPolicy"]["Statement"]
    return allows(statements, service, "sns:Publish", context) and all(
        allows(of_key, service, action, context) for action in NEEDED_OF_KEY
    )


def allows(
    statements: list[Mapping[str, Any]], service: str, action: str, context: Context
) -> bool:
    """Whether some statement allows it and none denies it."""
    effects = {
        one["Effect"]
        for one in statements
        if _is_about(one["Principal"], service)
        and any(fnmatchcase(action, pattern) for pattern in _listed(one["Action"]))
        and _holds(one.get("Condition", {}), context)
    }
    return effects == {"Allow"}


def speakers(resources: Resources) -> Iterator[tuple[str, str, str]]:
    """Who publishes to which topic, and as which service: alarms, by logical id."""
    for name, resource in resources.items():
        properties = resource["Properties"]
        if resource["Type"] == "AWS::CloudWatch::Alarm":
            for kind in ("AlarmActions", "OKActions", "InsufficientDataActions"):
                for action in properties.get(kind, ()):
                    yield name, action["Ref"], "cloudwatch.amazonaws.com"


def topic_ids(resources: Resources) -> dict[str, str]:
    """The ids of topics by the last word of what they are called: alarms, reports."""
    return {
        each["Properties"]["TopicName"].rpartition("-")[2]: name
        for name, each in resources.items()
        if each["Type"] == "AWS::SNS::Topic"
    }


def _policies(resources: Resources) -> Iterator[Mapping[str, Any]]:
    for resource in resources.values():
        if resource["Type"] == "AWS::SNS::TopicPolicy":
            yield resource["Properties"]


def _is_about(principal: Any, service: str) -> bool:
    return principal == "*" or service in _listed(principal.get("Service", []))


def _holds(condition: Mapping[str, Mapping[str, Any]], context: Context) -> bool:
    operators = {"StringEquals", "Bool"}
    assert set(condition) <= operators, f"unknown operators in {condition}"
    return all(
        context.get(key) in _listed(value)
        for wanted in condition.values()
        for key, value in wanted.items()
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
