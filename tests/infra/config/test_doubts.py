# SPDX-License-Identifier: Apache-2.0
"""What is allowed and unlikely to be meant has a sentence that says what to write."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kafka_lag_cdk.config.doubts import find_document_doubts
from kafka_lag_cdk.config.shell_patterns import shell_pattern_in
from tests.infra.configured import cluster, cluster_json

GOOD = cluster_json()["vpc"]
NO_NAT = {**GOOD, "nat": False}
ONE_SUBNET = {**GOOD, "subnets": ["subnet-0a1b2c3d4e5f60718"]}
IAM = {"type": "iam"}
OTLP = {"otlp": {"endpoint": "https://vendor.example/v1", "headers_secret": "token"}}
LEVELS = {"topics": False}


def doubts(**changes: Any) -> list[str]:
    """The sentences on a good cluster with these changes."""
    return [each.sentence for each in find_document_doubts(cluster(**changes))]


def warned_services(**changes: Any) -> list[str]:
    """The keys of endpoints that the sentences name."""
    sentences = [each for each in doubts(**changes) if "no way to" in each]
    return [re.findall(r"endpoints\.(\w+) makes", each)[0] for each in sentences]


def scaled(group: str, **keys: Any) -> dict[str, Any]:
    """A service of the group's name."""
    service = {"group": group, "ecs_cluster": "services", "service": group}
    return {**service, "max": 6, "partitions": 12, **keys}


def test_a_good_cluster_has_none() -> None:
    assert doubts() == []


def test_one_subnet_is_one_zone() -> None:
    assert doubts(vpc=ONE_SUBNET) == [
        "vpc.subnets has one subnet: when its zone fails, nothing is collected. Name a second one, "
        "in another zone."
    ]


def test_a_named_group_without_an_sla_is_told_where_others_have_one() -> None:
    alarms = {"groups": ["billing", "stock"]}
    assert doubts(alarms=alarms, sla_seconds={"^biling$": 60, "^st": 60}) == [
        "alarms.groups names billing, which no sla_seconds matches: it gets no alarm on its age."
    ]
    assert doubts(alarms=alarms) == []


LATE = "billing may take catch_up_seconds, {}, to work off a backlog, and sla_seconds promises {}: "


@pytest.mark.parametrize(
    ("promised", "keys", "found"),
    [
        pytest.param(300, {}, None, id="as long by default"),
        pytest.param(299, {}, ("300", "Set catch_up_seconds to 299 at most"), id="default"),
        pytest.param(900, {"catch_up_seconds": 900}, None, id="as long"),
        pytest.param(
            900, {"catch_up_seconds": 901}, ("901", "Set catch_up_seconds to 900"), id="longer"
        ),
        pytest.param(
            59, {"catch_up_seconds": 60}, ("60", "Promise 60 at least"), id="sooner than can be"
        ),
    ],
)
def test_a_scaled_group_should_catch_up_within_what_is_promised(
    promised: float, keys: dict[str, Any], found: tuple[str, str] | None
) -> None:
    sla = {"^billing$": promised}
    sentences = doubts(sla_seconds=sla, scaling=[scaled("billing", tasks={}, **keys)])
    assert sentences == doubts(sla_seconds=sla, tasks={"^billing$": {"prefer_even": True, **keys}})
    assert len(sentences) == (found is not None)
    for sentence in sentences:
        seconds, to_do = found or ("", "")
        assert sentence.startswith(LATE.format(seconds, promised))
        assert f": TasksNeeded then keeps too few tasks for it. {to_do}" in sentence


def test_each_group_that_a_service_reads_as_should_catch_up_in_time() -> None:
    service = scaled("stock", tasks={"groups": ["billing"]}, catch_up_seconds=600)
    sentences = doubts(sla_seconds={"^billing$": 300, "^stock$": 600}, scaling=[service])
    assert [each.startswith(LATE.format(600, 300)) for each in sentences] == [True]


