# SPDX-License-Identifier: Apache-2.0
"""What an account has before the first deploy, and the configuration that is deployed in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic

from dev.kafka import KafkaCluster
from dev.kafka.access import wait_for
from dev.kafka.records import commit_offsets
from dev.rehearse.emulator import ACCOUNT, REGION, Emulator

# The deployment's own prefix, and its clusters: one with all that a cluster can have, one without.
NAME = "kafka-lag"
FULL, PLAIN = "orders", "payments"
SHARED, CHAT, VIEWS = (f"{NAME}-{each}" for each in ("shared", "chat", "views"))
# The group that the collector reads; its commit is set back later.
GROUP, TOPIC = "billing", "invoices"
RECORDS, COMMITTED, REWOUND = 30, 24, 10
# Groups that services consume as; the second never commits.
_SERVICES = (GROUP, "mailer")
_CHAT_ID = "0a1b2c3d-aaaa-bbbb-cccc-444455556666"
_WITHIN = 240.0


def leave_backlog(cluster: KafkaCluster) -> None:
    """Writes the topic's one partition and commits for the group, which has no members."""
    copies = len(cluster.node_ids)
    wait_for(cluster.admin().create_topics([NewTopic(TOPIC, 1, replication_factor=copies)]))
    producer = Producer({"bootstrap.servers": cluster.bootstrap("PLAINTEXT"), "log_level": 0})
    for _ in range(RECORDS):
        producer.produce(TOPIC, b"record", partition=0)
    producer.flush(_WITHIN)
    commit(cluster, COMMITTED)


def commit(cluster: KafkaCluster, offset: int) -> None:
    """Commits an offset; an earlier one is a status (REWIND) as soon as it is seen."""
    commit_offsets(cluster.admin(), {GROUP: {(TOPIC, 0): offset}})


@dataclass(frozen=True, slots=True)
class Account:
    """Resources that the deployment needs and does not make: ids and ARNs; `msk` is a cluster's."""

    vpc: dict[str, Any]
    route_table: str
    secret: str
    key: str
    msk: str

    @classmethod
    def make(cls, emulator: Emulator, cluster: KafkaCluster) -> Account:
        """Makes network, key, services, and the secret with a login of the cluster."""
        ec2, ecs = emulator.client("ec2"), emulator.client("ecs")
        vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
        subnets = []
        for at, zone in enumerate("ab"):
            place = {"CidrBlock": f"10.0.{at}.0/24", "AvailabilityZone": REGION + zone}
            subnets.append(ec2.create_subnet(VpcId=vpc, **place)["Subnet"]["SubnetId"])
            ec2.associate_route_table(RouteTableId=table, SubnetId=subnets[-1])
        group = ec2.create_security_group(GroupName="brokers", Description="Brokers", VpcId=vpc)
        ecs.create_cluster(clusterName="services")
        task = {"name": "worker", "image": "worker", "memory": 128}
        ecs.register_task_definition(family="worker", containerDefinitions=[task])
        for service in _SERVICES:
            named = {"cluster": "services", "serviceName": service, "desiredCount": 0}
            ecs.create_service(**named, taskDefinition="worker")
        key = emulator.client("kms").create_key(Description="Kafka users")["KeyMetadata"]["Arn"]
        user = cluster.users["monitor"]
        login = json.dumps({"username": user.username, "password": user.password})
        secret = emulator.client("secretsmanager").create_secret(
            Name="AmazonMSK_lag_monitor", SecretString=login, KmsKeyId=key
        )
        nodes = {"InstanceType": "kafka.m7g.large", "ClientSubnets": subnets}
        msk = emulator.client("kafka").create_cluster(
            ClusterName=PLAIN,
            BrokerNodeGroupInfo=nodes,
            KafkaVersion="3.8.x",
            NumberOfBrokerNodes=2,
        )
        own = {"id": vpc, "subnets": subnets, "brokers_security_group": group["GroupId"]}
        return cls(own, table, secret["ARN"], key, msk["ClusterArn"])

    def configure(
        self,
        cluster: KafkaCluster,
        *,
        changed: bool = False,
        full: bool = True,
        plain: bool = True,
        bucket: str | None = None,
    ) -> dict[str, Any]:
        """Returns the configuration of the deployment, or a `changed` one.

        Without `full` or `plain` it has one cluster less. With a `bucket` of the account, the
        account's key also encrypts logs and topics. A status is reported after one run, so that few
        runs cause a message.
        """
        of_plain = {"name": PLAIN, "arn": self.msk, "auth": {"type": "none", "plaintext": True}}
        teams = {"name": "ops", "team_id": _CHAT_ID, "tenant_id": _CHAT_ID}
        teams["channel_id"] = "19%3ab6ef35dc342d56ba5654e6fc6d25a071%40thread.tacv2"
        shared: dict[str, Any] = {
            "notify": {
                "email": ["kafka-oncall@example.com"],
                "https": ["https://pages.example.com/in"],
                "slack": [{"name": "ops", "workspace_id": "T0123ABCD", "channel_id": "C0123ABCD"}],
                "teams": [teams],
            },
            "views": {"auth": "bearer"},
            "status_messages": {},
        }
        if bucket:
            shared["existing_buckets"] = {REGION: bucket}
            shared["kms_keys"] = {REGION: {"logs": self.key, "topic": self.key}}
        return {
            "name": NAME,
            "account": ACCOUNT,
            "shared": shared,
            "defaults": {
                "region": REGION,
                "vpc": self.vpc,
                "hold": 1,
                # Kafka may have more than the rehearsal's.
                "groups": {"allow": f"^({'|'.join(_SERVICES)})$"},
                "topics": {"allow": f"^{TOPIC}$"},
            },
            "clusters": [self._configure_full(cluster, changed=changed)] * full
            + [of_plain] * plain,
        }

    def _configure_full(self, cluster: KafkaCluster, *, changed: bool) -> dict[str, Any]:
        def scale(group: str, service: str, **more: Any) -> dict[str, Any]:
            named = {"group": group, "ecs_cluster": "services", "service": service}
            return {**named, "partitions": 24, "max": 6, **more}

        steps = {"out": [{"above": 10000, "add": 1}, {"above": 100000, "add": 4}], "below": 1000}
        timed = [{"cron": "cron(0 7 ? * MON-FRI *)", "min": 2}]
        return {
            "name": FULL,
            "bootstrap_servers": cluster.bootstrap("SASL_SSL").split(","),
            "vpc": {
                "route_tables": [self.route_table],
                "cidr": "10.0.0.0/16",
                "endpoints": {"s3": True, "secrets_manager": True, "monitoring": True},
            },
            "metrics": "otlp",
            "levels": {"partitions": {}},
            "auth": {"type": "scram", "secret_arn": self.secret, "kms_key_arn": self.key},
            "ca_file": str(cluster.cafile),
            "function": {"memory_mb": 1024 if changed else 512, "log_days": 14},
            "sla_seconds": {"^billing$": 600 if changed else 300, "^mailer$": 1800},
            "alarms": {"groups": ["billing", "mailer"], "anomalies": ["billing"]},
            "scaling": [
                scale("billing", "billing", min=2, steps={"metric": "ScalingLag", **steps}),
                scale("mailer", "mailer", min=1, tracking={"lag_per_member": 5000}),
                scale("billing", "invoices", tasks={"groups": ["mailer"]}, schedule=timed),
            ],
        }
