# SPDX-License-Identifier: Apache-2.0
"""cdk-nag accepts every wildcard of our roles, whichever stack holds what it is about."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from aws_cdk import App, NestedStack, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from cdk_nag import AwsSolutionsChecks

from kafka_lag_cdk import (
    Iam,
    KafkaCluster,
    LagCollector,
    LagReports,
    SharedSettings,
    StatusMessages,
    Views,
)
from tests.infra.code import SMALL_PACKAGE
from tests.infra.own_app.network import HERE, Theirs

SETTINGS = SharedSettings(views=Views(), status_messages=StatusMessages())

# The stacks of the cluster, bucket and key; of LagReports; of LagCollector.
Places = tuple[Stack, Stack, Stack]
PLACES: dict[str, Callable[[Theirs], Places]] = {
    "beside": lambda theirs: (theirs, beside(theirs, "Shared"), beside(theirs, "Ours")),
    "in-nested-stacks": lambda theirs: (
        NestedStack(theirs, "Kafka"),
        NestedStack(theirs, "Shared"),
        theirs,
    ),
    "from-nested-stacks": lambda theirs: (
        theirs,
        NestedStack(theirs, "Shared"),
        NestedStack(theirs, "Ours"),
    ),
}


def beside(theirs: Stack, name: str) -> Stack:
    app = theirs.node.root
    assert isinstance(app, App)
    return Stack(app, name, env=HERE)


@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
def test_no_wildcard_of_ours_is_a_finding(places: Callable[[Theirs], Places]) -> None:
    app = App()
    theirs = Theirs(app)
    of_cluster, of_reports, ours = places(theirs)
    key = kms.Key(of_cluster, "OfBucket")
    bucket = s3.Bucket(of_cluster, "Data", encryption_key=key, event_bridge_enabled=True)
    cluster = KafkaCluster(
        name="orders", network=theirs.network, login=Iam(), msk=theirs.provisioned(of_cluster)
    )
    for name, existing in (("made", None), ("given", bucket)):
        reports = LagReports(
            of_reports,
            f"Lag-{name}",
            name=name,
            clusters=["orders"],
            settings=SETTINGS,
            existing_bucket=existing,
            bucket_key=None if existing else key,
            package=SMALL_PACKAGE,
        )
        LagCollector(
            ours, f"Lag-collector-{name}", cluster=cluster, reports=reports, package=SMALL_PACKAGE
        )
    app.synth()
    found = AwsSolutionsChecks(app).validate_scope(app).violations
    assert [
        (each.rule_name, resource.construct_path)
        for each in found
        for resource in each.violating_resources
        if "/Lag-" in str(resource.construct_path)
    ] == []