def test_a_group_without_a_promise_or_scaled_by_its_lag_may_take_its_time() -> None:
    steps = {"out": [{"above": 10000, "add": 1}], "below": 1000}
    by_lag = scaled("billing", steps=steps, catch_up_seconds=900)
    assert doubts(sla_seconds={"^billing$": 300}, scaling=[by_lag]) == []
    assert doubts(sla_seconds={"^stock$": 300}, scaling=[scaled("billing", tasks={})]) == []


def test_an_objective_that_two_runs_break_is_told_where_runs_are_far_apart() -> None:
    slo = {"^billing$": {"age_seconds": 300, "target": 99.9, "days": 7}}
    assert doubts(slo=slo) == []
    assert doubts(slo=slo, interval_seconds=600) == [
        "slo ^billing$ leaves 10.1 minutes in 7 days, which two bad runs break, as each speaks for "
        "10 minutes. Take a lower target or more days."
    ]


def test_an_expression_that_looks_like_a_shells_pattern_says_what_it_means() -> None:
    assert doubts(groups={"deny": "test-*"}) == [
        'groups.deny: "test-*" is a regular expression, found anywhere in a name, in which "-*" is '
        'any number of "-", none too. Where * stands for any text, write "^test-".'
    ]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"groups": {"allow": "a-*"}}, "groups.allow"),
        ({"topics": {"allow": "a-*"}}, "topics.allow"),
        ({"topics": {"deny": "a-*"}}, "topics.deny"),
        ({"uncommitted": {"a-*": "apart"}}, "uncommitted"),
        ({"allowed_lag": {"^ok$": 1, "a-*": 1}}, "allowed_lag"),
        ({"owner": {"a-*": "Ann"}}, "owner"),
        ({"sla_seconds": {"a-*": 60}}, "sla_seconds"),
        ({"slo": {"a-*": {"age_seconds": 60, "target": 99}}}, "slo"),
        ({"tasks": {"a-*": {"capacity": 5}}}, "tasks"),
        ({"levels": {"scaling": {"allow": "a-*"}}}, "levels.scaling.allow"),
        ({"levels": {"partitions": {"topics": {"deny": "a-*"}}}}, "levels.partitions.topics.deny"),
        (
            {"sinks": [{"otlp": {"sigv4": True, "levels": {"scaling": {"deny": "a-*"}}}}]},
            "sinks[0].otlp.levels.scaling.deny",
        ),
    ],
)
def test_it_is_seen_wherever_expressions_stand(changes: dict[str, Any], path: str) -> None:
    (sentence,) = doubts(**changes)
    assert sentence.startswith(f'{path}: "a-*" is a regular expression')


def test_a_name_that_is_taken_exactly_may_hold_an_asterisk() -> None:
    assert doubts(alarms={"groups": ["a*"], "offset_lag": {"b*": 5}}) == []


def test_two_filters_with_the_same_slip_are_told_apart() -> None:
    slips = cluster(groups={"deny": "a*"}, topics={"deny": "a*"})
    found = list(find_document_doubts(slips))
    assert len({(each.kind, each.about) for each in found}) == 2


@pytest.mark.parametrize(
    "expression",
    ["^test-", ".*", "^a.*b$", r"\d*", r"a\.*", "[ab]*", "(ab)*c", "[a*]", "[^]*]x", r"a\*", "a+"],
)
def test_what_is_repeated_on_purpose_is_none(expression: str) -> None:
    assert shell_pattern_in(expression) is None


@pytest.mark.parametrize(
    ("expression", "repeated", "meant"),
    [
        ("test-*", "-", "^test-"),
        ("^test-*", "-", "^test-"),
        ("^test-*$", "-", "^test-"),
        ("t*", "t", "^t"),
        ("test-*-dev", "-", "^test-.*-dev$"),
        ("a*b*", "a", "^a.*b"),
        (".*-test*", "t", "^.*-test"),
        ("^(test-*|dev)", "-", "^(test-.*|dev)"),
        ("a*|b", "a", "a.*|b"),
        (r"a\.b*", "b", r"a\.b.*"),
    ],
)
def test_an_asterisk_for_any_text_is_written_with_a_dot(
    expression: str, repeated: str, meant: str
) -> None:
    found = shell_pattern_in(expression)
    assert found is not None
    assert (found.repeated, found.meant) == (repeated, meant)
    assert re.compile(found.meant)
    assert shell_pattern_in(found.meant) is None


