# SPDX-License-Identifier: Apache-2.0
"""Creates the resources of an account before the first deploy, and their configuration."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.rehearse.backlog import GROUP, TOPIC
from dev.rehearse.emulator import ACCOUNT, REGION, Emulator

# The deployment's own prefix, and its clusters: one with all that a cluster can have, one without.
NAME = "kafka-lag"
FULL, PLAIN = "orders", "payments"
SHARED_STACK, CHAT_STACK, VIEWS_STACK = f"{NAME}-shared", f"{NAME}-chat", f"{NAME}-views"

# Groups that services consume as; the second never commits.
_SERVICES = (GROUP, "mailer")
_CHAT_ID = "0a1b2c3d-aaaa-bbbb-cccc-444455556666"


@dataclass(frozen=True, slots=True)
class Existing:
    """Resources that the deployment needs and does not make: ids and ARNs.

    `msk` is a cluster's ARN.
    """

    vpc: str
    subnets: tuple[str, ...]
    route_table: str
    brokers_security_group: str
    secret: str
    key: str
    msk: str


@dataclass(frozen=True, slots=True)
class Brokers:
    """The address of a Kafka: host:port of SASL_SSL, and the file of its certificate authority.

    MSK tells the other addresses.
    """

    scram: Sequence[str]
    cafile: Path


def stack_of(cluster: str) -> str:
    """Returns the name of a cluster's stack."""
    return f"{NAME}-{cluster}"


def create(emulator: Emulator, login: Mapping[str, str]) -> Existing:
    """Makes network, key, secret (with a user and password of Kafka's) and services."""
    vpc, subnets, route_table, group = _create_network(emulator.client("ec2"))
    key = emulator.client("kms").create_key(Description="Kafka users")["KeyMetadata"]["Arn"]
    secret = emulator.client("secretsmanager").create_secret(
        Name="AmazonMSK_lag_monitor", SecretString=json.dumps(login), KmsKeyId=key
    )
    _create_services(emulator.client("ecs"))
    nodes = {"InstanceType": "kafka.m7g.large", "ClientSubnets": subnets}
    msk = emulator.client("kafka").create_cluster(
        ClusterName=PLAIN, BrokerNodeGroupInfo=nodes, KafkaVersion="3.8.x", NumberOfBrokerNodes=2
    )
    return Existing(vpc, subnets, route_table, group, secret["ARN"], key, msk["ClusterArn"])


def _create_network(ec2: Any) -> tuple[str, tuple[str, ...], str, str]:
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = tuple(
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{at}.0/24", AvailabilityZone=REGION + zone)[
            "Subnet"
        ]["SubnetId"]
        for at, zone in enumerate("ab")
    )
    route_table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    for subnet in subnets:
        ec2.associate_route_table(RouteTableId=route_table, SubnetId=subnet)
    group = ec2.create_security_group(GroupName="brokers", Description="Brokers", VpcId=vpc)
    return vpc, subnets, route_table, group["GroupId"]


def _create_services(ecs: Any) -> None:
    ecs.create_cluster(clusterName="services")
    task = {"name": "worker", "image": "worker", "memory": 128}
    ecs.register_task_definition(family="worker", containerDefinitions=[task])
    for service in _SERVICES:
        ecs.create_service(
            cluster="services", serviceName=service, taskDefinition="worker", desiredCount=0
        )


def configuration(
    existing: Existing,
    brokers: Brokers,
    *,
    changed: bool = False,
    full: bool = True,
    plain: bool = True,
    bucket: str | None = None,
) -> dict[str, Any]:
    """Returns the configuration of the deployment; `changed` returns a variant of it.

    Without `full` or `plain` it has one cluster less. With a `bucket` of the account, the account's
    key also encrypts logs and topics. A status is reported after one run, so that few runs cause a
    message.
    """
    clusters = [_full_cluster(existing, brokers, changed=changed)] if full else []
    if plain:
        clusters.append(_plain_cluster(existing))
    theirs = {
        "existing_buckets": {REGION: bucket},
        "kms_keys": {REGION: {"logs": existing.key, "topic": existing.key}},
    }
    return {
        "name": NAME,
        "account": ACCOUNT,
        "shared": {
            "notify": {
                "email": ["kafka-oncall@example.com"],
                "https": ["https://pages.example.com/in"],
                "slack": [{"name": "ops", "workspace_id": "T0123ABCD", "channel_id": "C0123ABCD"}],
                "teams": [
                    {
                        "name": "ops",
                        "team_id": _CHAT_ID,
                        "channel_id": "19%3ab6ef35dc342d56ba5654e6fc6d25a071%40thread.tacv2",
                        "tenant_id": _CHAT_ID,
                    }
                ],
            },
            "views": {"auth": "bearer"},
            "status_messages": {},
            **(theirs if bucket else {}),
        },
        "defaults": {
            "region": REGION,
            "vpc": {
                "id": existing.vpc,
                "subnets": list(existing.subnets),
                "brokers_security_group": existing.brokers_security_group,
            },
            "hold": 1,
            # Kafka may have more than the rehearsal's.
            "groups": {"allow": f"^({'|'.join(_SERVICES)})$"},
            "topics": {"allow": f"^{TOPIC}$"},
        },
        "clusters": clusters,
    }


def _full_cluster(existing: Existing, brokers: Brokers, *, changed: bool) -> dict[str, Any]:
    return {
        "name": FULL,
        "bootstrap_servers": list(brokers.scram),
        "vpc": {
            "route_tables": [existing.route_table],
            "cidr": "10.0.0.0/16",
            "endpoints": {"s3": True, "secrets_manager": True, "monitoring": True},
        },
        "metrics": "otlp",
        "levels": {"partitions": {}},
        "auth": {"type": "scram", "secret_arn": existing.secret, "kms_key_arn": existing.key},
        "ca_file": str(brokers.cafile),
        "function": {"memory_mb": 1024 if changed else 512, "log_days": 30 if changed else 14},
        "sla_seconds": {"^billing$": 600 if changed else 300, "^mailer$": 1800},
        "alarms": {"groups": ["billing", "mailer"], "anomalies": ["billing"]},
        "scaling": [
            {
                "group": "billing",
                "ecs_cluster": "services",
                "service": "billing",
                "min": 2,
                "max": 8 if changed else 12,
                "partitions": 12,
                "suspended": not changed,
                "steps": {
                    "metric": "ScalingLag",
                    "out": [
                        {"above": 20000 if changed else 10000, "add": 1},
                        {"above": 100000, "add": 4},
                    ],
                    "below": 1000,
                },
            },
            {
                "group": "mailer",
                "ecs_cluster": "services",
                "service": "mailer",
                "min": 1,
                "max": 6,
                "partitions": 24,
                "tracking": {"lag_per_member": 5000},
            },
            {
                "group": "billing",
                "ecs_cluster": "services",
                "service": "invoices",
                "max": 24,
                "partitions": 24,
                "tasks": {"groups": ["mailer"]},
                "schedule": [{"cron": "cron(0 7 ? * MON-FRI *)", "min": 2}],
            },
        ],
    }


def _plain_cluster(existing: Existing) -> dict[str, Any]:
    return {
        "name": PLAIN,
        "arn": existing.msk,
        "auth": {"type": "none", "plaintext": True},
    }
