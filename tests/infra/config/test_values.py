# SPDX-License-Identifier: Apache-2.0
"""The results of a configuration: the collector's document, its settings, and look-ups."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kafka_lag.settings import levels_of, settings_of
from kafka_lag.sinks.budget import plan
from kafka_lag_config.expressions import shell_pattern_in
from kafka_lag_config.faults import ConfigurationError
from kafka_lag_config.reading import check, read
from kafka_lag_config.shared import ExistingBucket, KmsKeys
from tests.documents import document
from tests.functions.sinks.reports import a_report
from tests.infra.configured import (
    KEY,
    SECRET,
    SERVICE,
    STEPS,
    cluster,
    cluster_json,
    deployment,
    moved,
)
from tests.infra.options import EVERYBODY

ROOT = Path(__file__).parents[3]
AUTHORITY = (Path(__file__).parents[1] / "authority.pem").read_bytes()
URL = "https://collector:4318/v1/metrics"
BY_STEPS = {**SERVICE, "max": 8, "steps": STEPS}


def rules_of(**changes: Any) -> Any:
    return settings_of(document(**changes)).rules


def test_every_examples_collectors_take_their_documents() -> None:
    for path in (ROOT / "examples").glob("*.json"):
        for each in read(path.name, path.parent).clusters:
            given = each.document() | {"bootstrap_servers": ["b-1:9098"]}
            assert settings_of(given).cluster == each.name


@pytest.mark.parametrize(
    ("auth", "expected"),
    [
        ({"type": "iam"}, ("SASL_SSL", "OAUTHBEARER", None)),
        (
            {"type": "scram", "secret_arn": SECRET, "kms_key_arn": KEY},
            ("SASL_SSL", "SCRAM-SHA-512", SECRET),
        ),
        ({"type": "tls", "secret_arn": SECRET}, ("SSL", None, SECRET)),
        ({"type": "none"}, ("SSL", None, None)),
        ({"type": "none", "plaintext": True}, ("PLAINTEXT", None, None)),
    ],
)
def test_a_login_becomes_protocol_mechanism_and_secret(auth: Any, expected: Any) -> None:
    made = cluster(auth=auth).document()
    assert (made["security_protocol"], made["sasl_mechanism"], made["secret_id"]) == expected


def test_defaults_are_everyones_and_each_cluster_may_differ() -> None:
    found = deployment(
        cluster_json(levels={"max_metrics": 70}, sla_seconds={"^bill": 60}),
        cluster_json(name="b", auth={"type": "iam"}),
        defaults={
            "levels": {"max_metrics": 50, "topics": False},
            "hold": 5,
            "sla_seconds": {".*": 900},
            "auth": {"type": "scram", "secret_arn": SECRET},
        },
    ).clusters
    assert [(c.levels.max_metrics, c.levels.topics, c.hold) for c in found] == [
        (70, False, 5),
        (50, False, 5),
    ]
    # A cluster's own expression decides before those of all.
    assert [found[0].sla_of(group) for group in ("billing", "other")] == [60, 900]
    # A login of another kind replaces the default whole.
    assert found[1].auth.type == "iam"


def test_groups_that_are_named_come_first_in_the_budget() -> None:
    sinks = ["emf", {"otlp": {"sigv4": True, "levels": {"partitions": {}}}}]
    alarms = {"groups": ["billing"], "anomalies": ["audit"]}
    found = cluster(sinks=sinks, alarms=alarms, scaling=[BY_STEPS | {"group": "a.b"}]).document()
    assert found["levels"]["named"] == ["billing", "audit", "a.b"]
    assert found["levels"]["scaling"] == {"allow": r"^(?:a\.b)\Z", "deny": None}
    own = levels_of(found["sinks"][1]["otlp"]["levels"])
    assert (own.named, own.scaling) == (frozenset(), None)


@pytest.mark.parametrize(("spared", "published"), [(0, [True, True]), (1, [False, True])])
def test_the_collectors_own_budget_agrees(spared: int, published: list[bool]) -> None:
    """`stock` and `billing` are named, and the last of them is what would be dropped."""
    given = {"scaling": [BY_STEPS], "alarms": {"groups": ["stock"]}}
    with pytest.raises(ConfigurationError) as caught:
        cluster(**given, levels={"members": True, "max_metrics": 0})
    needed = int(caught.value.faults[0].rpartition(" ")[2])
    enough = cluster(
        **given, levels={"members": True, "max_metrics": needed}
    ).facts.published_levels
    spare = replace(enough, max_metrics=needed - spared)
    report = a_report({"billing": {"orders": 1}, "stock": {"orders": 1}})
    assert sorted(plan(report, report.snapshot.empty(), spare).groups.tolist()) == published


def test_what_a_service_says_of_its_group_comes_before_expressions() -> None:
    of_service = BY_STEPS | {"group": "a.b", "capacity": 50, "members_per_task": 2}
    other = BY_STEPS | {"group": "other", "service": "other"}
    found = cluster(scaling=[of_service, other], tasks={"^a": {"capacity": 7}})
    rules = settings_of(found.document() | {"bootstrap_servers": ["b-1:9098"]}).rules
    needs = [rules.tasks_of(name) for name in ("a.b", "a.bc", "axb", "other")]
    assert [(n.capacity, n.members_per_task) for n in needs] == [(50, 2), (7, 1), (7, 1), (None, 1)]


@pytest.mark.parametrize(
    ("interval", "window", "seconds"),
    [(15, None, 600), (200, None, 600), (201, None, 603), (3600, None, 10_800), (15, "1h", 3_600)],
)
def test_the_window_is_ten_minutes_or_three_intervals_unless_it_is_named(
    interval: float, window: str | None, seconds: int
) -> None:
    named = {} if window is None else {"window": window}
    assert rules_of(interval_seconds=interval, **named).window_ms == seconds * 1_000


@pytest.mark.parametrize(
    ("expression", "repeated", "meant"),
    [
        ("test-*", "-", "^test-"),
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
    assert shell_pattern_in(found.meant) is None


def test_what_is_repeated_on_purpose_is_no_shell_pattern() -> None:
    meant = ["^test-", ".*", "^a.*b$", r"\d*", r"a\.*", "[ab]*", "(ab)*c", "[a*]", "[^]*]x", "a+"]
    assert [each for each in meant if shell_pattern_in(each)] == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x30\x82\xff",
        b"-----BEGIN PRIVATE KEY-----\n",
        b"-----BEGIN CERTIFICATE-----\njunk\n-----END CERTIFICATE-----\n",
        AUTHORITY + b"-----BEGIN CERTIFICATE-----\njunk\n-----END CERTIFICATE-----\n",
        AUTHORITY.replace(b"MII", b"MI!", 1),
        AUTHORITY.rpartition(b"-----END")[0],
    ],
)
def test_a_file_without_readable_certificates_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"ca_file: ca\.pem holds no certificates in PEM"):
        check({"clusters": [cluster_json(ca_file="ca.pem")]}, "the test", tmp_path)


def test_what_is_of_an_account_and_region_is_looked_up_there() -> None:
    there = moved(cluster_json(name="there"), "eu-west-1") | {"auth": {"type": "none"}}
    there["arn"] = there["arn"].replace("111122223333", "444455556666")
    topic = "arn:aws:sns:eu-west-1:999988887777:pages"
    found = deployment(
        cluster_json(),
        there,
        shared={
            "existing_buckets": {"111122223333/eu-west-1": {"name": "ours", "kms_key_arn": KEY}},
            "kms_keys": {"111122223333/eu-west-1": {"logs": KEY}},
            "notify": {"existing_topics": {"444455556666/eu-west-1": topic}},
        },
    )
    here, other = ("111122223333", "eu-west-1"), ("444455556666", "eu-west-1")
    assert [found.existing_bucket(*p) for p in (here, other)] == [
        ExistingBucket(name="ours", kms_key_arn=KEY),
        None,
    ]
    assert [found.kms_keys(*p) for p in (here, other)] == [
        KmsKeys(bucket=KEY, logs=KEY),
        KmsKeys(),
    ]
    assert [found.existing_topic(*p) for p in (here, other)] == [None, topic]


def test_application_is_tagged_unless_the_tags_have_it() -> None:
    assert deployment().all_tags() == {"application": "kafka-lag"}
    assert deployment(tags={"Application": "x"}).all_tags() == {"Application": "x"}


@pytest.mark.parametrize(
    ("views", "most"),
    [
        ({"auth": "bearer"}, 10),
        ({"auth": "bearer", "concurrency": 3}, 3),
        ({"auth": "bearer", "concurrency": "off"}, None),
        ({"auth": "iam"}, None),
    ],
)
def test_views_that_anybody_may_try_are_bounded(views: dict[str, Any], most: int | None) -> None:
    found = deployment(shared={"views": views}).shared.views
    assert found
    assert found.concurrency == most


FULL: dict[str, Any] = {
    "name": "kafka-lag",
    "account": "111122223333",
    "shared": {
        "existing_buckets": {"eu-west-1": "my-bucket"},
        "keep": {"snapshot_days": 35},
        "report": {"enabled": True, "hour": 1, "glue_version": "6.0", "workers": 2},
        "athena": {"scan_limit_gb": 10},
        "notify": EVERYBODY,
    },
    "clusters": [
        cluster_json(
            bootstrap_servers=["b:9096"],
            function={"memory_mb": 512, "python": "3.13", "reserved_concurrency": None},
            alarms={"groups": ["billing"], "any_group": True},
            scaling=[BY_STEPS],
            expected={"groups": 20},
        )
    ],
}
WRONG: tuple[Any, ...] = (
    None, True, 7, -1, 10**9, 1.5, math.nan, "", "x", [], ["x"] * 20, {}, {"x": 1}, {"type": "x"}
)  # fmt: skip


def places(given: Any, place: tuple[int | str, ...] = ()) -> Iterator[tuple[int | str, ...]]:
    """Every place in a configuration where a value stands."""
    if place:
        yield place
    listed = enumerate(given) if isinstance(given, list) else ()
    for key, value in given.items() if isinstance(given, dict) else listed:
        yield from places(value, (*place, key))


def test_something_wrong_is_refused_wherever_it_stands() -> None:
    """And what pydantic puts into places and before sentences is never shown."""
    assert check(FULL, "the test", Path())
    accepting, shown = [], []
    for place in places(FULL):
        faults: list[str] = []
        for value in WRONG:
            whole = json.loads(json.dumps(FULL))
            inner: Any = whole
            for part in place[:-1]:
                inner = inner[part]
            inner[place[-1]] = deepcopy(value)
            try:
                check(whole, "the test", Path())
            except ConfigurationError as error:
                faults += error.faults
        accepting += [] if faults else [place]
        shown += [fault for fault in faults if re.search(r"\[key\]|Value error", fault)]
    assert (accepting, shown) == ([], [])
