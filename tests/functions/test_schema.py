# SPDX-License-Identifier: Apache-2.0
"""Every fault of a configuration document, in words that say what to change."""

from __future__ import annotations

from typing import Any

import pytest

from functions.schema import DocumentSchema, faults_of

GOOD: dict[str, Any] = {
    "cluster": "shop",
    "bootstrap_servers": ["b-1.shop:9096"],
    "secret_id": "AmazonMSK_reporter",
}


def faults(**changes: Any) -> list[str]:
    return faults_of({**GOOD, **changes})


def test_a_document_needs_only_a_cluster_its_servers_and_a_secret() -> None:
    assert faults() == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"cluster": "a b"}, "cluster: must be letters, digits, '.', '_' or '-'"),
        ({"cluster": "a\n"}, "cluster: must be letters, digits, '.', '_' or '-'"),
        ({"cluster": "../other"}, "cluster: must be letters, digits, '.', '_' or '-'"),
        ({"cluster": 5}, "cluster: not a valid string"),
        ({"bootstrap_servers": []}, "bootstrap_servers: shorter than minimum length 1"),
        ({"bootstrap_servers": "b:9096"}, "bootstrap_servers: not a valid list"),
        ({"bootstrap_servers": ["b:9096", "b"]}, "bootstrap_servers.1: must be host:port"),
        ({"namespace": "AWS/Kafka"}, "namespace: is no CloudWatch namespace of your own"),
        ({"namespace": ""}, "namespace: is no CloudWatch namespace of your own"),
        ({"levels": None}, "levels: field may not be null"),
        ({"levels": [5]}, "levels: invalid input type"),
        ({"sasl_mechanism": "GSSAPI"}, "sasl_mechanism: must be one of: SCRAM-SHA-512,"),
        ({"security_protocol": "TLS"}, "security_protocol: must be one of: PLAINTEXT, SSL,"),
        ({"security_protocol": 7}, "security_protocol: not a valid string"),
        ({"security_protocol": "TLS", "secret_id": None}, "security_protocol: must be one of:"),
        ({"secret_id": None}, "secret_id: is required for a SASL protocol"),
        ({"secret_id": ""}, "secret_id: is required for a SASL protocol"),
        ({"secret_id": 7}, "secret_id: not a valid string"),
    ],
)
def test_one_fault_is_told_once(changes: dict[str, Any], fault: str) -> None:
    (told,) = faults(**changes)
    assert told.startswith(fault)


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_a_secret_is_not_needed_without_sasl(protocol: str) -> None:
    assert faults(security_protocol=protocol, secret_id=None) == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"group": {}}, "group: unknown key, did you mean groups?"),
        (
            {"levels": {"max_metric": 5}},
            "levels.max_metric: unknown key, did you mean max_metrics?",
        ),
        (
            {"levels": {"partitions": {"topic": {}}}},
            "levels.partitions.topic: unknown key, did you mean topics?",
        ),
        ({"topics": {"denied": "x"}}, "topics.denied: unknown key, did you mean deny?"),
        ({"zzz": 1}, "zzz: unknown key"),
    ],
)
def test_an_unknown_key_is_told_with_the_nearest_one(changes: dict[str, Any], fault: str) -> None:
    assert faults(**changes) == [fault]


@pytest.mark.parametrize("place", ["groups", "topics"])
@pytest.mark.parametrize("side", ["allow", "deny"])
def test_an_expression_that_does_not_compile_is_quoted(place: str, side: str) -> None:
    (told,) = faults(**{place: {side: "orders("}})
    assert told.startswith(f"{place}.{side}: is not a regular expression")
    assert told.endswith("'orders('")


@pytest.mark.parametrize(
    ("key", "low", "high"),
    [
        ("interval_seconds", 1, 3600),
        ("deadline_seconds", 1, 900),
        ("broker_timeout_seconds", 0.1, 300),
        ("window", 1, 1000),
    ],
)
def test_numbers_are_taken_up_to_their_bounds(key: str, low: float, high: float) -> None:
    assert faults(**{key: low}) == faults(**{key: high}) == []
    for beyond in (low - 1, high + 1):
        (told,) = faults(**{key: beyond})
        assert told.startswith(f"{key}: must be greater than or equal to")


@pytest.mark.parametrize("value", ["10", True, 10.5, None])
@pytest.mark.parametrize("key", ["window", "max_metrics"])
def test_a_count_is_a_whole_number_and_nothing_that_looks_like_one(key: str, value: Any) -> None:
    changes = {"window": value} if key == "window" else {"levels": {"max_metrics": value}}
    assert len(faults(**changes)) == 1


@pytest.mark.parametrize("value", [True, float("nan"), float("inf"), "soon", "60", None])
def test_a_time_is_a_finite_number(value: Any) -> None:
    assert len(faults(interval_seconds=value)) == 1


@pytest.mark.parametrize("value", ["yes", "true", 1, None])
def test_a_switch_is_true_or_false_and_no_word_for_it(value: Any) -> None:
    assert len(faults(levels={"topics": value})) == 1


def test_all_faults_are_told_at_once_in_order() -> None:
    document = {"cluster": "a b", "group": {}, "window": 0, "topics": {"allow": "("}}
    told = [fault.partition(":")[0] for fault in faults_of(document)]
    assert told == sorted(told)
    assert set(told) == {
        "cluster", "group", "window", "topics.allow", "bootstrap_servers", "secret_id",
    }  # fmt: skip


@pytest.mark.parametrize("document", [[], None, "shop", 5])
def test_a_document_that_is_no_object_is_one_fault(document: Any) -> None:
    assert faults_of(document) == ["the document must be a JSON object"]


@pytest.mark.parametrize(
    ("topic", "accepted"),
    [
        ("orders", True),
        ("__orders", True),
        ("__consumer_offsets", False),
        ("__transaction_state", False),
        ("__amazon_msk_canary", False),
        ("my__consumer_offsets", True),
    ],
)
def test_kafkas_own_topics_are_denied_unless_told_otherwise(topic: str, accepted: bool) -> None:
    assert DocumentSchema().load(GOOD)["topics"].accepts(topic) == accepted
    own = {**GOOD, "topics": {"deny": None}}
    assert DocumentSchema().load(own)["topics"].accepts(topic)


def test_an_allow_expression_alone_keeps_kafkas_own_topics_denied() -> None:
    topics = DocumentSchema().load({**GOOD, "topics": {"allow": "o"}})["topics"]
    assert topics.accepts("orders")
    assert not topics.accepts("__consumer_offsets")