@pytest.mark.parametrize(
    ("vpc", "changes", "warned"),
    [
        pytest.param({}, {}, ["s3", "secrets_manager"], id="scram"),
        pytest.param({}, {"auth": IAM}, ["s3"], id="iam-and-emf"),
        pytest.param(
            {}, {"auth": IAM, "sinks": ["cloudwatch"]}, ["s3", "monitoring"], id="cloudwatch"
        ),
        pytest.param(
            {}, {"auth": IAM, "sinks": ["emf", OTLP]}, ["s3", "secrets_manager"], id="headers"
        ),
        pytest.param(
            {"existing_endpoints": ["s3"]},
            {"sinks": [{"otlp": {"sigv4": True}}]},
            ["secrets_manager", "monitoring"],
            id="s3-is-there",
        ),
        pytest.param({"nat": True}, {"sinks": ["cloudwatch"]}, [], id="nat"),
        pytest.param(
            {"existing_endpoints": ["s3", "secrets_manager", "monitoring"]},
            {"sinks": ["cloudwatch"]},
            [],
            id="all-are-there",
        ),
        pytest.param(
            {
                "endpoints": {"s3": True, "secrets_manager": True},
                "route_tables": ["rtb-0a1b2c3d4e5f60718"],
                "cidr": "10.0.0.0/16",
            },
            {"sinks": ["cloudwatch"]},
            ["monitoring"],
            id="two-are-made",
        ),
        pytest.param(
            {"endpoint_security_groups": ["sg-ffffffff"]},
            {},
            ["s3", "secrets_manager"],
            id="whose-group-it-is-nobody-knows",
        ),
    ],
)
def test_a_service_without_a_way_to_it_is_named(
    vpc: dict[str, Any], changes: dict[str, Any], warned: list[str]
) -> None:
    assert warned_services(vpc=NO_NAT | vpc, **changes) == warned


def test_no_way_says_what_would_be_one() -> None:
    assert doubts(vpc=NO_NAT, auth=IAM) == [
        "vpc names no way to S3 (its snapshots): endpoints.s3 makes an endpoint, s3 in "
        "existing_endpoints says that there is one, nat: true that the subnets have a NAT gateway."
    ]


def test_named_groups_that_page_twice_are_counted() -> None:
    few = [f"group-{number}" for number in range(10)]
    many = [f"group-{number:03}" for number in range(140)]
    assert doubts(alarms={"groups": few}) == []
    (sentence,) = doubts(alarms={"groups": many})
    assert sentence == (
        "85 of the 140 groups in alarms.groups page twice (group-055, group-056, group-057 and 82 "
        "more), as any_group's queries cannot leave out more: name fewer, as with "
        "shared.notify.owners, or set alarms.any_group to false."
    )
    assert doubts(alarms={"groups": many, "any_group": False}) == []


def test_a_named_group_whose_name_no_query_can_hold_pages_twice() -> None:
    (sentence,) = doubts(alarms={"groups": ["it's", "plain"]})
    assert sentence.startswith("1 of the 2 groups in alarms.groups page twice (it's)")


