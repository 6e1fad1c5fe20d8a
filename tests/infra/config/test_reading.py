# SPDX-License-Identifier: Apache-2.0
"""What a user wrote is taken as meant, or refused with its place and what was expected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_lag.settings import settings_of
from kafka_lag_cdk.config.faults import ConfigurationError
from kafka_lag_cdk.config.reading import check, read
from tests.infra.config.refused import cluster_faults
from tests.infra.configured import KEY, SECRET, cluster, cluster_json, deployment

HERE = Path(__file__).parent
EXAMPLES = Path(__file__).parents[3] / "examples"

SCALING = {
    "group": "billing",
    "ecs_cluster": "services",
    "service": "billing",
    "max": 4,
    "partitions": 12,
    "tracking": {"lag_per_member": 100},
}
TASKS = {**SCALING, "tracking": None, "tasks": {}}
BOUNDS = {"cron": "cron(0 7 ? * MON-FRI *)", "min": 2}


def faults(*clusters: dict[str, Any], **more: Any) -> tuple[str, ...]:
    with pytest.raises(ConfigurationError) as caught:
        deployment(*clusters, **more)
    return caught.value.faults


def test_a_few_lines_are_enough() -> None:
    found = deployment(cluster_json()).clusters[0]
    assert found.place == ("111122223333", "eu-west-1")
    assert (found.ports, found.msk_name) == (((9096, 9096),), "orders")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"nmae": 1}, "clusters[0].nmae: unknown key, did you mean name?"),
        ({"group": {}}, "clusters[0].group: unknown key, did you mean groups?"),
        ({"name": "a b"}, "clusters[0].name: must be letters, digits, '.', '_' or '-', "
            "128 at most"),
        ({"name": 7}, "clusters[0].name: Input should be a valid string"),
        ({"arn": "arn:aws:kafka"}, "clusters[0].arn: must be an MSK cluster's ARN, "
            "arn:aws:kafka:REGION:ACCOUNT:cluster/NAME/UUID"),
        ({"arn": None}, "clusters[0]: give arn, or bootstrap_servers where it is not MSK"),
        ({"region": "us-east-1"}, "clusters[0]: region is us-east-1, but the arn says eu-west-1"),
        ({"vpc": {"id": "vpc-1", "subnets": []}}, "clusters[0].vpc.id: must be a VPC's id, "
            "such as vpc-0a1b2c3d4e5f60718"),
        ({"auth": {"type": "password"}}, "clusters[0].auth: Input tag 'password' found using "
            "'type' does not match any of the expected tags: 'scram', 'iam', 'tls', 'none'"),
        ({"auth": {"type": "scram"}}, "clusters[0].auth.secret_arn: Field required"),
        ({"auth": {"type": "scram", "secret_arn": SECRET, "kms_key": KEY}},
            "clusters[0].auth.kms_key: unknown key, did you mean kms_key_arn?"),
        ({"auth": {"type": "scram", "secret_arn": SECRET[:-7]}}, "clusters[0].auth.secret_arn: "
            "must be a secret's whole ARN, with the six characters that AWS puts at its end"),
        ({"hold": 0}, "clusters[0].hold: Input should be greater than or equal to 1"),
        ({"levels": {"max_metric": 1}}, "clusters[0].levels.max_metric: unknown key, "
            "did you mean max_metrics?"),
        ({"groups": {"deny": "("}}, "clusters[0].groups.deny: is not a regular expression "
            "(missing ), unterminated subpattern at position 0): '('"),
        ({"interval_seconds": 90}, "clusters[0].interval_seconds: must be whole minutes that "
            "divide an hour: 60, 120, 180, 240, 300, 360, 600, 720, 900, 1200, 1800 or 3600"),
        ({"ca_file": "no.pem"}, "clusters[0].ca_file: there is no file no.pem"),
        ({"paused": "yes"}, "clusters[0].paused: Input should be a valid boolean"),
        ({"function": {"log_days": 8}}, "clusters[0].function.log_days: Input should be 1, 3, 7, "
            "14, 30, 60, 90, 180, 365 or 731"),
        ({"alarms": {"groups": ["a", "a"]}}, "clusters[0].alarms.groups: names a twice"),
        ({"scaling": [SCALING | {"min": 0}]}, "clusters[0].scaling[0]: tracking needs min of 1: "
            "without members there is no lag per member"),
        ({"scaling": [SCALING | {"max": 13}]}, "clusters[0].scaling[0]: max is 13, and tasks "
            "beyond the 12 partitions read nothing: lower max, or correct partitions"),
        ({"scaling": [SCALING | {"tracking": None}]}, "clusters[0].scaling[0]: give tasks, steps "
            "or tracking"),
        ({"scaling": [SCALING | {"tasks": {}}]}, "clusters[0].scaling[0]: tracking stands alone, "
            "as two rules would both set the number of tasks: leave it out, or tasks and steps"),
        ({"scaling": [TASKS | {"tasks": {"groups": ["billing"]}}]}, "clusters[0].scaling[0]: "
            "tasks.groups names billing, which the service follows already: leave it out"),
        ({"scaling": [TASKS | {"tasks": {"groups": ["a", "b", "a"]}}]}, "clusters[0].scaling[0]: "
            "tasks.groups names a, which the service follows already: leave it out"),
        ({"scaling": [TASKS | {"schedule": [BOUNDS | {"min": 5}]}]}, "clusters[0].scaling[0]."
            "schedule[0]: min is 5 and above max, 4: lower min, or give a max"),
        ({"scaling": [TASKS | {"schedule": [BOUNDS, BOUNDS | {"max": 1}]}]},
            "clusters[0].scaling[0].schedule[1]: min is 2 and above max, 1: lower min, or give a "
            "max"),
        ({"scaling": [TASKS | {"schedule": [BOUNDS | {"max": 13}]}]}, "clusters[0].scaling[0]."
            "schedule[0]: max is 13, and tasks beyond the 12 partitions read nothing: lower max, "
            "or correct partitions"),
        ({"scaling": [TASKS | {"schedule": [{**BOUNDS, "cron": "0 7 * * *"}]}]},
            "clusters[0].scaling[0].schedule[0].cron: must be a cron expression of Application "
            "Auto Scaling, as cron(0 7 ? * MON-FRI *)"),
        ({"scaling": [TASKS | {"schedule": [BOUNDS | {"timezone": "UTC+1 "}]}]},
            "clusters[0].scaling[0].schedule[0].timezone: must be a time zone's name, as "
            "Europe/Berlin"),
        ({"vpc": cluster_json()["vpc"] | {"endpoints": {"s3": True}}}, "clusters[0].vpc: "
            "endpoints.s3 needs route_tables, those of the subnets"),
        ({"vpc": cluster_json()["vpc"] | {"endpoints": {"secrets_manager": True}}},
            "clusters[0].vpc: endpoints.secrets_manager needs cidr, the VPC's, to be let in from"),
        ({"vpc": cluster_json()["vpc"] | {"endpoints": {"monitoring": True}}},
            "clusters[0].vpc: endpoints.monitoring needs cidr, the VPC's, to be let in from"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_told_with_its_place_and_what_was_expected(
    changes: dict[str, Any], fault: str
) -> None:
    assert fault in faults(cluster_json(**changes))


def test_all_faults_are_told_at_once() -> None:
    found = faults(cluster_json(name="!", nmae=1), cluster_json(vpc={}), sharde={})
    assert {fault.partition(":")[0] for fault in found} >= {
        "clusters[0].name",
        "clusters[0].nmae",
        "clusters[1].vpc.id",
        "sharde",
    }


@pytest.mark.parametrize("given", [[], 7, "x", None, True])
def test_what_is_no_object_is_refused(given: Any) -> None:
    with pytest.raises(ConfigurationError):
        check(given, "the test", HERE)


@pytest.mark.parametrize("clusters", [None, [], {}, [7], ["orders"], [None]])
def test_clusters_that_are_none_are_refused(clusters: Any) -> None:
    with pytest.raises(ConfigurationError):
        check({"clusters": clusters}, "the test", HERE)


def test_iam_needs_the_arn_that_its_rights_are_on() -> None:
    changes = {"arn": None, "region": "eu-west-1", "bootstrap_servers": ["b:9098"]}
    message = faults(cluster_json(auth={"type": "iam"}, **changes))
    assert message == ("clusters[0]: auth of type iam needs arn: rights are granted on it",)


def test_names_that_give_one_stack_are_refused() -> None:
    message = faults(cluster_json(name="a.b"), cluster_json(name="a-b"))
    assert message == (
        "clusters: a.b and a-b would get the stack kafka-lag-a-b, which another has: change a name",
    )


def test_a_cluster_may_not_take_the_shared_stacks_name() -> None:
    assert "kafka-lag-shared" in faults(cluster_json(name="shared"))[0]


ENDPOINT = {"endpoints": {"secrets_manager": True}, "cidr": "10.0.0.0/16"}


def test_two_clusters_of_one_vpc_may_not_both_make_its_endpoint() -> None:
    vpc = cluster_json()["vpc"] | ENDPOINT
    message = faults(cluster_json(vpc=vpc), cluster_json(name="audit", vpc=vpc))
    assert message == (
        "clusters: orders and audit both make the secrets_manager endpoint of "
        "vpc-0a1b2c3d4e5f60718, which can have one; leave it to one of them",
    )


def test_clusters_of_two_vpcs_may_each_make_their_endpoint() -> None:
    vpc = cluster_json()["vpc"] | ENDPOINT
    other = vpc | {"id": "vpc-ffffffff"}
    assert len(deployment(cluster_json(vpc=vpc), cluster_json(name="b", vpc=other)).clusters) == 2


def test_two_groups_may_not_scale_one_service() -> None:
    message = faults(cluster_json(scaling=[SCALING, SCALING | {"group": "other"}]))
    assert "both scale the service services/billing" in message[0]


def test_defaults_are_everyones_and_each_cluster_may_differ() -> None:
    defaults = {"levels": {"max_metrics": 50, "topics": False}, "hold": 5}
    found = deployment(
        cluster_json(levels={"max_metrics": 70}), cluster_json(name="b"), defaults=defaults
    )
    taken = [(each.levels.max_metrics, each.levels.topics, each.hold) for each in found.clusters]
    assert taken == [(70, False, 5), (50, False, 5)]


def test_a_clusters_own_expression_decides_before_those_of_all() -> None:
    given = cluster_json(sla_seconds={"^bill": 60})
    found = deployment(given, defaults={"sla_seconds": {".*": 900}}).clusters[0]
    assert [found.sla_of(group) for group in ("billing", "other")] == [60, 900]


def test_a_login_of_another_kind_replaces_the_default_whole() -> None:
    given = cluster_json(auth={"type": "iam"})
    found = deployment(given, defaults={"auth": {"type": "scram", "secret_arn": SECRET}})
    assert found.clusters[0].auth.type == "iam"


def test_context_may_name_a_file(tmp_path: Path) -> None:
    (tmp_path / "lag.json").write_text(json.dumps({"clusters": [cluster_json()]}))
    assert read("lag.json", tmp_path).clusters[0].name == "orders"


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "cannot be read"), ("{", "is not JSON"), ("[]", "must be an object")],
)
def test_a_file_that_is_no_configuration_is_named(
    text: str | None, message: str, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / "lag.json").write_text(text)
    with pytest.raises(ConfigurationError, match=r"lag\.json") as caught:
        read("lag.json", tmp_path)
    assert message in str(caught.value)


def test_without_a_configuration_the_context_key_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="msk-lag-reporter is missing"):
        read(None, tmp_path)


@pytest.mark.parametrize("name", ["one-scram-cluster", "twenty-clusters", "scaling-ecs"])
def test_every_examples_collectors_take_their_documents(name: str) -> None:
    found = read(f"{name}.json", EXAMPLES)
    for each in found.clusters:
        document = each.document() | {"bootstrap_servers": ["b-1:9098"]}
        assert settings_of(document).cluster == each.name


def test_groups_that_are_named_come_first_in_the_budget() -> None:
    found = cluster(
        alarms={"groups": ["billing"], "anomalies": ["audit"]}, scaling=[SCALING | {"group": "a.b"}]
    )
    levels = found.document()["levels"]
    assert levels["named"] == ["billing", "audit", "a.b"]
    assert levels["scaling"] == {"allow": r"^(?:a\.b)\Z", "deny": None}


def test_what_a_service_says_of_its_group_comes_before_expressions() -> None:
    of_service = SCALING | {"group": "a.b", "capacity": 50, "members_per_task": 2}
    other = SCALING | {"group": "other", "service": "other"}
    found = cluster(scaling=[of_service, other], tasks={"^a": {"capacity": 7}})
    rules = settings_of(found.document() | {"bootstrap_servers": ["b-1:9098"]}).rules
    needs = [
        (rules.tasks_of(name).capacity, rules.tasks_of(name).members_per_task)
        for name in ("a.b", "a.bc", "axb", "other")
    ]
    assert needs == [(50, 2), (7, 1), (7, 1), (None, 1)]


def test_one_group_has_one_capacity_whatever_services_follow_it() -> None:
    both = [SCALING | {"capacity": 50}, SCALING | {"service": "second", "capacity": 60}]
    (fault,) = cluster_faults(scaling=both)
    assert fault == (
        f"scaling[1]: {SCALING['group']} has other capacity, catch_up_seconds, members_per_task, "
        "prefer_even in an entry before, and one group has one TasksNeeded"
    )
    assert cluster_faults(scaling=[both[0], both[1] | {"capacity": 50}]) == ()


def test_the_service_level_of_a_group_is_the_first_that_fits() -> None:
    found = cluster(sla_seconds={"^bill": 60, ".*": 900})
    assert [found.sla_of(group) for group in ("billing", "other")] == [60, 900]


@pytest.mark.parametrize(
    ("auth", "message"),
    [
        ({"type": "iam"}, {"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER"}),
        ({"type": "scram", "secret_arn": SECRET, "kms_key_arn": KEY},
         {"security_protocol": "SASL_SSL", "sasl_mechanism": "SCRAM-SHA-512", "secret_id": SECRET}),
        ({"type": "tls", "secret_arn": SECRET}, {"security_protocol": "SSL", "secret_id": SECRET}),
        ({"type": "none"}, {"security_protocol": "SSL"}),
        ({"type": "none", "plaintext": True}, {"security_protocol": "PLAINTEXT"}),
    ],
)  # fmt: skip
def test_the_login_becomes_the_collectors_own_words(
    auth: dict[str, Any], message: dict[str, str]
) -> None:
    document = cluster(auth=auth).document()
    keys = ("security_protocol", "sasl_mechanism", "secret_id")
    assert {key: document[key] for key in keys if document[key] is not None} == message


def test_other_kafka_than_msk_may_have_the_shorter_digest() -> None:
    auth = {"type": "scram", "secret_arn": SECRET, "mechanism": "SCRAM-SHA-256"}
    own = {"arn": None, "region": "eu-west-1", "bootstrap_servers": ["b:9096"]}
    assert cluster(auth=auth, **own).document()["sasl_mechanism"] == "SCRAM-SHA-256"
    (fault,) = faults(cluster_json(auth=auth | {"kms_key_arn": KEY}))
    assert fault == "clusters[0].auth.mechanism: must be SCRAM-SHA-512, as MSK has no other"
