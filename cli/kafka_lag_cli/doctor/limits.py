# SPDX-License-Identifier: Apache-2.0
"""Checks of the account's limits: concurrency, alarms, network interfaces.

CloudFormation meets them in the middle of a deploy and rolls a stack back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kafka_lag.wording.formatting import format_list
from kafka_lag_cdk.alarm_rules import (
    broker_rules,
    group_rules,
    query_rules,
    reporter_rules,
)
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cli.account.errors import AwsError, using
from kafka_lag_cli.doctor.findings import Finding
from kafka_lag_cli.doctor.place import Place

CONCURRENCY, ALARMS, INTERFACES = "concurrency", "alarms", "network interfaces"

# Lambda keeps so many for functions that reserve none [Lambda developer guide, reserved
# concurrency].
_UNRESERVED = 100
# Alarms of an account and region, unless AWS was asked for more [CloudWatch user guide, quotas].
_MOST_ALARMS = 5_000
# Interfaces of functions in a VPC, likewise [Lambda developer guide, quotas]: one a subnet and
# security group, and each collector has a group of its own.
_MOST_INTERFACES = 500
_OF_A_SERVICE = 3
_TYPES = ["MetricAlarm", "CompositeAlarm"]
_NAMED = 5

_VIEWS_FUNCTION, _FUNCTION = "ViewsFunction", "Function"
_ABSENT = ("ValidationError", "ResourceNotFoundException")


def check_limits(place: Place) -> Iterator[tuple[str, Iterable[Finding]]]:
    """Each check with its findings, which raise AwsError; of all clusters of the place."""
    yield CONCURRENCY, _check_concurrency(place)
    yield ALARMS, _check_alarms(place)
    yield INTERFACES, _check_interfaces(place)


def _clusters(place: Place) -> tuple[Cluster, ...]:
    return place.deployment.places()[place.deployment.place_of(place.cluster)]


def _check_concurrency(place: Place) -> Iterator[Finding]:
    wanted = {
        place.deployment.stack_name(each): ("function.alone", _FUNCTION, 1)
        for each in _clusters(place)
        if each.function.alone
    }
    shared = place.deployment.shared
    if shared.views and shared.views.concurrency:
        stack = place.deployment.views_stack_name
        wanted[stack] = ("shared.views.concurrency", _VIEWS_FUNCTION, shared.views.concurrency)
    if shared.status_messages and shared.status_messages.alone:
        stack = place.deployment.shared_stack_name
        wanted[stack] = ("shared.status_messages.alone", "", 1)
    with using("lambda:GetAccountSettings"):
        limits = place.client("lambda").get_account_settings()["AccountLimit"]
    total, free = limits["ConcurrentExecutions"], limits["UnreservedConcurrentExecutions"]
    more = sum(
        max(0, count - _reserved(place, stack, output))
        for stack, (_, output, count) in wanted.items()
    )
    if more <= max(0, free - _UNRESERVED):
        reserved = f", of which {more} more are reserved" if more else ""
        yield Finding(CONCURRENCY, "ok", f"{total} executions at once{reserved}")
        return
    keys = sorted({key for key, *_ in wanted.values()})
    yield Finding(
        CONCURRENCY,
        "fault",
        f"{more} more are to be reserved ({format_list(keys, _NAMED)}), and the account has {free} "
        f"of {total} unreserved, of which {_UNRESERVED} stay so",
        f"The deploy would fail. Reserve none ({_off(keys)}), or ask for more; a new account has "
        "10.",
        place.aws(
            "service-quotas request-service-quota-increase",
            service_code="lambda",
            quota_code="L-B99A9384",
            desired_value=1000,
        ),
    )


def _off(keys: Iterable[str]) -> str:
    return ", ".join(f'{key} = "off"' if "views" in key else f"{key} = false" for key in keys)


def _reserved(place: Place, stack: str, output: str) -> int:
    """Return the concurrency that a deployed function has reserved; 0 if it is not deployed.

    The function of messages is no output: where its stack is there, it is taken to have its one.
    """
    try:
        with using("cloudformation:DescribeStacks"):
            (found,) = place.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
        if not output:
            return 1
        outputs = {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", [])}
        if output not in outputs:
            return 0
        with using("lambda:GetFunctionConcurrency"):
            answer = place.client("lambda").get_function_concurrency(FunctionName=outputs[output])
    except AwsError as error:
        if error.code in _ABSENT:
            return 0
        raise
    return int(answer.get("ReservedConcurrentExecutions", 0))


def _check_alarms(place: Place) -> Iterator[Finding]:
    ours = sum(_count_alarms(each) for each in _clusters(place))
    prefix = f"{place.deployment.name}/"
    with using("cloudwatch:DescribeAlarms"):
        # Without types AWS leaves composite alarms out.
        pages = (
            place.client("cloudwatch").get_paginator("describe_alarms").paginate(AlarmTypes=_TYPES)
        )
        theirs = sum(
            not alarm["AlarmName"].startswith(prefix)
            for page in pages
            for alarm in (*page.get("MetricAlarms", ()), *page.get("CompositeAlarms", ()))
        )
    said = f"{ours} of this deployment and {theirs} others in {place.region}"
    if ours + theirs <= _MOST_ALARMS:
        yield Finding(ALARMS, "ok", said)
        return
    yield Finding(
        ALARMS,
        "warning",
        said,
        f"A region takes {_MOST_ALARMS:,} unless AWS was asked for more, which is not seen from "
        "here: beyond that the deploy would fail. Name fewer groups in alarms.groups.",
    )


def _count_alarms(cluster: Cluster) -> int:
    """About: those of a service are three at most."""
    return (
        len(reporter_rules(paused=cluster.paused, sinks=cluster.sink_names))
        + len(list(query_rules(cluster)))
        + len(list(group_rules(cluster)))
        + len(broker_rules(brokers=cluster.watches_brokers, disks=cluster.has_disks))
        + _OF_A_SERVICE * len(cluster.scaling_in(None))
    )


def _check_interfaces(place: Place) -> Iterator[Finding]:
    vpc = place.cluster.vpc
    inside = [each for each in _clusters(place) if each.vpc.id == vpc.id]
    ours = sum(len(each.vpc.subnets) for each in inside)
    client = place.client("ec2")
    with using("ec2:DescribeNetworkInterfaces"):
        there = _interfaces(client, vpc.id)
    stacks = tuple(f"{place.deployment.stack_name(each)}-" for each in inside)
    others = sum(not any(stack in each for stack in stacks) for each in there)
    if ours + others > _MOST_INTERFACES:
        yield Finding(
            INTERFACES,
            "warning",
            f"{ours} of this deployment and {others} of other functions in {vpc.id}",
            f"A VPC takes {_MOST_INTERFACES} of functions unless AWS was asked for more, which is "
            "not seen from here. Fewer subnets take fewer: one a zone is enough.",
        )
        return
    with using("ec2:DescribeSubnets"):
        subnets = client.describe_subnets(
            Filters=[{"Name": "subnet-id", "Values": list(vpc.subnets)}]
        )["Subnets"]
    # Those that are there need no address more.
    needs = len(inside) if len(there) == others else 0
    full = [
        each["SubnetId"] for each in subnets if each.get("AvailableIpAddressCount", needs) < needs
    ]
    if full:
        yield Finding(
            INTERFACES,
            "fault",
            f"{format_list(full, _NAMED)} has no address left for {needs} of them",
            "The function could not start in that zone: take a subnet with more room.",
        )
        return
    yield Finding(INTERFACES, "ok", f"{ours} of this deployment in {vpc.id}")


def _interfaces(client: Any, vpc: str) -> list[str]:
    """The descriptions of functions' interfaces in a VPC, which hold the functions' names."""
    filters = [
        {"Name": "vpc-id", "Values": [vpc]},
        {"Name": "interface-type", "Values": ["lambda"]},
    ]
    pages = client.get_paginator("describe_network_interfaces").paginate(Filters=filters)
    return [
        str(each.get("Description", "")) for page in pages for each in page["NetworkInterfaces"]
    ]
