# SPDX-License-Identifier: Apache-2.0
"""Where metrics go: what a document may choose, and every fault of the choice."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag.lag.group_settings import NameFilter
from kafka_lag.settings import settings_of
from kafka_lag.sinks.config import OTEL_NAMES, Levels, OtlpConfig
from tests.documents import document
from tests.infra.config.refused import document_faults

URL = "https://collector:4318/v1/metrics"


def faults(*sinks: Any) -> list[str]:
    return document_faults(sinks=list(sinks))


def otlp(**message: Any) -> list[str]:
    return faults({"otlp": message})


@pytest.mark.parametrize(
    ("sinks", "chosen"),
    [
        (["emf"], ["emf"]),
        ([], []),
        (["cloudwatch", {"otlp": {"sigv4": True}}], ["cloudwatch", OtlpConfig(sigv4=True)]),
        (
            [{"otlp": {"endpoint": URL, "headers_secret": "s"}}],
            [OtlpConfig(URL, headers_secret="s")],
        ),
        ([{"otlp": {"endpoint": "http://[::1]:4318/x"}}], [OtlpConfig("http://[::1]:4318/x")]),
        (
            ["emf", {"otlp": {"endpoint": URL}}, {"otlp": {"sigv4": True}}],
            ["emf", OtlpConfig(URL), OtlpConfig(sigv4=True)],
        ),
        (
            [{"otlp": {"endpoint": URL, "names": "otel"}}],
            [OtlpConfig(URL, names=OTEL_NAMES)],
        ),
        ([{"otlp": {"sigv4": True, "levels": {}}}], [OtlpConfig(sigv4=True, levels=Levels())]),
    ],
)
def test_a_choice_arrives_in_its_order(sinks: list[Any], chosen: list[Any]) -> None:
    assert list(settings_of(document(sinks=sinks)).sinks) == chosen


@pytest.mark.parametrize(
    "sink", ["stdout", "", 5, True, ["emf"], {}, {"emf": {}}, {"otlp": {}, "emf": {}}]
)
def test_what_is_no_sink_is_told_what_there_is(sink: Any) -> None:
    assert faults(sink) == ['sinks[0]: must be "emf", "cloudwatch" or {"otlp": {...}}']


@pytest.mark.parametrize(
    ("sinks", "fault"),
    [
        (["emf", "emf"], "sinks: must name each sink once"),
        ([{"otlp": {"endpoint": URL}}] * 2, "sinks: must name each sink once"),
        (
            [{"otlp": {"endpoint": URL}}, {"otlp": {"endpoint": URL, "levels": {"topics": False}}}],
            "sinks: must name each sink once",
        ),
        (
            ["cloudwatch", "emf"],
            "sinks: must be emf or cloudwatch: both publish the same metrics to CloudWatch",
        ),
    ],
)
def test_the_same_metrics_go_to_a_place_once(sinks: list[Any], fault: str) -> None:
    assert faults(*sinks) == [fault]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "collector:4318",
        "ftp://collector/v1/metrics",
        "https://collector",
        "https://collector/",
        "https:///v1/metrics",
        "https://collector:port/v1/metrics",
        "https://collector:99999/v1/metrics",
        "https://[collector/v1/metrics",
        "https://collector/v1/metrics\n",
        "https://collector/v1 metrics",
        "https://col\u00fcector/v1/metrics",
    ],
)
def test_an_endpoint_is_a_whole_url(url: str) -> None:
    message = "must be a whole URL, as in https://collector:4318/v1/metrics"
    assert f"sinks[0].otlp.endpoint: {message}" in otlp(endpoint=url)


@pytest.mark.parametrize(
    "url", [f"{URL}?api-key=x", "https://u:p@c/v1", "https://u@c/v1", f"{URL}#x"]
)
def test_an_endpoint_holds_no_secret(url: str) -> None:
    message = "must have no password, query or fragment: use headers_secret"
    assert otlp(endpoint=url) == [f"sinks[0].otlp.endpoint: {message}"]


@pytest.mark.parametrize("secret", [{"headers_secret": "s"}, {"sigv4": True}])
def test_a_secret_is_not_sent_in_the_open(secret: dict[str, Any]) -> None:
    message = "must begin with https:// to be sent a secret"
    assert otlp(endpoint="http://c/v1/metrics", **secret) == [f"sinks[0].otlp.endpoint: {message}"]


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ({}, "endpoint: is required; with sigv4 it is CloudWatch's own by default"),
        ({"endpoint": 5}, "endpoint: Input should be a valid string"),
        ({"endpoint": URL, "sigv4": "yes"}, "sigv4: Input should be a valid boolean"),
        (
            {"endpoint": URL, "header_secret": "s"},
            "header_secret: unknown key, did you mean headers_secret?",
        ),
        (
            {"endpoint": URL, "headers_secret": "s", "sigv4": True},
            "headers_secret: must be left out with sigv4",
        ),
    ],
)
def test_a_fault_of_an_endpoint_is_told_at_its_place(message: dict[str, Any], fault: str) -> None:
    assert otlp(**message) == [f"sinks[0].otlp.{fault}"]


def test_a_missing_endpoint_is_told_with_the_other_faults() -> None:
    message = otlp(headers_secret=7, zzz=1)
    assert [fault.partition(":")[0] for fault in message] == [
        "sinks[0].otlp.headers_secret",
        "sinks[0].otlp.endpoint",
        "sinks[0].otlp.zzz",
    ]


def test_what_is_no_key_of_an_endpoints_own_levels_is_told_with_the_nearest() -> None:
    (message,) = faults("emf", {"otlp": {"sigv4": True, "levels": {"max_metric": 5}}})
    assert message == "sinks[1].otlp.levels.max_metric: unknown key, did you mean max_metrics?"


@pytest.mark.parametrize("sinks", [5, {"otlp": 1}, [{"otlp": None}], [None]])
def test_a_faulty_choice_is_told_as_such(sinks: Any) -> None:
    (message,) = document_faults(sinks=sinks)
    assert message.startswith("sinks")


@pytest.mark.parametrize(
    "levels",
    [
        {},
        {"max_metrics": 100_000, "partitions": {}},
        {"partitions": {"groups": {"allow": "^pay"}, "topics": {"deny": "x"}}, "topics": False},
        {"scaling": {}, "members": True, "named": ["a"], "max_offset_lag": True},
    ],
)
def test_a_sinks_own_levels_mean_what_they_mean_for_the_cluster(levels: dict[str, Any]) -> None:
    sinks = [{"otlp": {"endpoint": URL, "levels": levels}}]
    settings = settings_of(document(levels=levels, sinks=sinks))
    assert settings.sinks == (OtlpConfig(URL, levels=settings.levels),)


def test_what_a_sinks_own_levels_leave_out_is_not_the_clusters() -> None:
    sinks = ["emf", {"otlp": {"sigv4": True, "levels": {"partitions": {}}}}]
    cluster = {"max_metrics": 5, "topics": False, "members": True}
    own = settings_of(document(levels=cluster, sinks=sinks)).sinks[1]
    assert isinstance(own, OtlpConfig)
    assert own.levels == Levels(partition_groups=NameFilter())


@pytest.mark.parametrize(
    "levels",
    [
        None,
        5,
        [],
        "all",
        {"max_metrics": -1},
        {"max_metrics": 1_000_001},
        {"max_metrics": "50"},
        {"max_metric": 5},
        {"topics": "no"},
        {"members": None},
        {"named": "a"},
        {"partitions": True},
        {"partitions": {"topic": {}}},
        {"partitions": {"groups": {"allow": "("}}},
        {"scaling": {"allow": ""}},
        {"max_metrics": None, "topics": 1, "zzz": 1},
    ],
)
def test_faults_of_a_sinks_own_levels_are_told_as_those_of_the_clusters(levels: Any) -> None:
    cluster = document_faults(levels=levels)
    assert cluster
    own = faults("emf", {"otlp": {"endpoint": URL, "levels": levels}})
    assert own == [f"sinks[1].otlp.{fault}" for fault in cluster]
