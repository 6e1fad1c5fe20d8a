# SPDX-License-Identifier: Apache-2.0
"""What must not be between the clusters of a configuration, and of one cluster by itself."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.config.faults import ConfigurationError
from kafka_lag_cdk.config.shared import ExistingBucket
from tests.infra.config.refused import refused
from tests.infra.configured import (
    SERVICE,
    STEPS,
    cluster_json,
    deployment,
    moved,
    one_cluster,
)


def test_a_stacks_name_may_have_128_characters() -> None:
    assert refused(cluster_json(), cluster_json(name="a" * 119)) == (
        f"clusters[1].name: gives its stack kafka-lag-{'a' * 119} a name of 129 characters, and "
        "CloudFormation takes 128 at most: shorten it, or the deployment's name",
    )


def test_a_name_of_just_so_many_is_taken() -> None:
    found = deployment(cluster_json(name="a" * 118))
    assert len(found.stack_name(found.clusters[0])) == 128


MANY_GROUPS: dict[str, Any] = {
    "alarms": {"groups": [f"g{number}" for number in range(300)]},
    "levels": {"max_metrics": 2000},
}
ELSEWHERE = [{**SERVICE, "account": "999988887777", "min": 1, "max": 4, "steps": STEPS}]


@pytest.mark.parametrize(
    ("beside", "most"),
    [(MANY_GROUPS, 109), ({"scaling": ELSEWHERE}, 110)],
    ids=["of many groups", "of another account's services"],
)
def test_the_stacks_beside_a_clusters_have_longer_names(beside: dict[str, Any], most: int) -> None:
    assert deployment(cluster_json(name="a" * most, **beside))
    (fault,) = refused(cluster_json(name="a" * (most + 1), **beside))
    assert "a name of 129 characters" in fault


def test_a_cluster_may_not_be_called_like_anothers_second_stack() -> None:
    (fault,) = refused(
        cluster_json(name="orders", **MANY_GROUPS), cluster_json(name="orders-groups-1")
    )
    assert "orders and orders-groups-1 would get the stack kafka-lag-orders-groups-1" in fault


def test_all_that_is_wrong_between_clusters_is_told_line_by_line() -> None:
    vpc = cluster_json()["vpc"] | {"endpoints": {"s3": True}, "route_tables": ["rtb-0a1b2c3d"]}
    message = refused(cluster_json(name="a.b", vpc=vpc), cluster_json(name="a-b", vpc=vpc))
    assert [fault.partition(" would")[0].partition(" both")[0] for fault in message] == [
        "clusters: a.b and a-b",
        "clusters: a.b and a-b",
    ]


def refused_alone(given: Any) -> tuple[str, ...]:
    with pytest.raises(ConfigurationError, match="The configuration in a cluster ") as caught:
        one_cluster(given)
    return caught.value.faults


def test_faults_of_one_cluster_have_its_own_paths() -> None:
    message = refused_alone(cluster_json(vpc={}, hold=0, nmae=1, group={}, ca_file="no.pem"))
    assert [fault.partition(":")[0] for fault in message] == [
        "hold",
        "ca_file",
        "vpc.id",
        "vpc.subnets",
        "nmae",
        "group",
    ]
    assert message[-1] == "group: unknown key, did you mean groups?"


def test_what_is_wrong_with_one_cluster_as_a_whole_has_no_path() -> None:
    assert refused_alone(cluster_json(arn=None, region="eu-west-1")) == (
        "give arn, or bootstrap_servers where it is not MSK",
    )


def test_two_groups_of_one_cluster_may_not_scale_one_service() -> None:
    by_steps = {**SERVICE, "max": 8, "steps": STEPS}
    scaling = [by_steps, by_steps | {"group": "other"}, by_steps | {"group": "third"}]
    message = f"scale the service {SERVICE['ecs_cluster']}/{SERVICE['service']}, which follows one"
    assert refused_alone(cluster_json(scaling=scaling)) == (
        f"scaling[1]: billing and other both {message}",
        f"scaling[2]: billing and third both {message}",
    )


def test_a_cluster_may_be_called_views_where_there_are_none() -> None:
    assert deployment(cluster_json(name="views")).clusters[0].name == "views"
    assert refused(cluster_json(name="views"), shared={"views": {}}) == (
        "clusters: views would get the stack kafka-lag-views, which another has: change a name",
    )


SELF_RUN = {"arn": None, "region": "eu-west-1", "bootstrap_servers": ["b-1:9096"]}


def test_one_region_is_of_one_account_or_says_which() -> None:
    assert refused(cluster_json(), cluster_json(name="own", **SELF_RUN)) == (
        "clusters: own in eu-west-1 would share a stack or not, as others there are in account "
        "111122223333: give account",
    )
    message = cluster_json(name="own", account="111122223333", **SELF_RUN)
    assert len(deployment(cluster_json(), message).places()) == 1


def test_a_bucket_of_a_region_without_clusters_is_a_slip() -> None:
    shared = {"existing_buckets": {"eu-west-1": "ours", "eu-west-9": "theirs"}}
    assert refused(cluster_json(), shared=shared) == (
        "shared.existing_buckets.eu-west-9: no cluster is in this region; there are some in "
        "eu-west-1",
    )


def of(account: str, name: str = "orders", **changes: Any) -> dict[str, Any]:
    own = cluster_json(name=name, auth={"type": "iam"}, **changes)
    return own | {"arn": own["arn"].replace("111122223333", account)}


def test_each_of_two_accounts_has_a_bucket_of_its_own() -> None:
    buckets = {"111122223333/eu-west-1": "ours", "444455556666/eu-west-1": "theirs"}
    found = deployment(of("111122223333"), of("444455556666"), shared={"existing_buckets": buckets})
    assert found.existing_bucket("111122223333", "eu-west-1") == ExistingBucket(name="ours")
    assert found.existing_bucket("444455556666", "eu-west-1") == ExistingBucket(name="theirs")
    assert found.existing_bucket("444455556666", "us-east-1") is None


def test_one_bucket_is_not_taken_for_two_accounts() -> None:
    shared = {"existing_buckets": {"eu-west-1": "ours"}}
    assert refused(of("111122223333"), of("444455556666", "audit"), shared=shared) == (
        "shared.existing_buckets.eu-west-1: the accounts 111122223333 and 444455556666 have "
        "clusters there, and a bucket is one account's: write 111122223333/eu-west-1",
    )


def test_a_bucket_of_an_account_without_clusters_is_a_slip() -> None:
    shared = {"existing_buckets": {"444455556666/eu-west-1": "ours"}}
    assert refused(of("111122223333"), shared=shared) == (
        "shared.existing_buckets.444455556666/eu-west-1: no cluster is in this account there; "
        "some are in 111122223333",
    )


def test_one_account_has_a_name_once() -> None:
    assert len(deployment(of("111122223333"), of("444455556666")).places()) == 2
    (message,) = refused(of("111122223333"), moved(of("111122223333"), "us-east-1"))
    assert message.startswith("clusters: orders and orders would get the stack kafka-lag-orders")


@pytest.mark.parametrize("name", ["aws-lag", "ssm", "Lag", "1lag", "x" * 41])
def test_a_deployments_name_must_do_for_all_that_it_begins(name: str) -> None:
    (fault,) = refused(cluster_json(), name=name)
    assert fault.startswith("name: must be lower-case letters")


@pytest.mark.parametrize("key", ["name", "channel_id"])
def test_a_chat_channel_is_configured_once(key: str) -> None:
    one = {"name": "lag", "workspace_id": "T012", "channel_id": "C012"}
    other = {"name": "lag-2", "workspace_id": "T012", "channel_id": "C013"} | {key: one[key]}
    (fault,) = refused(cluster_json(), shared={"notify": {"slack": [one, other]}})
    assert fault.startswith("shared.notify: two chat channels have one")


def test_a_topic_of_ones_own_is_taken_in_its_account_and_region() -> None:
    topic = "arn:aws:sns:eu-west-1:999988887777:pages"
    message = deployment(
        of("111122223333"),
        of("444455556666"),
        shared={"notify": {"existing_topics": {"444455556666/eu-west-1": topic}}},
    )
    assert message.existing_topic("444455556666", "eu-west-1") == topic
    assert message.existing_topic("111122223333", "eu-west-1") is None


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("eu-west-1", "the topic is in us-east-1, and alarms publish in their own region only"),
        ("us-east-1", "no cluster is in this region; there are some in eu-west-1"),
    ],
)
def test_a_topic_of_another_region_is_a_slip(place: str, sentence: str) -> None:
    topics = {place: "arn:aws:sns:us-east-1:111122223333:pages"}
    assert refused(of("111122223333"), shared={"notify": {"existing_topics": topics}}) == (
        f"shared.notify.existing_topics.{place}: {sentence}",
    )


def test_tags_that_differ_by_case_alone_are_refused() -> None:
    tags = {"Team": "streams", "cost": "4711", "team": "streams"}
    assert refused(cluster_json(), tags=tags) == (
        "tags.team: is the same key as Team to IAM: keep one of them",
    )


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        pytest.param({}, {"application": "kafka-lag"}, id="none"),
        pytest.param(
            {"team": "streams"}, {"application": "kafka-lag", "team": "streams"}, id="another"
        ),
        pytest.param({"application": "x"}, {"application": "x"}, id="the-same"),
        pytest.param({"Application": "x"}, {"Application": "x"}, id="in-another-spelling"),
    ],
)
def test_application_is_tagged_unless_the_tags_have_it(
    tags: dict[str, str], found: dict[str, str]
) -> None:
    assert deployment(cluster_json(), tags=tags).all_tags() == found
