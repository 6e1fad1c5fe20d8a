# SPDX-License-Identifier: Apache-2.0
"""What is allowed and unlikely to be meant has a sentence that says what to write."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kafka_lag_cdk.config.doubts import find_doubts
from kafka_lag_cdk.config.shell_patterns import shell_pattern_in
from tests.infra.configured import cluster, cluster_json

ONE_SUBNET = {**cluster_json()["vpc"], "subnets": ["subnet-0a1b2c3d4e5f60718"]}


def doubts(**changes: Any) -> list[str]:
    """The sentences on a good cluster with these changes."""
    return [each.sentence for each in find_doubts(cluster(**changes))]


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
    found = list(find_doubts(cluster(groups={"deny": "a*"}, topics={"deny": "a*"})))
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
