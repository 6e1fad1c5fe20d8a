# SPDX-License-Identifier: Apache-2.0
"""A cluster that is described by objects of CDK, most of which the same app makes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns

from kafka_lag_cdk import (
    Alarms,
    Iam,
    KafkaCluster,
    Network,
    OtlpSection,
    OtlpSink,
)
from tests.infra.configured import KEY
from tests.infra.objects import a_service, follows, orders
from tests.infra.own_app.network import (
    ARN,
    HERE,
    Theirs,
    collected,
    the_function,
)


@pytest.mark.parametrize("chosen", ["selection", "subnets"])
def test_subnets_may_be_chosen(chosen: str) -> None:
    theirs = Theirs()
    one = theirs.vpc.private_subnets[0]
    subnets = [one] if chosen == "subnets" else ec2.SubnetSelection(one_per_az=True, subnets=[one])
    chosen_ones = orders(theirs, network=replace(theirs.network, subnets=subnets))
    assert chosen_ones.ways_out.subnets == (one.subnet_id,)


@dataclass
class Elsewhere:
    """A cluster as a construct of another library has it."""

    cluster_arn: str
    cluster_name: str


def test_a_cluster_may_be_another_librarys_construct_or_an_arn_alone() -> None:
    theirs = Theirs()
    arn = theirs.provisioned().attr_arn
    of_library = orders(theirs, msk=Elsewhere(arn, "shop"))
    by_arn, known = orders(theirs, msk=arn), orders(theirs, msk=ARN)
    assert (of_library.arn, of_library.msk_name) == (arn, "shop")
    assert theirs.resolve(by_arn.msk_name)["Fn::Select"][0] == 1
    assert (known.arn, known.msk_name) == (ARN, "orders")


def test_a_vpc_that_is_looked_up_may_be_unknown_at_the_first_synthesis() -> None:
    stack = Stack(App(), "Theirs", env=HERE)
    vpc = ec2.Vpc.from_lookup(stack, "Vpc", vpc_id="vpc-0a1b2c3d4e5f60718")
    watched = KafkaCluster(name="orders", network=Network(vpc=vpc), login=Iam(), msk=ARN)
    found = the_function(collected(stack, watched))["VpcConfig"]["SubnetIds"]
    assert found == [each.subnet_id for each in vpc.private_subnets]


def test_what_is_written_into_a_file_must_be_known_now() -> None:
    theirs = Theirs()
    otlp = OtlpSection(
        endpoint="https://otlp.example.com/v1", headers_secret=theirs.secret().secret_arn
    )
    with pytest.raises(ValueError, match=r"^sinks of orders must be known now"):
        collected(theirs, orders(theirs, sinks=(OtlpSink(otlp=otlp),)))


def test_the_ids_of_what_scales_a_service_are_the_same_in_each_synthesis() -> None:
    """A token's number, which is another whenever something is made before, is in none."""
    found = []
    for earlier in range(2):
        theirs = Theirs()
        for number in range(earlier):
            theirs.secret(f"Other{number}")
        made = collected(theirs, orders(theirs, scaling=(follows(a_service(theirs)),)))
        found.append({name for name in made if "Scaling" in name})
    assert found[0] == found[1]
    assert found[0]


def test_a_topic_whose_key_cannot_let_alarms_in_is_refused() -> None:
    theirs = Theirs()
    pages = sns.Topic(theirs, "Pages", master_key=kms.Key.from_key_arn(theirs, "Imported", KEY))
    with pytest.raises(ValueError, match="Theirs/Pages is encrypted with Theirs/Imported"):
        collected(theirs, orders(theirs, alarms=Alarms(topic=pages)))
