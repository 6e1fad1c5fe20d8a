# SPDX-License-Identifier: Apache-2.0
"""A cluster that is described by objects of CDK, most of which the same app makes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_secretsmanager as secretsmanager

from kafka_lag_cdk.config.reading import one_cluster
from kafka_lag_cdk.in_app import Iam, Network, NoLogin, Scram, Tls, app_cluster
from tests.infra.configured import KEY
from tests.infra.in_app.network import (
    ARN,
    HERE,
    Theirs,
    collected,
    document,
    environment,
    rights,
    the_function,
    watch,
)
from tests.infra.resolve import ACCOUNT, REGION, of_type

SERVERS, SECRET = "KAFKA_LAG_BOOTSTRAP_SERVERS", "KAFKA_LAG_SECRET_ID"
ENDPOINT = "AWS::EC2::VPCEndpoint"
UUID = "0a1b2c3d-1111-2222-3333-444455556666-7"


def test_the_collector_is_in_the_private_subnets_of_the_vpc() -> None:
    theirs = Theirs()
    orders = app_cluster(
        "orders", network=theirs.network, login=Iam(), msk_cluster=theirs.provisioned()
    )
    private = [theirs.resolve(each.subnet_id)["Ref"] for each in theirs.vpc.private_subnets]
    resources = collected(theirs, orders)
    assert the_function(resources)["VpcConfig"]["SubnetIds"] == [each.lower() for each in private]


@pytest.mark.parametrize("chosen", ["selection", "subnets"])
def test_subnets_may_be_chosen(chosen: str) -> None:
    theirs = Theirs()
    one = theirs.vpc.private_subnets[0]
    subnets = [one] if chosen == "subnets" else ec2.SubnetSelection(one_per_az=True, subnets=[one])
    network = replace(theirs.network, subnets=subnets)
    orders = app_cluster("orders", network=network, login=Iam(), msk_cluster=theirs.provisioned())
    assert list(orders.vpc.subnets) == [one.subnet_id]


def test_brokers_and_endpoints_are_opened_for_the_collector() -> None:
    theirs = Theirs()
    endpoint = ec2.SecurityGroup(theirs, "Endpoint", vpc=theirs.vpc)
    network = replace(theirs.network, endpoints=[endpoint])
    orders = app_cluster(
        "orders", network=network, login=Scram(theirs.secret()), msk_cluster=theirs.provisioned()
    )
    opened = of_type(collected(theirs, orders), "AWS::EC2::SecurityGroupIngress").values()
    assert {(each["GroupId"].partition("-")[0][:7], each["FromPort"]) for each in opened} == {
        ("brokers", 9096),
        ("endpoin", 443),
    }
    assert all(each["SourceSecurityGroupId"].startswith("lagcollector") for each in opened)


def test_a_secret_of_the_app_is_named_by_the_environment_and_may_be_decrypted() -> None:
    theirs = Theirs()
    secret = theirs.secret()
    orders = app_cluster(
        "orders", network=theirs.network, login=Scram(secret), msk_cluster=theirs.provisioned()
    )
    resources = collected(theirs, orders)
    (name,) = of_type(resources, "AWS::SecretsManager::Secret")
    may = rights(resources)
    assert environment(resources)[SECRET] == name.lower()
    assert may["secretsmanager:GetSecretValue"] == [name.lower()]
    assert may["kms:Decrypt"] == [KEY]
    reported = document(theirs, resources)
    assert (reported["secret_id"], reported["sasl_mechanism"]) == (None, "SCRAM-SHA-512")


def test_a_secret_that_is_known_stays_in_the_document() -> None:
    theirs = Theirs()
    arn = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:monitor-a1B2c3"
    known = secretsmanager.Secret.from_secret_complete_arn(theirs, "Known", arn)
    orders = app_cluster("orders", network=theirs.network, login=Tls(known), msk_cluster=ARN)
    resources = collected(theirs, orders)
    assert SECRET not in environment(resources)
    assert document(theirs, resources)["secret_id"] == arn
    assert "kms:Decrypt" not in rights(resources)


def test_msk_is_asked_for_the_brokers_of_a_cluster_of_the_app() -> None:
    theirs = Theirs()
    orders = app_cluster(
        "orders",
        network=theirs.network,
        login=NoLogin(plaintext=True),
        msk_cluster=theirs.provisioned(),
    )
    resources = collected(theirs, orders)
    (asked,) = of_type(resources, "AWS::CloudFormation::CustomResource").values()
    assert asked["ClusterArn"] == f"arn:aws:kafka:{REGION}:{ACCOUNT}:cluster/msk/{UUID}"
    assert asked["Way"] == "plaintext"
    assert SERVERS in environment(resources)


def test_with_iam_rights_are_on_the_cluster_of_the_app_and_what_is_in_it() -> None:
    theirs = Theirs()
    orders = app_cluster(
        "orders", network=theirs.network, login=Iam(), msk_cluster=theirs.provisioned()
    )
    may = rights(collected(theirs, orders))
    begin = f"arn:aws:kafka:{REGION}:{ACCOUNT}"
    assert may["kafka-cluster:Connect"] == [f"{begin}:cluster/msk/{UUID}"]
    assert may["kafka-cluster:DescribeTopic"] == [f"{begin}:topic/msk/{UUID}/*"]
    assert may["kafka-cluster:DescribeGroup"] == [f"{begin}:group/msk/{UUID}/*"]


def test_the_dashboard_shows_the_brokers_of_a_cluster_of_the_app_by_its_own_name() -> None:
    theirs = Theirs()
    orders = app_cluster(
        "orders", network=theirs.network, login=Iam(), msk_cluster=theirs.provisioned()
    )
    (page,) = of_type(collected(theirs, orders), "AWS::CloudWatch::Dashboard").values()
    assert '\\"Cluster Name\\"=\\"shop\\"' in page["DashboardBody"]


def test_serverless_has_no_brokers_to_show() -> None:
    theirs = Theirs()
    orders = app_cluster(
        "orders", network=theirs.network, login=Iam(), msk_cluster=theirs.serverless()
    )
    assert orders.is_serverless
    (page,) = of_type(collected(theirs, orders), "AWS::CloudWatch::Dashboard").values()
    assert "AWS/Kafka" not in page["DashboardBody"]


@dataclass
class Elsewhere:
    """A cluster as a construct of another library has it."""

    cluster_arn: str
    cluster_name: str


def test_a_cluster_may_be_another_librarys_construct_or_an_arn_alone() -> None:
    theirs = Theirs()
    arn = theirs.provisioned().attr_arn
    of_library = app_cluster(
        "orders", network=theirs.network, login=Iam(), msk_cluster=Elsewhere(arn, "shop")
    )
    by_arn = app_cluster("orders", network=theirs.network, login=Iam(), msk_cluster=arn)
    known = app_cluster("orders", network=theirs.network, login=Iam(), msk_cluster=ARN)
    assert (of_library.arn, of_library.msk_name) == (arn, "shop")
    assert theirs.resolve(by_arn.msk_name)["Fn::Select"][0] == 1
    assert (known.arn, known.msk_name) == (ARN, "orders")


def test_brokers_that_are_not_msk_may_be_hosts_of_the_app() -> None:
    theirs = Theirs()
    host = ec2.CfnNetworkInterface(
        theirs, "Host", subnet_id=theirs.vpc.private_subnets[0].subnet_id
    )
    orders = app_cluster(
        "orders",
        network=theirs.network,
        login=NoLogin(),
        bootstrap_servers=[f"{host.attr_primary_private_ip_address}:9194", "known:9195"],
    )
    resources = collected(theirs, orders)
    assert environment(resources)[SERVERS].endswith("-primaryprivateipaddress:9194,known:9195")
    assert document(theirs, resources)["bootstrap_servers"] is None
    assert of_type(resources, "AWS::CloudFormation::CustomResource") == {}
    opened = of_type(resources, "AWS::EC2::SecurityGroupIngress").values()
    assert {each["FromPort"] for each in opened} == {9194, 9195}


def test_a_cluster_may_be_watched_in_another_stack_than_its_own() -> None:
    app = App()
    theirs, ours = Theirs(app), Stack(app, "Ours", env=HERE)
    login = Scram(theirs.secret())
    orders = app_cluster(
        "orders", network=theirs.network, login=login, msk_cluster=theirs.provisioned()
    )
    watch(ours, orders)
    assembly = app.synth()
    made = assembly.get_stack_by_name("Theirs").template["Resources"]
    rules = [r for r in made.values() if r["Type"] == "AWS::EC2::SecurityGroupIngress"]
    assert rules == []
    template = assembly.get_stack_by_name("Ours").template
    (function,) = [
        r["Properties"]
        for r in template["Resources"].values()
        if r["Properties"].get("Handler") == "kafka_lag.collect_lag.handler"
    ]
    assert "Fn::ImportValue" in function["Environment"]["Variables"][SECRET]


def test_ids_and_arns_in_an_object_of_keys_may_be_tokens_too() -> None:
    theirs = Theirs()
    secret = theirs.secret()
    orders = one_cluster(
        {
            "name": "orders",
            "arn": theirs.provisioned().attr_arn,
            "vpc": {
                "id": theirs.vpc.vpc_id,
                "subnets": [each.subnet_id for each in theirs.vpc.private_subnets],
                "brokers_security_group": theirs.brokers.security_group_id,
                "endpoints": {"s3": True, "secrets_manager": True},
                "route_tables": [
                    each.route_table.route_table_id for each in theirs.vpc.private_subnets
                ],
                "cidr": theirs.vpc.vpc_cidr_block,
            },
            "auth": {
                "type": "scram",
                "secret_arn": secret.secret_arn,
                "kms_key_arn": theirs.key.key_arn,
            },
        }
    )
    resources = collected(theirs, orders)
    (name,) = of_type(resources, "AWS::SecretsManager::Secret")
    assert environment(resources)[SECRET] == name.lower()
    kinds = [each["VpcEndpointType"] for each in of_type(resources, ENDPOINT).values()]
    assert sorted(kinds) == ["Gateway", "Interface"]


def test_a_vpc_that_is_looked_up_may_be_unknown_at_the_first_synthesis() -> None:
    stack = Stack(App(), "Theirs", env=HERE)
    vpc = ec2.Vpc.from_lookup(stack, "Vpc", vpc_id="vpc-0a1b2c3d4e5f60718")
    orders = app_cluster("orders", network=Network(vpc=vpc), login=Iam(), msk_cluster=ARN)
    assert stack.resolve(orders.vpc.id) == vpc.vpc_id
    assert [stack.resolve(each) for each in orders.vpc.subnets] == [
        each.subnet_id for each in vpc.private_subnets
    ]


def test_what_is_written_into_a_file_must_be_known_now() -> None:
    theirs = Theirs()
    otlp = {"endpoint": "https://otlp.example.com/v1", "headers_secret": theirs.secret().secret_arn}
    orders = app_cluster(
        "orders",
        network=theirs.network,
        login=Iam(),
        msk_cluster=theirs.provisioned(),
        settings={"sinks": [{"otlp": otlp}]},
    )
    with pytest.raises(ValueError, match=r"^sinks of orders must be known now"):
        collected(theirs, orders)