NO_SINK = "as sinks names neither emf nor cloudwatch"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        pytest.param(
            {"vpc": {**GOOD, "route_tables": ["rtb-0a1b2c3d4e5f60718"]}},
            "vpc.route_tables has no effect, as endpoints.s3 is off, whose routes they are for. "
            "Set it, or drop vpc.route_tables.",
            id="route_tables",
        ),
        pytest.param(
            {"vpc": {**GOOD, "cidr": "10.0.0.0/16"}},
            "vpc.cidr has no effect, as endpoints makes no interface endpoint, into which it is "
            "let. Set one, or drop vpc.cidr.",
            id="cidr",
        ),
        pytest.param(
            {"sinks": [], "sla_seconds": {".*": 60}},
            f"sla_seconds has no alarm, {NO_SINK}: a broken promise shows in snapshots, on pages "
            "and in status messages alone. Name one.",
            id="sla-without-sinks",
        ),
        pytest.param(
            {"sla_seconds": {"^billing$": 60}, "alarms": {"any_group": False}},
            "sla_seconds has no alarm, as alarms.any_group is false and alarms.groups names none "
            "of its groups: a broken promise shows in snapshots, on pages and in status messages "
            "alone. Set one of them.",
            id="sla-that-nothing-watches",
        ),
        pytest.param(
            {"sla_seconds": {"^test-1$": 60}, "groups": {"deny": "^test-"}},
            "sla_seconds names test-1, which is not read, as groups.deny matches it: it has no "
            "effect. Correct one of them.",
            id="sla-of-a-denied-group",
        ),
        pytest.param(
            {"owner": {r"^a\.b$": "Ann"}, "groups": {"allow": "^shop-"}},
            "owner names a.b, which is not read, as groups.allow does not match it: it has no "
            "effect. Correct one of them.",
            id="owner-of-a-group-that-is-not-read",
        ),
        pytest.param(
            {"allowed_lag": {"^audit$": 1}, "topics": {"deny": "^audit$"}},
            "allowed_lag names audit, which is not read, as topics.deny matches it: it has no "
            "effect. Correct one of them.",
            id="a-topic",
        ),
        pytest.param(
            {"sinks": [], "namespace": "Ours"},
            f"namespace has no effect, {NO_SINK}. Name a sink, or drop namespace.",
            id="namespace",
        ),
        pytest.param(
            {"sinks": [], "levels": LEVELS},
            f"levels has no effect, {NO_SINK}. Name a sink, or drop levels.",
            id="levels",
        ),
        pytest.param(
            {"sinks": [{"otlp": {**OTLP["otlp"], "levels": {}}}], "levels": LEVELS},
            f"levels has no effect, {NO_SINK} and each otlp sink has levels of its own. Name a "
            "sink, or drop levels.",
            id="levels-beside-those-of-otlp",
        ),
        pytest.param(
            {"sinks": [], "alarms": {"any_group": True}},
            f"alarms.any_group has no effect, {NO_SINK}, and alarms read CloudWatch. Name one, or "
            "drop alarms.any_group.",
            id="any_group",
        ),
        pytest.param(
            {"sinks": [], "alarms": {"any_unusual": True}},
            f"alarms.any_unusual has no effect, {NO_SINK}, and alarms read CloudWatch. Name one, "
            "or drop alarms.any_unusual.",
            id="any_unusual",
        ),
    ],
)
def test_a_key_that_does_nothing_is_named(changes: dict[str, Any], sentence: str) -> None:
    assert doubts(**changes) == [sentence]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"sinks": []}, id="nothing-is-said-of-defaults"),
        pytest.param({"sinks": [OTLP], "levels": LEVELS}, id="otlp-takes-the-clusters-levels"),
        pytest.param({"sinks": [], "alarms": {"any_group": False}}, id="off-is-off"),
        pytest.param(
            {"sla_seconds": {"^a$": 60}, "alarms": {"groups": ["a"], "any_group": False}},
            id="a-named-group-has-an-alarm",
        ),
        pytest.param({"sla_seconds": {".*": 60}, "sinks": [], "paused": True}, id="paused"),
        pytest.param(
            {"sla_seconds": {"^test": 60}, "groups": {"deny": "^test-"}}, id="more-than-one-name"
        ),
        pytest.param({"owner": {"^a$": "Ann"}, "groups": {"deny": "^b$"}}, id="another-is-denied"),
    ],
)
def test_a_key_that_does_something_is_not(changes: dict[str, Any]) -> None:
    assert doubts(**changes) == []
