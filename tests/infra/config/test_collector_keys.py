# SPDX-License-Identifier: Apache-2.0
"""Every fault of a collector's document, in words that say what to change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.settings import settings_of
from tests.documents import document
from tests.infra.config.refused import document_faults, faults_of


def test_a_document_needs_only_a_cluster_its_servers_and_a_secret() -> None:
    assert document_faults() == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"cluster": "a b"}, "cluster: must be letters, digits, '.', '_' or '-'"),
        ({"cluster": "a\n"}, "cluster: must be letters, digits, '.', '_' or '-'"),
        ({"cluster": "../other"}, "cluster: must be letters, digits, '.', '_' or '-'"),
        (
            {"bootstrap_servers": []},
            "bootstrap_servers: Value should have at least 1 item after validation, not 0",
        ),
        ({"bootstrap_servers": "b:9096"}, "bootstrap_servers: must be a list"),
        (
            {"bootstrap_servers": ["b:9096", "b"]},
            "bootstrap_servers[1]: must be host:port, not 'b'",
        ),
        ({"namespace": "AWS/Kafka"}, "namespace: is no CloudWatch namespace of your own"),
        ({"namespace": ""}, "namespace: is no CloudWatch namespace of your own"),
        ({"levels": [5]}, "levels: Input should be a valid dictionary"),
        ({"sasl_mechanism": "GSSAPI"}, "sasl_mechanism: Input should be 'SCRAM-SHA-512', "),
        ({"security_protocol": "TLS"}, "security_protocol: Input should be 'PLAINTEXT', 'SSL', "),
        (
            {"security_protocol": "TLS", "secret_id": None},
            "security_protocol: Input should be 'PLAINTEXT',",
        ),
        ({"secret_id": None}, "secret_id: is required for a SASL protocol"),
        ({"secret_id": ""}, "secret_id: is required for a SASL protocol"),
        ({"secret_id": None, "sasl_mechanism": "PLAIN"}, "secret_id: is required for a SASL"),
        ({"sasl_mechanism": "OAUTHBEARER"}, "secret_id: must be left out for OAUTHBEARER"),
        (
            {
                "sasl_mechanism": "OAUTHBEARER",
                "security_protocol": "SASL_PLAINTEXT",
                "secret_id": None,
            },
            "security_protocol: must be SASL_SSL for OAUTHBEARER",
        ),
        ({"uncommitted": "late"}, "uncommitted: must be an object of regular expressions"),
        ({"allowed_lag": None}, "allowed_lag: must be an object of regular expressions"),
        ({"owner": ["g"]}, "owner: must be an object of regular expressions"),
        ({"uncommitted": {"g": "latest"}}, "uncommitted.g: Input should be 'earliest' or 'apart'"),
        ({"allowed_lag": {"t": -1}}, "allowed_lag.t: Input should be greater than or equal to 0"),
        ({"allowed_lag": {"t": 10**13}}, "allowed_lag.t: Input should be less than or equal to"),
        ({"allowed_lag": {"t": None}}, "allowed_lag.t: Input should be a valid integer"),
        ({"owner": {"g": ""}}, "owner.g: length must be between 1 and 256"),
        ({"owner": {"g": "a\ud800"}}, "owner.g: must be words that can be printed"),
        ({"owner": {"g": "   "}}, "owner.g: must be words that can be printed"),
        ({"allowed_lag": {"": 3}}, "allowed_lag.: must not be empty: every name matches that"),
        ({"runbook_url": {"g": "wiki"}}, "runbook_url.g: must be a whole URL, as in https://wiki"),
        ({"runbook_url": {"g": "javascript:alert(1)"}}, "runbook_url.g: must be a whole URL"),
        ({"runbook_url": {"g": "https://w/a b"}}, "runbook_url.g: must be a whole URL"),
        ({"runbook_url": {"g": "https://[w/"}}, "runbook_url.g: must be a whole URL"),
        ({"runbook_url": {"g": "https://me:pw@w/"}}, "runbook_url.g: must have no user or"),
        (
            {"runbook_url": {"g": "https://w/" + "x" * 2_039}},
            "runbook_url.g: must not be longer than 2,048 characters",
        ),
        ({"sla_seconds": {"g": 0}}, "sla_seconds.g: Input should be greater than 0"),
        ({"sla_seconds": {"g": 1e9}}, "sla_seconds.g: Input should be less than or equal to"),
        ({"slo": {"g": {"target": 99}}}, "slo.g.age_seconds: Field required"),
        (
            {"slo": {"g": {"age_seconds": 60, "target": 0.99}}},
            "slo.g.target: Input should be greater than or equal to 50",
        ),
        (
            {"slo": {"g": {"age_seconds": 60, "target": 100}}},
            "slo.g.target: Input should be less than 100",
        ),
        (
            {"slo": {"g": {"age_seconds": 60, "target": 99, "days": 91}}},
            "slo.g.days: Input should be less than or equal to 90",
        ),
        (
            {"slo": {"g": {"age_seconds": 60, "target": 99.9, "days": 1}}},
            "slo.g: leaves 1.4 minutes in 1 days, which two bad minutes break: take a lower target",
        ),
        ({"tasks": {"g": {"capacity": 0}}}, "tasks.g.capacity: Input should be greater than 0"),
        (
            {"tasks": {"g": {"catch_up_seconds": 59}}},
            "tasks.g.catch_up_seconds: Input should be greater",
        ),
        (
            {"tasks": {"g": {"members_per_task": 0}}},
            "tasks.g.members_per_task: Input should be greater",
        ),
        ({"tasks": {"g": {"even": True}}}, "tasks.g.even: unknown key"),
        ({"tolerance": {"second": 1}}, "tolerance.second: unknown key, did you mean seconds?"),
        (
            {"tolerance": {"seconds": 0}},
            "tolerance.seconds: Input should be greater than or equal to 0.0",
        ),
        ({"tolerance": {"share": 1.1}}, "tolerance.share: Input should be less than or equal to 1"),
        ({"risk_horizon_hours": 0}, "risk_horizon_hours: Input should be greater than 0"),
        ({"levels": {"scaling": True}}, "levels.scaling: Input should be a valid dictionary"),
    ],
)
def test_one_fault_is_told_once(changes: dict[str, Any], fault: str) -> None:
    (message,) = document_faults(**changes)
    assert message.startswith(fault)


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_a_secret_is_not_needed_without_sasl(protocol: str) -> None:
    assert document_faults(security_protocol=protocol, secret_id=None) == []


def test_a_secret_is_not_needed_where_a_role_logs_in() -> None:
    assert document_faults(sasl_mechanism="OAUTHBEARER", secret_id=None) == []


def test_a_secret_may_hold_a_client_certificate() -> None:
    assert document_faults(security_protocol="SSL", secret_id="AmazonMSK_tls") == []


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
    assert document_faults(**changes) == [fault]


@pytest.mark.parametrize("place", ["groups", "topics"])
@pytest.mark.parametrize("side", ["allow", "deny"])
def test_an_expression_that_does_not_compile_is_quoted(place: str, side: str) -> None:
    (message,) = document_faults(**{place: {side: "orders("}})
    assert message.startswith(f"{place}.{side}: is not a regular expression")
    assert message.endswith("'orders('")


@pytest.mark.parametrize(
    "key", ["uncommitted", "allowed_lag", "owner", "runbook_url", "sla_seconds", "tasks"]
)
def test_a_choice_by_name_may_be_empty_and_an_expression_that_does_not_compile_is_its_key(
    key: str,
) -> None:
    assert document_faults(**{key: {}}) == []
    value = {
        "uncommitted": "apart",
        "owner": "me",
        "tasks": {},
        "runbook_url": "https://w.example/",
    }.get(key, 1)
    (message,) = document_faults(**{key: {"good": value, "or(ders": value}})
    assert message.startswith(f"{key}.or(ders: is not a regular expression")


def test_the_first_expression_in_the_document_that_matches_decides() -> None:
    written = json.loads('{"allowed_lag": {"^orders": 5, "o": 1}}')
    allowed = settings_of(document(**written)).rules.allowed_lag
    assert [allowed.get(topic) for topic in ("orders", "os", "bills")] == [5, 1, None]


@pytest.mark.parametrize(
    ("interval", "window", "good"),
    [(3600, "24h", True), (60, "1441m", False), (200, "10m", True), (200, "86401s", False)],
)
def test_the_window_is_a_day_at_most(interval: float, window: str, good: bool) -> None:
    message = document_faults(interval_seconds=interval, window=window)
    assert message == ([] if good else [f"window: must be at most 24h, and is {window}"])


@pytest.mark.parametrize(
    ("interval", "window", "good"), [(200, "600s", True), (200, "599s", False), (3600, "3h", True)]
)
def test_the_window_is_three_intervals_at_least(interval: float, window: str, good: bool) -> None:
    message = document_faults(interval_seconds=interval, window=window)
    too_short = "window: must be at least three intervals, and 599s is less than three of 200 s"
    assert message == ([] if good else [f"{too_short}: write 10m"])


@pytest.mark.parametrize(
    ("interval", "window", "meant"),
    [(60, 10, "10m"), (60, "10", "10m"), (15, 10, "150s"), (300, 12, "1h"), (60, 10.0, "10m")],
)
def test_a_count_of_runs_is_refused_with_the_window_that_it_meant(
    interval: float, window: Any, meant: str
) -> None:
    assert document_faults(interval_seconds=interval, window=window) == [
        f"window: is a time and no count of runs: {window} runs at {interval} s are {meant}, "
        f"so write {meant}"
    ]


@pytest.mark.parametrize("value", ["soon", "10 m", "0m", "-5m", "1d", ""])
def test_a_window_is_a_whole_number_of_seconds_minutes_or_hours(value: str) -> None:
    (message,) = document_faults(window=value)
    assert message.startswith("window: must be ")


@pytest.mark.parametrize(
    ("interval", "window", "seconds"),
    [(15, None, 600), (200, None, 600), (201, None, 603), (3600, None, 10_800), (15, "1h", 3_600)],
)
def test_the_window_is_ten_minutes_or_three_intervals_unless_it_is_named(
    interval: float, window: str | None, seconds: int
) -> None:
    named = {} if window is None else {"window": window}
    rules = settings_of(document(interval_seconds=interval, **named)).rules
    assert rules.window_ms == seconds * 1_000


def test_a_window_of_a_wrong_interval_is_not_complained_of_twice() -> None:
    assert [
        fault.partition(":")[0] for fault in document_faults(interval_seconds=0, window="20h")
    ] == ["interval_seconds"]


@pytest.mark.parametrize(
    ("key", "low", "high"),
    [
        ("interval_seconds", 1, 3600),
        ("deadline_seconds", 1, 900),
        ("broker_timeout_seconds", 0.1, 300),
        ("hold", 1, 1000),
        ("lookup_budget", 0, 1_000_000),
    ],
)
def test_numbers_are_taken_up_to_their_bounds(key: str, low: float, high: float) -> None:
    assert document_faults(**{key: low}) == document_faults(**{key: high}) == []
    for beyond in (low - 1, high + 1):
        (message,) = document_faults(**{key: beyond})
        assert message.startswith(f"{key}: Input should be ")


@pytest.mark.parametrize("value", ["10", True, 10.5, None])
@pytest.mark.parametrize("key", ["max_metrics", "hold", "lookup_budget"])
def test_a_count_is_a_whole_number_and_nothing_that_looks_like_one(key: str, value: Any) -> None:
    changes = {"levels": {key: value}} if key == "max_metrics" else {key: value}
    assert len(document_faults(**changes)) == 1


@pytest.mark.parametrize("value", [True, float("nan"), float("inf"), "soon", "60", None])
def test_a_time_is_a_finite_number(value: Any) -> None:
    assert len(document_faults(interval_seconds=value)) == 1


@pytest.mark.parametrize("value", ["yes", "true", 1, None])
@pytest.mark.parametrize("key", ["topics", *contract.CHOSEN_METRICS])
def test_a_switch_is_true_or_false_and_no_word_for_it(key: str, value: Any) -> None:
    assert len(document_faults(levels={key: value})) == 1


def test_all_faults_are_told_at_once_in_order() -> None:
    wrong = {"cluster": "a b", "group": {}, "window": 0, "topics": {"allow": "("}}
    message = [fault.partition(":")[0] for fault in faults_of(wrong)]
    assert len(message) == len(set(message))
    assert set(message) == {
        "cluster", "group", "window", "topics.allow", "bootstrap_servers", "secret_id",
    }  # fmt: skip


@pytest.mark.parametrize("wrong", [[], None, "shop", 5])
def test_a_document_that_is_no_object_is_one_fault(wrong: Any) -> None:
    assert faults_of(wrong) == ["the document must be a JSON object"]


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
    assert settings_of(document()).rules.topics.accepts(topic) == accepted
    assert settings_of(document(topics={"deny": None})).rules.topics.accepts(topic)


def test_an_allow_expression_alone_keeps_kafkas_own_topics_denied() -> None:
    topics = settings_of(document(topics={"allow": "o"})).rules.topics
    assert topics.accepts("orders")
    assert not topics.accepts("__consumer_offsets")
