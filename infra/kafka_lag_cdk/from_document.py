# SPDX-License-Identifier: Apache-2.0
"""A configuration's cluster as a construct: its ids and ARNs, imported as objects of CDK."""

from __future__ import annotations

from pathlib import Path

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from constructs import Construct

from kafka_lag_cdk.lag_collector import LagCollector
from kafka_lag_cdk.names import SharedNames
from kafka_lag_cdk.props import (
    ENDPOINTS,
    Iam,
    Login,
    NewEndpoints,
    NoLogin,
    Scram,
    ServiceScaling,
    Tls,
)
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.login import Auth, IamAuth, OpenAuth, ScramAuth, SecretAuth, TlsAuth

# Needed by an import and in no resource: one of each a subnet.
_UNKNOWN = "unknown"


def collect_configured(
    scope: Construct,
    construct_id: str,
    cluster: Cluster,
    *,
    reports: SharedNames,
    recovered: bool = True,
    package: Path | None = None,
) -> LagCollector:
    """Makes the collector of a configured cluster; imports its ids and ARNs, looks none up."""
    vpc, alarms = cluster.vpc, cluster.alarms
    ids, brokers = list(vpc.subnets), vpc.brokers_security_group
    group_of = ec2.SecurityGroup.from_security_group_id
    return LagCollector(
        scope,
        construct_id,
        name=cluster.name,
        msk=cluster.arn,
        bootstrap_servers=cluster.bootstrap_servers or (),
        vpc=ec2.Vpc.from_vpc_attributes(
            scope,
            "Vpc",
            vpc_id=vpc.id,
            availability_zones=[_UNKNOWN] * len(ids),
            private_subnet_ids=ids,
            private_subnet_route_table_ids=[_UNKNOWN] * len(ids),
        ),
        brokers=group_of(scope, "Brokers", brokers) if brokers else None,
        endpoint_groups=[
            group_of(scope, f"Endpoint{index}", known)
            for index, known in enumerate(vpc.endpoint_security_groups)
        ],
        existing_endpoints=vpc.existing_endpoints,
        nat=vpc.nat,
        new_endpoints=NewEndpoints(
            kinds=[kind for kind in ENDPOINTS if getattr(vpc.endpoints, kind)],
            subnets=vpc.endpoint_subnets or vpc.subnets,
            route_tables=vpc.route_tables,
            cidr=vpc.cidr,
        ),
        login=_import_login(scope, cluster.auth),
        settings=cluster,
        alarms=alarms,
        alarm_topic=import_topic(scope, "AlarmTopic", alarms.topic) if alarms.topic else None,
        notice_topic=(
            import_topic(scope, "OwnNotices", alarms.notice_topic) if alarms.notice_topic else None
        ),
        owner_topics={
            owner: import_topic(scope, f"OwnerTopic{index}", arn)
            for index, (owner, arn) in enumerate(alarms.owner_topics.items())
        },
        services=[
            ServiceScaling(each.service, each.scaling, each.apart)
            for each in cluster.facts.services
        ],
        reports=reports,
        recovered=recovered,
        package=package,
    )


def _import_login(scope: Construct, auth: Auth) -> Login:
    match auth:
        case IamAuth():
            return Iam()
        case OpenAuth():
            return NoLogin(auth.plaintext)
        case ScramAuth():
            return Scram(_import_secret(scope, auth), auth.mechanism)
        case TlsAuth():
            return Tls(_import_secret(scope, auth))


def _import_secret(scope: Construct, auth: SecretAuth) -> secretsmanager.ISecret:
    key = auth.kms_key_arn
    return secretsmanager.Secret.from_secret_attributes(
        scope,
        "Login",
        secret_complete_arn=auth.secret_arn,
        encryption_key=kms.Key.from_key_arn(scope, "LoginKey", key) if key else None,
    )


def import_topic(scope: Construct, construct_id: str, arn: str) -> sns.ITopic:
    """Imports a topic by its ARN; its policy is not changed."""
    return sns.Topic.from_topic_arn(scope, construct_id, arn)
