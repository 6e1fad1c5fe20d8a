# SPDX-License-Identifier: Apache-2.0
"""What is checked of a cluster's object whatever else is wrong with it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kafka_lag_cdk.config.faults import ConfigurationError
from kafka_lag_cdk.config.reading import check
from tests.infra.config.refused import cluster_faults, refused, refused_cluster
from tests.infra.configured import cluster, cluster_json

AUTHORITY = (Path(__file__).parents[1] / "authority.pem").read_bytes()


def test_faults_of_every_kind_are_told_at_once() -> None:
    first = cluster_json(
        paused="yes",
        hold=0,
        groups={"deny": "("},
        levels={"max_metric": 1},
        ca_file="no.pem",
        interval_seconds=90,
        deadline_seconds=51,
        secret_id="a",
    )
    second = cluster_json(vpc={}, hold=0, interval_seconds=90)
    assert [fault.partition(": ")[0] for fault in refused(first, second, sharde={})] == [
        "sharde",
        "clusters[0].groups.deny",
        "clusters[0].levels.max_metric",
        "clusters[0].interval_seconds",
        "clusters[0].hold",
        "clusters[0].deadline_seconds",
        "clusters[0].ca_file",
        "clusters[0].paused",
        "clusters[0].secret_id",
        "clusters[1].interval_seconds",
        "clusters[1].hold",
        "clusters[1].vpc.id",
        "clusters[1].vpc.subnets",
    ]


def test_a_good_cluster_beside_a_bad_one_is_looked_through_as_well() -> None:
    unheard = cluster_json(name="b", alarms={"groups": ["X"]}, groups={"deny": "X"})
    assert refused(cluster_json(paused="yes"), unheard)[1:] == (
        "clusters[1].alarms.groups[0]: the group X is not read: groups.deny matches it",
    )


@pytest.mark.parametrize("seconds", [0, 7200, "60", True, None])
def test_an_interval_that_is_no_interval_is_told_once(seconds: Any) -> None:
    (message,) = refused_cluster(interval_seconds=seconds)
    assert message.startswith("interval_seconds: ")


@pytest.mark.parametrize("seconds", [30, 60, 90, 120, 360, 420, 720, 1800, 3600])
def test_the_intervals_that_are_listed_are_those_that_are_taken(seconds: int) -> None:
    (sentence,) = refused_cluster(interval_seconds=61)
    listed = {int(number) for number in re.findall(r"\d+", sentence)}
    is_taken = cluster_faults(interval_seconds=seconds) == ()
    assert is_taken is (seconds in listed)


@pytest.mark.parametrize("levels", [7, [], None, "all"])
def test_levels_that_are_no_object_are_a_fault_and_no_traceback(levels: Any) -> None:
    (message,) = refused_cluster(levels=levels, alarms={"groups": ["billing"]})
    assert message.startswith("levels: ")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"levels": {"max_metrics": "many"}},
            "levels.max_metrics: Input should be a valid integer",
        ),
        ({"hold": 1.5}, "hold: Input should be a valid integer"),
        ({"interval_seconds": "60"}, "interval_seconds: Input should be a valid number"),
        ({"sinks": "emf"}, "sinks: must be a list"),
        ({"namespace": 5}, "namespace: Input should be a valid string"),
        ({"allowed_lag": {"a.b: c": "x"}}, "allowed_lag.a.b: c: Input should be a valid integer"),
    ],
)
def test_a_value_of_another_kind_is_told_in_the_words_of_the_rest(
    changes: dict[str, Any], message: str
) -> None:
    assert refused_cluster(**changes) == (message,)


@pytest.mark.parametrize(
    ("levels", "fault"),
    [
        (5, ": Input should be a valid dictionary"),
        (None, ": Input should be a valid dictionary"),
        ({"max_metric": 1}, ".max_metric: unknown key, did you mean max_metrics?"),
        ({"max_metrics": -1}, ".max_metrics: Input should be greater than or equal to 0"),
        ({"partitions": {"topic": {}}}, ".partitions.topic: unknown key, did you mean topics?"),
        ({"scaling": {"deny": "("}}, ".scaling.deny: is not a regular expression ("),
    ],
)
def test_a_fault_of_an_endpoints_own_levels_is_told_at_its_place(levels: Any, fault: str) -> None:
    sinks = ["emf", {"otlp": {"sigv4": True, "levels": levels}}]
    (message,) = refused_cluster(sinks=sinks, alarms={"groups": ["billing"]})
    assert message.startswith(f"sinks[1].otlp.levels{fault}")


def test_no_password_is_asked_for_where_the_login_is_at_fault() -> None:
    (message,) = refused_cluster(auth={"type": "password"})
    assert message.startswith("auth: ")


@pytest.mark.parametrize("seconds", [50.5, 51, 900])
def test_a_run_must_end_before_lambda_ends_it(seconds: float) -> None:
    assert refused_cluster(deadline_seconds=seconds) == (
        "deadline_seconds: must be at most 50, as the function is ended after 55 seconds",
    )


def test_a_run_may_take_fifty_seconds() -> None:
    assert cluster(deadline_seconds=50).deadline_seconds == 50


def test_a_deadline_that_nothing_takes_is_told_once() -> None:
    assert len(refused_cluster(deadline_seconds=901)) == 1


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("security_protocol", "follows from auth; leave it out"),
        ("sasl_mechanism", "follows from auth; leave it out"),
        ("secret_id", "follows from auth; leave it out"),
        ("cafile", "write ca_file"),
        ("cluster", "write name"),
        ("collector", "unknown key"),
    ],
)
@pytest.mark.parametrize("value", ["x", {}, None])
def test_a_key_that_follows_from_another_is_refused(key: str, message: str, value: Any) -> None:
    assert refused_cluster(**{key: value}) == (f"{key}: {message}",)


def test_no_unknown_key_is_said_to_mean_collector() -> None:
    assert refused_cluster(colector={}) == ("colector: unknown key",)


def certificates(folder: Path, content: bytes | None) -> tuple[str, ...]:
    if content is not None:
        (folder / "ca.pem").write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        check({"clusters": [cluster_json(ca_file="ca.pem")]}, "the test", folder)
    return caught.value.faults


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"\x30\x82\xff",
        b"-----BEGIN PRIVATE KEY-----\n",
        b"-----BEGIN CERTIFICATE-----\njunk\n-----END CERTIFICATE-----\n",
        b"-----BEGIN CERTIFICATE-----",
        AUTHORITY + b"-----BEGIN CERTIFICATE-----\njunk\n-----END CERTIFICATE-----\n",
        AUTHORITY.replace(b"MII", b"MI!", 1),
        AUTHORITY.rpartition(b"-----END")[0],
    ],
)
def test_a_file_with_none_or_one_unreadable_certificate_is_refused(
    content: bytes, tmp_path: Path
) -> None:
    assert certificates(tmp_path, content) == (
        "clusters[0].ca_file: ca.pem holds no certificates in PEM, or one that cannot be read",
    )


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert certificates(tmp_path, None) == ("clusters[0].ca_file: there is no file ca.pem",)


@pytest.mark.parametrize("name", ["", " ca.pem", 7])
def test_a_name_of_no_file_is_told_once(name: Any) -> None:
    (message,) = refused_cluster(ca_file=name)
    assert message.startswith("ca_file: ")


@pytest.mark.parametrize("name", ["a\x00b", "a\nb", " a.pem"])
def test_a_file_whose_name_no_system_takes_is_refused_as_such(name: str) -> None:
    assert refused(cluster_json(ca_file=name)) == (
        "clusters[0].ca_file: must be text without blanks around it",
    )


@pytest.mark.parametrize(
    ("runs", "changes", "fault"),
    [
        (
            {"datapoints": 5, "periods": 4},
            {},
            "alarms.sla_runs.billing: 5 of 4 runs are never reached",
        ),
        (
            {"datapoints": 5, "periods": 10},
            {"sla_seconds": {}},
            "alarms.sla_runs.billing: billing is promised nothing: no sla_seconds matches it",
        ),
        (
            {"datapoints": 5, "periods": 1_441},
            {},
            "alarms.sla_runs.billing.periods: are 1,441 minutes, and an alarm sees a day at most",
        ),
        (
            {"datapoints": 5, "periods": 289},
            {"interval_seconds": 300},
            "alarms.sla_runs.billing.periods: are 1,445 minutes, and an alarm sees a day at most",
        ),
    ],
    ids=["more than all", "no promise", "longer than a day", "of runs that are longer"],
)
def test_runs_of_a_promise_can_be_reached(
    runs: dict[str, int], changes: dict[str, Any], fault: str
) -> None:
    given = {"alarms": {"groups": ["billing"], "sla_runs": {"billing": runs}}}
    assert refused_cluster(**{"sla_seconds": {"^billing$": 60}, **given, **changes}) == (fault,)


def test_runs_are_of_a_group_that_has_an_alarm_of_its_own() -> None:
    runs = {"billing": {"datapoints": 5, "periods": 10}}
    assert refused_cluster(sla_seconds={".": 60}, alarms={"sla_runs": runs}) == (
        "alarms.sla_runs.billing: billing has no alarm of its own: name it in alarms.groups",
    )
