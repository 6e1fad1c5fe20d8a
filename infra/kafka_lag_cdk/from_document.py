# SPDX-License-Identifier: Apache-2.0
"""The props of a configuration's cluster: its ids and ARNs, imported as objects of CDK."""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from constructs import Construct

from kafka_lag_cdk.props import (
    ENDPOINTS,
    Alarms,
    Iam,
    KafkaCluster,
    Login,
    Network,
    NewEndpoints,
    NoLogin,
    Scram,
    ServiceScaling,
    Tls,
)
from kafka_lag_config.cluster import Cluster, TopicAlarms
from kafka_lag_config.login import Auth, IamAuth, OpenAuth, ScramAuth, SecretAuth, TlsAuth
from kafka_lag_config.network import Vpc
from kafka_lag_config.scaling import GroupScaling, Scaling
from kafka_lag_config.watched import AlarmSettings, WatchedCluster

# Needed by an import and in no resource: one of each a subnet.
_UNKNOWN = "unknown"


def import_cluster(scope: Construct, cluster: Cluster) -> KafkaCluster:
    """A cluster as LagCollector takes it; nothing is looked up."""
    alike = WatchedCluster.model_fields.keys() - {"alarms", "scaling"}
    keys = {key: getattr(cluster, key) for key in cluster.model_fields_set & alike}
    if cluster.bootstrap_servers is not None:
        keys["bootstrap_servers"] = cluster.bootstrap_servers
    if "alarms" in cluster.model_fields_set:
        keys["alarms"] = _import_alarms(scope, cluster.alarms)
    if "scaling" in cluster.model_fields_set:
        near = cluster.scaling_in(None)
        keys["scaling"] = tuple(_import_service(each, each not in near) for each in cluster.scaling)
    return KafkaCluster(
        network=import_network(scope, cluster.vpc),
        login=_import_login(scope, cluster.auth),
        msk=cluster.arn,
        **keys,
    )


def import_network(scope: Construct, vpc: Vpc) -> Network:
    """The network of ids."""
    ids = list(vpc.subnets)
    brokers = vpc.brokers_security_group
    return Network(
        vpc=ec2.Vpc.from_vpc_attributes(
            scope,
            "Vpc",
            vpc_id=vpc.id,
            availability_zones=[_UNKNOWN] * len(ids),
            private_subnet_ids=ids,
            private_subnet_route_table_ids=[_UNKNOWN] * len(ids),
        ),
        brokers=_import_group(scope, "Brokers", brokers) if brokers else None,
        endpoints=[
            _import_group(scope, f"Endpoint{index}", known)
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
    )


def _import_group(scope: Construct, construct_id: str, known: str) -> ec2.ISecurityGroup:
    return ec2.SecurityGroup.from_security_group_id(scope, construct_id, known)


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


def _import_alarms(scope: Construct, alarms: TopicAlarms) -> Alarms:
    alike = alarms.model_fields_set & AlarmSettings.model_fields.keys()
    return Alarms(
        topic=import_topic(scope, "AlarmTopic", alarms.topic) if alarms.topic else None,
        owner_topics=import_owner_topics(scope, alarms),
        **{key: getattr(alarms, key) for key in alike},
    )


def import_owner_topics(scope: Construct, alarms: TopicAlarms) -> dict[str, sns.ITopic]:
    """Topics by the owner whose groups' alarms they get."""
    return {
        owner: import_topic(scope, f"OwnerTopic{index}", arn)
        for index, (owner, arn) in enumerate(alarms.owner_topics.items())
    }


def import_topic(scope: Construct, construct_id: str, arn: str) -> sns.ITopic:
    """The topic of an ARN, left as it is."""
    return sns.Topic.from_topic_arn(scope, construct_id, arn)


def _import_service(scaling: Scaling, apart: bool) -> ServiceScaling:
    alike = scaling.model_fields_set & GroupScaling.model_fields.keys()
    keys = {key: getattr(scaling, key) for key in alike}
    return ServiceScaling(service=scaling.ecs_service, apart=apart, **keys)
